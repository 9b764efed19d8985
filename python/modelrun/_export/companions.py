# SPDX-License-Identifier: Apache-2.0
"""The files that belong beside a program: tokenizer, processor, chat template,
the modules of sentence-transformers."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from modelrun._export.source import Source, modules_of

COPIED = (".json", ".txt", ".model", ".jinja", ".md")
# What the exporter writes itself, and the index of the weights' parts.
OWN = ("config.json", "generation_config.json", "export.json", "modelrun.json",
       "model.safetensors.index.json", "pytorch_model.bin.index.json")


def write_companions(source: Source, directory: str) -> None:
    """Writes all that a pipeline reads beside the programs. A processor that
    the caller gave is written as it is in memory."""
    if source.folder is not None and source.weights is not None:
        if os.path.abspath(source.folder) != os.path.abspath(source.weights):
            _copy_files(source.folder, directory)
        _copy_files(source.weights, directory)
        _copy_modules(source.folder, directory)
    elif source.processor is not None:
        source.processor.save_pretrained(directory)


def _copy_files(source: str, directory: str) -> None:
    for entry in os.scandir(source):
        name = entry.name
        if (entry.is_file() and name.endswith(COPIED) and name not in OWN
                and not name.startswith(".")):
            shutil.copyfile(entry.path, os.path.join(directory, name))


def _copy_modules(folder: str, directory: str) -> None:
    """Copies the modules after the first with their weights, and says in
    `modules.json` that the first lies with the programs."""
    modules = modules_of(folder)
    if not modules:
        return
    modules[0] = {**modules[0], "path": ""}
    for module in modules[1:]:
        path = _inside(module["path"])
        if path and os.path.isdir(os.path.join(folder, path)):
            shutil.copytree(os.path.join(folder, path),
                            os.path.join(directory, path))
    with open(os.path.join(directory, "modules.json"), "w",
              encoding="utf-8") as file:
        json.dump(modules, file, indent=2)


def _inside(path: Any) -> str:
    """A path of a module, which is untrusted: only one below its folder."""
    normal = os.path.normpath(str(path))
    return "" if normal.startswith(("..", "/", ".")) else normal
