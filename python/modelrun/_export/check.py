# SPDX-License-Identifier: Apache-2.0
"""Compares a finished export with its source model."""

from __future__ import annotations

import copy
from typing import Any

import torch
from transformers.exporters.utils import get_leaf_tensors

from modelrun import _core
from modelrun._export import sample, shapes
from modelrun._export.trace import Traced, full_sliding_layers
from modelrun._model import ExportedModel

# Of an output's largest error, relative to its largest value.
TOLERANCES = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
# Of a quantized export: of the error's norm, relative to the output's.
QUANTIZED = 0.3


def tolerance(dtype: str, quantized: bool) -> "dict[str, Any]":
    """How far an output may be off, as `modelrun.json` records it."""
    if quantized:
        return {"measure": "norm", "relative": QUANTIZED}
    return {"measure": "maximum",
            "relative": TOLERANCES.get(dtype, TOLERANCES["float32"])}


def check(directory: str, components: "dict[str, Traced]",
          bound: "dict[str, Any]") -> float:
    """Loads the export with modelrun and calls each program as it was traced,
    and once with another batch. Returns the largest error; throws
    BackendError where one is above the bound."""
    try:
        model = ExportedModel.from_pretrained(directory)
    except _core.Error as error:
        raise _core.BackendError(
            f"the export cannot be checked, since it does not load here: "
            f"{error}; leave the check out to write it nonetheless"
        ) from error
    worst = 0.0
    for name, traced in components.items():
        program = model.component(name)
        worst = max(worst, _compare(name, program, traced.kwargs,
                                    traced.outputs, bound))
        other = _one_row(traced)
        if other is not None:
            with full_sliding_layers():
                outputs = sample.run_eager(traced.module, other)
            worst = max(worst, _compare(f"{name}, with a batch of 1", program,
                                        other, outputs, bound))
    return worst


def _one_row(traced: Traced) -> "dict[str, Any] | None":
    """The sample's first row alone, where its batch may change."""
    if traced.rules is None:
        return None
    row = {}
    for name, value in traced.kwargs.items():
        if isinstance(value, torch.Tensor) and value.dim():
            if 0 not in shapes.axes_of(traced.rules, name):
                return None
            row[name] = value[:1]
        elif value is None or isinstance(value, (bool, int, float, str)):
            row[name] = value
        else:
            return None
    return row


def _compare(name: str, program: ExportedModel, kwargs: "dict[str, Any]",
             wanted: Any, bound: "dict[str, Any]") -> float:
    inputs = {key: value for key, value in copy.deepcopy(kwargs).items()
              if key not in shapes.FLAGS}
    got = get_leaf_tensors(program(return_type="torch", **inputs))
    want = get_leaf_tensors(wanted)
    if got.keys() != want.keys():
        raise _core.BackendError(
            f"the export is wrong: component '{name}' returns {sorted(got)}, "
            f"and the source model {sorted(want)}")
    worst = 0.0
    for path, leaf in want.items():
        error = _error(got[path], leaf, bound["measure"])
        if not error <= bound["relative"]:
            raise _core.BackendError(
                f"the export is wrong: component '{name}': output '{path}' "
                f"is off by {error:.2g} of its {bound['measure']}, more than "
                f"{bound['relative']:g}")
        worst = max(worst, error)
    return worst


def _error(got: torch.Tensor, want: torch.Tensor, measure: str) -> float:
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.numel() == 0 or torch.equal(got, want):
        return 0.0
    got, want = got.double(), want.double()
    # Where torch has no number or an infinite one, so must the export.
    same = torch.isclose(got, want, equal_nan=True)
    difference = torch.where(same, 0.0, got - want)
    size = torch.where(want.isfinite(), want, 0.0)
    if measure == "norm":
        return float(difference.norm() / size.norm().clamp(min=1e-6))
    return float(difference.abs().max() / size.abs().max().clamp(min=1.0))
