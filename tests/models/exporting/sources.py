# SPDX-License-Identifier: Apache-2.0
"""The tiny source models: two layers, random weights, small vocabularies."""

from __future__ import annotations

import torch
import transformers as tf


def randomize(model: torch.nn.Module) -> torch.nn.Module:
    """Give weights a scale at which every input visibly moves the outputs.

    The library's own initialization is so small that a wrong mask would hide
    below the tolerances.
    """
    with torch.no_grad():
        for module in model.modules():
            _randomize_module(module)
    return model.eval()


def _randomize_module(module: torch.nn.Module) -> None:
    nn = torch.nn
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        fan_in = module.weight[0].numel()
        module.weight.normal_(0, fan_in**-0.5)
        if module.bias is not None:
            module.bias.normal_(0, 0.1)
    elif isinstance(module, torch.nn.Embedding):
        module.weight.normal_(0, 0.7)
    elif type(module).__name__.endswith("Norm"):
        for weight in module.parameters(recurse=False):
            weight.add_(0.1 * torch.randn_like(weight))


def bert() -> torch.nn.Module:
    return randomize(
        tf.BertModel(
            tf.BertConfig(
                vocab_size=99,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=40,
                max_position_embeddings=64,
            )
        )
    )


def bert_eager() -> torch.nn.Module:
    model = bert()
    model.set_attn_implementation("eager")
    return model


def llama() -> torch.nn.Module:
    return randomize(
        tf.LlamaForCausalLM(
            tf.LlamaConfig(
                vocab_size=64,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                intermediate_size=48,
                max_position_embeddings=128,
                pad_token_id=0,
            )
        )
    )


def gemma3() -> torch.nn.Module:
    return randomize(
        tf.Gemma3ForCausalLM(
            tf.Gemma3TextConfig(
                vocab_size=64,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                head_dim=8,
                intermediate_size=48,
                max_position_embeddings=128,
                sliding_window=8,
                layer_types=["sliding_attention", "full_attention"],
                query_pre_attn_scalar=8,
                pad_token_id=0,
            )
        )
    )


def mamba() -> torch.nn.Module:
    model = randomize(
        tf.MambaForCausalLM(
            tf.MambaConfig(
                vocab_size=64,
                hidden_size=16,
                state_size=4,
                num_hidden_layers=2,
                conv_kernel=4,
                expand=2,
                time_step_rank=2,
                pad_token_id=0,
                eos_token_id=63,
            )
        )
    )
    # Its states add up over the sequence: keep them near 1.
    with torch.no_grad():
        for block in model.backbone.layers:
            block.mixer.x_proj.weight.mul_(0.5)
    return model


def t5() -> torch.nn.Module:
    return randomize(
        tf.T5ForConditionalGeneration(
            tf.T5Config(
                vocab_size=64,
                d_model=32,
                d_kv=8,
                d_ff=48,
                num_layers=2,
                num_decoder_layers=2,
                num_heads=4,
                relative_attention_num_buckets=8,
                relative_attention_max_distance=16,
                decoder_start_token_id=0,
                pad_token_id=0,
                eos_token_id=1,
            )
        )
    )


def whisper() -> torch.nn.Module:
    config = tf.WhisperConfig(
        vocab_size=64,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        num_mel_bins=8,
        max_source_positions=15,
        max_target_positions=40,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=3,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    return randomize(tf.WhisperForConditionalGeneration(config))


def clip_config() -> tf.CLIPConfig:
    shared = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 40,
        "projection_dim": 16,
    }
    text = {"vocab_size": 99, "max_position_embeddings": 20, "eos_token_id": 98}
    vision = {"image_size": 16, "patch_size": 4}
    return tf.CLIPConfig(
        text_config=shared | text,
        vision_config=shared | vision,
        projection_dim=16,
        logit_scale_init_value=1.0,
    )


def clip() -> torch.nn.Module:
    return randomize(tf.CLIPModel(clip_config()))


def clip_vision() -> torch.nn.Module:
    return randomize(tf.CLIPVisionModel(clip_config().vision_config))


QWEN_IMAGE, QWEN_VISION_START = 60, 61


def qwen2_vl() -> torch.nn.Module:
    text = {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "rope_parameters": {
            "rope_type": "default",
            "mrope_section": [1, 1, 2],
            "rope_theta": 10000.0,
        },
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    vision = {
        "depth": 2,
        "embed_dim": 16,
        "hidden_size": 32,
        "num_heads": 2,
        "mlp_ratio": 2,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }
    config = tf.Qwen2VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=QWEN_IMAGE,
        vision_start_token_id=QWEN_VISION_START,
        vision_end_token_id=62,
        video_token_id=63,
    )
    return randomize(tf.Qwen2VLForConditionalGeneration(config))
