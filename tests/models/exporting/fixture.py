# SPDX-License-Identifier: Apache-2.0
"""What one fixture is, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FORMATS = ("onnx", "openvino", "dynamo", "executorch")

# Absolute tolerances against the eager model, by the export's precision.
TOLERANCES = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}


@dataclass(frozen=True)
class Fixture:
    """One source model, the ways it is exported, and the calls it is tested on.

    `sample` gives forward kwargs, or generate kwargs where `generation`.
    `shapes` gives explicit dynamic shapes from a component's traced kwargs;
    without it a dynamic export leaves every axis to the exporter. `baked` has,
    by component, the attributes that a program returns as traced. `not_run`
    says why a format's own runtime cannot run the export on a CPU;
    `format_tolerance` has the formats that compute something else.
    """

    name: str
    build: Callable[[], Any]
    sample: Callable[[Any], dict]
    cases: Callable[[Any], None]
    formats: tuple[str, ...] = FORMATS
    dtype: str = "float32"
    dynamic: bool = True
    shapes: Callable[[dict], dict] | None = None
    generation: bool = False
    multi_token: bool = True
    generation_config: Callable[[], Any] | None = None
    options: dict[str, dict] = field(default_factory=dict)
    quantizer: Callable[[], Any] | None = None
    baked: dict[str, dict] = field(default_factory=dict)
    tolerance: float | None = None
    format_tolerance: dict[str, float] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    notes: str = ""

    def bound(self, export_format: str) -> float:
        """The absolute tolerance that its outputs are compared with."""
        if export_format in self.format_tolerance:
            return self.format_tolerance[export_format]
        if self.tolerance is not None:
            return self.tolerance
        return TOLERANCES[self.dtype]
