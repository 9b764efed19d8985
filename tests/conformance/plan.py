# SPDX-License-Identifier: Apache-2.0
"""What the suite exports: families, their fixtures, and how close is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import models
from exporting.all import FIXTURES
from exporting.fixture import Fixture

# Absolute, in float32, on every backend: the sum of a few hundred roundings
# in another order.
FLOAT32 = 1e-4

# In 16 bits, of how far eager itself is there from eager in float32: two ways
# of rounding that are both that far from the exact result are at most twice as
# far from each other.
LOSS_16 = 2.0

# The step between neighbours in bfloat16, relative to them.
STEP_16 = 2.0**-7

# ExecuTorch is exported for phones: Llama and BERT show that it runs.
WITH_EXECUTORCH = (*models.ALL, "executorch")

# What reads a format besides its own runtime.
ALSO = {"onnx": ("openvino",)}


@dataclass(frozen=True)
class Row:
    family: str
    fixture: Fixture
    # Whether it is part of what every commit is checked with.
    ci: bool = False


# The exporter widens the ports of a 16-bit graph, which returns float32 where
# the source model returns bfloat16.
WIDENED = "transformers' exporter writes float32 ports for it"


def _row(family: str, fixture: Fixture, ci: bool = False) -> Row:
    if fixture.dtype == "bfloat16":
        not_run = fixture.not_run | {"openvino": WIDENED}
        fixture = replace(fixture, not_run=not_run)
    return Row(family, fixture, ci)


def _rows(family: str, *names: str, formats=models.ALL) -> list[Row]:
    """Rows of committed fixtures; a `+` before the name: for every commit."""
    by_name = {fixture.name: fixture for fixture in FIXTURES}
    rows = []
    for name in names:
        fixture = by_name[name.removeprefix("+")]
        kept = tuple(f for f in formats if f in fixture.formats)
        fixture = replace(fixture, formats=kept)
        rows.append(_row(family, fixture, name[0] == "+"))
    return rows


ROWS = [
    *_rows("BERT", "+bert", formats=WITH_EXECUTORCH),
    *_rows("BERT", "bert-static", formats=WITH_EXECUTORCH),
    *_rows("BERT", "bert-token-types", "bert-hidden-states", "bert-bf16"),
    *_rows("Llama", "+llama-generation", "llama", "llama-decode"),
    *_rows("Llama", "+llama-generation-bf16"),
    *_rows("Llama", "llama-static-cache", formats=WITH_EXECUTORCH),
    *_rows("T5", "t5", "+t5-generation", "t5-encoder"),
    *_rows("Gemma3", "gemma3", "+gemma3-generation"),
    *_rows("Qwen2-VL", "+qwen2-vl", "qwen2-vl-static"),
    *_rows("CLIP", "+clip", "clip-static", "clip-vision", "clip-vision-bf16"),
    *_rows("Whisper", "whisper", "+whisper-generation", "whisper-encoder"),
    *_rows("Mamba", "+mamba-generation"),
    _row("MiniLM", models.MINILM, ci=True),
    *_rows("Special", "+oddities", "constants", "llama-empty-cache"),
    *[_row("Special", fixture) for fixture in models.SPECIAL],
]
