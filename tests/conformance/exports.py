# SPDX-License-Identifier: Apache-2.0
"""Exports a row afresh and keeps what eager returned for its calls."""

from __future__ import annotations

import copy
import shutil
import traceback
from pathlib import Path
from typing import Any

import torch

import plan
from exporting import golden
from exporting.cases import Cases, run_eager
from exporting.writing import export, source_model, write


def make(row: plan.Row, root: Path) -> dict[str, str]:
    """Write `root/<name>/<format>` and `root/<name>/calls.pt`.

    Returns, by format, why it was not exported; empty where it was.
    """
    fixture = row.fixture
    folder = root / fixture.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases = Cases(source_model(fixture))
    torch.manual_seed(2)
    fixture.cases(cases)
    calls = [call_record(case, fixture) for case in cases.cases]
    torch.save(calls, folder / "calls.pt")
    return {name: _export(fixture, name, folder) for name in fixture.formats}


def _export(fixture, export_format: str, folder: Path) -> str:
    try:
        write(export(fixture, export_format), folder / export_format)
    except Exception as error:
        traceback.print_exc()
        shutil.rmtree(folder / export_format, ignore_errors=True)
        return str(error).strip().splitlines()[0][:160] or repr(error)
    return ""


def call_record(case, fixture) -> dict[str, Any]:
    """One call: kwargs, eager's outputs, and how far from them is right."""
    leaves: dict[str, torch.Tensor] = {}
    tree = golden.describe(case.outputs, "", leaves)
    live = copy.deepcopy(tree)
    golden.bake(tree, fixture.baked.get(case.component, {}))
    return {
        "name": case.name,
        "component": case.component,
        "follows": case.follows,
        "kwargs": case.kwargs,
        "leaves": leaves,
        "tree": tree,
        "live": live,
    }


def bound_16(row: plan.Row) -> float:
    """How far outputs in 16 bits may be from eager's, over all calls: by how
    far eager in 16 bits is from itself in 32, and a step of the largest output.

    The same weights and inputs, widened: what is left is the rounding of the
    computation in 16 bits.
    """
    fixture = row.fixture
    model = source_model(fixture)
    wide = copy.deepcopy(model).float()
    cases = Cases(model)
    torch.manual_seed(2)
    fixture.cases(cases)
    worst, largest = 0.0, 0.0
    for case in cases.cases:
        outputs = described(run_eager(wide, widened(case.kwargs)))
        worst = max(worst, far(described(case.outputs), outputs))
        zeros = {name: value * 0 for name, value in outputs.items()}
        largest = max(largest, far(outputs, zeros))
    return plan.LOSS_16 * worst + plan.STEP_16 * largest


def described(outputs: Any) -> dict[str, torch.Tensor]:
    leaves: dict[str, torch.Tensor] = {}
    golden.describe(outputs, "", leaves)
    return leaves


def far(ours: dict, theirs: dict) -> float:
    pairs = [(ours[name], theirs[name]) for name in ours if name in theirs]
    return max(
        (
            (a.double() - b.double()).abs().max().item()
            for a, b in pairs
            if a.is_floating_point() and a.numel()
        ),
        default=0.0,
    )


def widened(value: Any) -> Any:
    """A copy of kwargs, caches included, with every float in 32 bits."""
    if isinstance(value, torch.Tensor):
        return value.float() if value.is_floating_point() else value.clone()
    if isinstance(value, dict):
        return type(value)({k: widened(v) for k, v in value.items()})
    if isinstance(value, (tuple, list)):
        return type(value)(widened(v) for v in value)
    if hasattr(value, "__dict__"):
        wide = copy.copy(value)
        for name, attribute in vars(value).items():
            if attribute is torch.bfloat16 or attribute is torch.float16:
                attribute = torch.float32
            setattr(wide, name, widened(attribute))
        return wide
    return value
