# SPDX-License-Identifier: Apache-2.0
"""Fixtures of encoders and decoders over text."""

from __future__ import annotations

import torch
import transformers as tf

from . import sources
from .fixture import Fixture
from .shapes import explicit_shapes


def ids(*shape: int, low: int = 3, high: int = 60) -> torch.Tensor:
    """Random token ids of `shape`."""
    return torch.randint(low, high, shape)


def mask(length: int, *padding: int, left: bool = False) -> torch.Tensor:
    """An attention mask with that many padded places in each row."""
    rows = torch.ones(len(padding), length, dtype=torch.long)
    for row, count in zip(rows, padding):
        row[slice(0, count) if left else slice(length - count, length)] = 0
    return rows


def text_inputs(batch: int, length: int, *padding: int, left=False) -> dict:
    """`input_ids` and their mask, padded as given (not at all by default)."""
    rows = mask(length, *(padding or (0,) * batch), left=left)
    return {
        "input_ids": ids(batch, length) * rows,
        "attention_mask": rows,
    }


def token_types(inputs: dict) -> dict:
    """The same with `token_type_ids`: the second half is another segment."""
    types = torch.zeros_like(inputs["input_ids"])
    types[:, types.shape[1] // 2 :] = 1
    return inputs | {"token_type_ids": types}


def bert_cases(cases) -> None:
    cases.run("one", text_inputs(1, 1))
    cases.run("batch1", text_inputs(1, 9))
    cases.run("padded", text_inputs(3, 12, 0, 5, 9))
    cases.run("traced-shape", text_inputs(2, 7))


def bert_types_cases(cases) -> None:
    cases.run("batch1", token_types(text_inputs(1, 9)))
    cases.run("padded", token_types(text_inputs(3, 12, 0, 5, 9)))


def bert_static_cases(cases) -> None:
    cases.run("full", text_inputs(2, 8))
    cases.run("padded", text_inputs(2, 8, 0, 3))


def bert_hidden_cases(cases) -> None:
    flags = {"output_hidden_states": True, "output_attentions": True}
    cases.run("batch1", text_inputs(1, 5) | flags)
    cases.run("padded", text_inputs(3, 6, 0, 2, 4) | flags)


BERT_SHAPES = explicit_shapes({"*": {0: "batch", 1: "length<=64"}})


def bert_fixture(name: str, **changes) -> Fixture:
    fields = {
        "build": sources.bert,
        "sample": lambda _: text_inputs(2, 7, 0, 2),
        "cases": bert_cases,
    }
    return Fixture(name, **(fields | changes))


def without_cache_cases(cases) -> None:
    for name, inputs in {
        "batch1": text_inputs(1, 5),
        "left-padded": text_inputs(3, 11, 0, 4, 7, left=True),
    }.items():
        cases.run(name, inputs | {"use_cache": False})


def with_positions(inputs: dict) -> dict:
    positions = inputs["attention_mask"].cumsum(-1).sub(1).clamp(min=0)
    return inputs | {"position_ids": positions}


def positions_cases(cases) -> None:
    for name, inputs in {
        "batch1": text_inputs(1, 5),
        "left-padded": text_inputs(3, 11, 0, 4, 7, left=True),
    }.items():
        cases.run(name, with_positions(inputs) | {"use_cache": False})


def filled_cache(model, batch: int, length: int) -> tf.Cache:
    """The cache after a call of `length` tokens, of length 0 for none."""
    tokens = ids(batch, max(length, 1))
    with torch.no_grad():
        cache = model(input_ids=tokens).past_key_values
    if length == 0:
        for layer in cache.layers:
            layer.keys = layer.keys[:, :, :0]
            layer.values = layer.values[:, :, :0]
    return cache


def decode_inputs(model, batch: int, past: int, length: int) -> dict:
    return {
        "input_ids": ids(batch, length),
        "attention_mask": mask(past + length, *(0,) * batch),
        "past_key_values": filled_cache(model, batch, past),
    }


def decode_steps(cases, batch: int, past: int, lengths: tuple[int, ...]):
    """Calls that feed each one's cache to the next."""
    inputs = decode_inputs(cases.model, batch, past, lengths[0])
    before = None
    for index, length in enumerate(lengths):
        if index:
            rows = torch.ones(batch, length, dtype=torch.long)
            rows = torch.cat([inputs["attention_mask"], rows], 1)
            inputs = {
                "input_ids": ids(batch, length),
                "attention_mask": rows,
                "past_key_values": outputs.past_key_values,
            }
        name = f"batch{batch}-past{past}-step{index}"
        outputs = cases.run(name, inputs, follows=before)
        before = name


def decode_cases(cases) -> None:
    decode_steps(cases, 1, 3, (1, 1, 2))
    decode_steps(cases, 3, 6, (4, 1, 1))
    decode_steps(cases, 2, 0, (3, 1, 1))


def empty_cache_sample(model) -> dict:
    cache = tf.DynamicCache(config=model.config)
    return text_inputs(2, 7, 2, 0, left=True) | {"past_key_values": cache}


def empty_cache_cases(cases) -> None:
    for name, inputs in {
        "batch1": text_inputs(1, 4),
        "left-padded": text_inputs(3, 9, 0, 3, 5, left=True),
    }.items():
        cache = tf.DynamicCache(config=cases.model.config)
        cases.run(name, inputs | {"past_key_values": cache})


def generation_cases(cases) -> None:
    # Padded too: generate passes no mask where nothing is padded.
    cases.generate("batch1", text_inputs(1, 5, 1, left=True), 4)
    padded = text_inputs(3, 9, 0, 4, 6, left=True)
    cases.generate("padded", padded, 4)


def static_cache() -> tf.GenerationConfig:
    return tf.GenerationConfig(
        cache_implementation="static",
        max_cache_len=16,
        pad_token_id=0,
    )


def static_cache_cases(cases) -> None:
    config = static_cache()
    for name, inputs in {
        "batch1": text_inputs(1, 5, 1, left=True),
        "padded": text_inputs(3, 9, 0, 4, 6, left=True),
    }.items():
        cases.generate(name, inputs, 4, config)


STATIC_CACHE_SHAPES = explicit_shapes(
    {
        "attention_mask": {0: "batch", 2: "*"},
        "past_key_values.*": {0: "batch"},
        "*": {0: "batch", 1: "*"},
    }
)
GENERATION_SHAPES = explicit_shapes(
    {
        "attention_mask": {0: "batch", 1: "*"},
        "past_key_values.*": {0: "batch", 2: "*"},
        "*": {0: "batch", 1: "*"},
    }
)


def llama_fixture(name: str, **changes) -> Fixture:
    fields = {"build": sources.llama}
    return Fixture(name, **(fields | changes))


def generation_fixture(name: str, build, **changes) -> Fixture:
    fields = {
        "build": build,
        "sample": lambda _: text_inputs(2, 7, 2, 0, left=True),
        "cases": generation_cases,
        "shapes": GENERATION_SHAPES,
        "generation": True,
    }
    return Fixture(name, **(fields | changes))


def mamba_cases(cases) -> None:
    cases.generate("batch1", text_inputs(1, 7, 1, left=True), 4)
    cases.generate("padded", text_inputs(3, 7, 0, 2, 4, left=True), 4)


# The scan is unrolled over the sequence, whose length is thus fixed.
MAMBA_SHAPES = explicit_shapes({"*": {0: "batch"}})

FIXTURES = [
    bert_fixture("bert", shapes=BERT_SHAPES),
    bert_fixture(
        "bert-token-types",
        sample=lambda _: token_types(text_inputs(2, 7, 0, 2)),
        cases=bert_types_cases,
        notes="every axis left to the exporter: ids and mask share no symbol",
    ),
    bert_fixture(
        "bert-static",
        sample=lambda _: text_inputs(2, 8, 0, 2),
        cases=bert_static_cases,
        dynamic=False,
    ),
    bert_fixture(
        "bert-hidden-states",
        build=sources.bert_eager,
        sample=lambda _: text_inputs(2, 7, 0, 2)
        | {"output_hidden_states": True, "output_attentions": True},
        cases=bert_hidden_cases,
        notes="tuples of hidden states and attentions",
    ),
    llama_fixture(
        "llama",
        sample=lambda _: text_inputs(2, 7, 2, 0, left=True)
        | {"use_cache": False},
        cases=without_cache_cases,
        notes="no cache in or out",
    ),
    llama_fixture(
        "llama-positions",
        sample=lambda _: with_positions(text_inputs(2, 7, 2, 0, left=True))
        | {"use_cache": False},
        cases=positions_cases,
        notes="traced with position_ids",
    ),
    llama_fixture(
        "llama-decode",
        sample=lambda model: decode_inputs(model, 2, 5, 3),
        cases=decode_cases,
        options={"openvino": {"stateful": False}},
        notes="one graph, a DynamicCache in and out",
    ),
    llama_fixture(
        "llama-decode-stateful",
        sample=lambda model: decode_inputs(model, 2, 5, 3),
        cases=decode_cases,
        formats=("openvino",),
        notes="the cache is in the graph's variables",
    ),
    llama_fixture(
        "llama-empty-cache",
        sample=empty_cache_sample,
        cases=empty_cache_cases,
        notes="a prefill that is given an empty DynamicCache",
    ),
    generation_fixture("llama-generation", sources.llama),
    generation_fixture(
        "llama-static-cache",
        sources.llama,
        cases=static_cache_cases,
        shapes=STATIC_CACHE_SHAPES,
        generation_config=static_cache,
        options={"openvino": {"stateful": False}},
        baked=dict.fromkeys(("prefill", "decode"), {"batch_size": 2}),
        notes="a StaticCache of 16 positions",
    ),
    generation_fixture(
        "mamba-generation",
        sources.mamba,
        cases=mamba_cases,
        shapes=MAMBA_SHAPES,
        multi_token=False,
        notes="conv and recurrent states in and out",
    ),
]
