# SPDX-License-Identifier: Apache-2.0
"""Tiny ONNX files in optimum's layouts, which have no export.json."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import torch

from .bare import Bare, Tensors, parse, weight

VOCABULARY, WIDTH = 32, 4

ENCODER = """encoder (int64[batch, length] input_ids,
        int64[batch, length] attention_mask)
    => (float[batch, length, 4] last_hidden_state)
    <int64[1] last = {-1}> {
        embedded = Gather(table, input_ids)
        mask = Cast <to = 1> (attention_mask)
        column = Unsqueeze(mask, last)
        last_hidden_state = Mul(embedded, column)
    }"""

DECODER = """decoder (int64[batch, length] input_ids,
        float[batch, source, 4] encoder_hidden_states%(past)s)
    => (float[batch, length, 32] logits,
        float[batch, 1, total, 4] "present.0.decoder.key")
    <int64[1] one = {1}, int64[1] two = {2}> {
        embedded = Gather(table, input_ids)
        keys = Unsqueeze(embedded, one)
        %(present)s
        context = ReduceMean <keepdims = 0> ("present.0.decoder.key", two)
        source_mean = ReduceMean <keepdims = 1> (encoder_hidden_states, one)
        states = Add(embedded, context)
        summed = Add(states, source_mean)
        turned = Transpose <perm = [1, 0]> (table)
        logits = MatMul(summed, turned)
    }"""


def table() -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(VOCABULARY, WIDTH, generator=generator)


def encoder_model() -> onnx.ModelProto:
    model = parse(ENCODER)
    weight(model, "table", table())
    return model


def quantized_table() -> tuple[torch.Tensor, torch.Tensor]:
    scale = table().abs().max() / 127
    return (table() / scale).round().to(torch.int8), scale


def quantized_encoder_model() -> onnx.ModelProto:
    text = ENCODER.replace(
        "embedded = Gather(table, input_ids)",
        """whole = DequantizeLinear(quantized, scale)
        embedded = Gather(whole, input_ids)""",
    )
    model = parse(text)
    quantized, scale = quantized_table()
    weight(model, "quantized", quantized)
    weight(model, "scale", scale)
    return model


def decoder_model(with_past: bool) -> onnx.ModelProto:
    past = ', float[batch, 1, past, 4] "past_key_values.0.decoder.key"'
    grown = (
        '"present.0.decoder.key" = Concat <axis = 2>'
        ' ("past_key_values.0.decoder.key", keys)'
    )
    text = DECODER % {
        "past": past if with_past else "",
        "present": grown
        if with_past
        else '"present.0.decoder.key" = Identity(keys)',
    }
    model = parse(text)
    weight(model, "table", table())
    return model


def encode(embedding: torch.Tensor):
    def eager(input_ids, attention_mask) -> Tensors:
        states = embedding[input_ids] * attention_mask.unsqueeze(-1)
        return {"last_hidden_state": states}

    return eager


def decode(input_ids, encoder_hidden_states, **past) -> Tensors:
    embedded = table()[input_ids]
    keys = torch.cat([*past.values(), embedded.unsqueeze(1)], 2)
    context = keys.mean(2)
    states = embedded + context
    states = states + encoder_hidden_states.mean(1, keepdim=True)
    return {"logits": states @ table().T, "present.0.decoder.key": keys}


def text(batch: int, length: int) -> Tensors:
    rows = torch.ones(batch, length, dtype=torch.long)
    rows[-1, length // 2 :] = 0
    ids = torch.randint(0, VOCABULARY, (batch, length))
    return {"input_ids": ids, "attention_mask": rows}


def write_config(directory: Path, **values) -> None:
    content = json.dumps(values, indent=2, sort_keys=True) + "\n"
    (directory / "config.json").write_text(content)


def encoder_layout(directory: Path, files: dict[str, bool]) -> None:
    """An encoder under several names; the values say which are quantized."""
    bare = Bare(directory)
    quantized, scale = quantized_table()
    for file, is_quantized in files.items():
        if is_quantized:
            bare.add(file, quantized_encoder_model())
            eager = encode(quantized.float() * scale)
        else:
            bare.add(file, encoder_model())
            eager = encode(table())
        bare.case("batch1", text(1, 5), eager)
        bare.case("padded", text(3, 7), eager)
    bare.write()
    write_config(
        directory,
        architectures=["BertModel"],
        model_type="bert",
        hidden_size=WIDTH,
        vocab_size=VOCABULARY,
    )


def decoder_layout(directory: Path) -> None:
    bare = Bare(directory)
    bare.add("encoder_model.onnx", encoder_model())
    source = text(2, 6)
    states = bare.case("source", source, encode(table()))["last_hidden_state"]
    shared = {"encoder_hidden_states": states}

    bare.add("decoder_model.onnx", decoder_model(False))
    ids = torch.randint(0, VOCABULARY, (2, 3))
    first = bare.case("prefill", {"input_ids": ids} | shared, decode, 1e-5)

    bare.add("decoder_with_past_model.onnx", decoder_model(True))
    past = first["present.0.decoder.key"]
    for step in range(2):
        inputs = {"input_ids": torch.randint(0, VOCABULARY, (2, 1))} | shared
        inputs["past_key_values.0.decoder.key"] = past
        result = bare.case(f"step{step}", inputs, decode, 1e-5)
        past = result["present.0.decoder.key"]
    bare.write()
    write_config(
        directory,
        architectures=["T5ForConditionalGeneration"],
        is_encoder_decoder=True,
        model_type="t5",
        d_model=WIDTH,
        vocab_size=VOCABULARY,
    )


def make(directory: Path) -> None:
    """Write every layout, with cases and an index in each."""
    torch.manual_seed(4)
    encoder_layout(directory / "root", {"model.onnx": False})
    encoder_layout(
        directory / "folder",
        {"onnx/model.onnx": False, "onnx/model_quantized.onnx": True},
    )
    encoder_layout(
        directory / "quantized_only", {"onnx/model_quantized.onnx": True}
    )
    decoder_layout(directory / "decoder")
