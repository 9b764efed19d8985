# SPDX-License-Identifier: Apache-2.0
"""Every fixture, called with numpy arrays and with torch tensors."""

import numpy as np
import pytest

import goldens
from conftest import is_installed, open_export, runs_format

# The formats whose plugin and runtime are installed.
FORMATS = [export_format
           for export_format in ("onnx", "openvino", "executorch", "dynamo")
           if runs_format(export_format)]
CASES = [pytest.param(entry, case,
                      id=f"{entry['name']}-{entry['format']}-{case['name']}")
         for export_format in FORMATS
         for entry, case in goldens.cases(export_format)
         # It keeps its cache itself, and its cases go in order.
         if "stateful" not in entry["name"]]


def test_onnx_runs():
    assert "onnx" in FORMATS


def component_of(entry, case):
    model = open_export(entry["name"], entry["format"])
    return model.component(case["component"])


def check_plain(got, want, tolerance, path=""):
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray), path
        assert (got.shape, got.dtype) == (want.shape, want.dtype), path
        assert goldens.difference(got, want) <= tolerance, path
    elif isinstance(want, dict):
        assert list(got.keys() if isinstance(got, dict) else got) == list(want)
        for key, value in want.items():
            check_plain(got[key], value, tolerance, f"{path}.{key}")
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want), path
        for i, value in enumerate(want):
            check_plain(got[i], value, tolerance, f"{path}.{i}")
    elif want is not None:
        assert got == want, path


@pytest.mark.parametrize("entry, case", CASES)
def test_numpy(entry, case):
    model = component_of(entry, case)
    outputs = model(**goldens.kwargs_of(case))
    check_plain(outputs, goldens.outputs_of(case), entry["tolerance"])


def check_torch(got, want, tolerance, path=""):
    import torch

    if isinstance(want, torch.Tensor):
        assert isinstance(got, torch.Tensor), path
        assert (got.shape, got.dtype) == (want.shape, want.dtype), path
        if got.numel():
            assert (got.double() - want.double()).abs().max() <= tolerance, path
        return
    if hasattr(want, "__dict__") and not isinstance(want, dict):
        assert type(got) is type(want), path
        got, want = vars(got), vars(want)
    if isinstance(want, dict):
        if not hasattr(got, "class_name"):
            assert type(got) is type(want), path
        assert list(got) == list(want), path
        for key in want:
            check_torch(got[key], want[key], tolerance, f"{path}.{key}")
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want), path
        for i, value in enumerate(want):
            check_torch(got[i], value, tolerance, f"{path}.{i}")
    elif want is not None:
        assert got == want, path


@pytest.mark.parametrize(
    "entry, case",
    CASES if is_installed("torch") and is_installed("transformers") else [])
def test_torch(entry, case):
    model = component_of(entry, case)
    outputs = model(**goldens.kwargs_of(case, goldens.TorchBuilder))
    want = goldens.outputs_of(case, goldens.TorchBuilder)
    check_torch(outputs, want, entry["tolerance"])


@pytest.mark.parametrize("share_inputs", [True, False])
@pytest.mark.parametrize("share_outputs", [True, False])
def test_share_flags_change_no_number(share_inputs, share_outputs):
    entry = goldens.fixture("llama-generation")
    for case in entry["cases"]:
        model = component_of(entry, case)
        outputs = model(share_inputs, share_outputs, **goldens.kwargs_of(case))
        check_plain(outputs, goldens.outputs_of(case), entry["tolerance"])


def test_own_cache_is_passed_on_as_it_is():
    model = open_export("t5-generation")
    entry = goldens.fixture("t5-generation")
    cache = None
    followed = 0
    for case in entry["cases"]:
        kwargs = goldens.kwargs_of(case)
        if case["follows"] is not None:
            kwargs["past_key_values"] = cache
            followed += 1
        outputs = model.component(case["component"])(**kwargs)
        check_plain(outputs, goldens.outputs_of(case), entry["tolerance"])
        cache = outputs.past_key_values
    assert followed >= 4
