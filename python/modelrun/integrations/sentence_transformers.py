# SPDX-License-Identifier: Apache-2.0
"""sentence-transformers on exports.

    from modelrun.integrations import sentence_transformers
    model = sentence_transformers.load("path/to/export")
    vectors = model.encode(["A text.", "Another."])

Tokenizing, pooling and all that follows are sentence-transformers' own.
"""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

from modelrun import _core
from modelrun._model import ExportedModel

__all__ = ["ExportedTransformer", "load"]

CLASSIFIER = "sequence-classification"


class ExportedBackbone(torch.nn.Module):
    """An export in the place of a transformers model. A copy of it in another
    process opens the export there."""

    def __init__(self, path: str, config: Any,
                 load_kwargs: "Mapping[str, Any]") -> None:
        super().__init__()
        self.config = config
        self._path = path
        self._load_kwargs = dict(load_kwargs)
        self._open()

    def _open(self) -> None:
        self._export: "ExportedModel" = ExportedModel.from_pretrained(
            self._path, **self._load_kwargs)
        self._taken = frozenset(self._export.program.kwargs)

    def forward(self, **kwargs: Any) -> Any:
        tensors = {name: value for name, value in kwargs.items()
                   if name in self._taken}
        given = next((value.device for value in tensors.values()
                      if isinstance(value, torch.Tensor)), self.device)
        outputs = self._export(return_type="torch", **{
            name: value.to(self.device)
            if isinstance(value, torch.Tensor) else value
            for name, value in tensors.items()})
        if given == self.device:
            return outputs
        return {name: value.to(given)
                if isinstance(value, torch.Tensor) else value
                for name, value in outputs.items()}

    @property
    def device(self) -> torch.device:
        return torch.device(self._export.device_name())

    @property
    def dtype(self) -> torch.dtype:
        kind: torch.dtype = getattr(torch, self._export.dtype_name())
        return kind

    def save_pretrained(self, directory: str, **_: Any) -> None:
        self._export.save_pretrained(directory)

    def __getstate__(self) -> "dict[str, Any]":
        state = self.__dict__.copy()
        del state["_export"]
        return state

    def __setstate__(self, state: "dict[str, Any]") -> None:
        base: Any = super()
        base.__setstate__(state)
        self._open()


class ExportedTransformer(Transformer):
    """The first module of a SentenceTransformer or a CrossEncoder, whose model
    is an export.

    >>> transformer = ExportedTransformer("path/to/export")
    >>> pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    >>> model = SentenceTransformer(modules=[transformer, pooling])

    Its arguments are those of sentence-transformers' own `Transformer`;
    `model_kwargs` are those of `modelrun.ExportedModel.from_pretrained`, such
    as `threads` or `device`.
    """

    def _load_model(self, model_name_or_path: str, transformer_task: Any,
                    config: Any, backend: str, is_peft_model: bool,
                    **model_kwargs: Any) -> Any:
        """What sentence-transformers calls for the model."""
        # Those of a download; an export is on this machine.
        for name in ("token", "cache_dir", "revision", "local_files_only"):
            model_kwargs.pop(name, None)
        return ExportedBackbone(os.fspath(model_name_or_path), config,
                                model_kwargs)


def load(path: "str | os.PathLike[str]",
         *, model_kwargs: "dict[str, Any] | None" = None,
         **kwargs: Any) -> "SentenceTransformer | CrossEncoder":
    """The SentenceTransformer, or the CrossEncoder, of an export.

    The directory holds the tokenizer, and the modules that follow the model if
    there are such; `modelrun.export` writes both. Without them a classifier
    becomes a CrossEncoder, and another model gets mean pooling. `model_kwargs`
    are those of `modelrun.ExportedModel.from_pretrained`; `kwargs` go to the
    class.
    """
    folder = os.fspath(path)
    if not os.path.isdir(folder):
        raise _core.NotFound(f"{folder!r} is no directory of this machine: "
                             "expected the path of an export")
    kind = _kind(folder)
    modules = _read(folder, "modules.json")
    if modules:
        first = modules[0]["type"]
        return kind._load_with_module_classes(
            folder, {first: ExportedTransformer}, local_files_only=True,
            model_kwargs=model_kwargs, **kwargs)
    task = CLASSIFIER if kind is CrossEncoder else "feature-extraction"
    transformer = ExportedTransformer(folder, transformer_task=task,
                                      model_kwargs=dict(model_kwargs or {}))
    if kind is CrossEncoder:
        return CrossEncoder(modules=[transformer], **kwargs)
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    return SentenceTransformer(modules=[transformer, pooling], **kwargs)


def _kind(folder: str) -> Any:
    settings = _read(folder, "config_sentence_transformers.json") or {}
    if "model_type" in settings:
        kinds = {"SentenceTransformer": SentenceTransformer,
                 "CrossEncoder": CrossEncoder}
        if settings["model_type"] not in kinds:
            raise _core.Unsupported(
                f"{folder} is a {settings['model_type']!r} of "
                f"sentence-transformers: expected {' or '.join(kinds)}")
        return kinds[settings["model_type"]]
    if _read(folder, "modules.json"):
        return SentenceTransformer
    config = _read(folder, "config.json") or {}
    names = config.get("architectures") or []
    # As sentence-transformers tells them apart.
    is_classifier = any(name.endswith("ForSequenceClassification")
                        for name in names)
    return CrossEncoder if is_classifier else SentenceTransformer


def _read(folder: str, name: str) -> Any:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _core.InvalidArgument(f"cannot read {path}: {error}") from error
