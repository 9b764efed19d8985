# SPDX-License-Identifier: Apache-2.0
"""The fixtures of tests/models, as numpy arrays and plain containers, or as
torch tensors in transformers' own classes."""

import importlib
import json
import pathlib

import numpy as np

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "models/fixtures"
INDEX = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))

DTYPES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16",
          "U16": "uint16", "I32": "int32", "I64": "int64", "F16": "float16",
          "F32": "float32", "F64": "float64", "BF16": "bfloat16"}


def fixture(name, export_format="onnx"):
    return next(entry for entry in INDEX
                if entry["name"] == name and entry["format"] == export_format)


def path_of(name, export_format="onnx"):
    return str(FIXTURES / fixture(name, export_format)["path"])


def cases(export_format):
    """(entry, case) of every fixture that its runtime can run."""
    return [(entry, case) for entry in INDEX
            if entry["format"] == export_format and entry["runs"]
            for case in entry["cases"]]


def load(name):
    """The tensors and the metadata of a golden file."""
    data = (FIXTURES / name).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    meta = json.loads(header.pop("__metadata__")["modelrun"])
    tensors = {}
    for key, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        dtype = DTYPES[entry["dtype"]]
        stored = "uint16" if dtype == "bfloat16" else dtype
        array = np.frombuffer(data[begin:end], stored).reshape(entry["shape"])
        if dtype == "bfloat16":
            array = array.view(importlib.import_module("ml_dtypes").bfloat16)
        tensors[key] = array.copy()
    return tensors, meta


class PlainBuilder:
    """Builds a tree of numpy arrays in dicts, lists and tuples."""

    def __init__(self, tensors):
        self.tensors = tensors

    def tensor(self, array):
        return array

    def named(self, kind, name):
        return None

    def instance(self, name, fields):
        return fields

    def build(self, node):
        if "tensor" in node:
            return self.tensor(self.tensors[node["tensor"]])
        if "value" in node:
            return node["value"]
        for kind in ("dtype", "device", "size", "type"):
            if kind in node:
                return self.named(kind, node[kind])
        if "fields" in node:
            return self.instance(node["class"], {
                key: self.build(child) for key, child in node["fields"]})
        if node["class"] == "builtins.dict":
            return {key: self.build(child) for key, child in node["items"]}
        items = [self.build(child) for child in node["items"]]
        return tuple(items) if node["class"] == "builtins.tuple" else items


class TorchBuilder(PlainBuilder):
    """Builds it of torch tensors, in the classes that the tree names."""

    def tensor(self, array):
        import torch

        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view("uint16")).view(torch.bfloat16)
        return torch.from_numpy(array)

    def named(self, kind, name):
        import torch

        if kind == "dtype":
            return getattr(torch, name)
        if kind == "device":
            return torch.device(name)
        return torch.Size(name) if kind == "size" else None

    def instance(self, name, fields):
        module, _, leaf = name.rpartition(".")
        if not module.startswith("transformers."):
            return fields
        kind = getattr(importlib.import_module(module), leaf)
        if hasattr(kind, "to_tuple"):
            return kind(**fields)
        made = kind.__new__(kind)
        made.__dict__.update(fields)
        return made


def kwargs_of(case, builder=PlainBuilder):
    tensors, meta = load(case["inputs"])
    kwargs = builder(tensors).build(meta["tree"])
    return {**meta["constants"], **kwargs}


def outputs_of(case, builder=PlainBuilder):
    tensors, meta = load(case["outputs"])
    return builder(tensors).build(meta["tree"])


def difference(got, want):
    if got.size == 0:
        return 0.0
    return float(np.abs(got.astype("float64") - want.astype("float64")).max())
