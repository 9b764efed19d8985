# SPDX-License-Identifier: Apache-2.0
"""Images as sample inputs, and their places among the tokens."""

from __future__ import annotations

from typing import Any

import torch

# Of the patches of one image, (time, height, width), in merged ones.
GRID = (1, 2, 2)


def _vision_config(config: Any) -> Any:
    return getattr(config, "vision_config", None) or config


def _pair(size: Any) -> "tuple[int, int]":
    if isinstance(size, int):
        return size, size
    if hasattr(size, "get"):
        edge = size.get("shortest_edge") or size.get("longest_edge")
        height, width = size.get("height", edge), size.get("width", edge)
        return int(height), int(width)
    return int(size[0]), int(size[1])


def _image_size(config: Any, processor: Any) -> "tuple[int, int]":
    """What the model insists on, else what the processor makes."""
    size = getattr(_vision_config(config), "image_size", None)
    if size is not None:
        return _pair(size)
    maker = getattr(processor, "image_processor", processor)
    for name in ("crop_size", "size"):
        size = getattr(maker, name, None)
        if size:
            return _pair(size)
    return 224, 224


def pixels(config: Any, processor: Any, count: int) -> "dict[str, Any]":
    """Images as `pixel_values`, [images, channels, height, width]."""
    vision = _vision_config(config)
    channels = getattr(vision, "num_channels", None) or getattr(
        vision, "in_channels", 3)
    height, width = _image_size(config, processor)
    return {"pixel_values": torch.randn(count, channels, height, width)}


def _channels(vision: Any) -> int:
    for name in ("in_channels", "in_chans", "num_channels"):
        if getattr(vision, name, None):
            return int(getattr(vision, name))
    return 3


def patches(config: Any) -> "dict[str, Any]":
    """One image a row as flattened patches with their grid."""
    vision = _vision_config(config)
    merge = getattr(vision, "spatial_merge_size", 1)
    grid = (GRID[0], GRID[1] * merge, GRID[2] * merge)
    width = (_channels(vision) * getattr(vision, "temporal_patch_size", 1)
             * vision.patch_size ** 2)
    count = grid[0] * grid[1] * grid[2]
    return {"pixel_values": torch.randn(2 * count, width),
            "image_grid_thw": torch.tensor([grid, grid])}


def image_token(config: Any) -> "int | None":
    for name in ("image_token_id", "image_token_index"):
        token = getattr(config, name, None)
        if isinstance(token, int):
            return token
    return None


def places(model: torch.nn.Module,
           sample: "dict[str, Any]") -> "list[int] | None":
    """The ids that stand for one image in a prompt; None where images take no
    place there."""
    config: Any = getattr(model, "config", None)
    token = image_token(config)
    if token is None or "pixel_values" not in sample:
        return None
    around = [getattr(config, f"vision_{side}_token_id", None)
              for side in ("start", "end")]
    start, end = ([each] if isinstance(each, int) else [] for each in around)
    return [*start, *[token] * _tokens_per_image(model, sample), *end]


def _tokens_per_image(model: torch.nn.Module, sample: "dict[str, Any]") -> int:
    if "image_grid_thw" in sample:
        return GRID[0] * GRID[1] * GRID[2]
    with torch.no_grad():
        features: Any = getattr(model, "get_image_features")(
            pixel_values=sample["pixel_values"])
    features = getattr(features, "pooler_output", features)
    if isinstance(features, (tuple, list)):
        features = torch.cat([each.flatten(0, -2) for each in features])
    return int(features.flatten(0, -2).shape[0]) // 2
