# SPDX-License-Identifier: Apache-2.0
"""transformers' own exported models, run by modelrun."""

import pathlib
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import goldens
import modelrun
from conftest import REPOSITORY, is_installed, needs_torch
from test_fixtures import check_torch

pytestmark = needs_torch
needs_exporter = pytest.mark.skipif(not is_installed("onnxscript"),
                                    reason="onnxscript is not installed")

IDS = np.array([[2, 45, 17, 3], [2, 9, 3, 0]])
MASK = np.array([[1, 1, 1, 1], [1, 1, 1, 0]])


@pytest.fixture
def integration():
    from modelrun.integrations import transformers

    formats = transformers.install(["onnx"])
    assert formats == ["onnx"]
    yield transformers
    transformers.uninstall()


def from_pretrained(*args, **kwargs):
    from transformers.exporters import ExportedModel

    return ExportedModel.from_pretrained(*args, **kwargs)


def tensors(**arrays):
    import torch

    return {name: torch.tensor(array) for name, array in arrays.items()}


def is_ours(model):
    from modelrun.integrations.transformers import NativeModelRunner

    return all(isinstance(runner, NativeModelRunner)
               for runner in model.runners.values())


def test_loaded_exports_run_on_modelrun(integration):
    import torch

    model = from_pretrained(goldens.path_of("bert"), device="cpu")
    assert is_ours(model)
    assert model.device == torch.device("cpu")
    assert model.dtype == torch.float32
    kwargs = tensors(input_ids=IDS, attention_mask=MASK)
    outputs = model(**kwargs)
    want = modelrun.ExportedModel.from_pretrained(
        goldens.path_of("bert"))(**kwargs)
    check_torch(outputs, want, 0)


def test_install_and_uninstall(integration):
    from transformers.exporters.auto import EXPORT_BACKENDS

    assert integration.install(["onnx"]) == ["onnx"]
    ours = EXPORT_BACKENDS["onnx"].runner
    integration.uninstall()
    assert EXPORT_BACKENDS["onnx"].runner is not ours
    model = from_pretrained(goldens.path_of("bert"))
    assert not any(isinstance(runner, integration.NativeModelRunner)
                   for runner in model.runners.values())
    assert "onnx" in integration.install()


def test_options_and_refusals(integration):
    path = goldens.path_of("bert")
    model = from_pretrained(path, threads=1, graph_optimization_level="basic")
    report = model.runners["model"].model.report()["model"]
    assert report["threads"] == 1
    model.to("cpu", providers=None, threads=2)
    assert model.runners["model"].model.report()["model"]["threads"] == 2
    with pytest.raises(TypeError, match="nonsense.*graph_optimization_level"):
        from_pretrained(path, nonsense=1)
    with pytest.raises(ValueError, match="either device or providers"):
        from_pretrained(path, device="cpu",
                        providers=["CPUExecutionProvider"])
    with pytest.raises(modelrun.Error, match="cuda"):
        from_pretrained(path, device="cuda")
    with pytest.raises(ValueError, match="attention_mask"):
        model(**tensors(input_ids=IDS))


@pytest.mark.parametrize("share_inputs", [True, False])
@pytest.mark.parametrize("share_outputs", [True, False])
def test_share_flags(integration, share_inputs, share_outputs):
    import torch

    model = from_pretrained(goldens.path_of("bert"))
    kwargs = tensors(input_ids=IDS, attention_mask=MASK)
    want = model(**kwargs)
    got = model(share_inputs, share_outputs, **kwargs)
    assert torch.equal(got.last_hidden_state, want.last_hidden_state)
    kept = got.last_hidden_state.clone()
    kwargs["input_ids"].fill_(5)
    assert torch.equal(got.last_hidden_state, kept)


@pytest.mark.parametrize("name", [
    "llama-generation", "llama-static-cache", "t5-generation",
    "gemma3-generation", "mamba-generation", "whisper-generation"])
def test_caches(integration, name):
    """Each step from the cache that the step before it returned."""
    entry = goldens.fixture(name)
    model = from_pretrained(goldens.path_of(name))
    assert is_ours(model)
    caches = {}
    for case in entry["cases"]:
        kwargs = goldens.kwargs_of(case, goldens.TorchBuilder)
        for key in caches.get(case["follows"], {}):
            assert key in kwargs
            kwargs[key] = caches[case["follows"]][key]
        runner = model.runners[case["component"]]
        outputs = runner(**kwargs)
        check_torch(outputs, goldens.outputs_of(case, goldens.TorchBuilder),
                    entry["tolerance"])
        caches[case["name"]] = {
            key: outputs[key] for key in ("past_key_values", "cache_params")
            if key in outputs}


def test_caches_in_a_fresh_process():
    """Nothing needs the classes to be registered with torch before."""
    program = """
import sys
sys.path.insert(0, "tests/python")
import goldens, modelrun, modelrun.integrations.transformers as integration
integration.install(["onnx"])
from transformers.exporters import ExportedModel
entry = goldens.fixture("t5-generation")
model = ExportedModel.from_pretrained(goldens.path_of("t5-generation"))
outputs = model.runners["prefill"](
    **goldens.kwargs_of(entry["cases"][0], goldens.TorchBuilder))
print(type(outputs.past_key_values).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY,
                          capture_output=True, text=True, check=False,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["EncoderDecoderCache"]


@pytest.fixture(scope="module")
def fresh():
    """A model, and its export as the exporter returns it."""
    import torch
    from transformers import BertConfig, BertModel
    from transformers.exporters import OnnxConfig, OnnxExporter

    torch.manual_seed(0)
    model = BertModel(BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=32)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = OnnxExporter().export(
            model, tensors(input_ids=IDS, attention_mask=MASK),
            OnnxConfig(dynamic=True))
    kwargs = tensors(input_ids=IDS[:1, :3], attention_mask=MASK[:1, :3])
    with torch.no_grad():
        return exported, kwargs, model(**kwargs)


@needs_exporter
def test_fresh_exports_on_their_first_call(integration, fresh, tmp_path):
    exported, kwargs, want = fresh
    exported._runners = None
    check_torch(exported(**kwargs), want, 1e-5)
    assert is_ours(exported)
    exported.save_pretrained(tmp_path)
    check_torch(from_pretrained(tmp_path)(**kwargs), want, 1e-5)


@needs_exporter
def test_from_exported(fresh, tmp_path):
    from transformers import BertConfig

    exported, kwargs, want = fresh
    model = modelrun.ExportedModel.from_exported(exported, threads=1)
    check_torch(model(**kwargs), want, 1e-5)
    assert type(model.config) is BertConfig
    folder = pathlib.Path(model.program.path).parent
    part = model.component("model")
    model.save_pretrained(tmp_path)
    model.to("cpu")
    check_torch(model(**kwargs), want, 1e-5)
    del model
    assert folder.exists()
    check_torch(part(**kwargs), want, 1e-5)
    del part
    assert not folder.exists()
    again = modelrun.ExportedModel.from_pretrained(tmp_path)
    check_torch(again(**kwargs), want, 1e-5)


@needs_exporter
def test_loaded_program_without_its_manifest_is_saved_anew(
        integration, tmp_path):
    model = from_pretrained(goldens.path_of("bert"))
    component = model.components["model"]
    shutil.copytree(goldens.path_of("bert"), tmp_path / "copy")
    (tmp_path / "copy" / "export.json").unlink()
    component.program.meta["path"] = str(tmp_path / "copy" / "model.onnx")
    model.to("cpu")
    outputs = model(**tensors(input_ids=IDS, attention_mask=MASK))
    assert outputs.last_hidden_state.shape == (2, 4, 32)
