# SPDX-License-Identifier: Apache-2.0
"""Sound as sample inputs."""

from __future__ import annotations

import math
from typing import Any

import torch

# Of a wave that is not cut to a fixed length.
SAMPLES, FRAMES = 16000, 64


def features(model: torch.nn.Module, processor: Any) -> "dict[str, Any]":
    """A batch of 2 as `input_features`, [batch, mels, frames]; its frames are
    those that the model's encoder insists on."""
    config: Any = getattr(model, "config", None)
    maker = getattr(processor, "feature_extractor", processor)
    mels = getattr(config, "num_mel_bins", None) or getattr(
        maker, "feature_size", 80)
    positions = getattr(config, "max_source_positions", None)
    if positions is None:
        return {"input_features": torch.randn(2, FRAMES, mels)}
    strides = [module.stride[0] for module in model.modules()
               if isinstance(module, torch.nn.Conv1d)]
    return {"input_features": torch.randn(2, mels,
                                          positions * math.prod(strides))}


def waves() -> "dict[str, Any]":
    """A batch of 2 as `input_values`, [batch, samples]."""
    return {"input_values": torch.randn(2, SAMPLES)}
