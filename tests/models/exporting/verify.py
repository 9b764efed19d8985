# SPDX-License-Identifier: Apache-2.0
"""Runs the ONNX fixtures on ONNX Runtime and compares with the goldens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch

from . import golden
from .spec_tree import differences, tree_of


def verify(root: Path, only: list[str] | None) -> int:
    """Check every ONNX fixture; returns how the process should exit."""
    ort.set_default_logger_severity(4)
    failures = 0
    for index in sorted(root.glob("*/**/index.json")):
        place = index.parent.relative_to(root)
        if not only or place.parts[0] in only:
            failures += _verify_bare(index)
    for entry in json.loads((root / "index.json").read_text()):
        if entry["format"] != "onnx" or only and entry["name"] not in only:
            continue
        lines, worst = _verify_entry(root, entry)
        failures += bool(lines)
        state = "FAILED" if lines else "ok"
        print(f"{state:7}{entry['path']:34}{worst:.1e} of {entry['tolerance']}")
        for line in lines:
            print(f"       {line}")
    return 1 if failures else 0


def _verify_bare(index: Path) -> int:
    """Check the bare programs of one index; returns how many are wrong."""
    failures = 0
    for entry in json.loads(index.read_text()):
        lines = _verify_program(index.parent, entry)
        failures += bool(lines)
        state = "FAILED" if lines else "ok"
        print(f"{state:7}{index.parent.name}/{entry['file']}")
        for line in lines:
            print(f"       {line}")
    return failures


def _verify_program(directory: Path, entry: dict) -> list[str]:
    try:
        session = _open(directory / entry["file"])
    except Exception as error:
        return [str(error)] if entry["loads"] else []
    if not entry["loads"]:
        return ["it loads, and should not"]
    lines = []
    for case in entry["cases"]:
        inputs, _ = golden.load(directory / case["inputs"])
        wanted, _ = golden.load(directory / case["outputs"])
        feed = {name: _ort_value(value) for name, value in inputs.items()}
        results = session.run_with_ort_values(None, feed)
        for spec, result in zip(session.get_outputs(), results):
            error = _error(wanted[spec.name], _array(result))
            if not error <= case["tolerance"]:
                lines.append(f"{case['name']}: {spec.name} is off by {error}")
    return lines


def _ort_value(tensor: torch.Tensor) -> ort.OrtValue:
    if tensor.dtype != torch.bfloat16:
        return ort.OrtValue.ortvalue_from_numpy(tensor.numpy())
    bits = tensor.view(torch.int16).numpy().view(np.uint16)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)


def _array(value: ort.OrtValue) -> np.ndarray:
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    tensor = torch.from_dlpack(value._ortvalue.to_dlpack())
    return tensor.view(torch.int16).numpy()


def _verify_entry(root: Path, entry: dict) -> tuple[list[str], float]:
    directory = root / entry["path"]
    manifest = json.loads((directory / "export.json").read_text())
    sessions: dict[str, ort.InferenceSession] = {}
    lines, worst = [], 0.0
    for case in entry["cases"]:
        component = manifest["components"][case["component"]]
        metadata = component["metadata"]
        _, record = golden.load(root / case["outputs"])
        tree = tree_of(metadata["out_spec"], metadata["out_constants"])
        for line in differences(record["tree"], tree):
            lines.append(f"{case['name']}: tree{line}")
        if not entry["runs"]:
            continue
        if case["component"] not in sessions:
            sessions[case["component"]] = _open(directory / component["file"])
        session = sessions[case["component"]]
        try:
            errors = _run_case(root, case, session)
        except Exception as error:
            lines.append(f"{case['name']}: {error}")
            continue
        for name, error in errors.items():
            worst = max(worst, error)
            if not error <= entry["tolerance"]:
                lines.append(f"{case['name']}: {name} is off by {error:.2e}")
    return lines, worst


def _open(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options)


def _run_case(root: Path, case: dict, session) -> dict[str, float]:
    """The absolute error of each output of one case."""
    inputs, _ = golden.load(root / case["inputs"])
    wanted, record = golden.load(root / case["outputs"])
    feed = {
        spec.name: inputs[spec.name.removeprefix("input.")].numpy()
        for spec in session.get_inputs()
    }
    outputs = session.run(None, feed)
    names = _leaf_order(record["tree"])
    return {
        name: _error(wanted[name], output)
        for name, output in zip(names, outputs[len(outputs) - len(names) :])
    }


def _leaf_order(tree: dict) -> list[str]:
    """The tensor leaves of a tree, in order."""
    if "tensor" in tree:
        return [tree["tensor"]]
    children = [child for _, child in tree.get("fields", ())]
    for item in tree.get("items", ()):
        children.append(item[1] if isinstance(item, list) else item)
    return [name for child in children for name in _leaf_order(child)]


def _error(wanted: torch.Tensor, got: np.ndarray) -> float:
    """The largest absolute difference; infinite where dtype or shape differ."""
    if wanted.dtype == torch.bfloat16:
        # NumPy has no bfloat16: its bits are compared.
        wanted = wanted.view(torch.int16)
    array = wanted.numpy()
    if array.dtype != got.dtype or array.shape != got.shape:
        return float("inf")
    if array.size == 0:
        return 0.0
    if np.array_equal(array, got, equal_nan=array.dtype.kind == "f"):
        return 0.0
    difference = array.astype(np.float64) - got.astype(np.float64)
    return float(np.abs(difference).max())
