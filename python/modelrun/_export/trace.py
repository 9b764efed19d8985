# SPDX-License-Identifier: Apache-2.0
"""Runs transformers' exporter, and notes what each program was traced with."""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.exporters.auto import AutoExportConfig, get_exporter_class
from transformers.exporters.utils import (
    decompose_for_generation,
    decompose_multimodal,
    is_multimodal,
    patch_attributes,
)

from modelrun import _core, _precomputed
from modelrun._export import quantizers, sample, shapes
from modelrun._export.source import first_line


@dataclass
class Traced:
    """One program's module, its kwargs and what the eager module returns;
    `precomputed` has the kwargs that the exporter adds, with those that they
    are computed from."""

    module: torch.nn.Module
    kwargs: "dict[str, Any]"
    outputs: Any
    precomputed: "dict[str, list[str]]"
    rules: "dict[str, dict[int, str]] | None" = None


@dataclass
class Options:
    """How an export is made, as `modelrun.export` was asked."""

    export_format: str
    dynamic: bool
    generation: bool
    quantize: "str | None"
    exporter: "dict[str, Any]" = field(default_factory=dict)


def trace(model: torch.nn.Module, kwargs: "dict[str, Any]",
          options: Options) -> "tuple[Any, dict[str, Traced]]":
    """The exporter's result, and what its programs were traced with. Sizes
    are named where that traces, and left to the exporter otherwise."""
    try:
        exporter = get_exporter_class(options.export_format)()
    except ImportError as error:
        raise _core.Unsupported(
            f"cannot export to {options.export_format}: {first_line(error)}"
        ) from error
    components = components_of(model, kwargs, options)
    if not options.dynamic:
        return _run(exporter, model, kwargs, components, options), components
    for name, traced in components.items():
        traced.rules = shapes.rules_for(traced.module, traced.kwargs,
                                        options.export_format)
    named = any(traced.rules is not None for traced in components.values())
    try:
        return _run(exporter, model, kwargs, components, options), components
    except _core.Unsupported as error:
        if not named:
            raise
        logging.getLogger("modelrun").info(
            "tracing again with every size left to the exporter: %s", error)
    for traced in components.values():
        traced.rules = None
    return _run(exporter, model, kwargs, components, options), components


def components_of(model: torch.nn.Module, kwargs: "dict[str, Any]",
                  options: Options) -> "dict[str, Traced]":
    """The programs that an export has, with what the eager model returns."""
    if not options.generation:
        return {"model": _traced(model, kwargs)}
    try:
        parts = decompose_for_generation(
            model, copy.deepcopy(kwargs), **_generation(model, options))
    except Exception as error:
        raise _core.Unsupported(
            f"{type(model).__name__} cannot be taken apart for generation: "
            f"{first_line(error)}") from error
    return {name: _traced(module, part)
            for name, (module, part) in parts.items()}


def encoders_of(
    model: torch.nn.Module, kwargs: "dict[str, Any]", made: Any
) -> "dict[str, tuple[torch.nn.Module, dict[str, Any]]]":
    """The encoders that generate calls before the programs that were made,
    with their inputs: they become exports of their own."""
    if sample.is_encoder_decoder(model):
        encoder: Any = getattr(model, "get_encoder")()
        return {"encoder": (encoder, sample.taken_by(encoder, kwargs))}
    if not is_multimodal(model):
        return {}
    parts = decompose_multimodal(model, copy.deepcopy(kwargs))
    return {name: part for name, part in parts.items()
            if name.endswith("_encoder") and name not in made}


def _generation(model: torch.nn.Module, options: Options) -> "dict[str, Any]":
    # A decode of one token only where the length is fixed in any case.
    several = options.dynamic and not getattr(model, "_is_stateful", False)
    return {"multi_token_decode": several}


def _traced(module: torch.nn.Module, kwargs: "dict[str, Any]") -> Traced:
    kwargs = copy.deepcopy(kwargs)
    precomputed = _precomputed.precompute(module, kwargs)
    with full_sliding_layers():
        outputs = sample.check_sample(module, kwargs)
    return Traced(module, kwargs, outputs, precomputed)


def full_sliding_layers() -> Any:
    """Lets sliding layers keep every position, as the exporter traces them;
    the mask applies the window either way."""
    names = ("update", "get_mask_sizes", "get_seq_length")
    return patch_attributes([
        (DynamicSlidingWindowLayer, name,
         lambda method: getattr(DynamicLayer, method.__name__))
        for name in names])


def _run(exporter: Any, model: torch.nn.Module, kwargs: "dict[str, Any]",
         components: "dict[str, Traced]", options: Options) -> Any:
    configs = {name: _config(traced, options)
               for name, traced in components.items()}
    try:
        if options.generation:
            return exporter.export_for_generation(
                model, copy.deepcopy(kwargs), configs,
                **_generation(model, options))
        traced = components["model"]
        return exporter.export(model, copy.deepcopy(traced.kwargs),
                               configs["model"])
    except Exception as error:  # of any kind: torch's, the runtime's own
        raise _core.Unsupported(
            f"{type(model).__name__} cannot be exported to "
            f"{options.export_format}: {first_line(error)}") from error


def _config(traced: Traced, options: Options) -> Any:
    values = {"export_format": options.export_format,
              "dynamic": options.dynamic, **options.exporter}
    if traced.rules is not None:
        values["dynamic_shapes"] = shapes.dynamic_shapes(traced.rules,
                                                         traced.kwargs)
    if options.quantize:
        values["quantizer"] = quantizers.quantizer(options.quantize,
                                                   options.export_format)
    try:
        return AutoExportConfig.from_dict(values)
    except (TypeError, ValueError) as error:
        raise _core.InvalidArgument(
            f"the exporter to {options.export_format} does not take these "
            f"options: {first_line(error)}") from error
