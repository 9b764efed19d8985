# SPDX-License-Identifier: Apache-2.0
"""What a program of an export takes and returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Port(NamedTuple):
    """An input or output of a program, as its runtime declares it."""

    name: str
    dtype: "str | None"
    # A number, a symbol or expression ("s36 + 1"), or "?", for each axis.
    shape: "tuple[str, ...]"


class Program(NamedTuple):
    """One program of an export: its file, and its signature."""

    name: str
    path: str
    architecture: str
    packages: "dict[str, str]"
    inputs: "tuple[Port, ...]"
    outputs: "tuple[Port, ...]"
    # The source model's kwargs that it was traced with; those that are part of
    # the program, with their values.
    kwargs: "tuple[str, ...]"
    constants: "dict[str, Any]"
    # Drawings of the nested kwargs and outputs; None when unrecorded.
    input_structure: "str | None"
    output_structure: "str | None"

    @classmethod
    def _from_description(cls, description: "dict[str, Any]") -> Program:
        ports = {key: tuple(Port(*port) for port in description[key])
                 for key in ("inputs", "outputs")}
        return cls(**{**description, **ports,
                      "kwargs": tuple(description["kwargs"])})
