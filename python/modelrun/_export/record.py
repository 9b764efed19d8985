# SPDX-License-Identifier: Apache-2.0
"""`modelrun.json` and the golden tensors of an export."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
from typing import Any

import torch
from safetensors.torch import save_file
from transformers.exporters.utils import get_leaf_tensors

from modelrun import _core
from modelrun._export.trace import Traced

FILE = "modelrun.json"
SCHEMA_VERSION = 1
PACKAGES = ("transformers", "torch", "onnx", "onnxscript", "onnxruntime",
            "openvino", "nncf", "executorch")


def write_golden(directory: str, name: str,
                 traced: Traced) -> "dict[str, str]":
    """Writes the sample inputs and the eager outputs of one program, under
    their leaf paths; returns the names of the files."""
    os.makedirs(os.path.join(directory, "golden"), exist_ok=True)
    files = {}
    for side, value in (("inputs", traced.kwargs), ("outputs", traced.outputs)):
        files[side] = f"golden/{name}.{side}.safetensors"
        leaves = {path: leaf.detach().clone().contiguous()
                  for path, leaf in get_leaf_tensors(value).items()}
        save_file(leaves, os.path.join(directory, files[side]))
    return files


def constants_of(kwargs: "dict[str, Any]") -> "dict[str, Any]":
    """The kwargs of a sample that are no tensors."""
    return {name: value for name, value in kwargs.items()
            if value is None or isinstance(value, (bool, int, float, str))}


def write_record(directory: str, record: "dict[str, Any]") -> None:
    """Writes `modelrun.json`, last: it has every other file's size and hash."""
    whole = {"schema_version": SCHEMA_VERSION,
             "made_with": {"modelrun": _core.__version__, **_versions()},
             **record, "files": _files(directory)}
    with open(os.path.join(directory, FILE), "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=2)
        file.write("\n")


def _versions() -> "dict[str, str]":
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return {**found, "torch": torch.__version__}


def _files(directory: str) -> "dict[str, dict[str, Any]]":
    entries = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            place = os.path.relpath(path, directory).replace(os.sep, "/")
            entries[place] = {"size": os.path.getsize(path),
                              "sha256": _sha256(path)}
    return dict(sorted(entries.items()))


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
