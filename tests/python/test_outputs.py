# SPDX-License-Identifier: Apache-2.0
"""What a call returns."""

import gc
import json
import sys

import numpy as np
import pytest

import goldens
import modelrun
from conftest import needs_torch, open_export, run_python, without_torch
from test_custom_backend import leaf, node, write_export

IDS = np.array([[2, 45, 17, 3]])
MASK = np.ones_like(IDS)


@pytest.fixture
def outputs(bert):
    return bert(input_ids=IDS, attention_mask=MASK)


def test_mapping_with_attributes(outputs):
    assert type(outputs) is modelrun.Outputs
    assert list(outputs) == ["last_hidden_state", "pooler_output"]
    assert outputs.keys() == list(outputs) == dir(outputs)
    assert len(outputs) == 2
    assert outputs.last_hidden_state is outputs["last_hidden_state"]
    assert outputs.last_hidden_state is outputs[0] is outputs[-2]
    assert [value.shape for value in outputs.values()] == [(1, 4, 32), (1, 32)]
    assert dict(outputs.items())["pooler_output"] is outputs.pooler_output
    hidden, pooled = outputs.to_tuple()
    assert hidden is outputs[0] and pooled is outputs[:2][1]
    assert "pooler_output" in outputs and "attentions" not in outputs
    assert outputs.get("attentions") is None
    assert outputs.class_name == (
        "transformers.modeling_outputs."
        "BaseModelOutputWithPoolingAndCrossAttentions")
    assert "last_hidden_state: float32[1, 4, 32]" in repr(outputs)


def test_missing_ones_name_the_nearest(outputs):
    with pytest.raises(AttributeError, match="did you mean 'pooler_output'"):
        outputs.pooler_outputs
    with pytest.raises(KeyError, match="pooler_output"):
        outputs["pooler_outputs"]
    with pytest.raises(IndexError, match="no item 2"):
        outputs[2]
    with pytest.raises(TypeError):
        outputs[1.5]
    with pytest.raises(AttributeError):
        outputs.last_hidden_state = 1


def test_arrays_own_their_memory(bert):
    array = bert(input_ids=IDS, attention_mask=MASK).last_hidden_state
    copy = array.copy()
    for _ in range(20):
        bert(input_ids=IDS[:, ::-1].copy(), attention_mask=MASK)
    gc.collect()
    assert np.array_equal(array, copy)
    array += 1
    assert array.flags.writeable


def test_shared_outputs_stay_as_long_as_they_are_held(bert):
    first = bert(True, True, input_ids=IDS, attention_mask=MASK)[0]
    copy = first.copy()
    for _ in range(5):
        bert(True, True, input_ids=IDS[:, ::-1].copy(), attention_mask=MASK)
    assert np.array_equal(first, copy)


def test_dlpack_keeps_the_address(bert):
    array = bert(input_ids=IDS, attention_mask=MASK).last_hidden_state
    tensor = modelrun.Tensor.from_dlpack(array)
    address = array.__array_interface__["data"][0]
    for same in (tensor.numpy(), np.asarray(tensor), np.from_dlpack(tensor)):
        assert same.__array_interface__["data"][0] == address
        assert same.dtype == "float32" and same.shape == (1, 4, 32)
    assert tensor.__dlpack_device__() == (1, 0)
    assert (tensor.dtype, tensor.device, tensor.shape) == (
        "float32", "cpu", (1, 4, 32))
    copied = np.from_dlpack(modelrun.Tensor.from_dlpack(tensor), copy=True)
    assert copied.__array_interface__["data"][0] != address


def test_memory_lives_as_long_as_its_views():
    made = np.arange(1000)
    references = sys.getrefcount(made)
    tensor = modelrun.Tensor.from_dlpack(made)
    view = memoryview(tensor)
    assert sys.getrefcount(made) > references
    del tensor
    gc.collect()
    assert view[999] == 999
    del view
    gc.collect()
    assert sys.getrefcount(made) == references


@pytest.mark.parametrize("dtype", [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
    "int64", "float16", "float32", "float64"])
def test_every_dtype_goes_round(dtype):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    tensor = modelrun.Tensor.from_dlpack(array)
    assert tensor.dtype == dtype
    for same in (tensor.numpy(), np.from_dlpack(tensor)):
        assert same.dtype == array.dtype
        assert np.array_equal(same, array)
    for shape in ((), (0, 3), (1, 1, 1)):
        empty = np.zeros(shape, dtype)
        assert modelrun.Tensor.from_dlpack(empty).numpy().shape == shape


def test_strided_tensors_go_round():
    wide = np.arange(24).reshape(4, 6)
    for view in (wide[::2, ::-1], wide.T, wide[1:, 2:3]):
        tensor = modelrun.Tensor.from_dlpack(view)
        assert np.array_equal(np.asarray(tensor), view)
        assert np.array_equal(np.from_dlpack(tensor), view)


@without_torch
def test_torch_outputs_without_torch_say_what_to_do(bert):
    with pytest.raises(FileNotFoundError, match="pip install torch"):
        bert(input_ids=IDS, attention_mask=MASK, return_type="torch")


def test_bfloat16_without_ml_dtypes_says_what_to_do():
    run_python("""
        import sys
        import ml_dtypes, numpy, modelrun
        tensor = modelrun.Tensor.from_dlpack(
            numpy.array([1.5], ml_dtypes.bfloat16))
        del sys.modules["ml_dtypes"]
        sys.modules["ml_dtypes"] = None
        try:
            tensor.numpy()
        except modelrun.NotFound as error:
            assert "pip install ml_dtypes" in str(error), error
        else:
            raise SystemExit("it was made without ml_dtypes")
        """)


def cache_of(folder, class_name, constants=None):
    """An export that returns an object of a class that it names."""
    write_export(folder, outputs=("last_hidden_state", "hidden_states"))
    manifest = json.loads((folder / "export.json").read_text())
    context = {"_t": "obj", "p": class_name,
               "s": {"keys": {"_t": "tensor", "i": 0}, **(constants or {})}}
    metadata = manifest["components"]["model"]["metadata"]
    metadata["out_spec"] = json.dumps([1, node(
        "transformers.modeling_outputs.BaseModelOutput",
        ["last_hidden_state", "hidden_states"],
        [leaf(), node(class_name, context, [leaf()])])])
    (folder / "export.json").write_text(json.dumps(manifest))
    return modelrun.ExportedModel.from_pretrained(folder)


CLASSES = [
    "os:environ", "subprocess:Popen", "antigravity:Any", "torch.nn:Linear",
    "transformers.models.bert.modeling_bert:BertModel",
    "transformers.cache_utils:NoSuchCache", "transformers.pipelines:Pipeline",
    "transformers.cache_utils:torch", "..:x", "transformers..x:y", ":", "a b:c",
]


@needs_torch
@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_other_packages_are_plain(tmp_path, name, caplog):
    import torch

    model = cache_of(tmp_path, name)
    x = torch.tensor([1.0, 2.0])
    before = set(sys.modules)
    outputs = model(x=x, y=x)
    assert "antigravity" not in sys.modules
    assert not {module for module in set(sys.modules) - before
                if "bert" in module and "BertModel" not in name}
    plain = outputs.hidden_states
    assert type(plain) is modelrun.Outputs
    assert isinstance(plain.keys, torch.Tensor)
    assert "a plain structure takes its place" in caplog.text


@needs_torch
def test_constants_of_a_cache(tmp_path):
    import torch
    from transformers.cache_utils import DynamicLayer

    model = cache_of(tmp_path, "transformers.cache_utils:DynamicLayer", {
        "dtype": {"_t": "dtype", "n": "float16"},
        "device": {"_t": "device", "s": "cpu"},
        "wrong": {"_t": "dtype", "n": "nn"},
        "kind": {"_t": "type", "p": "transformers.cache_utils:DynamicCache"},
        "other": {"_t": "type", "p": "os:system"},
        "size": {"_t": "size", "v": [1, 2]},
        "flags": {"_t": "items", "v": [[0, True], [1, False]]},
    })
    x = torch.tensor([1.0])
    layer = model(x=x, y=x).hidden_states
    assert type(layer) is DynamicLayer
    assert layer.dtype is torch.float16
    assert layer.device == torch.device("cpu")
    assert layer.kind.__name__ == "DynamicCache"
    assert layer.wrong is None and layer.other is None
    assert type(layer.size) is torch.Size and layer.size == (1, 2)
    assert layer.flags == {0: True, 1: False}


@needs_torch
class TestTorch:
    @pytest.fixture
    def both(self, bert):
        import torch

        kwargs = {"input_ids": torch.tensor(IDS),
                  "attention_mask": torch.tensor(MASK)}
        return [bert(**kwargs) for _ in range(3)]

    def test_it_is_the_real_class_in_every_way(self, both):
        import copy
        import pickle

        import torch
        from transformers.modeling_outputs import (
            BaseModelOutputWithPoolingAndCrossAttentions as Output)

        for made in both:
            assert type(made) is Output
            real = Output(**dict(made))
            assert list(made.items()) == list(real.items())
            assert set(vars(made)) == set(vars(real))
            assert made.attentions is None and made.to_tuple()[0] is made[0]
            with pytest.raises(KeyError):
                made["attentions"]
            back = pickle.loads(pickle.dumps(made))
            assert torch.equal(back.pooler_output, made.pooler_output)
            assert torch.equal(copy.deepcopy(made)[0], made[0])
            leaves = torch.utils._pytree.tree_leaves(made)
            assert leaves[0] is made[0]
            made.last_hidden_state = leaves[1]
            assert made["last_hidden_state"] is leaves[1]

    def test_tensors_are_ordinary_ones(self, both):
        import torch

        hidden = both[0].last_hidden_state
        assert hidden.device.type == "cpu" and not hidden.requires_grad
        hidden.add_(1)
        assert torch.equal(hidden, both[1].last_hidden_state + 1)

    @pytest.mark.parametrize("kind, arrays", [
        ("numpy", np.ndarray), ("dlpack", modelrun.Tensor)])
    def test_return_type(self, bert, kind, arrays):
        import torch

        outputs = bert(input_ids=torch.tensor(IDS),
                       attention_mask=torch.tensor(MASK), return_type=kind)
        assert isinstance(outputs.pooler_output, arrays)

    def test_torch_of_numpy(self, bert):
        import torch

        outputs = bert(input_ids=IDS, attention_mask=MASK, return_type="torch")
        assert isinstance(outputs.pooler_output, torch.Tensor)

    def test_cache_works_with_its_own_methods(self):
        import torch

        entry = goldens.fixture("llama-generation")
        model = open_export("llama-generation")
        case = next(c for c in entry["cases"] if c["name"] == "padded-prefill")
        outputs = model.component("prefill")(
            **goldens.kwargs_of(case, goldens.TorchBuilder))
        cache = outputs.past_key_values
        length = cache.get_seq_length()
        assert length == outputs.logits.shape[1] or length > 0
        before = cache.layers[0].keys.clone()
        cache.reorder_cache(torch.arange(before.shape[0]).flip(0))
        assert torch.equal(cache.layers[0].keys, before.flip(0))
        cache.crop(-1)
        assert cache.get_seq_length() == length - 1

    def test_encoder_decoder_cache_has_integer_keys(self):
        from transformers.cache_utils import EncoderDecoderCache

        entry = goldens.fixture("t5-generation")
        model = open_export("t5-generation")
        outputs = model.component("prefill")(
            **goldens.kwargs_of(entry["cases"][0], goldens.TorchBuilder))
        cache = outputs.past_key_values
        assert type(cache) is EncoderDecoderCache
        assert cache.is_updated == {0: True, 1: True}

    def test_caches_are_fed_back(self):
        entry = goldens.fixture("gemma3-generation")
        model = open_export("gemma3-generation")
        cache, followed = None, 0
        for case in entry["cases"]:
            kwargs = goldens.kwargs_of(case, goldens.TorchBuilder)
            if case["follows"] is not None:
                kwargs["past_key_values"] = cache
                followed += 1
            outputs = model.component(case["component"])(**kwargs)
            want = goldens.outputs_of(case, goldens.TorchBuilder)
            assert (outputs.logits - want.logits).abs().max() <= entry[
                "tolerance"]
            cache = outputs.past_key_values
        assert followed >= 6
