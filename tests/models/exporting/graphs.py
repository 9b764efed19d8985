# SPDX-License-Identifier: Apache-2.0
"""Hand-made ONNX graphs: one per dtype, and one per trap of binding."""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from onnx import TensorProto, numpy_helper

from .bare import Bare, parse, weight

INTEGERS = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = {
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
}


def identity(dtype: str) -> onnx.ModelProto:
    return parse(
        f"identity ({dtype}[n] x) => ({dtype}[n] y) {{ y = Identity(x) }}"
    )


def same(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x.clone()}


def identities(bare: Bare) -> None:
    bare.add("identity_bool.onnx", identity("bool"))
    bare.case("both", {"x": torch.tensor([True, False, True])}, same)
    for name in (*INTEGERS, *UNSIGNED):
        dtype = getattr(torch, name)
        limits = torch.iinfo(dtype)
        bare.add(f"identity_{name}.onnx", identity(name))
        values = torch.tensor([limits.min, 0, 1, limits.max], dtype=dtype)
        bare.case("limits", {"x": values}, same)
    for name, torch_name in FLOATS.items():
        dtype = getattr(torch, torch_name)
        bare.add(f"identity_{torch_name}.onnx", identity(name))
        special = [1.5, -0.0, float("inf"), float("nan")]
        special += [torch.finfo(dtype).smallest_normal / 4]
        special += [torch.finfo(dtype).max, torch.finfo(dtype).min]
        values = torch.tensor(special, dtype=torch.float64).to(dtype)
        bare.case("special", {"x": values}, same)
    # Safetensors has none of these: they come without cases. ONNX Runtime has
    # no Identity of 4 bits.
    bare.add("identity_string.onnx", identity("string"))
    for name, wide in (("int4", "int8"), ("uint4", "uint8")):
        code = getattr(TensorProto, wide.upper())
        text = f"""widen ({name}[n] x) => ({wide}[n] y)
            {{ y = Cast <to = {code}> (x) }}"""
        bare.add(f"cast_{name}.onnx", parse(text))
        code = getattr(TensorProto, name.upper())
        text = f"""narrow ({wide}[n] x) => ({name}[n] y)
            {{ y = Cast <to = {code}> (x) }}"""
        bare.add(f"cast_to_{name}.onnx", parse(text))


def small_shapes(bare: Bare) -> None:
    text = "scalar (float x) => (float y) { y = Neg(x) }"
    bare.add("scalar.onnx", parse(text))
    bare.case("rank0", {"x": torch.tensor(2.5)}, lambda x: {"y": -x})

    text = "empty (float[n, m] x) => (int64[2, k] y) { y = NonZero(x) }"
    bare.add("empty_output.onnx", parse(text), notes="[2, 0] for zeros")

    def nonzero(x):
        return {"y": x.nonzero().T.contiguous()}

    bare.case("zeros", {"x": torch.zeros(2, 3)}, nonzero)
    bare.case("eye", {"x": torch.eye(3)}, nonzero)


def symbols(bare: Bare) -> None:
    text = """concat (float[batch, past] a, float[batch, length] b)
        => (float[batch, total] y) { y = Concat <axis = 1> (a, b) }"""
    model = parse(text)
    shape = model.graph.output[0].type.tensor_type.shape
    shape.dim[1].dim_param = "past + length"
    bare.add("symbols.onnx", model, notes="an axis is `past + length`")

    def concat(a, b):
        return {"y": torch.cat([a, b], 1)}

    a, b = torch.randn(2, 3), torch.randn(2, 4)
    bare.case("both", {"a": a, "b": b}, concat)
    bare.case("empty-past", {"a": a[:, :0], "b": b}, concat)

    text = """concat (float[batch, length] a, float[batch, one] b)
        => (float[batch, length] y) { y = Concat <axis = 1> (a, b) }"""
    note = "its output claims the length of its input, and is one longer"
    bare.add("symbol_contradiction.onnx", parse(text), notes=note)
    bare.case("step", {"a": a, "b": b[:, :1]}, concat)

    text = """baked (float[n, 4] x) => (float[n, 2, 2] y)
        <int64[3] shape = {2, 2, 2}> { y = Reshape(x, shape) }"""
    note = "its batch is baked in as 2: any other fails inside"
    bare.add("baked_reshape.onnx", parse(text), notes=note)
    baked = {"x": torch.randn(2, 4)}
    bare.case("two", baked, lambda x: {"y": x.reshape(2, 2, 2)})

    text = """squares (float[n, 2 ] x) => (float[n, 2] y) { y = Mul(x, x) }"""
    model = parse(text)
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[1].dim_param = "2"
    bare.add("numeric_symbol.onnx", model, notes="a static axis named `2`")
    bare.case("plain", {"x": torch.randn(3, 2)}, lambda x: {"y": x * x})


def outputs(bare: Bare) -> None:
    text = "both (float[n] x) => (float[n] x, float[n] y) { y = Neg(x) }"
    note = "its first output is its input"
    bare.add("passthrough.onnx", parse(text), notes=note)
    values = {"x": torch.randn(5)}
    bare.case("plain", values, lambda x: {"x": x.clone(), "y": -x})

    text = """twice (float[n] x) => (float[n] y, float[n] z) {
        y = Neg(x)
        z = Identity(y)
    }"""
    bare.add("same_output_twice.onnx", parse(text))
    bare.case("plain", values, lambda x: {"y": -x, "z": -x})

    text = """large (float[n] x) => (bool[n] y)
        <float zero = {0}> { y = Greater(x, zero) }"""
    bare.add("bool_output.onnx", parse(text))
    bare.case("plain", values, lambda x: {"y": x > 0})

    text = "unused (float[n] x, int64[m] unused) => (float[n] y) { y = Neg(x) }"
    bare.add("unused_input.onnx", parse(text), notes="one input is not read")
    extra = {"unused": torch.arange(2)}
    bare.case("plain", values | extra, lambda x, unused: {"y": -x})

    text = """list (float[n] x) => (seq(float[n]) y) {
        y = SequenceConstruct(x, x)
    }"""
    note = "its output is a sequence, not a tensor"
    bare.add("sequence_output.onnx", parse(text), notes=note)


