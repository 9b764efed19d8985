# SPDX-License-Identifier: Apache-2.0
"""Makes an export, from the sample inputs to the comparison."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import Any, Callable

import torch
import transformers.exporters as _exporters

from modelrun import _core
from modelrun._export import check as checks
from modelrun._export import quantizers
from modelrun._export import record as records
from modelrun._export import sample as samples
from modelrun._export import shapes
from modelrun._export import source as sources
from modelrun._export import tracing_log
from modelrun._export.companions import write_companions
from modelrun._export.trace import Options, Traced, encoders_of, trace

FORMATS = tuple(str(each) for each in _exporters.ExportFormat)


@dataclass
class Request:
    """What `modelrun.export` was asked for, its exporter's options apart."""

    model_or_path: Any
    output: str
    dtype: "str | None"
    task: "str | None"
    processor: Any
    sample_inputs: "dict[str, Any] | None"
    check: bool
    say: "Callable[[str], None]"


def make_export(request: Request, options: Options) -> "dict[str, Any]":
    """Writes an export, and returns its `modelrun.json`."""
    if options.export_format not in FORMATS:
        raise _core.InvalidArgument(
            f"there is no export format {options.export_format!r}: expected "
            f"{', '.join(map(repr, FORMATS))}")
    target = os.path.abspath(request.output)
    if os.path.exists(target):
        raise _core.InvalidArgument(
            f"{target} is there already: remove it, or name another directory")
    if options.quantize:
        quantizers.check_name(options.quantize, options.export_format)
    request.say("loading the model")
    source = sources.open_source(request.model_or_path, request.dtype,
                                 request.task, request.processor)
    with _NewDirectory(target) as directory:
        with tracing_log.quiet():
            record = _export(source, request, options, directory)
        write_companions(source, directory)
        records.write_record(directory, record)
    return {**record, "directory": target}


def _export(source: sources.Source, request: Request, options: Options,
            directory: str) -> "dict[str, Any]":
    model = source.model
    if options.generation and not samples.can_generate(model):
        raise _core.InvalidArgument(
            f"{type(model).__name__} has no generate: leave generation out")
    inputs = request.sample_inputs
    if inputs is None:
        inputs = samples.sample_inputs(model, source.processor,
                                       options.generation)
    record = _export_one(model, inputs, request, options, directory)
    if options.generation:
        for name, (part, kwargs) in encoders_of(model, inputs,
                                                record["golden"]).items():
            folder = os.path.join(directory, name)
            os.makedirs(folder)
            inner = _export_one(part, kwargs, request,
                                replace(options, generation=False), folder)
            records.write_record(folder, inner)
            record["encoders"].append(name)
    return {"source": {"architecture": type(model).__name__,
                       "task": request.task}, **record}


def _export_one(model: torch.nn.Module, inputs: "dict[str, Any]",
                request: Request, options: Options,
                directory: str) -> "dict[str, Any]":
    """Writes one export; returns what `modelrun.json` says of it."""
    request.say(f"tracing {type(model).__name__} for {options.export_format}")
    exported, components = trace(model, inputs, options)
    request.say("writing the programs")
    exported.save_pretrained(directory)
    bound = checks.tolerance(_dtype(model), options.quantize is not None)
    golden = {name: {**records.write_golden(directory, name, traced),
                     "constants": records.constants_of(traced.kwargs)}
              for name, traced in components.items()}
    record: "dict[str, Any]" = {
        "export_format": options.export_format,
        "dynamic": options.dynamic,
        "dtype": _dtype(model),
        "quantize": options.quantize,
        "axes": {name: _axes(traced) for name, traced in components.items()}
                if options.dynamic else None,
        "precomputed": _precomputed_of(components),
        "golden": golden,
        "tolerance": bound,
        "encoders": [],
        "largest_error": None,
    }
    if request.check:
        request.say("comparing with the source model")
        record["largest_error"] = checks.check(directory, components, bound)
    return record


def _axes(traced: Traced) -> Any:
    """Which axes of a program may change, by patterns of leaf paths."""
    if traced.rules is None:
        return "as the exporter finds"
    return shapes.used(traced.rules, traced.kwargs)


def _dtype(model: torch.nn.Module) -> str:
    for parameter in model.parameters():
        if parameter.is_floating_point():
            return str(parameter.dtype).removeprefix("torch.")
    return "float32"


def _precomputed_of(components: "dict[str, Traced]") -> "dict[str, Any]":
    return {name: {"architecture": type(traced.module).__name__,
                   "kwargs": traced.precomputed}
            for name, traced in components.items() if traced.precomputed}


class _NewDirectory:
    """A directory that gets its name when everything is in it."""

    def __init__(self, target: str) -> None:
        self._target = target

    def __enter__(self) -> str:
        parent, name = os.path.split(self._target)
        try:
            os.makedirs(parent, exist_ok=True)
            self._path = tempfile.mkdtemp(prefix=f"{name}.part-", dir=parent)
        except OSError as error:
            raise _core.InvalidArgument(
                f"cannot write to {self._target}: {error.strerror}") from error
        return self._path

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            return
        # As mkdir makes it; the temporary one was the owner's alone.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._path, 0o777 & ~mask)
        os.rename(self._path, self._target)
