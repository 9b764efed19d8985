# SPDX-License-Identifier: Apache-2.0
"""modelrun as the runner of transformers' own exported models.

    import modelrun.integrations.transformers
    modelrun.integrations.transformers.install()

From then on `transformers.exporters.ExportedModel` runs on modelrun, fresh
exports and loaded ones. What an exporter makes of a model is its own: a fresh
export is saved to a temporary folder and opened from there.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
import os
import tempfile
from typing import Any, Callable, Iterable

import torch
from transformers.exporters import auto
from transformers.exporters.base import (
    EXPORT_MANIFEST_FILE,
    EXPORT_SCHEMA_VERSION,
)
from transformers.exporters.metadata import ExportMetadata
from transformers.exporters.runners.base import ModelRunner

from modelrun import _core, _environment, _options
from modelrun._model import ExportedModel

FORMATS = ("onnx", "openvino", "executorch", "dynamo")

_replaced: "dict[str, auto.ExportBackend]" = {}


class NativeModelRunner(ModelRunner):
    """Runs one program of an export with modelrun. Each format has a subclass
    of its own, which `install` makes."""

    export_format: str

    def __init__(self, metadata: ExportMetadata, model: ExportedModel) -> None:
        # Not the parent's: it reads the specs with torch, and they are read.
        self.metadata = metadata
        self.model = model

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device_name())

    def __call__(self, share_inputs: bool = True, share_outputs: bool = False,
                 **kwargs: Any) -> Any:
        return self.model(share_inputs=share_inputs,
                          share_outputs=share_outputs, return_type="torch",
                          **kwargs)

    @classmethod
    def _from_program(cls, program: Any, metadata: ExportMetadata,
                      device: Any = None, **options: Any) -> NativeModelRunner:
        saved = _saved_program(program)
        if saved is not None:
            folder, file_name = os.path.split(saved)
            return cls(metadata, ExportedModel.from_pretrained(
                folder, device=device, file_name=file_name, **options))
        with tempfile.TemporaryDirectory(prefix="modelrun-") as folder:
            _write_export(folder, cls.export_format, program, metadata)
            # The runtime has what it needs of the files open.
            return cls(metadata, ExportedModel.from_pretrained(
                folder, device=device, **options))


def _saved_program(program: Any) -> "str | None":
    """The file that a program was loaded from, if it lies in an export."""
    meta = getattr(program, "meta", None)
    path = meta.get("path") if isinstance(meta, dict) else None
    path = path or getattr(program, "path", None)
    if not isinstance(path, (str, os.PathLike)):
        return None
    folder, name = os.path.split(os.fspath(path))
    try:
        with open(os.path.join(folder, EXPORT_MANIFEST_FILE),
                  encoding="utf-8") as file:
            components = json.load(file)["components"].values()
        named = any(entry["file"] == name for entry in components)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return os.fspath(path) if named else None


def _write_export(folder: str, export_format: str, program: Any,
                  metadata: ExportMetadata) -> None:
    exporter = auto.get_exporter_class(export_format)
    file_name = f"{exporter.program_prefix}model{exporter.program_suffix}"
    exporter.save_program(program, os.path.join(folder, file_name))
    manifest = {
        "schema_version": EXPORT_SCHEMA_VERSION,
        "export_format": str(export_format),
        "components": {"model": {"file": file_name,
                                 "metadata": dataclasses.asdict(metadata)}},
    }
    path = os.path.join(folder, EXPORT_MANIFEST_FILE)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file)


def _from_program_of(backend: str) -> "Callable[..., NativeModelRunner]":
    """`from_program` with the backend's options in its signature, which is
    where transformers looks for them."""

    def from_program(cls: "type[NativeModelRunner]", program: Any,
                     metadata: ExportMetadata, device: Any = None,
                     **options: Any) -> NativeModelRunner:
        """A runner for a program, fresh from its exporter or loaded."""
        return cls._from_program(program, metadata, device, **options)

    names = ["threads", "runtime_path", "check_recorded_shapes",
             *_options.REFERENCE.get(backend, ()),
             *_core.backend_options(backend)]
    signature = inspect.signature(from_program)
    parameters = [parameter for parameter in signature.parameters.values()
                  if parameter.name != "options"]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                                     default=None) for name in names]
    setattr(from_program, "__signature__",
            signature.replace(parameters=parameters))
    return from_program


def _runner_class(export_format: str, backend: str) -> "type[ModelRunner]":
    return type(f"{backend.capitalize()}NativeModelRunner",
                (NativeModelRunner,),
                {"export_format": export_format,
                 "from_program": classmethod(_from_program_of(backend))})


def install(formats: "Iterable[str] | None" = None) -> "list[str]":
    """Makes modelrun the runner of transformers' exports, of the given formats
    or of all whose plugin and runtime are installed; returns the formats."""
    installed = []
    log = logging.getLogger("transformers.exporters.auto")
    for export_format in FORMATS if formats is None else formats:
        backend = _core.default_backend(export_format)
        if formats is None and not _environment.has_plugin(backend):
            continue
        try:
            runner = _runner_class(export_format, backend)
        except _core.NotFound:
            if formats is None:
                continue
            raise
        current = auto.EXPORT_BACKENDS[export_format]
        if not isinstance(current.runner, type) or not issubclass(
                current.runner, NativeModelRunner):
            _replaced[export_format] = current
        # That a runner is replaced is what was asked for.
        log.disabled, was_disabled = True, log.disabled
        try:
            auto.register_backend(auto.get_exporter_class(export_format),
                                  runner)
        finally:
            log.disabled = was_disabled
        installed.append(export_format)
    return installed


def uninstall() -> None:
    """Gives the exports back to the runners that they had."""
    auto.EXPORT_BACKENDS.update(_replaced)
    _replaced.clear()
