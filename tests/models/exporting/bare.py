# SPDX-License-Identifier: Apache-2.0
"""Bare program files: what the hand-made graphs and layouts share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper, parser

from . import golden

Tensors = dict[str, torch.Tensor]


def parse(body: str, opset: int = 21, ir_version: int = 10) -> onnx.ModelProto:
    """A checked model from ONNX's text form of a graph."""
    header = f'<ir_version: {ir_version}, opset_import: ["" : {opset}]>\n'
    model = parser.parse_model(header + body)
    model.producer_name = "modelrun"
    return model


def weight(model: onnx.ModelProto, name: str, value: torch.Tensor) -> None:
    """Add an initializer."""
    array = numpy_helper.from_array(value.numpy(), name)
    model.graph.initializer.append(array)


class Bare:
    """Collects bare programs and their cases, and writes their index."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.entries: list[dict] = []

    def add(
        self,
        file: str,
        model: onnx.ModelProto,
        loads: bool = True,
        notes: str = "",
    ) -> None:
        """Write a program and list it; `loads`: ONNX Runtime takes it."""
        path = self.directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString(deterministic=True))
        self.list(file, loads, notes)

    def list(self, file: str, loads: bool = True, notes: str = "") -> None:
        """List a program that is already written."""
        entry = {"file": file, "loads": loads, "notes": notes, "cases": []}
        self.entries.append(entry)

    def case(
        self,
        name: str,
        inputs: Tensors,
        eager: Callable[..., Tensors],
        tolerance: float = 1e-6,
    ) -> Tensors:
        """Add a case to the last program, with what `eager` computes."""
        entry = self.entries[-1]
        stem = entry["file"].removesuffix(".onnx").replace("/", "-")
        outputs = eager(**inputs)
        listed: dict = {"name": name, "tolerance": tolerance}
        for side, tensors in (("inputs", inputs), ("outputs", outputs)):
            leaves: Tensors = {}
            tree = golden.describe(tensors, "", leaves)
            file = f"cases/{stem}.{name}.{side}.safetensors"
            golden.save(self.directory / file, leaves, {"tree": tree})
            listed[side] = file
        entry["cases"].append(listed)
        return outputs

    def write(self) -> None:
        text = json.dumps(self.entries, indent=1) + "\n"
        (self.directory / "index.json").write_text(text)
