# SPDX-License-Identifier: Apache-2.0
"""The model that is exported, and the files that belong to it."""

from __future__ import annotations

import copy
import json
import logging
import os
from typing import Any, NamedTuple

import torch
import transformers

from modelrun import _core

# Files whose presence says that there is a tokenizer or a processor.
PROCESSOR_FILES = ("tokenizer.json", "tokenizer_config.json",
                   "preprocessor_config.json", "processor_config.json")
DTYPES = {"float32": torch.float32, "float16": torch.float16,
          "bfloat16": torch.bfloat16}


class Source(NamedTuple):
    """A model in memory. `folder` holds its checkpoint, `weights` the part of
    it that the model itself was loaded from; both None for a model of no
    checkpoint."""

    model: torch.nn.Module
    folder: "str | None"
    weights: "str | None"
    processor: Any


def open_source(model_or_path: Any, dtype: "str | None", task: "str | None",
                processor: Any) -> Source:
    """The model, its weights loaded in the precision asked for."""
    if dtype is not None and dtype not in DTYPES:
        raise _core.InvalidArgument(
            f"cannot export in dtype {dtype!r}: expected "
            f"{', '.join(map(repr, DTYPES))}")
    if isinstance(model_or_path, torch.nn.Module):
        if task is not None:
            raise _core.InvalidArgument(
                "a task chooses the class that a checkpoint is loaded in, and "
                "this model is loaded: leave task out, or give the path")
        model = model_or_path
        path = getattr(model, "name_or_path", "")
        folder = path if path and os.path.isdir(path) else None
        if dtype is not None:
            model = copy.deepcopy(model).to(DTYPES[dtype])
    else:
        folder = _local_folder(os.fspath(model_or_path))
        model = _load(_weights_folder(folder), dtype, task)
    weights = _weights_folder(folder) if folder else None
    if processor is None and weights is not None:
        processor = _processor(weights)
    return Source(model.eval(), folder, weights, processor)


def _local_folder(path: str) -> str:
    if os.path.isdir(path):
        return path
    if os.path.isabs(path) or path.count("/") != 1:
        raise _core.NotFound(
            f"{path!r} is no directory of this machine: expected the path of "
            "a checkpoint, or the name of a repository of the Hub")
    import huggingface_hub

    try:
        return huggingface_hub.snapshot_download(path, allow_patterns=[
            "*.json", "*.txt", "*.model", "*.jinja", "*.md", "*.safetensors"])
    except Exception as error:
        raise _core.NotFound(
            f"{path!r} is no directory of this machine, and cannot be "
            f"downloaded from the Hub: {first_line(error)}") from error


def _weights_folder(folder: str) -> str:
    """The folder of the transformers model: in a sentence-transformers
    checkpoint, that of its first module."""
    modules = modules_of(folder)
    return os.path.join(folder, modules[0]["path"]) if modules else folder


def modules_of(folder: str) -> "list[dict[str, Any]]":
    """The modules of a sentence-transformers checkpoint; none otherwise."""
    path = os.path.join(folder, "modules.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        modules: "list[dict[str, Any]]" = json.load(file)
    return modules


def _load(folder: str, dtype: "str | None",
          task: "str | None") -> torch.nn.Module:
    try:
        config = transformers.AutoConfig.from_pretrained(folder)
        kind = _class_of_task(task, config) if task else _class_of(config)
        model: torch.nn.Module = kind.from_pretrained(
            folder, dtype=DTYPES[dtype] if dtype else "auto")
    except _core.Error:
        raise
    except Exception as error:
        raise _core.InvalidArgument(
            f"transformers cannot load {folder}: {first_line(error)}"
        ) from error
    return model


def _class_of(config: Any) -> Any:
    """The class that the checkpoint was saved from."""
    names = config.architectures or []
    known = [getattr(transformers, name) for name in names
             if hasattr(transformers, name)]
    return known[0] if known else transformers.AutoModel


def _class_of_task(task: str, config: Any) -> Any:
    from transformers.pipelines import PIPELINE_REGISTRY

    try:
        _, targeted, _ = PIPELINE_REGISTRY.check_task(task)
    except KeyError as error:
        tasks = ", ".join(PIPELINE_REGISTRY.get_supported_tasks())
        raise _core.InvalidArgument(
            f"there is no task {task!r}: expected one of {tasks}") from error
    kinds = targeted["pt"]
    for kind in kinds:
        if type(config) in kind._model_mapping:
            return kind
    raise _core.InvalidArgument(
        f"a model of type {config.model_type!r} has no class for the task "
        f"{task!r}: leave the task out to export {config.architectures}")


def _processor(folder: str) -> Any:
    if not any(os.path.exists(os.path.join(folder, name))
               for name in PROCESSOR_FILES):
        return None
    try:
        return transformers.AutoProcessor.from_pretrained(folder)
    except Exception as error:  # of any kind: the folder's content is foreign
        logging.getLogger("modelrun").warning(
            "transformers cannot open the tokenizer or processor in %s, and "
            "the sample inputs come from the config alone: %s", folder,
            first_line(error))
        return None


def first_line(error: BaseException) -> str:
    """What an exception says, in one line: of the innermost one that does."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else repr(error)
