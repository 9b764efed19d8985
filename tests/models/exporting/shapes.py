# SPDX-License-Identifier: Apache-2.0
"""Explicit dynamic shapes, from patterns over leaf paths."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import torch
from transformers.exporters.exporter_dynamo import is_cache_object
from transformers.exporters.utils import _OUTPUT_FLAGS, get_leaf_tensors
from transformers.utils import ModelOutput

Rules = dict[str, dict[int, str]]


def explicit_shapes(rules: Rules) -> Callable[[dict], dict]:
    """From `{pattern of leaf paths: {axis: name}}` to the exporter's shapes.

    Axes of one name are one dimension. An axis that no rule names is static.
    """

    def shapes(kwargs: dict) -> dict:
        dims: dict[str, Any] = {}
        return {
            name: _shape_of(value, name, rules, dims)
            for name, value in kwargs.items()
            if name not in _OUTPUT_FLAGS
        }

    return shapes


def _axes(
    path: str, leaf: torch.Tensor, rules: Rules, dims: dict
) -> dict[int, Any]:
    for pattern, axes in rules.items():
        if fnmatchcase(path, pattern):
            return {
                axis: dims.setdefault(name, _dimension(name))
                for axis, name in axes.items()
                # A sliding layer also has counters of rank 0.
                if axis < leaf.dim()
            }
    return {}


def _dimension(name: str) -> Any:
    # `*` leaves the axis to the exporter, which relates it to the others;
    # `name<=9` bounds it.
    if name == "*":
        return torch.export.Dim.AUTO
    name, _, limit = name.partition("<=")
    return torch.export.Dim(name, max=int(limit) if limit else None)


def _shape_of(value: Any, path: str, rules: Rules, dims: dict) -> Any:
    if isinstance(value, torch.Tensor):
        return _axes(path, value, rules, dims)
    if is_cache_object(value):
        return [
            _axes(f"{path}.{name}", leaf, rules, dims)
            for name, leaf in get_leaf_tensors(value).items()
        ]
    if isinstance(value, ModelOutput):
        return [
            _shape_of(child, f"{path}.{key}", rules, dims)
            for key, child in value.items()
        ]
    if isinstance(value, dict):
        return {
            key: _shape_of(child, f"{path}.{key}", rules, dims)
            for key, child in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(
            _shape_of(child, f"{path}.{index}", rules, dims)
            for index, child in enumerate(value)
        )
    return None
