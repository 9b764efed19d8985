# SPDX-License-Identifier: Apache-2.0
"""Keeps the talk of torch and of the converters out of a command's output."""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from typing import Iterator

LOUD = ("torch", "torch.onnx", "onnxscript", "onnx_ir", "transformers",
        "executorch", "nncf", "openvino", "root")


@contextlib.contextmanager
def quiet() -> "Iterator[None]":
    """Only errors are logged; what is printed is dropped."""
    loggers = [logging.getLogger(name) for name in LOUD]
    levels = [each.level for each in loggers]
    with warnings.catch_warnings(), open(os.devnull, "w",
                                         encoding="utf-8") as nowhere:
        warnings.simplefilter("ignore")
        for each in loggers:
            each.setLevel(logging.ERROR)
        try:
            with contextlib.redirect_stdout(nowhere):
                yield
        finally:
            for each, level in zip(loggers, levels):
                each.setLevel(level)
