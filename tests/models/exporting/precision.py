# SPDX-License-Identifier: Apache-2.0
"""The same sources in 16 bits, quantized, and fused for ONNX Runtime."""

from __future__ import annotations

from dataclasses import replace

from transformers.exporters import (
    NNCFOnnxQuantizer,
    NNCFOpenVINOQuantizer,
    NNCFWeightCompressionConfig,
    OnnxRuntimeDynamicConfig,
    OnnxRuntimeQuantizer,
    OnnxRuntimeStaticConfig,
    PT2EQuantizer,
)

from . import encoder_decoder, text, vision
from .fixture import Fixture

NO_EXECUTORCH = ("onnx", "openvino", "dynamo")
NO_BF16 = "ONNX Runtime's CPU provider has no bfloat16 kernels"


def named(fixtures: list[Fixture], name: str) -> Fixture:
    return next(fixture for fixture in fixtures if fixture.name == name)


BERT = named(text.FIXTURES, "bert")
LLAMA_DECODE = named(text.FIXTURES, "llama-decode")
LLAMA_STATIC_CACHE = named(text.FIXTURES, "llama-static-cache")
LLAMA_GENERATION = named(text.FIXTURES, "llama-generation")
T5_ENCODER = named(encoder_decoder.FIXTURES, "t5-encoder")
CLIP_VISION = named(vision.FIXTURES, "clip-vision")


def half(fixture: Fixture, **changes) -> Fixture:
    name = f"{fixture.name}-f16"
    return replace(fixture, name=name, dtype="float16", **changes)


def brain(fixture: Fixture, **changes) -> Fixture:
    return replace(
        fixture,
        name=f"{fixture.name}-bf16",
        dtype="bfloat16",
        not_run={"onnx": NO_BF16},
        **changes,
    )


def fused(fixture: Fixture) -> Fixture:
    return replace(
        fixture,
        name=f"{fixture.name}-fused",
        formats=("onnx",),
        options={"onnx": {"ort_fusions": "cpu"}},
        notes="com.microsoft operators",
    )


def int8_dynamic():
    return OnnxRuntimeQuantizer(OnnxRuntimeDynamicConfig())


def int8_static():
    samples = [text.text_inputs(4, 16, 0, 3, 6, 9) for _ in range(8)]
    # One token alone attends to itself: values that no other length has.
    samples += [text.text_inputs(4, 1) for _ in range(8)]
    # The additive mask's huge values would take the whole range of Add.
    config = OnnxRuntimeStaticConfig(op_types_to_quantize=["MatMul", "Gemm"])
    return OnnxRuntimeQuantizer(config, samples)


def int8_weights():
    return NNCFOnnxQuantizer(NNCFWeightCompressionConfig())


def openvino_int8_weights():
    return NNCFOpenVINOQuantizer(NNCFWeightCompressionConfig())


def openvino_int8():
    return NNCFOpenVINOQuantizer()


def xnnpack_int8():
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_dynamic=True))
    return PT2EQuantizer(quantizer)


def quantized(suffix: str, quantizer, *formats: str, **changes) -> Fixture:
    """BERT through one quantizer; quantization itself moves its outputs."""
    fields = {"formats": formats, "tolerance": 0.15, "quantizer": quantizer}
    return replace(BERT, name=f"bert-{suffix}", **(fields | changes))


UNALLOCATED = replace(
    BERT,
    name="bert-unallocated",
    formats=("executorch",),
    options={"executorch": {"alloc_graph_output": False}},
    notes="the caller gives the outputs' buffers",
)

UNPLANNED = {"alloc_graph_input": False, "alloc_graph_output": False}

FIXTURES = [
    UNALLOCATED,
    replace(
        UNALLOCATED,
        name="bert-unplanned",
        options={"executorch": UNPLANNED},
        notes="the caller gives the inputs' and the outputs' buffers",
    ),
    replace(
        LLAMA_STATIC_CACHE,
        name="llama-static-cache-unplanned",
        formats=("executorch",),
        options={"executorch": UNPLANNED},
        notes="a StaticCache that is written in the caller's buffers",
    ),
    half(BERT, formats=NO_EXECUTORCH),
    half(LLAMA_DECODE, formats=("onnx", "dynamo")),
    brain(BERT, formats=NO_EXECUTORCH),
    brain(LLAMA_GENERATION, formats=NO_EXECUTORCH),
    brain(CLIP_VISION, formats=NO_EXECUTORCH),
    fused(BERT),
    fused(LLAMA_GENERATION),
    fused(T5_ENCODER),
    quantized("int8-dynamic", int8_dynamic, "onnx"),
    quantized("int8-static", int8_static, "onnx"),
    quantized("int8-weights", int8_weights, "onnx"),
    quantized("int8-openvino", openvino_int8, "openvino"),
    quantized("int8-weights-openvino", openvino_int8_weights, "openvino"),
    quantized("int8-pt2e", xnnpack_int8, "dynamo", "executorch"),
]
