# SPDX-License-Identifier: Apache-2.0
"""Opening, describing and saving exports."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import goldens
import modelrun
from modelrun import _options
from conftest import is_installed, open_export

IDS = np.array([[2, 45, 17, 3]])
KWARGS = {"input_ids": IDS, "attention_mask": np.ones_like(IDS)}


@pytest.fixture
def export(tmp_path):
    folder = tmp_path / "export"
    shutil.copytree(goldens.path_of("bert"), folder)
    return folder


def from_pretrained(*args, **kwargs):
    return modelrun.ExportedModel.from_pretrained(*args, threads=1, **kwargs)


def test_description(bert):
    assert repr(bert) == ("ExportedModel(format='onnx', "
                          "components=['model'])")
    assert str(bert.device) == "cpu"
    assert str(bert.dtype) in ("float32", "torch.float32")
    program = bert.program
    assert isinstance(program, modelrun.Program)
    assert program.architecture == "BertModel"
    assert program.kwargs == ("input_ids", "attention_mask")
    assert program.path.endswith("bert/onnx/model.onnx")
    assert [port.name for port in program.outputs] == [
        "last_hidden_state", "pooler_output"]
    assert program.inputs[0].dtype == "int64"
    assert "attention_mask: tensor" in program.input_structure
    assert "pooler_output: tensor" in program.output_structure
    assert bert.report()["model"]["threads"] == 1
    assert list(bert.components) == list(bert.runners) == ["model"]
    assert np.array_equal(bert.runners["model"](**KWARGS)[0],
                          bert(**KWARGS)[0])


def test_configs(bert):
    assert bert.config.hidden_size == 32
    assert bert.config.to_dict()["model_type"] == "bert"
    assert bert.generation_config is None
    generation = open_export("llama-static-cache").generation_config
    assert generation.to_dict()["cache_implementation"] == "static"
    if is_installed("transformers"):
        from transformers import BertConfig, GenerationConfig

        assert type(bert.config) is BertConfig
        assert type(generation) is GenerationConfig


def test_config_of_an_unknown_kind_is_plain(export, caplog):
    (export / "config.json").write_text(json.dumps({
        "model_type": "no-such-model", "inner": {"width": 3},
        "auto_map": {"AutoConfig": "evil.Config"}}))
    (export / "evil.py").write_text(
        "import pathlib\npathlib.Path(__file__ + '.ran').touch()\n")
    config = from_pretrained(export).config
    assert config.inner.width == 3
    assert not list(export.glob("*.ran"))
    assert is_installed("transformers") == ("no config" in caplog.text)


def test_paths_of_all_kinds(export):
    want = from_pretrained(export)(**KWARGS)[0]
    for path in (str(export), pathlib.Path(export), f"{export}/",
                 export / "model.onnx", export / "export.json"):
        outputs = from_pretrained(path)(**KWARGS)
        assert type(outputs) is modelrun.Outputs
        assert np.array_equal(outputs[0], want)
        assert np.array_equal(outputs.last_hidden_state, want)
    assert np.array_equal(from_pretrained(
        export.parent, subfolder="export")(**KWARGS)[0], want)
    assert np.array_equal(from_pretrained(
        export, file_name="model.onnx")(**KWARGS)[0], want)


@pytest.mark.parametrize("name", ["no-such-folder", "my-org/my-model", ""])
def test_what_is_not_there_is_not_found(name):
    with pytest.raises(FileNotFoundError, match="expected the path of an"):
        from_pretrained(name)


def test_names_of_the_hub_are_taken_and_change_nothing(export):
    model = from_pretrained(
        export, device="cpu", cache_dir="/tmp", force_download=False,
        local_files_only=True, token=None, revision="main", subfolder="",
        trust_remote_code=False)
    assert model(**KWARGS)[0].shape == (1, 4, 32)


def test_options_are_checked_before_a_program_is_read(export):
    (export / "model.onnx").write_bytes(b"not a program")
    with pytest.raises(TypeError, match=r"unknown options \['optimize'\].*"
                       "graph_optimization_level.*file_name"):
        from_pretrained(export, optimize=True)
    with pytest.raises(ValueError, match="model.onnx"):
        from_pretrained(export, graph_optimization_level="basic")


@pytest.mark.parametrize("options, kind, text", [
    ({"graph_optimization_level": "most"}, ValueError, '"most"'),
    ({"graph_optimization_level": [1]}, TypeError, "is a list"),
    ({"device": "cuda"}, modelrun.Error, "cuda"),
    ({"device": "gpu"}, ValueError, "'gpu'"),
    ({"providers": ["CUDAExecutionProvider"]}, NotImplementedError, "CUDA"),
    ({"providers": [], "device": "cpu"}, ValueError, "either"),
    ({"backend": "no-such"}, FileNotFoundError, "no-such"),
    ({"backend": "torch"}, modelrun.Error, "torch"),
    ({"runtime_path": "/no/such"}, FileNotFoundError, "/no/such"),
])
def test_wrong_options_are_refused(export, options, kind, text):
    with pytest.raises(kind, match=text):
        from_pretrained(export, **options)


def test_options_of_transformers_runner(export):
    import onnxruntime

    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = 2
    session.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    model = modelrun.ExportedModel.from_pretrained(
        export, providers=["CPUExecutionProvider"], session_options=session)
    assert model.report()["model"]["threads"] == 2
    prepared = _options.prepare("onnxruntime", None,
                                {"session_options": session})
    assert prepared["options"] == {"graph_optimization_level": "disable"}
    session.enable_profiling = True
    with pytest.raises(NotImplementedError, match="'enable_profiling'"):
        from_pretrained(export, session_options=session)


def test_damaged_exports_say_what_is_wrong(export):
    manifest = export / "export.json"
    manifest.write_text("{")
    with pytest.raises(ValueError, match="export.json"):
        from_pretrained(export)
    manifest.write_text(json.dumps({
        "schema_version": 1, "export_format": "onnx",
        "components": {"model": {"file": "../../etc/passwd"}}}))
    with pytest.raises(ValueError, match="etc/passwd"):
        from_pretrained(export)


def test_components_are_called_apart():
    model = open_export("llama-generation")
    with pytest.raises(ValueError, match="2 components.*prefill.*decode"):
        model(**KWARGS)
    with pytest.raises(ValueError, match="components"):
        model.program
    with pytest.raises(FileNotFoundError, match="did you mean 'decode'"):
        model.component("decod")
    assert list(model.components) == ["prefill", "decode"]
    assert model.components["decode"].program.name == "decode"


def test_to_loads_anew(export):
    model = from_pretrained(export)
    want = model(**KWARGS)[0]
    assert model.to("cpu", threads=2) is model
    assert model.report()["model"]["threads"] == 2
    assert np.array_equal(model(**KWARGS)[0], want)
    with pytest.raises(TypeError, match="'thread'"):
        model.to(thread=1)
    part = modelrun.ExportedModel.from_pretrained(
        goldens.path_of("llama-generation")).component("decode")
    assert part.to("cpu").component_names() == ["decode"]


def test_save_pretrained(export, tmp_path):
    model = from_pretrained(export)
    (export / "other.txt").write_text("not of the export")
    model.save_pretrained(tmp_path / "new" / "copy")
    names = sorted(os.listdir(tmp_path / "new" / "copy"))
    assert names == ["config.json", "export.json", "model.onnx",
                     "model.onnx.data"]
    copy = from_pretrained(tmp_path / "new" / "copy")
    assert np.array_equal(copy(**KWARGS)[0], model(**KWARGS)[0])
    # Over the files of a model that is loaded from them.
    copy.save_pretrained(tmp_path / "new" / "copy")
    assert np.array_equal(copy(**KWARGS)[0], model(**KWARGS)[0])
    assert sorted(os.listdir(tmp_path / "new" / "copy")) == names


def test_warmup_runs(export):
    from_pretrained(export).warmup()


def test_bound_calls(bert):
    ids, mask = IDS.copy(), np.ones_like(IDS)
    call = bert.bind(input_ids=ids, attention_mask=mask)
    assert isinstance(call, modelrun.BoundCall)
    first = call()[0].copy()
    ids[0, 1] = 50
    second = call()[0].copy()
    assert not np.array_equal(first, second)
    assert np.array_equal(second, bert(input_ids=ids, attention_mask=mask)[0])
    with pytest.raises(TypeError, match="no arguments"):
        call(input_ids=ids)
    with pytest.raises(ValueError, match="in place"):
        bert.bind(input_ids=ids.astype("int32"), attention_mask=mask)


def test_bound_inputs_stay_alive(bert):
    call = bert.bind(input_ids=IDS.copy(), attention_mask=np.ones_like(IDS))
    want = bert(**KWARGS)[0]
    garbage = [np.full_like(IDS, 9) for _ in range(100)]
    assert np.array_equal(call()[0], want), len(garbage)
