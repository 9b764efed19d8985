#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny tokenizers of the tests, and goldens.json by transformers.

Needs tokenizers and transformers==5.23.0; training is deterministic.
"""

import itertools
import json
import pathlib
import shutil

from tokenizers import (Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)
from transformers import AutoTokenizer, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent
CORPUS = [
    "The quick brown fox jumps over the lazy dog.",
    "A tokenizer turns text into numbers, and numbers into text.",
    "Embeddings of similar sentences are close to each other.",
    "She's reading the paper that they didn't finish yesterday!",
    "Ünïcödé wörds, naïve café, 東京 and 12345 numbers?",
    "def run(model, inputs): return model(inputs)  # a comment",
] * 3
TEXTS = [
    "The quick brown fox",
    "",
    "She's reading numbers , and didn't finish !",
    "café naïve 東京 🤗 unknownword",
    "e\u0301 A\u030a \u200b\u00a0 tab\tnewline\n end",
    "nul\u0000inside",
    "[MASK] of <|endoftext|> [SEP]",
    "similar sentences are close to each other. " * 4,
]


def wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=220, special_tokens=special,
                                          show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    # Published models carry such leftovers of their training.
    tokenizer.enable_padding(length=16, pad_id=0, pad_token="[PAD]")
    tokenizer.enable_truncation(max_length=16)
    tokens = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token",
                       "mask_token"], special))
    return tokenizer, dict(tokens, model_max_length=24,
                           clean_up_tokenization_spaces=True)


def bytelevel():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(
            vocab_size=400, special_tokens=["<|endoftext|>", "<|pad|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, dict(
        bos_token="<|endoftext|>", eos_token="<|endoftext|>",
        pad_token="<|pad|>", padding_side="left", truncation_side="left",
        clean_up_tokenization_spaces=True,
        model_input_names=["input_ids", "attention_mask"])


def save(name, made):
    tokenizer, options = made
    directory = HERE / name
    shutil.rmtree(directory, ignore_errors=True)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer,
                            **options).save_pretrained(directory)
    # save_pretrained leaves the leftovers out; published files have them.
    tokenizer.save(str(directory / "tokenizer.json"), pretty=False)
    return AutoTokenizer.from_pretrained(directory)


def byte_offsets(text, pair, encoding, row):
    spans = []
    sequence = encoding.sequence_ids(row)
    for place, (begin, end) in enumerate(encoding["offset_mapping"][row]):
        source = (pair if sequence[place] == 1 else text) or ""
        spans.append([len(source[:begin].encode()), len(source[:end].encode())])
    return spans


def golden(tokenizer, texts, pairs, options):
    encoding = tokenizer(texts, pairs, return_offsets_mapping=True,
                         return_special_tokens_mask=True,
                         return_token_type_ids=True, **options)
    keys = ("input_ids", "attention_mask", "token_type_ids",
            "special_tokens_mask")
    expected = {key: encoding[key] for key in keys}
    expected["offset_mapping"] = [
        byte_offsets(text, pairs and pairs[row], encoding, row)
        for row, text in enumerate(texts)]
    for skip in (False, True):
        expected["decoded_skip" if skip else "decoded"] = [
            tokenizer.decode(ids, skip_special_tokens=skip)
            for ids in encoding["input_ids"]]
    return expected


def cases(name, tokenizer):
    options = [
        {"padding": "longest"},
        {"padding": "longest", "add_special_tokens": False},
        {"padding": "longest", "truncation": "longest_first", "max_length": 9},
        {"padding": "max_length", "truncation": "longest_first",
         "max_length": 12},
        {"padding": "longest", "pad_to_multiple_of": 8},
        {"padding": "longest", "padding_side": "left"},
        {"padding": "longest", "padding_side": "right"},
    ]
    if tokenizer.model_max_length < 1000:
        options.append({"padding": "longest", "truncation": "longest_first"})
    # transformers takes the side of truncation from the tokenizer only.
    sides = ["left", "right"]
    own = tokenizer.truncation_side
    for side, option in itertools.product(sides, options):
        if side != own and "truncation" not in option:
            continue
        tokenizer.truncation_side = side
        for pairs in (None, TEXTS[::-1]):
            for strategy in (["longest_first"] if pairs is None or
                             "truncation" not in option else
                             ["longest_first", "only_first", "only_second"]):
                call = dict(option)
                if strategy != "longest_first":
                    # Only one text of a pair can be cut: leave room for both.
                    call |= {"truncation": strategy, "max_length": 90}
                    if call["padding"] == "max_length":
                        continue
                yield {"tokenizer": name, "texts": TEXTS, "text_pairs": pairs,
                       "options": call | {"truncation_side": side},
                       "expected": golden(tokenizer, TEXTS, pairs, call)}
    tokenizer.truncation_side = own


def main():
    goldens = []
    for name, make in (("wordpiece", wordpiece), ("bytelevel", bytelevel)):
        goldens += cases(name, save(name, make()))
    text = json.dumps(goldens, ensure_ascii=True, separators=(",", ":"))
    (HERE / "goldens.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
