# SPDX-License-Identifier: Apache-2.0
"""Fixtures of small modules for what ExecuTorch alone does."""

from __future__ import annotations

import copy

import torch

from . import text
from .fixture import Fixture


class RunningTotal(torch.nn.Module):
    """Adds what it is given to buffers, and reads them before and after."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("rows", torch.zeros(1, dtype=torch.int64))

    def forward(self, values: torch.Tensor):
        before = self.total.clone()
        self.total.add_(values.sum(0))
        self.rows.add_(values.shape[0])
        return {
            "before": before,
            "scaled": values * self.total,
            "rows": self.rows.clone(),
        }


class TinyAdd(torch.nn.Module):
    """The least that a call can do."""

    def forward(self, a: torch.Tensor, b: torch.Tensor):
        return {"sum": a + b}


class Kinds(torch.nn.Module):
    """Returns values of every kind that ExecuTorch can, an input among them."""

    def forward(self, scores: torch.Tensor, token_ids: torch.Tensor):
        return {
            "is_large": scores > 0.1,
            "rows": scores.shape[0],
            "number": 7,
            "ratio": 2.5,
            "flag": True,
            "absent": None,
            "token_ids": token_ids,
            "sizes": (scores.shape[0] * 2, 4),
            "doubled": scores * 2,
        }


def running_total() -> torch.nn.Module:
    return RunningTotal().eval()


def tiny_add() -> torch.nn.Module:
    return TinyAdd().eval()


def kinds() -> torch.nn.Module:
    return Kinds().eval()


def kinds_inputs(batch: int) -> dict:
    return {
        "scores": torch.randn(batch, 4),
        "token_ids": torch.randint(0, 99, (batch, 4)),
    }


def kinds_cases(cases) -> None:
    cases.run("batch1", kinds_inputs(1))
    cases.run("batch3", kinds_inputs(3))


def kinds_shapes(_: dict) -> dict:
    batch = torch.export.Dim("batch", min=1, max=8)
    return {"scores": {0: batch}, "token_ids": {0: batch}}


def inputs(batch: int) -> dict:
    return {"values": torch.randn(batch, 4)}


def cases(cases) -> None:
    # Each call begins with the buffers of the export.
    for name, batch in {"batch1": 1, "batch3": 3, "again": 3}.items():
        cases.run(name, inputs(batch), source=copy.deepcopy(cases.model))


def add_inputs() -> dict:
    return {"a": torch.randn(1, 4), "b": torch.randn(1, 4)}


def llama_inputs(*padding: int) -> dict:
    inputs = text.text_inputs(2, 8, *padding, left=True)
    return inputs | {"use_cache": False}


def llama_cases(cases) -> None:
    cases.run("full", llama_inputs())
    cases.run("left-padded", llama_inputs(0, 3))


def shapes(_: dict) -> dict:
    return {"values": {0: torch.export.Dim("batch", min=1, max=8)}}


FIXTURES = [
    Fixture(
        "running-total",
        running_total,
        lambda _: inputs(2),
        cases,
        formats=("executorch",),
        shapes=shapes,
        notes="writes to its buffers, which are zero at first",
    ),
    Fixture(
        "kinds",
        kinds,
        lambda _: kinds_inputs(2),
        kinds_cases,
        formats=("executorch",),
        shapes=kinds_shapes,
        notes="bools, sizes, constants and an input among the outputs",
    ),
    Fixture(
        "tiny-add",
        tiny_add,
        lambda _: add_inputs(),
        lambda cases: cases.run("traced-shape", add_inputs()),
        formats=("executorch",),
        dynamic=False,
        notes="what a call costs above the runtime's own",
    ),
    text.llama_fixture(
        "llama-static",
        sample=lambda _: llama_inputs(0, 2),
        cases=llama_cases,
        formats=("executorch",),
        dynamic=False,
        notes="no cache in or out, one shape",
    ),
]