def operators(bare: Bare) -> None:
    text = """add (float[1, 4] a, float[1, 4] b) => (float[1, 4] y)
        { y = Add(a, b) }"""
    bare.add("tiny_add.onnx", parse(text), notes="for benchmarks")
    pair = {"a": torch.randn(1, 4), "b": torch.randn(1, 4)}
    bare.case("plain", pair, lambda a, b: {"y": a + b})

    for dtype in ("int32", "int64"):
        model = parse(
            f"""embed ({dtype}[batch, length] input_ids)
            => (float[batch, length, 2] y)
            {{ y = Gather(table, input_ids) }}"""
        )
        table = torch.arange(10.0).reshape(5, 2)
        weight(model, "table", table)
        note = "a table of 5 rows: an id of 5 is out of range"
        bare.add(f"embedding_{dtype}.onnx", model, notes=note)
        ids = torch.tensor([[0, 4], [2, 1]], dtype=getattr(torch, dtype))

        def embed(input_ids, table=table):
            return {"y": table[input_ids]}

        bare.case("plain", {"input_ids": ids}, embed)

    model = identity("float")
    model.graph.node[0].domain = "my_ops"
    model.graph.node[0].op_type = "Unknown"
    model.opset_import.add(domain="my_ops", version=1)
    bare.add("unknown_operator.onnx", model, False, "my_ops:Unknown")

    text = "identity (float[n] x) => (float[n] y) { y = Identity(x) }"
    model = parse(text, ir_version=99)
    bare.add("ir_version_99.onnx", model, False, "a later IR version")
    model = parse(text, opset=99)
    bare.add("opset_99.onnx", model, False, "a later opset")


def _external(tensor: TensorProto, location: str, length: int) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    place = {"location": location, "offset": 0, "length": length}
    for key, value in place.items():
        tensor.external_data.add(key=key, value=str(value))


WEIGHTS = torch.arange(64.0)
WEIGHT_BYTES = WEIGHTS.numpy().tobytes()
ADD = "add (float[64] x) => (float[64] y) { y = Add(x, w) }"


def add_weights(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"y": x + WEIGHTS}


def externally_weighted(location: str) -> onnx.ModelProto:
    """`ADD` with its weights in a file of that name."""
    model = parse(ADD)
    weight(model, "w", WEIGHTS)
    _external(model.graph.initializer[0], location, len(WEIGHT_BYTES))
    return model


def external(bare: Bare) -> None:
    """Weights beside the graph, under names that need care."""
    names = {
        "external_spaces.onnx": "my weights (1).bin",
        "external_unicode.onnx": "вес 重み é.dat",
        "external_no_suffix.onnx": "weights",
        "external_folder.onnx": "data/weights.onnx_data",
    }
    for file, location in names.items():
        path = bare.directory / location
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(WEIGHT_BYTES)
        model = externally_weighted(location)
        bare.add(file, model, notes=f"weights in `{location}`")
        bare.case("plain", {"x": torch.randn(64)}, add_weights)


def external_constants(bare: Bare) -> None:
    """The value of a Constant node in a data file, there and not there."""
    text = """constant (float[64] x) => (float[64] y) {
        w = Constant ()
        y = Add(x, w)
    }"""
    for file, location, loads in (
        ("external_constant.onnx", "constants.tensors", True),
        ("external_constant_missing.onnx", "quantized.onnx.data", False),
    ):
        model = parse(text)
        tensor = numpy_helper.from_array(WEIGHTS.numpy(), "w")
        _external(tensor, location, len(WEIGHT_BYTES))
        attribute = onnx.helper.make_attribute("value", tensor)
        model.graph.node[0].attribute.append(attribute)
        if loads:
            (bare.directory / location).write_bytes(WEIGHT_BYTES)
        bare.add(file, model, loads, "a Constant's value in a data file")
        if loads:
            bare.case("plain", {"x": torch.randn(64)}, add_weights)


def refused_external(bare: Bare) -> None:
    """Data files that are not there, too short, or elsewhere."""
    (bare.directory / "short.bin").write_bytes(WEIGHT_BYTES[:-1])
    for file, location, note in (
        ("external_missing.onnx", "absent.bin", "its data file is not there"),
        ("external_truncated.onnx", "short.bin", "its data is one byte short"),
        ("external_escaping.onnx", "../outside.bin", "leaves the directory"),
        ("external_absolute.onnx", "/etc/hostname", "an absolute path"),
    ):
        bare.add(file, externally_weighted(location), False, note)


def make(directory: Path) -> None:
    """Write every graph, its cases and the index."""
    torch.manual_seed(3)
    bare = Bare(directory)
    identities(bare)
    small_shapes(bare)
    symbols(bare)
    outputs(bare)
    operators(bare)
    external(bare)
    external_constants(bare)
    refused_external(bare)
    bare.write()
