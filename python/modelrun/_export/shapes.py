# SPDX-License-Identifier: Apache-2.0
"""Which axes of a program may change, as the exporters take it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import torch
from transformers.exporters.exporter_dynamo import is_cache_object
from transformers.exporters.utils import get_leaf_tensors
from transformers.utils import ModelOutput

from modelrun._export import sample as samples

# Rules map patterns of leaf paths to the names of the axes that may change.
# Axes of one name are one size; "name<=9" bounds it, and "*" leaves the axis
# to the exporter, which relates it to the others.
# Of flags that are no inputs: the exporter puts them in the config.
FLAGS = ("use_cache", "output_attentions", "output_hidden_states",
         "return_dict", "return_loss")
# ExecuTorch plans its memory for the largest batch.
MAX_BATCH = 8


def rules_for(model: torch.nn.Module, kwargs: "dict[str, Any]",
              export_format: str) -> "dict[str, dict[int, str]] | None":
    """The rules for a program that is traced with the kwargs; None where every
    axis is left to the exporter."""
    if "image_grid_thw" in kwargs or "inputs_embeds" in kwargs:
        return None
    limit = f"<={MAX_BATCH}" if export_format == "executorch" else ""
    batch, images = f"batch{limit}", f"images{limit}"
    if getattr(model, "_is_stateful", False):
        # Its scan is unrolled over the sequence, whose length is thus fixed.
        return {"*": {0: batch}}
    pixels, ids = kwargs.get("pixel_values"), kwargs.get("input_ids")
    paired = (pixels is None or ids is None
              or pixels.shape[0] == ids.shape[0])
    fixed = "input_features" in kwargs or _is_fixed_source(model)
    source: "dict[int, str]" = {0: batch} if fixed else {0: batch, 1: "*"}
    cross = {0: batch} if fixed else {0: batch, 2: "*"}
    return {
        "pixel_values": {0: batch if paired else images},
        "input_features": {0: batch},
        "past_key_values.cross_attention_cache.*": cross,
        "past_key_values.*": {0: batch, 2: "*"},
        "encoder_outputs.*": source,
        "*": {0: batch, 1: _length(model)},
    }


def _is_fixed_source(model: torch.nn.Module) -> bool:
    config = samples.config_of(model)
    return getattr(config, "max_source_positions", None) is not None


def _length(model: torch.nn.Module) -> str:
    limit = samples.max_length(model)
    if limit is None or samples.can_generate(
            model) or samples.is_encoder_decoder(model):
        return "*"
    return f"length<={limit}"


def dynamic_shapes(rules: "dict[str, dict[int, str]]",
                   kwargs: "dict[str, Any]") -> "dict[str, Any]":
    """The rules on these kwargs, in the exporter's form."""
    sizes: "dict[str, Any]" = {}
    return {name: _shape(value, name, rules, sizes)
            for name, value in kwargs.items() if name not in FLAGS}


def used(rules: "dict[str, dict[int, str]]",
         kwargs: "dict[str, Any]") -> "dict[str, dict[int, str]]":
    """The rules that apply to one of these kwargs' leaves."""
    paths = get_leaf_tensors(kwargs)
    patterns = {next(pattern for pattern in rules
                     if fnmatchcase(path, pattern)) for path in paths}
    return {pattern: axes for pattern, axes in rules.items()
            if pattern in patterns}


def axes_of(rules: "dict[str, dict[int, str]]", path: str) -> "dict[int, str]":
    """The axes of a leaf that may change, with their names."""
    for pattern, axes in rules.items():
        if fnmatchcase(path, pattern):
            return axes
    return {}


def _axes(leaf: torch.Tensor, path: str, rules: "dict[str, dict[int, str]]",
          sizes: "dict[str, Any]") -> "dict[int, Any]":
    # A sliding layer also has counters of rank 0.
    return {axis: sizes.setdefault(name, _size(name))
            for axis, name in axes_of(rules, path).items()
            if axis < leaf.dim()}


def _size(name: str) -> Any:
    if name == "*":
        return torch.export.Dim.AUTO
    name, _, limit = name.partition("<=")
    return torch.export.Dim(name, max=int(limit) if limit else None)


def _shape(value: Any, path: str, rules: "dict[str, dict[int, str]]",
           sizes: "dict[str, Any]") -> Any:
    if isinstance(value, torch.Tensor):
        return _axes(value, path, rules, sizes)
    if is_cache_object(value):
        return [_axes(leaf, f"{path}.{name}", rules, sizes)
                for name, leaf in get_leaf_tensors(value).items()]
    if isinstance(value, ModelOutput):
        return [_shape(child, f"{path}.{key}", rules, sizes)
                for key, child in value.items()]
    if isinstance(value, dict):
        return {key: _shape(child, f"{path}.{key}", rules, sizes)
                for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_shape(child, f"{path}.{index}", rules, sizes)
                           for index, child in enumerate(value))
    return None
