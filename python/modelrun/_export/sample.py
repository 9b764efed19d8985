# SPDX-License-Identifier: Apache-2.0
"""Sample inputs to trace a model with, read off its forward, its config and
its processor."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch

from modelrun import _core
from modelrun._export import images, speech
from modelrun._export.source import first_line

# Of different lengths, so that the shorter one is padded.
TEXTS = ["The first of the two texts is the longer one.", "A second one."]
LENGTH, PADDING, TARGET_LENGTH = 7, 2, 3


def sample_inputs(model: torch.nn.Module, processor: Any,
                  generation: bool) -> "dict[str, Any]":
    """The kwargs of a forward, or of a generate, with a padded batch of 2."""
    parameters = inspect.signature(model.forward).parameters
    sample: "dict[str, Any]" = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        _add_media(model, processor, parameters, sample)
        if "input_ids" in parameters and not _hears(sample):
            _add_text(model, processor, parameters, sample)
        if is_encoder_decoder(model) and "decoder_input_ids" in parameters:
            if not generation or _hears(sample):
                sample["decoder_input_ids"] = _decoder_ids(model)
    if not generation and "use_cache" in parameters and _is_decoder(model):
        sample["use_cache"] = False
    _check_complete(model, parameters, sample)
    return _unpaired(model, sample)


def can_generate(model: torch.nn.Module) -> bool:
    check = getattr(model, "can_generate", None)
    return bool(check and check())


def is_encoder_decoder(model: torch.nn.Module) -> bool:
    return bool(getattr(config_of(model), "is_encoder_decoder", False))


def _is_decoder(model: torch.nn.Module) -> bool:
    """Whether it is of one config alone: the exporter sets no flags in a
    nested one."""
    return (can_generate(model) and not is_encoder_decoder(model)
            and text_config(model) is config_of(model))


def config_of(model: torch.nn.Module) -> Any:
    return getattr(model, "config", None)


def text_config(model: torch.nn.Module) -> Any:
    config = config_of(model)
    find = getattr(config, "get_text_config", None)
    return find() if find else config


def run_eager(model: torch.nn.Module, kwargs: "dict[str, Any]") -> Any:
    """Calls the model on a copy of the kwargs, which it may write to."""
    with torch.no_grad():
        return model(**copy.deepcopy(kwargs))


def _hears(sample: "dict[str, Any]") -> bool:
    return "input_features" in sample or "input_values" in sample


def _add_media(model: torch.nn.Module, processor: Any, parameters: Any,
               sample: "dict[str, Any]") -> None:
    if "image_grid_thw" in parameters:
        sample.update(images.patches(config_of(model)))
    elif "pixel_values" in parameters:
        sample.update(images.pixels(config_of(model), processor, 2))
    if "input_features" in parameters:
        sample.update(speech.features(model, processor))
    elif "input_values" in parameters:
        sample.update(speech.waves())


def _add_text(model: torch.nn.Module, processor: Any, parameters: Any,
              sample: "dict[str, Any]") -> None:
    places = images.places(model, sample)
    left = can_generate(model) and not is_encoder_decoder(model)
    text = None
    if places is None:
        text = _tokenized(model, processor, left)
    if text is None:
        text = _random_text(model, places or [], left)
    if places is not None:
        token = images.image_token(config_of(model))
        text["mm_token_type_ids"] = (text["input_ids"] == token).long()
    sample.update({name: value for name, value in text.items()
                   if name in parameters})


def _tokenized(model: torch.nn.Module, processor: Any,
               left: bool) -> "dict[str, Any] | None":
    """Real text, where there is a tokenizer that fits the model."""
    tokenizer = getattr(processor, "tokenizer", processor)
    if not callable(tokenizer) or not hasattr(tokenizer, "padding_side"):
        return None
    side, pad = tokenizer.padding_side, tokenizer.pad_token
    try:
        tokenizer.padding_side = "left" if left else "right"
        if pad is None:
            tokenizer.pad_token = tokenizer.eos_token
        encoded = dict(tokenizer(
            TEXTS, padding=True, truncation=True, return_tensors="pt",
            max_length=min(max_length(model) or 64, 64)))
    finally:
        tokenizer.padding_side = side
        if pad is None:
            tokenizer.pad_token = None
    fits = int(encoded["input_ids"].max()) < text_config(model).vocab_size
    padded = "attention_mask" in encoded and not encoded["attention_mask"].all()
    return encoded if fits and padded else None


def max_length(model: torch.nn.Module) -> "int | None":
    """How many learned positions the model has; None where it has no such
    table."""
    for name, module in model.named_modules():
        if name.rpartition(".")[2] in ("position_embeddings",
                                       "position_embedding",
                                       "embed_positions", "wpe"):
            weight = getattr(module, "weight", None)
            if weight is None or "vision" in name:
                continue
            # RoBERTa's positions begin after that of padding.
            padding = getattr(module, "padding_idx", None)
            unused = padding + 1 if padding is not None else 0
            return int(weight.shape[0]) - unused
    return None


def _random_text(model: torch.nn.Module, places: "list[int]",
                 left: bool) -> "dict[str, Any]":
    """Random ids, with the places of an image in each row; padded."""
    config = text_config(model)
    rows = torch.ones(2, LENGTH + len(places), dtype=torch.long)
    rows[1, slice(0, PADDING) if left else slice(-PADDING, None)] = 0
    usable = _usable_ids(model)
    ids = usable[torch.randint(0, len(usable), rows.shape)]
    for row in range(2 if places else 0):
        start = PADDING + 1
        ids[row, start:start + len(places)] = torch.tensor(places)
    end = getattr(config, "eos_token_id", None)
    if isinstance(end, int) and not can_generate(model):
        # What CLIP pools at.
        ids[torch.arange(2), rows.sum(1) - 1] = end
    pad = getattr(config, "pad_token_id", None) or 0
    ids = torch.where(rows.bool(), ids, pad)
    return {"input_ids": ids, "attention_mask": rows}


def _usable_ids(model: torch.nn.Module) -> torch.Tensor:
    """The token ids that the config gives no meaning of their own."""
    special: "set[int]" = set()
    configs = [config_of(model).to_dict()]
    while configs:
        for name, value in configs.pop().items():
            if isinstance(value, dict):
                configs.append(value)
            elif str(name).endswith(("_token_id", "_token_index")):
                special.update(value if isinstance(value, list) else [value])
    count = text_config(model).vocab_size
    return torch.tensor([i for i in range(count) if i not in special])


def _decoder_ids(model: torch.nn.Module) -> torch.Tensor:
    usable = _usable_ids(model)
    ids = usable[torch.randint(0, len(usable), (2, TARGET_LENGTH))]
    start = getattr(config_of(model), "decoder_start_token_id", None)
    if start is not None:
        ids[:, 0] = start
    return ids


def _check_complete(model: torch.nn.Module, parameters: Any,
                    sample: "dict[str, Any]") -> None:
    missing = [name for name, parameter in parameters.items()
               if parameter.default is parameter.empty
               and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
               and name not in sample]
    if missing or not sample:
        raise _core.Unsupported(
            f"no sample inputs can be made for {type(model).__name__}: its "
            f"forward needs {', '.join(missing) or 'inputs of its own kind'}; "
            "call modelrun.export with sample_inputs")


def _unpaired(model: torch.nn.Module,
              sample: "dict[str, Any]") -> "dict[str, Any]":
    """The sample with one image more than texts, if the model takes that: then
    the two batches are traced as sizes of their own, as CLIP's are."""
    if not {"pixel_values", "input_ids"} <= sample.keys() or can_generate(
            model) or "image_grid_thw" in sample:
        return sample
    pixels = sample["pixel_values"]
    more = {**sample, "pixel_values": torch.cat([pixels, pixels[:1]])}
    try:
        run_eager(model, more)
    except Exception:  # of any kind: the model's own way to say no
        return sample
    return more


def check_sample(model: torch.nn.Module, sample: "dict[str, Any]") -> Any:
    """What the model returns for a forward's sample."""
    try:
        return run_eager(model, sample)
    except Exception as error:
        raise _core.Unsupported(
            f"{type(model).__name__} fails on the sample inputs "
            f"{sorted(sample)}: {first_line(error)}; call modelrun.export "
            "with sample_inputs") from error


def taken_by(module: torch.nn.Module,
             sample: "dict[str, Any]") -> "dict[str, Any]":
    """The inputs that a part of the model takes, such as its encoder."""
    parameters = inspect.signature(module.forward).parameters
    return {name: value for name, value in sample.items()
            if name in parameters}
