#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a call from Python costs, on a tiny BERT of 1 x 8 tokens.

    benchmarks/python_call.py [--rounds N]

Each line is the median of a whole call in microseconds, with one thread: of
the runtime's own Python API, of transformers' runner, of modelrun, and of a
bound call of modelrun, which is the program's run with next to nothing around
it. All read every output. The ways take turns, so that a busy machine slows
all of them alike. Needs onnxruntime; torch and transformers where they are.
"""
import argparse
import importlib.util
import pathlib
import statistics
import time

import numpy as np

import modelrun

EXPORT = (pathlib.Path(__file__).resolve().parent.parent
          / "tests/models/fixtures/bert/onnx")
IDS = np.array([[2, 45, 17, 3, 5, 6, 7, 8]])
MASK = np.ones_like(IDS)
CALLS = 200


def median_of(call) -> float:
    times = []
    for _ in range(CALLS):
        begin = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1000


def runtime_call():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        EXPORT / "model.onnx", options, providers=["CPUExecutionProvider"])
    feed = {"input_ids": IDS, "attention_mask": MASK}
    return lambda: session.run(None, feed)


def reference_call(ids, mask):
    import onnxruntime
    from transformers.exporters import ExportedModel

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = ExportedModel.from_pretrained(EXPORT, session_options=options)
    return lambda: model(input_ids=ids, attention_mask=mask)


def ways() -> dict:
    model = modelrun.ExportedModel.from_pretrained(EXPORT, threads=1)
    bound = model.bind(input_ids=IDS, attention_mask=MASK,
                       return_type="dlpack")
    found = {
        "onnxruntime's own, numpy": runtime_call(),
        "modelrun, numpy": lambda: model(
            input_ids=IDS, attention_mask=MASK).to_tuple(),
        "modelrun, bound": bound,
    }
    if importlib.util.find_spec("transformers") is None:
        return found
    import torch

    ids, mask = torch.tensor(IDS), torch.tensor(MASK)
    found["transformers' runner, torch"] = reference_call(ids, mask)
    found["modelrun, torch"] = lambda: model(
        input_ids=ids, attention_mask=mask)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    calls = ways()
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(median_of(call))
    # The quietest round tells what a call costs, others what else ran.
    best = {name: min(each) for name, each in times.items()}
    for name, each in sorted(best.items(), key=lambda item: item[1]):
        print(f"{each:8.1f} us  {name}")
    for kind in ("numpy", "torch"):
        if f"modelrun, {kind}" in best:
            own = best[f"modelrun, {kind}"] - best["modelrun, bound"]
            print(f"{own:8.1f} us  around the run, {kind}")


if __name__ == "__main__":
    main()
