#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes pooling.json: what sentence-transformers pools and normalizes.

Needs sentence-transformers==6.2.0 with torch; the numbers are seeded.
"""

import itertools
import json
import pathlib

import torch
from sentence_transformers.sentence_transformer.modules import (Normalize,
                                                                Pooling)

HERE = pathlib.Path(__file__).parent
MASKS = {
    "right": [[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0]],
    "left": [[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]],
    "full": [[1] * 6] * 3,
    "empty_row": [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]],
}
MODES = list(Pooling.POOLING_MODES) + [["cls", "mean"],
                                       ["max", "lasttoken", "weightedmean"]]


def rounded(tensor):
    return [float(f"{value:.9g}") for value in tensor.flatten().tolist()]


def case(name, mode, prompt_length, values):
    pooling = Pooling(values.shape[-1], pooling_mode=mode,
                      include_prompt=prompt_length == 0)
    features = {"token_embeddings": values,
                "attention_mask": torch.tensor(MASKS[name])}
    if prompt_length:
        features["prompt_length"] = prompt_length
    pooled = pooling(features)["sentence_embedding"]
    normalized = Normalize()({"sentence_embedding": pooled})
    # JSON has no infinity: what max gives for a row without tokens.
    return {"mask": name, "modes": [mode] if isinstance(mode, str) else mode,
            "prompt_length": prompt_length,
            "pooled": [None if abs(v) == float("inf") else v
                       for v in rounded(pooled)],
            "normalized": [None if v != v else v for v in
                           rounded(normalized["sentence_embedding"])]}


def main():
    torch.manual_seed(0)
    values = torch.randn(3, 6, 5)
    cases = [case(*key, values)
             for key in itertools.product(MASKS, MODES, (0, 2))]
    text = json.dumps({"shape": list(values.shape), "values": rounded(values),
                       "masks": MASKS, "cases": cases}, separators=(",", ":"))
    (HERE / "pooling.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
