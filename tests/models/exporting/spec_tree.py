# SPDX-License-Identifier: Apache-2.0
"""The tree that an export's `out_spec` promises, in the goldens' form.

Reads the manifest alone and imports no class that it names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def tree_of(out_spec: str, out_constants: list) -> dict:
    """The tree of a component's outputs."""
    _, node = json.loads(out_spec)
    constants = {index: value for index, value in out_constants}
    return _node(node, "", _indices(), constants)


def _indices() -> Iterator[int]:
    index = 0
    while True:
        yield index
        index += 1


def _join(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _node(node: dict, path: str, indices: Iterator[int], constants) -> dict:
    name, children = node["type"], node["children_spec"]
    if name is None:
        index = next(indices)
        if index in constants:
            return {"value": constants[index]}
        return {"tensor": path}
    context = json.loads(node["context"])
    if ":" in name:
        for _ in children:
            next(indices)
        return _tagged(context, path)
    keys = context if context is not None else range(len(children))
    pairs = [
        [key, _node(child, _join(path, key), indices, constants)]
        for key, child in zip(keys, children, strict=True)
    ]
    if name in ("builtins.tuple", "builtins.list"):
        return {"class": name, "items": [child for _, child in pairs]}
    if name in ("builtins.dict", "collections.OrderedDict"):
        return {"class": name, "items": pairs}
    return {"class": name, "fields": pairs}


def _tagged(value: Any, path: str) -> dict:
    """A node of a cache's context."""
    if isinstance(value, list):
        items = [_tagged(v, _join(path, i)) for i, v in enumerate(value)]
        return {"class": "builtins.list", "items": items}
    if not isinstance(value, dict):
        return {"value": value}
    tag = value.get("_t")
    if tag is None:
        items = [[k, _tagged(v, _join(path, k))] for k, v in value.items()]
        return {"class": "builtins.dict", "items": items}
    if tag == "tensor":
        return {"tensor": path}
    if tag == "dtype":
        return {"dtype": value["n"]}
    if tag == "device":
        return {"device": value["s"]}
    if tag == "size":
        return {"size": value["v"]}
    if tag == "items":
        items = [[k, _tagged(v, _join(path, k))] for k, v in value["v"]]
        return {"class": "builtins.dict", "items": items}
    name = value["p"].replace(":", ".")
    if tag == "type":
        return {"type": name}
    if tag == "obj":
        state = value["s"].items()
        return {
            "class": name,
            "fields": [[k, _tagged(v, _join(path, k))] for k, v in state],
        }
    if tag == "seq":
        items = [_tagged(v, _join(path, i)) for i, v in enumerate(value["v"])]
        return {"class": name, "items": items}
    if tag == "map":
        items = [[k, _tagged(v, _join(path, k))] for k, v in value["v"].items()]
        return {"class": name, "items": items}
    raise ValueError(f"unknown tag {tag!r} at {path!r}")


def differences(wanted: Any, got: Any, where: str = "") -> list[str]:
    """Where two trees differ, as readable lines."""
    if type(wanted) is not type(got):
        return [f"{where}: {wanted!r} against {got!r}"]
    if isinstance(wanted, dict):
        if wanted.keys() != got.keys():
            return [f"{where}: {wanted!r} against {got!r}"]
        lines = []
        for key in wanted:
            lines += differences(wanted[key], got[key], f"{where}/{key}")
        return lines
    if isinstance(wanted, list):
        if len(wanted) != len(got):
            return [f"{where}: {len(wanted)} items against {len(got)}"]
        lines = []
        for index, (a, b) in enumerate(zip(wanted, got)):
            lines += differences(a, b, f"{where}/{index}")
        return lines
    return [] if wanted == got else [f"{where}: {wanted!r} against {got!r}"]
