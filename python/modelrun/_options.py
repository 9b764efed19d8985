# SPDX-License-Identifier: Apache-2.0
"""The options of a load: checked before a program is read."""

from __future__ import annotations

import os
from modelrun import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The options that every backend takes.
COMMON = ("backend", "file_name", "threads", "runtime_path",
          "check_recorded_shapes")


def device_name(device: Any) -> "str | None":
    """A device as text: a torch.device, `"cuda:1"`, or a GPU's number."""
    if device is None:
        return None
    if isinstance(device, bool) or not isinstance(device, int):
        return str(device)
    return f"cuda:{device}"


def _cpu_providers(backend: str, options: "dict[str, Any]",
                   device: "str | None") -> "str | None":
    """`providers` of ONNX Runtime, as transformers' runner takes them."""
    providers = options.pop("providers", None)
    if providers is None:
        return device
    if device is not None:
        raise _core.InvalidArgument(
            "pass either device or providers: the providers choose the device")
    names = [entry if isinstance(entry, str) else entry[0]
             for entry in providers]
    if names != ["CPUExecutionProvider"]:
        raise _core.Unsupported(
            f"backend '{backend}' runs with CPUExecutionProvider, got {names}")
    return "cpu"


def _session_options(options: "dict[str, Any]") -> None:
    """`session_options` of ONNX Runtime: its threads and its level; what else
    was set in it is refused."""
    session = options.pop("session_options", None)
    if session is None:
        return
    default = type(session)()
    changed = {
        name for name in dir(session)
        if not name.startswith("_") and not callable(getattr(session, name))
        and getattr(session, name) != getattr(default, name)}
    others = changed - {"intra_op_num_threads", "graph_optimization_level"}
    if others:
        raise _core.Unsupported(
            f"session_options sets {sorted(others)}: expected nothing but "
            "intra_op_num_threads and graph_optimization_level; pass the "
            "backend's own options by name")
    if "intra_op_num_threads" in changed:
        options.setdefault("threads", session.intra_op_num_threads)
    if "graph_optimization_level" in changed:
        level = session.graph_optimization_level.name.split("_")[-1].lower()
        if session.graph_optimization_level.name == "ORT_DISABLE_ALL":
            level = "disable"
        options.setdefault("graph_optimization_level", level)


# By backend, transformers' names for options, and how each is read.
REFERENCE: "dict[str, tuple[str, ...]]" = {
    "onnxruntime": ("providers", "session_options"),
    "openvino": ("config", "torch_threads"),
}


def _openvino_options(options: "dict[str, Any]") -> None:
    """`config` (compile properties) and `torch_threads` of OpenVINO."""
    torch_threads = options.pop("torch_threads", None)
    if torch_threads is not None:
        import torch

        torch.set_num_threads(torch_threads)
        cores = len(os.sched_getaffinity(0))
        options.setdefault("threads", max(1, cores - torch_threads))
    for key, value in (options.pop("config", None) or {}).items():
        options.setdefault(str(key), value)


def prepare(backend: str, device: Any,
            options: "dict[str, Any]") -> "dict[str, Any]":
    """The keyword arguments of `_core.load`, from those of `from_pretrained`.

    Raises InvalidType, which lists what the backend takes, for an unknown one.
    """
    taken = list(COMMON)
    if backend:
        taken += REFERENCE.get(backend, ())
        taken += _core.backend_options(
            backend, options.get("runtime_path") or "")
    unknown = [key for key in options if key not in taken]
    if unknown:
        of_backend = [key for key in taken if key not in COMMON]
        raise _core.InvalidType(
            f"unknown options {unknown}: backend '{backend}' takes "
            f"{of_backend}, and every backend {list(COMMON)}")
    options = dict(options)
    name = device_name(device)
    if backend == "onnxruntime":
        name = _cpu_providers(backend, options, name)
        _session_options(options)
    elif backend == "openvino":
        _openvino_options(options)
    common = {key: options.pop(key) for key in COMMON if key in options}
    return {**common, "device": name, "options": options}


