# SPDX-License-Identifier: Apache-2.0
"""Fixtures of small modules that stress the binding of leaves."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from transformers.utils import ModelOutput

from .fixture import Fixture


@dataclass
class OddOutput(ModelOutput):
    """Leaves of every kind, one of them an input as it came."""

    scores: torch.Tensor | None = None
    is_large: torch.Tensor | None = None
    number: int | None = None
    ratio: float | None = None
    absent: torch.Tensor | None = None
    flag: bool | None = None
    label: str | None = None
    sizes: tuple | None = None
    token_ids: torch.Tensor | None = None
    scores_again: torch.Tensor | None = None
    by_layer: dict[int, torch.Tensor] | None = None
    states: tuple | None = None
    total: torch.Tensor | None = None


class Oddities(torch.nn.Module):
    """Returns what a careless runner gets wrong."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, features, token_ids, keep):
        scores = self.linear(features)
        scores = torch.where(keep.unsqueeze(-1), scores, 0.0)
        return OddOutput(
            scores=scores,
            is_large=scores > 0.1,
            number=7,
            ratio=2.5,
            flag=True,
            label="odd",
            sizes=(3, 4),
            token_ids=token_ids,
            scores_again=scores,
            by_layer={0: scores * 2, 1: scores * 3},
            states=(features - 1, None, [features + 1, False]),
            total=scores.sum(),
        )


class Constants(torch.nn.Module):
    """Tensor kwargs with scalar ones between them."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(
        self,
        first: torch.Tensor,
        double: bool,
        second: torch.Tensor,
        times: int,
        mode: str,
        third: torch.Tensor,
        bias: Any = None,
        scale: float = 1.0,
    ):
        result = self.linear(first) - second * times
        if double:
            result = result * 2
        if mode == "add":
            result = result + third * scale
        return {"result": result if bias is None else result + bias}


class Counter(torch.nn.Module):
    """Changes buffers in each call, in place and as a whole."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("mean", torch.ones(4), persistent=False)

    def forward(self, features):
        self.calls.add_(1)
        self.mean = self.mean * 0.5 + features.mean(0)
        scaled = self.linear(features) * self.calls
        return {"scaled": scaled, "mean": self.mean, "calls": self.calls}


def oddities() -> torch.nn.Module:
    return Oddities().eval()


def constants() -> torch.nn.Module:
    return Constants().eval()


def counter() -> torch.nn.Module:
    return Counter().eval()


def counter_inputs(batch: int) -> dict:
    return {"features": torch.randn(batch, 4)}


def counter_cases(cases) -> None:
    # Each call begins with the buffers of the export.
    for name, batch in {"batch1": 1, "batch3": 3, "again": 3}.items():
        fresh = copy.deepcopy(cases.model)
        cases.run(name, counter_inputs(batch), source=fresh)


def odd_inputs(batch: int, length: int) -> dict:
    return {
        "features": torch.randn(batch, length, 4),
        "token_ids": torch.randint(0, 99, (batch, length)),
        "keep": torch.rand(batch, length) > 0.3,
    }


def odd_cases(cases) -> None:
    cases.run("batch1", odd_inputs(1, 1))
    cases.run("batch3", odd_inputs(3, 5))


def constant_inputs(batch: int) -> dict:
    return {
        "first": torch.randn(batch, 4),
        "double": True,
        "second": torch.randn(batch, 4),
        "times": 3,
        "mode": "add",
        "third": torch.randn(batch, 4),
        "bias": None,
        "scale": 0.5,
    }


def constant_cases(cases) -> None:
    cases.run("batch1", constant_inputs(1))
    shuffled = dict(reversed(constant_inputs(5).items()))
    cases.run("shuffled", shuffled)


FIXTURES = [
    Fixture(
        "oddities",
        oddities,
        lambda _: odd_inputs(2, 3),
        odd_cases,
        # ExecuTorch's emitter returns no strings.
        formats=("onnx", "openvino", "dynamo"),
        notes="outputs that are not tensors, bools, an input returned as is",
    ),
    Fixture(
        "constants",
        constants,
        lambda _: constant_inputs(2),
        constant_cases,
        notes="scalar kwargs between tensors; one case in another order",
    ),
    Fixture(
        "counter",
        counter,
        lambda _: counter_inputs(2),
        counter_cases,
        formats=("dynamo",),
        notes="changes its buffers; each call begins with those of the export",
    ),
]
