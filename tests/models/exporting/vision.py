# SPDX-License-Identifier: Apache-2.0
"""Fixtures of CLIP and Qwen2-VL."""

from __future__ import annotations

import torch

from . import sources
from .fixture import Fixture
from .shapes import explicit_shapes
from .text import ids, mask

CLIP_EOS = 98


def images(batch: int) -> dict:
    return {"pixel_values": torch.randn(batch, 3, 16, 16)}


def captions(batch: int, length: int, *padding: int) -> dict:
    """Ids that end in the end-of-text token that CLIP pools at."""
    rows = mask(length, *(padding or (0,) * batch))
    tokens = ids(batch, length, high=90)
    tokens[torch.arange(batch), rows.sum(1) - 1] = CLIP_EOS
    return {"input_ids": tokens * rows, "attention_mask": rows}


def clip_inputs(texts: dict, count: int) -> dict:
    return texts | images(count) | {"interpolate_pos_encoding": False}


def clip_cases(cases) -> None:
    cases.run("one-each", clip_inputs(captions(1, 4), 1))
    cases.run("three-texts", clip_inputs(captions(3, 9, 0, 2, 5), 1))
    cases.run("four-images", clip_inputs(captions(2, 6), 4))


def clip_static_cases(cases) -> None:
    cases.run("traced-shape", clip_inputs(captions(2, 6, 0, 2), 3))


def vision_cases(cases) -> None:
    cases.run("batch1", images(1))
    cases.run("batch5", images(5))


def vision_static_cases(cases) -> None:
    cases.run("traced-shape", images(2))


CLIP_SHAPES = explicit_shapes(
    {
        "pixel_values": {0: "images"},
        "*": {0: "texts", 1: "length<=20"},
    }
)

EIGHT_IMAGES = {"pixel_values": {0: torch.export.Dim("images", max=8)}}


def patches(*grids: tuple[int, int, int]) -> dict:
    """Flattened patches of images, as the processor gives them."""
    count = sum(t * h * w for t, h, w in grids)
    return {
        "pixel_values": torch.randn(count, 3 * 2 * 4 * 4),
        "image_grid_thw": torch.tensor(grids),
    }


def image_prompt(before: int, image_tokens: int, after: int) -> torch.Tensor:
    """One prompt: text, the places of an image, text."""
    return torch.cat(
        [
            ids(before),
            torch.tensor([sources.QWEN_VISION_START]),
            torch.full((image_tokens,), sources.QWEN_IMAGE),
            torch.tensor([62]),
            ids(after),
        ]
    )


def qwen_generate_inputs(
    grid: tuple[int, int, int], *texts: tuple[int, int]
) -> dict:
    """One image a row, left-padded to one length."""
    tokens = grid[0] * grid[1] * grid[2] // 4
    rows = [image_prompt(before, tokens, after) for before, after in texts]
    length = max(len(row) for row in rows)
    padding = [length - len(row) for row in rows]
    padded = [
        torch.nn.functional.pad(row, (count, 0))
        for row, count in zip(rows, padding)
    ]
    tokens = torch.stack(padded)
    return patches(*[grid] * len(rows)) | {
        "input_ids": tokens,
        "attention_mask": mask(length, *padding, left=True),
        "mm_token_type_ids": (tokens == sources.QWEN_IMAGE).long(),
    }


def qwen_inputs(model, grid, *texts) -> dict:
    """The same with the position ids that the exporter asks for."""
    inputs = qwen_generate_inputs(grid, *texts)
    positions, _ = model.model.get_rope_index(
        inputs["input_ids"],
        image_grid_thw=inputs["image_grid_thw"],
        attention_mask=inputs["attention_mask"],
        mm_token_type_ids=inputs["mm_token_type_ids"],
    )
    return inputs | {"position_ids": positions}


QWEN_GRID = (1, 4, 4)


def qwen_sample(model) -> dict:
    return qwen_inputs(model, QWEN_GRID, (2, 3), (4, 3))


def qwen_cases(cases) -> None:
    traced = qwen_inputs(cases.model, QWEN_GRID, (4, 3), (2, 3))
    cases.run("traced-shape", traced)
    longer = qwen_inputs(cases.model, QWEN_GRID, (6, 5), (1, 2))
    cases.run("longer", longer)


def qwen_static_cases(cases) -> None:
    inputs = qwen_inputs(cases.model, QWEN_GRID, (4, 3), (2, 3))
    cases.run("traced-shape", inputs)


FIXTURES = [
    Fixture(
        "clip",
        sources.clip,
        lambda _: clip_inputs(captions(2, 6, 0, 2), 3),
        clip_cases,
        shapes=CLIP_SHAPES,
        notes="nested model outputs, a constant kwarg, two batches",
    ),
    Fixture(
        "clip-static",
        sources.clip,
        lambda _: clip_inputs(captions(2, 6, 0, 2), 3),
        clip_static_cases,
        dynamic=False,
    ),
    Fixture(
        "clip-vision",
        sources.clip_vision,
        lambda _: images(2),
        vision_cases,
        shapes=CLIP_SHAPES,
        # Without a bound the memory that ExecuTorch's exporter plans is less
        # than the program needs, and no runtime loads it.
        options={"executorch": {"dynamic_shapes": EIGHT_IMAGES}},
    ),
    Fixture(
        "clip-vision-static",
        sources.clip_vision,
        lambda _: images(2),
        vision_static_cases,
        dynamic=False,
    ),
    Fixture(
        "qwen2-vl",
        sources.qwen2_vl,
        qwen_sample,
        qwen_cases,
        notes="precomputed position_ids; the number of images is fixed",
    ),
    Fixture(
        "qwen2-vl-static",
        sources.qwen2_vl,
        qwen_sample,
        qwen_static_cases,
        dynamic=False,
    ),
]
