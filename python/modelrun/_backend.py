# SPDX-License-Identifier: Apache-2.0
"""Backends that are written in Python."""

from __future__ import annotations

from modelrun import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence


class Runner:
    """One loaded program of a backend that is written in Python.

    A runner class is made with the program's path, and with the options that a
    caller gives, of those that `options` names. `inputs` and `outputs` are
    `(name, dtype, shape)` each, where a size is an integer, a symbol that
    several axes share, or None. Everything else is modelrun's: matching kwargs
    with inputs, the checks, and the outputs' structure.

    It need not derive from this class.
    """

    options: "tuple[str, ...]" = ()
    device: str = "cpu"
    inputs: "Sequence[tuple[str, str, Sequence[Any]]]"
    outputs: "Sequence[tuple[str, str, Sequence[Any]]]"

    def __init__(self, program: str, **options: Any) -> None:
        raise NotImplementedError

    def run(self, inputs: "dict[str, _core.Tensor]") -> Any:
        """The outputs, as arrays by their names or in their order. Called by
        several threads at a time, each in calls of its own."""
        raise NotImplementedError


def register_backend(name: str, runner_class: "type[Any]",
                     formats: "Iterable[str] | None" = None) -> None:
    """Adds a backend that is written in Python, for exports of the given
    formats, or of a format of its own name.

    It becomes the default of a format that has none, and runs others where
    `backend=name` is asked for.
    """
    _core.register_backend(name, runner_class,
                           [name] if formats is None else list(formats))
