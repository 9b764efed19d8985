# SPDX-License-Identifier: Apache-2.0
"""Makes exports: a thin layer over transformers' exporters."""

from __future__ import annotations

import os

from modelrun import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def export(
    model_or_path: Any,
    output: "str | os.PathLike[str]",
    *,
    format: str = "onnx",
    dynamic: bool = True,
    dtype: "str | None" = None,
    task: "str | None" = None,
    generation: bool = False,
    quantize: "str | None" = None,
    processor: Any = None,
    sample_inputs: "dict[str, Any] | None" = None,
    check: bool = True,
    progress: "Callable[[str], None] | None" = None,
    **exporter_options: Any,
) -> "dict[str, Any]":
    """Exports a model to a new directory, and returns its `modelrun.json`.

    `model_or_path` is a checkpoint's directory, a repository of the Hub, or a
    model in memory. `dynamic` lets batch and length change. `generation`
    exports the programs that generate calls, and the encoder of an
    encoder-decoder in the subfolder 'encoder'. `sample_inputs` are kwargs to
    trace with, in place of those that are made from the model's config and
    `processor`. `check` loads the export and compares it with the source
    model. `exporter_options` go to the exporter's config, such as
    `opset_version`, `ort_fusions` or `stateful`.

    Nothing is left behind when it fails. Needs torch and transformers.
    """
    try:
        from modelrun._export import making, trace
    except ImportError as error:
        raise _core.Unsupported(
            f"cannot export models: {error}; install what is missing with "
            "'pip install modelrun[export]'") from error
    return making.make_export(
        making.Request(model_or_path, os.fspath(output), dtype, task,
                       processor, sample_inputs, check,
                       progress or (lambda text: None)),
        trace.Options(format, dynamic, generation, quantize,
                      exporter_options))
