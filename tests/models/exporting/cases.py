# SPDX-License-Identifier: Apache-2.0
"""Runs the eager source model on the calls that a fixture is tested on."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers.exporters.utils import _capture_forward

from . import golden


@dataclass(frozen=True)
class Case:
    """One call: its kwargs and what the eager model returned for them."""

    name: str
    component: str
    kwargs: dict
    outputs: Any
    follows: str | None


def run_eager(module: torch.nn.Module, kwargs: dict) -> Any:
    """Call `module` on a copy of `kwargs`, which it may write to."""
    with torch.no_grad():
        return module(**copy.deepcopy(kwargs))


class Cases:
    """Collects the cases of one fixture, by running its eager model."""

    def __init__(self, model: torch.nn.Module):
        self.model = model
        self.cases: list[Case] = []

    def run(
        self,
        name: str,
        kwargs: dict,
        component: str = "model",
        follows: str | None = None,
        source: torch.nn.Module | None = None,
    ) -> Any:
        """Add a case: `source` (the model) called with `kwargs`."""
        outputs = run_eager(source or self.model, kwargs)
        case = Case(name, component, copy.deepcopy(kwargs), outputs, follows)
        self.cases.append(case)
        return outputs

    def generate(self, name: str, kwargs: dict, steps: int, config=None):
        """Add the calls that a greedy generate of `steps` tokens makes.

        The first is for the `prefill` component, the others for `decode`,
        each fed with the cache that the call before it returned.
        """
        calls = captured_calls(self.model, kwargs, steps, config)
        before = None
        for index, call in enumerate(calls):
            component = "decode" if index else "prefill"
            case = f"{name}-{component}{index or ''}"
            self.run(case, call, component, before)
            before = case

    def write(self, directory: Path, baked: dict[str, dict]) -> list[dict]:
        """Write the goldens under `directory`; returns their index entries."""
        return [
            _write_case(case, directory, baked.get(case.component, {}))
            for case in self.cases
        ]


def captured_calls(model, kwargs: dict, steps: int, config=None) -> list[dict]:
    """The forward kwargs of each step of a greedy generate."""
    config = copy.deepcopy(config or model.generation_config)
    config.max_new_tokens = config.min_new_tokens = steps
    with _capture_forward(model) as calls, torch.no_grad():
        model.generate(**copy.deepcopy(kwargs), generation_config=config)
    for call in calls:
        # A hint of generate: the exports always return every logit.
        call.pop("logits_to_keep", None)
    return calls


def _write_case(case: Case, directory: Path, traced: dict) -> dict:
    leaves: dict[str, torch.Tensor] = {}
    tree = golden.describe(case.kwargs, "", leaves)
    constants = {
        name: node["value"] for name, node in tree["items"] if "value" in node
    }
    record = {
        "component": case.component,
        "constants": constants,
        "follows": case.follows,
        "tree": tree,
    }
    inputs = directory / "cases" / f"{case.name}.inputs.safetensors"
    golden.save(inputs, leaves, record)

    leaves = {}
    tree = golden.describe(case.outputs, "", leaves)
    live = golden.bake(tree, traced)
    record = {"component": case.component, "baked": live, "tree": tree}
    outputs = directory / "cases" / f"{case.name}.outputs.safetensors"
    golden.save(outputs, leaves, record)
    return {
        "name": case.name,
        "component": case.component,
        "inputs": inputs,
        "outputs": outputs,
        "follows": case.follows,
    }
