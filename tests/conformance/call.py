# SPDX-License-Identifier: Apache-2.0
"""Calls exports in a fresh process, by modelrun or by transformers' runner.

Both have the same class and the same call, so this is one program for both.
Reads jobs, one JSON object a line, and answers each with one line.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "models"))

import torch

from exporting import golden
from exporting.spec_tree import differences

RUNNERS = {"modelrun": "modelrun", "reference": "transformers.exporters"}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # What runtimes print is no answer.
    os.dup2(2, 1)
    torch.set_grad_enabled(False)
    runner = RUNNERS[sys.argv[1]]
    for line in sys.stdin:
        answers.write(json.dumps(answer(runner, json.loads(line))) + "\n")


def answer(runner: str, job: dict) -> dict:
    """How far each call of the job is from eager, or what went wrong."""
    # First: this imports the classes of outputs that are not transformers'.
    calls = torch.load(job["calls"], weights_only=False)
    exported_model = importlib.import_module(runner).ExportedModel
    try:
        model = exported_model.from_pretrained(job["export"], **job["options"])
    except Exception as error:
        return {"refused": shown(error)}
    try:
        return {"calls": compare_all(model, calls, runner == "modelrun")}
    except Exception as error:
        return {"error": shown(error)}


def shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:600]


def compare_all(model: Any, calls: list[dict], flags: bool) -> list[dict]:
    returned: dict[str, Any] = {}
    results = []
    for call in calls:
        component = model
        if len(model.components) > 1:
            component = model.runners[call["component"]]
        elif call["component"] not in model.components:
            continue
        outputs = run(component, call["kwargs"])
        results.append(compare(call, outputs))
        returned[call["name"]] = outputs
        if call["follows"]:
            # As generate does: with the cache that the call before returned.
            kwargs = fed_back(call["kwargs"], returned[call["follows"]])
            again = compare(call, run(component, kwargs))
            results.append(again | {"name": call["name"] + ", fed back"})
        if flags and len(results) == 1:
            results += with_flags(component, call)
    return results


def run(component: Any, kwargs: dict, **flags: bool) -> Any:
    return component(**copy.deepcopy(kwargs), **flags)


def fed_back(kwargs: dict, before: Any) -> dict:
    caches = {
        name: copy.deepcopy(before[name])
        for name, value in kwargs.items()
        if hasattr(value, "layers") or hasattr(value, "self_attention_cache")
        if name in before
    }
    return kwargs | caches


def with_flags(component: Any, call: dict) -> list[dict]:
    results = []
    for share_inputs in (True, False):
        for share_outputs in (True, False):
            flags = dict(share_inputs=share_inputs, share_outputs=share_outputs)
            for _ in range(2):
                result = compare(call, run(component, call["kwargs"], **flags))
                results.append(result | {"name": f"{call['name']}, {flags}"})
    return results


def described(outputs: Any, leaves: dict[str, torch.Tensor]) -> dict:
    """The tree of the outputs. Of a class that is not transformers', modelrun
    returns the fields and the name, and imports nothing."""
    if not hasattr(outputs, "class_name"):
        return golden.describe(outputs, "", leaves)
    fields = [[name, golden.describe(value, name, leaves)]
              for name, value in outputs.items()]
    return {"class": outputs.class_name, "fields": fields}


def compare(call: dict, outputs: Any) -> dict:
    """The largest difference from eager's outputs, and the smallest cosine."""
    leaves: dict[str, torch.Tensor] = {}
    tree = described(outputs, leaves)
    # What a trace fixed is its value, or the live one where it is computed.
    lines = min((differences(call[kind], tree) for kind in ("tree", "live")
                 if kind in call), key=len)
    max_abs, cosine = 0.0, 1.0
    for name, wanted in call["leaves"].items():
        got = leaves.get(name)
        if got is None:
            continue
        if (got.shape, got.dtype) != (wanted.shape, wanted.dtype):
            lines.append(f"{name}: {wanted.dtype}{list(wanted.shape)} against "
                         f"{got.dtype}{list(got.shape)}")
        elif not wanted.is_floating_point():
            if not torch.equal(wanted, got):
                lines.append(f"{name}: other {wanted.dtype} values")
        elif wanted.numel():
            a, b = wanted.double().flatten(), got.double().flatten()
            # An infinity is right where eager has the same one.
            kept = ~(a == b) | a.isfinite()
            a, b = a[kept], b[kept]
            difference = (a - b).abs().max().item() if a.numel() else 0.0
            max_abs = max(max_abs, float("inf") if difference != difference
                          else difference)
            if a.norm() > 0:
                cosine = min(cosine, torch.cosine_similarity(a, b, 0).item())
    return {"name": call["name"], "max_abs": max_abs, "cosine": cosine,
            "differences": lines[:3]}


if __name__ == "__main__":
    main()
