# SPDX-License-Identifier: Apache-2.0
"""Fixtures of Gemma3, whose sliding layers the exporter traces as full."""

from __future__ import annotations

from contextlib import contextmanager

import torch
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.exporters.utils import patch_attributes

from . import sources
from .cases import captured_calls, run_eager
from .fixture import Fixture
from .text import (
    GENERATION_SHAPES,
    generation_cases,
    text_inputs,
    without_cache_cases,
)


@contextmanager
def full_sliding_layers():
    """Let sliding layers keep every position, as in the exported programs.

    The exporter traces them so, and the mask still applies the window.
    """

    def full(method):
        return getattr(DynamicLayer, method.__name__)

    names = ("update", "get_mask_sizes", "get_seq_length")
    patches = [(DynamicSlidingWindowLayer, name, full) for name in names]
    with patch_attributes(patches):
        yield


def sliding_cases(cases) -> None:
    """Steps past the window, checked against the model as it is."""
    with full_sliding_layers():
        generation_cases(cases)
        inputs = text_inputs(2, 12, 3, 0, left=True)
        cases.generate("past-window", inputs, 5)
        calls = captured_calls(cases.model, inputs, 5)
        full = [run_eager(cases.model, call).logits for call in calls]
    calls = captured_calls(cases.model, inputs, 5)
    for call, logits in zip(calls, full, strict=True):
        own = run_eager(cases.model, call).logits
        torch.testing.assert_close(logits[:, -1], own[:, -1])


FIXTURES = [
    Fixture(
        "gemma3",
        sources.gemma3,
        lambda _: text_inputs(2, 7, 2, 0, left=True) | {"use_cache": False},
        without_cache_cases,
        notes="sliding window of 8, no cache",
    ),
    Fixture(
        "gemma3-generation",
        sources.gemma3,
        lambda _: text_inputs(2, 7, 2, 0, left=True),
        sliding_cases,
        shapes=GENERATION_SHAPES,
        generation=True,
        baked={"decode": {"cumulative_length": 7}},
        # XNNPACK computes the exact gelu where the model has tanh's.
        format_tolerance={"executorch": 2e-3},
        notes="sliding window of 8; its cache keeps every position",
    ),
]
