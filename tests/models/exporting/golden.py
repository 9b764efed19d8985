# SPDX-License-Identifier: Apache-2.0
"""Values as safetensors: tensors by leaf path, the rest as a JSON tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers.utils import ModelOutput

KEY = "modelrun"


def class_name(cls: type) -> str:
    """A class as the trees name it, `module.Class`."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _torch_constant(value: Any) -> dict | None:
    """A torch attribute that is not a tensor, or None for anything else."""
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.Size):
        return {"size": list(value)}
    if isinstance(value, type):
        return {"type": class_name(value)}
    return None


def bake(tree: dict, traced: dict[str, Any], path: str = "") -> dict:
    """Put the values that a trace fixes in place of the live ones.

    `traced` is by attribute name. Returns the live values by path.
    """
    live: dict[str, Any] = {}
    for index, item in enumerate(tree.get("fields", tree.get("items", ()))):
        pair = isinstance(item, list)
        key, node = item if pair else (index, item)
        where = f"{path}.{key}" if path else str(key)
        if "fields" in tree and key in traced and "value" in node:
            live[where] = node["value"]
            node["value"] = traced[key]
        live |= bake(node, traced, where)
    return live


def describe(value: Any, path: str, leaves: dict[str, torch.Tensor]) -> dict:
    """The tree of `value`; its tensors go to `leaves` under their paths.

    Walks a live object as the exporters flatten it: the fields of a
    ModelOutput that are set, every attribute of a cache.
    """

    def below(key: Any, child: Any) -> dict:
        return describe(child, f"{path}.{key}" if path else str(key), leaves)

    if value is None or type(value) in (bool, int, float, str):
        return {"value": value}
    if isinstance(value, torch.Tensor):
        leaves[path] = value.detach().clone().contiguous()
        return {"tensor": path}
    if (constant := _torch_constant(value)) is not None:
        return constant
    name = class_name(type(value))
    if isinstance(value, ModelOutput):
        fields = [[key, below(key, child)] for key, child in value.items()]
        return {"class": name, "fields": fields}
    if isinstance(value, Mapping):
        items = [[key, below(key, child)] for key, child in value.items()]
        return {"class": name, "items": items}
    if isinstance(value, (tuple, list)):
        items = [below(index, child) for index, child in enumerate(value)]
        return {"class": name, "items": items}
    fields = [[key, below(key, child)] for key, child in vars(value).items()]
    return {"class": name, "fields": fields}


def save(path: Path, leaves: dict[str, torch.Tensor], record: dict) -> None:
    """Write leaves and the JSON record to one safetensors file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, separators=(",", ":"))
    save_file(leaves, path, metadata={KEY: text})


def load(path: Path) -> tuple[dict[str, torch.Tensor], dict]:
    """Read back what `save` wrote."""
    with safe_open(path, framework="pt") as file:
        leaves = {name: file.get_tensor(name) for name in file.keys()}
        return leaves, json.loads(file.metadata()[KEY])
