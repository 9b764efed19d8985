# SPDX-License-Identifier: Apache-2.0
"""Backends that are written in Python."""

import json
import threading

import numpy as np
import pytest

import modelrun
from conftest import needs_torch, run_python

FORMAT = "python-test"


def leaf():
    return {"type": None, "context": None, "children_spec": []}


def node(kind, context, children):
    return {"type": kind, "context": json.dumps(context),
            "children_spec": children}


def write_export(folder, export_format=FORMAT, outputs=("total", "count")):
    """An export with the kwargs x and y, whose program is a text file."""
    kwargs = node("builtins.dict", ["x", "y"], [leaf(), leaf()])
    in_spec = node("builtins.tuple", None,
                   [node("builtins.tuple", None, []), kwargs])
    out_spec = node("transformers.modeling_outputs.BaseModelOutput",
                    list(outputs), [leaf() for _ in outputs])
    manifest = {
        "schema_version": 1, "export_format": export_format,
        "components": {"model": {"file": "program.txt", "metadata": {
            "architecture": "Adder", "export_dtype": "float32",
            "kwargs": {name: {"rank": 1, "shape": [2], "dtype": "float32"}
                       for name in "xy"},
            "in_spec": json.dumps([1, in_spec]),
            "out_spec": json.dumps([1, out_spec])}}},
    }
    (folder / "export.json").write_text(json.dumps(manifest))
    (folder / "program.txt").write_text("1.5")
    return folder


class Adder(modelrun.Runner):
    options = ("scale",)
    inputs = [("x", "float32", ["n"]), ("y", "float32", ["n"])]
    outputs = [("last_hidden_state", "float32", ["n"]),
               ("hidden_states", "int64", [])]
    kept = []

    def __init__(self, program, scale=1):
        with open(program, encoding="utf-8") as file:
            self.offset = float(file.read()) * scale
        self.calls = 0

    def run(self, inputs):
        self.kept.append(inputs)
        self.calls += 1
        x, y = (np.from_dlpack(inputs[name]) for name in "xy")
        return {"hidden_states": np.array(self.calls),
                "last_hidden_state": x + y + np.float32(self.offset)}


modelrun.register_backend(FORMAT, Adder)
X = np.array([1, 2, 3], "float32")


@pytest.fixture
def adder(tmp_path):
    export = write_export(
        tmp_path, outputs=("last_hidden_state", "hidden_states"))
    return modelrun.ExportedModel.from_pretrained(export)


def test_it_is_called_like_a_native_one(adder):
    outputs = adder(x=X, y=X)
    assert outputs.last_hidden_state.tolist() == [3.5, 5.5, 7.5]
    assert outputs.hidden_states.item() == 1
    assert adder(x=X, y=X)[1].item() == 2
    assert adder.program.inputs[0] == ("x", "float32", ("n",))
    assert str(adder.device) == "cpu"
    assert adder.report()["model"]["backend"] == FORMAT


@needs_torch
def test_torch_outputs_have_the_source_model_s_class(adder):
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    outputs = adder(x=torch.tensor(X), y=torch.tensor(X))
    assert type(outputs) is BaseModelOutput
    assert torch.equal(outputs.last_hidden_state,
                       torch.tensor([3.5, 5.5, 7.5]))


def test_checks_are_the_library_s(adder):
    with pytest.raises(modelrun.InvalidArgument, match="missing inputs.*'y'"):
        adder(x=X)
    with pytest.raises(modelrun.InvalidArgument, match="'y'"):
        adder(x=X, y=X[:2])
    with pytest.raises(modelrun.InvalidArgument, match="float32.*int64"):
        adder(x=X, y=X.astype("int64"))


def test_inputs_may_be_kept(adder):
    Adder.kept.clear()
    x = X.copy()
    adder(x=x, y=x)
    x[:] = 0
    assert Adder.kept[0]["x"].numpy().tolist() == X.tolist()


