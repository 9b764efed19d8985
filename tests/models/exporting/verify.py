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
    failures = 0
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
    array = wanted.numpy()
    if array.dtype != got.dtype or array.shape != got.shape:
        return float("inf")
    if array.size == 0:
        return 0.0
    return float(np.abs(array.astype(np.float64) - got.astype(np.float64)).max())
