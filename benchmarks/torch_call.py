# SPDX-License-Identifier: Apache-2.0
"""Compares a call of each torch.export fixture with the program's own module.

    python benchmarks/torch_call.py build/.../bin/torch_call [FIXTURE ...]

needs torch and transformers in this Python. Prints, for the first case of each
fixture, microseconds per call (the quickest and the median) of
`ExportedProgram.module()` and of modelrun, one thread each.
"""

import copy
import importlib
import json
import pathlib
import subprocess
import sys
import time

import torch
from safetensors.torch import load_file
from transformers.exporters.metadata import register_treespec_types

MODELS = pathlib.Path(__file__).parent.parent / "tests/models"
FIXTURES = MODELS / "fixtures"


def leaves(names, constants, tensors):
    """The flat inputs, in the order of the recorded kwargs."""
    for name in names:
        if name in constants:
            yield constants[name]
        else:
            yield from (
                tensor
                for path, tensor in tensors.items()
                if path == name or path.startswith(name + ".")
            )


def python_times(program, metadata, tensors):
    register_treespec_types(metadata["in_spec"])
    register_treespec_types(metadata["out_spec"])
    exported = torch.export.load(program)
    kwargs = json.loads(metadata["in_spec"])[1]["children_spec"][1]["context"]
    flat = list(leaves(json.loads(kwargs), metadata["in_constants"], tensors))
    args, kwargs = torch.utils._pytree.tree_unflatten(
        flat, exported.call_spec.in_spec
    )
    module = exported.module()
    times = []
    with torch.no_grad():
        for call in range(220):
            # A module may write to its inputs.
            own_args, own_kwargs = copy.deepcopy((args, kwargs))
            start = time.perf_counter()
            module(*own_args, **own_kwargs)
            times.append((time.perf_counter() - start) * 1e6)
    return sorted(times[20:])


def main():
    # The classes that the fixtures' own models return.
    sys.path.insert(0, str(MODELS))
    importlib.import_module("exporting.custom")
    torch.set_num_threads(1)
    print(f"{'fixture':<22}{'python':>9}{'median':>9}{'modelrun':>9}{'median':>9}")
    for fixture in json.loads((FIXTURES / "index.json").read_text()):
        if fixture["format"] != "dynamo" or not fixture["runs"]:
            continue
        if sys.argv[2:] and fixture["name"] not in sys.argv[2:]:
            continue
        folder = FIXTURES / fixture["path"]
        case = fixture["cases"][0]
        manifest = json.loads((folder / "export.json").read_text())
        component = manifest["components"][case["component"]]
        inputs = FIXTURES / case["inputs"]
        try:
            times = python_times(
                folder / component["file"], component["metadata"], load_file(inputs)
            )
        except RuntimeError as error:
            print(f"{fixture['name']:<22} torch cannot load it: {error}")
            continue
        ours = subprocess.run(
            [sys.argv[1], folder, case["component"], inputs],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        print(
            f"{fixture['name']:<22}{times[0]:>9.0f}{times[len(times) // 2]:>9.0f}"
            f"{float(ours[0]):>9.0f}{float(ours[1]):>9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