def test_options_are_those_of_the_class(adder, tmp_path):
    other = modelrun.ExportedModel.from_pretrained(tmp_path, scale=2)
    assert other(x=X, y=X)[0][0] == 5.0
    with pytest.raises(TypeError, match="'sacle'.*'scale'"):
        modelrun.ExportedModel.from_pretrained(tmp_path, sacle=2)
    with pytest.raises(modelrun.BackendError, match="threads"):
        modelrun.ExportedModel.from_pretrained(tmp_path, threads=2)


def test_bound_calls_and_shared_outputs(adder):
    x, y = X.copy(), X.copy()
    bound = adder.bind(x=x, y=y)
    assert bound().last_hidden_state[0] == 3.5
    x[:] = 10
    assert bound().last_hidden_state.tolist() == [12.5, 13.5, 14.5]
    for _ in range(3):
        shared = adder(False, True, x=x, y=y)
        assert shared.last_hidden_state.tolist() == [12.5, 13.5, 14.5]


def test_many_threads(adder):
    failures = []

    def work(value):
        x = np.full(4, value, "float32")
        for _ in range(50):
            if adder(x=x, y=x)[0].tolist() != [2 * value + 1.5] * 4:
                failures.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def open_runner(tmp_path, name, run=None, **attributes):
    members = {"inputs": [], "outputs": [("y", "float32", [])],
               "__init__": lambda self, program: None,
               "run": run or (lambda self, inputs: []), **attributes}
    modelrun.register_backend(name, type(name, (), members))
    write_export(tmp_path, name)
    manifest = json.loads((tmp_path / "export.json").read_text())
    manifest["components"]["model"]["metadata"] = {}
    (tmp_path / "export.json").write_text(json.dumps(manifest))
    return modelrun.ExportedModel.from_pretrained(tmp_path)


def test_exceptions_are_the_cause(tmp_path):
    def run(self, inputs):
        raise KeyError("my own")

    model = open_runner(tmp_path, "fails", run)
    with pytest.raises(modelrun.BackendError, match="KeyError: 'my own'") as e:
        model()
    assert isinstance(e.value.__cause__, KeyError)


def test_exits_pass_through(tmp_path):
    def run(self, inputs):
        raise KeyboardInterrupt

    model = open_runner(tmp_path, "interrupts", run)
    with pytest.raises(KeyboardInterrupt):
        model()


@pytest.mark.parametrize("returned, text", [
    ([], "0 arrays, expected 1"),
    ([np.zeros(()), np.zeros(())], "2 arrays"),
    ({"z": np.zeros(())}, "no 'y'"),
    ([np.zeros(())], "float64.*another dtype"),
    ([object()], "expected an array"),
    (7, "not iterable"),
])
def test_wrong_outputs_are_refused(tmp_path, returned, text):
    name = f"returns-{abs(hash(text))}"
    model = open_runner(tmp_path, name, lambda self, inputs: returned)
    with pytest.raises(modelrun.BackendError, match=text):
        model()


@pytest.mark.parametrize("ports, text", [
    ([("y", "floaty", [])], "'floaty'"),
    ([("y", "float32")], "expected \\(name, dtype, shape\\)"),
    (7, "not iterable"),
])
def test_wrong_signatures_are_refused(tmp_path, ports, text):
    with pytest.raises(modelrun.BackendError, match=text):
        open_runner(tmp_path, f"ports-{abs(hash(text))}", outputs=ports)


@pytest.mark.parametrize("runner", [object(), int, None])
def test_what_is_no_runner_class_is_refused(runner):
    with pytest.raises(TypeError, match="method run"):
        modelrun.register_backend("wrong", runner)


def test_process_ends_cleanly_with_a_model_in_it(tmp_path):
    write_export(tmp_path)
    run_python(f"""
        import sys
        sys.path.insert(0, "tests/python")
        import test_custom_backend as test
        import modelrun
        model = modelrun.ExportedModel.from_pretrained({str(tmp_path)!r})
        model(x=test.X, y=test.X)
        bound = model.bind(x=test.X, y=test.X)
        """)
