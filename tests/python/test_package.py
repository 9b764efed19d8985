# SPDX-License-Identifier: Apache-2.0
"""The package itself: its import, its command, its types."""

import importlib.metadata
import importlib.util
import pathlib
import statistics
import subprocess
import sys

import pytest

import goldens
import modelrun
from conftest import REPOSITORY, run_python

PACKAGE = pathlib.Path(modelrun.__file__).parent


def test_import_takes_little_and_imports_little():
    times = [float(run_python("""
        import sys, time
        begin = time.perf_counter()
        import modelrun
        print(time.perf_counter() - begin)
        heavy = {"numpy", "torch", "transformers", "typing", "logging",
                 "onnxruntime", "pathlib", "dataclasses"} & set(sys.modules)
        # What the interpreter's own start has imported is not ours.
        heavy -= set(sys.argv)
        assert not heavy & {"numpy", "torch", "transformers", "onnxruntime"}
        """)) for _ in range(5)]
    assert min(times) < 0.06, times
    assert statistics.median(times) < 0.3, times


def test_numpy_calls_import_neither_torch_nor_transformers():
    run_python(f"""
        import sys
        import numpy as np
        import modelrun
        model = modelrun.ExportedModel.from_pretrained(
            {goldens.path_of("bert")!r}, threads=1)
        ids = np.array([[2, 45, 17, 3]])
        outputs = model(input_ids=ids, attention_mask=np.ones_like(ids))
        assert outputs.pooler_output.shape == (1, 32)
        outputs.class_name
        assert not {{"torch", "transformers", "onnxruntime"}} & set(sys.modules)
        """)


def test_calls_need_no_numpy():
    run_python(f"""
        import sys
        sys.modules["numpy"] = None
        import modelrun
        model = modelrun.ExportedModel.from_pretrained(
            {goldens.path_of("bert")!r}, threads=1)
        outputs = model(input_ids=[[2, 45, 17, 3]],
                        attention_mask=[[1, 1, 1, 1]], return_type="dlpack")
        assert type(outputs.pooler_output) is modelrun.Tensor
        assert memoryview(outputs.pooler_output).shape == (1, 32)
        assert "numpy" not in str(type(outputs[0]))
        """)


def test_runtime_of_this_environment_is_found():
    spec = importlib.util.find_spec("onnxruntime")
    found = modelrun._core.find_runtime("onnxruntime")
    assert found["library"].startswith(str(pathlib.Path(spec.origin).parent))
    assert found["tried"][-1][0] == "this Python"
    assert found["version"] == importlib.metadata.version("onnxruntime")


def test_everything_that_is_named_is_there():
    for name in modelrun.__all__:
        assert getattr(modelrun, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        modelrun.no_such
    assert modelrun.__version__.count(".") == 2
    assert modelrun.Error.__mro__[1] is Exception
    for name, kind in {"InvalidArgument": ValueError, "InvalidType": TypeError,
                       "NotFound": FileNotFoundError,
                       "Unsupported": NotImplementedError,
                       "BackendError": RuntimeError}.items():
        assert issubclass(getattr(modelrun, name), (modelrun.Error, kind))
        assert issubclass(getattr(modelrun, name), kind)


@pytest.mark.skipif(not (PACKAGE / "bin" / "modelrun").exists(),
                    reason="the package was built without its command")
def test_command():
    command = [sys.executable, "-m", "modelrun"]
    done = subprocess.run([*command, "inspect", goldens.path_of("bert")],
                          capture_output=True, text=True, check=True,
                          timeout=60)
    assert "BertModel" in done.stdout
    # The runtime is found with no environment active.
    done = subprocess.run([*command, "doctor"], capture_output=True, text=True,
                          check=True, timeout=60, env={"PATH": "/usr/bin"})
    assert "onnxruntime 1." in done.stdout
    done = subprocess.run([*command, "no-such-command"], check=False,
                          capture_output=True, timeout=60)
    assert done.returncode == 2


def test_stub_is_what_the_module_has(tmp_path):
    pytest.importorskip("nanobind")
    stub = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, REPOSITORY / "scripts/make_python_stub.py", stub],
                   check=True, timeout=120)
    kept = REPOSITORY / "python/modelrun/_core.pyi"
    assert kept.read_text() == stub.read_text(), (
        "make it anew: scripts/make_python_stub.py python/modelrun/_core.pyi")


PROGRAM = """
import numpy as np
import modelrun

model: modelrun.ExportedModel = modelrun.ExportedModel.from_pretrained(
    "export", device="cpu", threads=1)
outputs = model({"input_ids": np.zeros(1)}, share_outputs=True)
name: str = model.program.inputs[0].name
call: modelrun.BoundCall = model.bind(input_ids=[1])
shape: tuple[int, ...] = modelrun.Tensor.from_dlpack(np.zeros(1)).shape
"""


@pytest.mark.parametrize("line, error", [
    ("", ""),
    ("model.no_such", 'has no attribute "no_such"'),
    ("number: int = model.program.path", "Incompatible types"),
    ("model(share_inputs=7)", "incompatible type"),
])
def test_types(tmp_path, line, error):
    pytest.importorskip("mypy")
    assert (PACKAGE / "py.typed").exists()
    # The types of this package alone, wherever it is installed.
    types = tmp_path / "types"
    types.mkdir()
    (types / "modelrun").symlink_to(PACKAGE)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + line + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict",
         "--follow-imports", "silent", "--cache-dir",
         str(tmp_path.parent / "mypy"), str(program)],
        capture_output=True, text=True, check=False, timeout=300,
        cwd=tmp_path, env={"MYPYPATH": str(types), "PATH": ""})
    assert (done.returncode == 0) == (not error), done.stdout + done.stderr
    assert error in done.stdout


def test_sources_are_typed(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path),
         "--config-file", str(REPOSITORY / "pyproject.toml"),
         str(REPOSITORY / "python/modelrun")],
        capture_output=True, text=True, check=False, timeout=300,
        cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr
