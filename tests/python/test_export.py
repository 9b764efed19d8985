# SPDX-License-Identifier: Apache-2.0
"""modelrun.export on a tiny checkpoint of every family."""

import hashlib
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import goldens
import modelrun
from conftest import REPOSITORY, needs_torch, runs_format, without_torch

# Converters and torch warn of their own future.
pytestmark = pytest.mark.filterwarnings("ignore")
sys.path.insert(0, str(REPOSITORY / "tests/models"))

VOCABULARY = ["[PAD]", "[UNK]", "a", "first", "second", "one", "is", "the",
              "text", "longer", "of", "two", "texts", "."]
SENTENCE_MODULES = [
    {"idx": 0, "name": "0", "path": "0_Transformer",
     "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling",
     "type": "sentence_transformers.models.Pooling"}]


def save_tokenizer(folder):
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    model = tokenizers.models.WordLevel(
        {word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=64).save_pretrained(folder)


def save_sentence_model(model, folder):
    """The layout of sentence-transformers, the older one with a folder for the
    model."""
    model.save_pretrained(folder / "0_Transformer")
    save_tokenizer(folder / "0_Transformer")
    settings = {"max_seq_length": 32, "do_lower_case": False}
    (folder / "0_Transformer/sentence_bert_config.json").write_text(
        json.dumps(settings))
    (folder / "modules.json").write_text(json.dumps(SENTENCE_MODULES))
    (folder / "README.md").write_text("# A card\n")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """(checkpoint, model) of a family."""
    made = {}

    def make(family):
        if family not in made:
            import torch
            from exporting import sources

            torch.manual_seed(0)
            model = getattr(sources, family)()
            folder = tmp_path_factory.mktemp(family)
            if family == "bert":
                save_sentence_model(model, folder)
            else:
                model.save_pretrained(folder)
            if family == "llama":
                (folder / "chat_template.jinja").write_text("{{ messages }}")
            made[family] = folder, model
        return made[family]

    return make


@pytest.fixture(scope="module")
def exported(source, tmp_path_factory):
    """(directory, record, source model) of an export, made once."""
    made = {}

    def make(family, export_format="onnx", **options):
        if not runs_format(export_format):
            pytest.skip(f"nothing here runs format {export_format}")
        key = family, export_format, *options.items()
        if key not in made:
            folder, model = source(family)
            output = tmp_path_factory.mktemp("exports") / "made"
            record = modelrun.export(folder, output, format=export_format,
                                     **options)
            made[key] = output, record, model
        return made[key]

    return make


def eager(model, **kwargs):
    import torch

    with torch.no_grad():
        return model(**kwargs)


def assert_close(got, want, tolerance=1e-4):
    assert got.shape == want.shape
    assert float((got - want).abs().max()) < tolerance


def text(batch, length, *padding, left=False):
    from exporting.text import text_inputs

    return text_inputs(batch, length, *padding, left=left)


def check_record(directory, record):
    """What `modelrun.json` says is so, and nothing is left out."""
    kept = json.loads((directory / "modelrun.json").read_text())
    assert kept["golden"] == record["golden"]
    on_disk = {str(path.relative_to(directory))
               for path in directory.rglob("*") if path.is_file()}
    assert set(kept["files"]) == on_disk - {"modelrun.json"}
    for name, entry in kept["files"].items():
        data = (directory / name).read_bytes()
        assert entry == {"size": len(data),
                         "sha256": hashlib.sha256(data).hexdigest()}
    assert 0 < kept["largest_error"] <= kept["tolerance"]["relative"]
    assert kept["made_with"]["transformers"]


@needs_torch
@pytest.mark.parametrize("export_format", ["onnx", "openvino", "executorch"])
def test_encoder_takes_other_batches_and_lengths(exported, export_format):
    directory, record, model = exported("bert", export_format)
    check_record(directory, record)
    loaded = modelrun.ExportedModel.from_pretrained(directory, threads=1)
    for inputs in (text(1, 9), text(3, 12, 0, 5, 9)):
        assert_close(loaded(**inputs).last_hidden_state,
                     eager(model, **inputs).last_hidden_state)
    if export_format == "onnx":
        # Ids and mask were traced with the same sizes.
        with pytest.raises(modelrun.InvalidArgument, match="attention_mask"):
            loaded(**text(2, 7) | {"attention_mask": text(1, 7)["input_ids"]})


@needs_torch
def test_golden_files_are_inputs_and_outputs(exported):
    directory, record, _ = exported("bert")
    golden = record["golden"]["model"]
    tensors = {}
    for side in ("inputs", "outputs"):
        data = (directory / golden[side]).read_bytes()
        size = int.from_bytes(data[:8], "little")
        tensors[side] = {
            name: np.frombuffer(
                data[8 + size:][slice(*entry["data_offsets"])],
                goldens.DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in json.loads(data[8:8 + size]).items()
            if name != "__metadata__"}
    mask = tensors["inputs"]["attention_mask"]
    assert mask.shape[0] == 2 and 0 < mask.mean() < 1, "a padded batch of two"
    loaded = modelrun.ExportedModel.from_pretrained(directory, threads=1)
    outputs = loaded(tensors["inputs"])
    want = tensors["outputs"]["last_hidden_state"]
    assert np.abs(outputs.last_hidden_state - want).max() < 1e-4


@needs_torch
def test_directory_is_complete(exported):
    directory, _, _ = exported("bert")
    modules = json.loads((directory / "modules.json").read_text())
    assert [module["path"] for module in modules] == ["", "1_Pooling"]
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json",
                 "sentence_bert_config.json", "1_Pooling/config.json",
                 "README.md"):
        assert (directory / name).exists(), name
    assert not list(directory.rglob("model.safetensors"))


@needs_torch
def test_decoder_generates_as_its_source(exported):
    directory, record, model = exported("llama", generation=True)
    check_record(directory, record)
    assert (directory / "chat_template.jinja").exists()
    loaded = modelrun.ExportedModel.from_pretrained(directory, threads=1)
    import torch

    inputs = text(3, 9, 0, 4, 6, left=True)
    want = model.generate(**inputs, max_new_tokens=4, min_new_tokens=4)
    outputs = loaded.component("prefill")(
        **inputs, position_ids=(inputs["attention_mask"].cumsum(-1) - 1)
        .clamp(min=0))
    tokens, mask = inputs["input_ids"], inputs["attention_mask"]
    for _ in range(3):
        chosen = outputs.logits[:, -1:].argmax(-1)
        tokens = torch.cat([tokens, chosen], 1)
        mask = torch.cat([mask, torch.ones_like(chosen)], 1)
        outputs = loaded.component("decode")(
            input_ids=chosen, attention_mask=mask,
            position_ids=mask.sum(-1, keepdim=True) - 1,
            past_key_values=outputs.past_key_values)
    tokens = torch.cat([tokens, outputs.logits[:, -1:].argmax(-1)], 1)
    assert torch.equal(tokens, want)


@needs_torch
def test_encoder_of_an_encoder_decoder_is_an_export_of_its_own(exported):
    directory, record, model = exported("t5", generation=True)
    check_record(directory, record)
    assert record["encoders"] == ["encoder"]
    assert json.loads((directory / "encoder/modelrun.json").read_text())[
        "largest_error"] < 1e-4
    encoder = modelrun.ExportedModel.from_pretrained(
        directory, subfolder="encoder", threads=1)
    inputs = text(3, 11, 0, 4, 7)
    assert_close(encoder(**inputs).last_hidden_state,
                 eager(model.get_encoder(), **inputs).last_hidden_state)
    whole = modelrun.ExportedModel.from_pretrained(directory, threads=1)
    assert whole.component_names() == ["prefill", "decode"]


@needs_torch
@pytest.mark.parametrize("family, options", [
    ("gemma3", {}), ("mamba", {"generation": True}), ("whisper", {}),
    ("clip", {})])
def test_family_is_exported(exported, family, options):
    directory, record, model = exported(family, **options)
    check_record(directory, record)
    if family == "clip":
        from exporting.vision import captions, images

        # Texts and images are batches of their own.
        inputs = captions(3, 9, 0, 2, 5) | images(1)
        loaded = modelrun.ExportedModel.from_pretrained(directory, threads=1)
        assert_close(loaded(**inputs).logits_per_image,
                     eager(model, **inputs).logits_per_image)


@needs_torch
def test_precomputed_kwargs_come_from_what_a_processor_gives(exported):
    directory, record, model = exported("qwen2_vl")
    check_record(directory, record)
    sources = record["precomputed"]["model"]["kwargs"]["position_ids"]
    assert {"input_ids", "image_grid_thw"} <= set(sources)
    from exporting.vision import QWEN_GRID, qwen_generate_inputs

    inputs = qwen_generate_inputs(QWEN_GRID, (2, 3), (4, 3))
    loaded = modelrun.ExportedModel.from_pretrained(directory, threads=1)
    assert isinstance(loaded, modelrun.ExportedModel)
    want = eager(model, **inputs).logits
    assert_close(loaded(**inputs).logits, want)
    arrays = {name: value.numpy() for name, value in inputs.items()}
    got = loaded(arrays, return_type="numpy").logits
    assert np.abs(got - want.numpy()).max() < 1e-4
    without = {name: value for name, value in inputs.items()
               if name != "image_grid_thw"}
    with pytest.raises(modelrun.InvalidArgument,
                       match="position_ids.*image_grid_thw"):
        loaded(**without)


@needs_torch
def test_record_that_was_tampered_with_is_refused(exported, tmp_path):
    directory, _, _ = exported("bert")
    for name in ("export.json", "config.json", "model.onnx",
                 "model.onnx.data"):
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    record = tmp_path / "modelrun.json"
    for wrong in ('{"precomputed": [1]}', "[]", "{",
                  '{"precomputed": {"model": {"kwargs": {"a": "b"}}}}'):
        record.write_text(wrong)
        with pytest.raises(modelrun.InvalidArgument, match="modelrun.json"):
            modelrun.ExportedModel.from_pretrained(tmp_path)
    # A class that is none of transformers' models is never imported.
    record.write_text(json.dumps({"precomputed": {"model": {
        "architecture": "os", "kwargs": {"position_ids": ["input_ids"]}}}}))
    loaded = modelrun.ExportedModel.from_pretrained(tmp_path)
    with pytest.raises(modelrun.Unsupported, match="no model class 'os'"):
        loaded(**text(1, 4))


@needs_torch
def test_quantized_export_is_smaller(exported):
    whole, _, _ = exported("bert")
    small, record, _ = exported("bert", quantize="int8-dynamic")
    assert record["quantize"] == "int8-dynamic"
    size = sum(path.stat().st_size for path in small.glob("model.onnx*"))
    assert size < 0.8 * sum(path.stat().st_size
                            for path in whole.glob("model.onnx*"))


@needs_torch
@pytest.mark.parametrize("options, error, words", [
    ({"format": "tflite"}, modelrun.InvalidArgument, "'tflite'.*'onnx'"),
    ({"dtype": "int8"}, modelrun.InvalidArgument, "'int8'.*'bfloat16'"),
    ({"quantize": "int4"}, modelrun.InvalidArgument, "'int4'.*'int8-dynamic'"),
    ({"generation": True}, modelrun.InvalidArgument, "BertModel has no gen"),
    ({"task": "text-to-image"}, modelrun.InvalidArgument, "no task"),
    ({"task": "text-to-audio"}, modelrun.InvalidArgument, "no class for"),
    ({"opset": 21}, modelrun.InvalidArgument, "opset"),
])
def test_wrong_requests_leave_nothing_behind(source, tmp_path, options, error,
                                             words):
    folder, _ = source("bert")
    with pytest.raises(error, match=words):
        modelrun.export(folder, tmp_path / "made", **options)
    assert not list(tmp_path.iterdir())


@needs_torch
def test_existing_directory_is_kept(source, tmp_path):
    (tmp_path / "mine").write_text("text")
    with pytest.raises(modelrun.InvalidArgument, match="is there already"):
        modelrun.export(source("bert")[0], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    with pytest.raises(modelrun.NotFound, match="no directory"):
        modelrun.export(tmp_path / "nowhere", tmp_path / "made")


@needs_torch
def test_what_the_exporter_cannot_do_is_one_line(tmp_path):
    import torch

    class Branch(torch.nn.Module):
        def forward(self, features):
            return {"y": features * 2 if features.sum() > 0 else features}

    inputs = {"features": torch.ones(2, 3)}
    with pytest.raises(modelrun.Unsupported, match="^Branch cannot be") as got:
        modelrun.export(Branch(), tmp_path / "made", sample_inputs=inputs)
    assert len(str(got.value).splitlines()) == 1
    with pytest.raises(modelrun.Unsupported, match="sample_inputs"):
        modelrun.export(Branch(), tmp_path / "made")
    assert not list(tmp_path.iterdir())


@needs_torch
def test_export_that_computes_something_else_is_refused(tmp_path):
    import torch

    class Drifting(torch.nn.Module):
        calls = 0

        def forward(self, features):
            self.calls += 1
            return {"y": features * self.calls}

    inputs = {"features": torch.ones(2, 3)}
    with pytest.raises(modelrun.BackendError,
                       match="export is wrong.*'model'.*'y' is off by"):
        modelrun.export(Drifting(), tmp_path / "made", sample_inputs=inputs)
    assert not list(tmp_path.iterdir())
    made = modelrun.export(Drifting(), tmp_path / "made", sample_inputs=inputs,
                           check=False)
    assert made["largest_error"] is None


def run_command(*arguments):
    from modelrun._export.command import main

    return main([str(argument) for argument in arguments])


@needs_torch
def test_command(source, tmp_path, capsys):
    if not runs_format("dynamo"):
        pytest.skip("nothing here runs format dynamo")
    folder, model = source("bert")
    assert run_command(folder, tmp_path / "made", "--format", "dynamo",
                       "--json") == 0
    said = capsys.readouterr()
    assert not said.err
    made = json.loads(said.out)
    assert made["export_format"] == "dynamo"
    assert made["largest_error"] <= 1e-4
    assert pathlib.Path(made["directory"]) == tmp_path / "made"
    loaded = modelrun.ExportedModel.from_pretrained(tmp_path / "made",
                                                    threads=1)
    inputs = text(3, 5, 0, 1, 2)
    assert_close(loaded(**inputs).last_hidden_state,
                 eager(model, **inputs).last_hidden_state)


@needs_torch
def test_command_tells_what_is_refused_from_what_failed(source, tmp_path,
                                                        capsys):
    folder, _ = source("bert")
    for code, arguments in ((3, (tmp_path / "nowhere", tmp_path / "made")),
                            (3, (folder, tmp_path / "made", "--format", "x")),
                            (3, (folder, tmp_path / "made", "--generation"))):
        assert run_command(*arguments) == code
        said = capsys.readouterr()
        assert said.err.startswith("modelrun: error: ") and not said.out
        assert len(said.err.splitlines()) == 1


def test_command_is_that_of_the_package(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "modelrun", "export",
             *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=300)

    done = run("--help")
    assert done.returncode == 0 and "examples:" in done.stdout
    assert run("--no-such-option").returncode == 2
    done = run(tmp_path / "nowhere", tmp_path / "made")
    assert done.returncode in (1, 3) and not done.stdout
    assert done.stderr.startswith("modelrun: error: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr


@without_torch
def test_packages_that_are_missing_are_named(tmp_path):
    with pytest.raises(modelrun.Unsupported, match=r"pip install modelrun\[exp"):
        modelrun.export(tmp_path, tmp_path / "made")
