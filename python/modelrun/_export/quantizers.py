# SPDX-License-Identifier: Apache-2.0
"""The quantizers that an export is asked for by name."""

from __future__ import annotations

from typing import Any

from modelrun import _core

NAMES = {"onnx": ("int8-dynamic", "int8-weights"),
         "openvino": ("int8-weights",),
         "dynamo": ("int8-dynamic",), "executorch": ("int8-dynamic",)}


def check_name(name: str, export_format: str) -> None:
    if name not in NAMES[export_format]:
        raise _core.InvalidArgument(
            f"format {export_format!r} has no quantization {name!r}: expected "
            f"{', '.join(map(repr, NAMES[export_format]))}")


def quantizer(name: str, export_format: str) -> Any:
    """The exporter's quantizer: of weights and, while it runs, activations
    ('int8-dynamic'), or of the stored weights alone ('int8-weights')."""
    from transformers import exporters

    if export_format in ("dynamo", "executorch"):
        return _xnnpack()
    if name == "int8-dynamic":
        return exporters.OnnxRuntimeQuantizer(
            exporters.OnnxRuntimeDynamicConfig())
    kind = (exporters.NNCFOpenVINOQuantizer if export_format == "openvino"
            else exporters.NNCFOnnxQuantizer)
    return kind(exporters.NNCFWeightCompressionConfig())


def _xnnpack() -> Any:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from transformers import exporters

    chosen = XNNPACKQuantizer()
    chosen.set_global(get_symmetric_quantization_config(is_dynamic=True))
    return exporters.PT2EQuantizer(chosen)
