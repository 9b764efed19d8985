# SPDX-License-Identifier: Apache-2.0
"""Fixtures of T5 and Whisper: whole, in stages, and the encoders apart."""

from __future__ import annotations

import torch

from . import sources
from .fixture import Fixture
from .shapes import explicit_shapes
from .text import ids, text_inputs


def t5_encoder() -> torch.nn.Module:
    return sources.t5().get_encoder()


def whisper_encoder() -> torch.nn.Module:
    return sources.whisper().get_encoder()


def encoder_cases(cases) -> None:
    cases.run("batch1", text_inputs(1, 5))
    cases.run("padded", text_inputs(3, 11, 0, 4, 7))


def whole(batch: int, length: int, target: int, *padding: int) -> dict:
    decoder = {"decoder_input_ids": ids(batch, target)}
    return text_inputs(batch, length, *padding) | decoder


def t5_cases(cases) -> None:
    cases.run("batch1", whole(1, 5, 1))
    cases.run("padded", whole(3, 11, 4, 0, 4, 7))


def generation_cases(cases) -> None:
    cases.generate("batch1", text_inputs(1, 5, 1), 4)
    cases.generate("padded", text_inputs(3, 11, 0, 4, 7), 4)


def features(batch: int) -> dict:
    return {"input_features": torch.randn(batch, 8, 30)}


def whisper_encoder_cases(cases) -> None:
    cases.run("batch1", features(1))
    cases.run("batch3", features(3))


def whisper_cases(cases) -> None:
    cases.run("batch1", features(1) | {"decoder_input_ids": ids(1, 1)})
    cases.run("batch3", features(3) | {"decoder_input_ids": ids(3, 5)})


def whisper_prompt(batch: int, length: int) -> dict:
    return features(batch) | {"decoder_input_ids": ids(batch, length)}


def whisper_generation_cases(cases) -> None:
    cases.generate("batch1", whisper_prompt(1, 4), 4)
    cases.generate("batch3", whisper_prompt(3, 6), 4)


# The self-attention cache grows; the cross-attention one has the encoder's
# length.
GENERATION_SHAPES = explicit_shapes(
    {
        "past_key_values.cross_attention_cache.*": {0: "batch", 2: "*"},
        "past_key_values.*": {0: "batch", 2: "*"},
        "encoder_outputs.*": {0: "batch", 1: "*"},
        "*": {0: "batch", 1: "*"},
    }
)
WHISPER_SHAPES = explicit_shapes(
    {
        "past_key_values.self_attention_cache.*": {0: "batch", 2: "*"},
        "past_key_values.cross_attention_cache.*": {0: "batch"},
        "encoder_outputs.*": {0: "batch"},
        "input_features": {0: "batch"},
        "*": {0: "batch", 1: "*"},
    }
)

FIXTURES = [
    Fixture(
        "t5",
        sources.t5,
        lambda _: whole(2, 7, 3, 0, 2),
        t5_cases,
        notes="encoder and decoder in one graph, an EncoderDecoderCache out",
    ),
    Fixture(
        "t5-encoder",
        t5_encoder,
        lambda _: text_inputs(2, 7, 0, 2),
        encoder_cases,
        notes="the encoder of t5-generation",
    ),
    Fixture(
        "t5-generation",
        sources.t5,
        lambda _: text_inputs(2, 7, 0, 2),
        generation_cases,
        shapes=GENERATION_SHAPES,
        generation=True,
        notes="encoder_outputs in, an EncoderDecoderCache in and out",
    ),
    Fixture(
        "whisper",
        sources.whisper,
        lambda _: features(2) | {"decoder_input_ids": ids(2, 3)},
        whisper_cases,
        shapes=WHISPER_SHAPES,
    ),
    Fixture(
        "whisper-encoder",
        whisper_encoder,
        lambda _: features(2),
        whisper_encoder_cases,
        shapes=WHISPER_SHAPES,
        notes="the encoder of whisper-generation",
    ),
    Fixture(
        "whisper-generation",
        sources.whisper,
        lambda _: whisper_prompt(2, 5),
        whisper_generation_cases,
        shapes=WHISPER_SHAPES,
        generation=True,
        notes="encoder_outputs in, an EncoderDecoderCache in and out",
    ),
]
