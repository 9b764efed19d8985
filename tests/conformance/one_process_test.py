# SPDX-License-Identifier: Apache-2.0
"""All runtimes in one process, and beside their own Python packages.

Each order runs in a process of its own: a library that is opened stays.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parent.parent / "models/fixtures"
FORMATS = ("onnx", "openvino", "dynamo", "executorch")
# What another library of the process may have imported.
PACKAGES = {
    "onnx": "onnxruntime",
    "openvino": "openvino",
    "dynamo": "torch",
    "executorch": "executorch.extension.pybindings.portable_lib",
}

PROGRAM = """
import importlib, json, sys

import numpy as np
from safetensors.numpy import load_file

fixtures, steps = sys.argv[1], json.loads(sys.argv[2])
wanted = load_file(f"{fixtures}/bert/cases/padded.outputs.safetensors")
inputs = load_file(f"{fixtures}/bert/cases/padded.inputs.safetensors")
models = {}

def check(model):
    outputs = model(**inputs)
    for name, value in wanted.items():
        np.testing.assert_allclose(np.asarray(outputs[name]), value, atol=1e-4)

for kind, name in steps:
    if kind == "import":
        importlib.import_module(name)
    else:
        import modelrun
        models[name] = modelrun.ExportedModel.from_pretrained(
            f"{fixtures}/bert/{name}")
    for model in models.values():
        check(model)
print("right")
"""


def orders():
    """Every format first once, and packages before, between and after."""
    loads = [("load", name) for name in FORMATS]
    imports = [("import", PACKAGES[name]) for name in FORMATS]
    for turn in range(len(FORMATS)):
        turned = loads[turn:] + loads[:turn]
        yield turned + imports
        yield imports[turn:] + imports[:turn] + loads
    yield list(itertools.chain(*zip(loads, imports)))
    yield list(itertools.chain(*zip(imports, reversed(loads))))


@pytest.mark.parametrize("steps", list(orders()), ids=lambda steps: "-".join(
    f"{kind}_{name.split('.')[0]}" for kind, name in steps))
def test_runtimes_share_a_process(steps):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, FIXTURES, json.dumps(steps)],
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().endswith("right")
