# SPDX-License-Identifier: Apache-2.0
"""What a call takes, and what it refuses."""

import array
import collections

import numpy as np
import pytest

import modelrun
from conftest import is_installed, needs_torch, open_export

IDS = np.array([[2, 45, 17, 3]])
MASK = np.ones_like(IDS)


def hidden(model, *args, **kwargs):
    return np.asarray(model(*args, **kwargs, return_type="numpy")[0])


@pytest.fixture
def expected(bert):
    return hidden(bert, input_ids=IDS, attention_mask=MASK)


def test_numbers_in_lists(bert, expected):
    assert np.array_equal(expected, hidden(
        bert, input_ids=IDS.tolist(), attention_mask=[(1, 1, 1, 1)]))


def test_mapping_in_the_first_place(bert, expected):
    encoding = collections.UserDict(input_ids=IDS, attention_mask=MASK)
    assert np.array_equal(expected, hidden(bert, encoding))
    assert np.array_equal(expected, hidden(bert, dict(encoding), True, False))
    assert np.array_equal(expected, hidden(
        bert, {"input_ids": IDS}, attention_mask=MASK))


@needs_torch
def test_batch_encoding(bert, expected):
    import torch
    from transformers import BatchEncoding

    encoding = BatchEncoding({"input_ids": torch.tensor(IDS),
                              "attention_mask": torch.tensor(MASK)})
    for outputs in (bert(encoding), bert(**encoding)):
        assert isinstance(outputs.last_hidden_state, torch.Tensor)
        assert np.array_equal(expected, outputs.last_hidden_state.numpy())


def test_strided_and_reversed_views(bert, expected):
    wide = np.zeros((4, 8), "int64")
    wide[::-2, ::2] = np.vstack([IDS, IDS])
    ids = wide[::-2, ::2][:1]
    assert not ids.flags.c_contiguous or ids.shape[0] == 1
    assert np.array_equal(expected, hidden(
        bert, input_ids=ids, attention_mask=MASK[:, ::-1]))


def test_fortran_order_and_unaligned_memory(bert):
    ids = np.array([[2, 45], [17, 3], [4, 5]])
    mask = np.ones_like(ids)
    want = hidden(bert, input_ids=ids, attention_mask=mask)
    memory = bytearray(ids.nbytes + 1)
    unaligned = np.frombuffer(memory, "int64", offset=1, count=6).reshape(3, 2)
    unaligned[:] = ids
    for same in (np.asfortranarray(ids), unaligned):
        assert np.array_equal(want, hidden(
            bert, input_ids=same, attention_mask=mask))


def test_smaller_integers_are_widened(bert, expected):
    for dtype in ("int8", "uint8", "int16", "int32", "uint64"):
        assert np.array_equal(expected, hidden(
            bert, input_ids=IDS.astype(dtype), attention_mask=MASK))


def test_read_only_arrays(bert, expected):
    ids = IDS.copy()
    ids.flags.writeable = False
    assert np.array_equal(expected, hidden(
        bert, input_ids=ids, attention_mask=MASK))


def test_buffers_of_other_packages(bert):
    ids = memoryview(array.array("q", [2, 45, 17, 3])).cast("B").cast(
        "q", (1, 4))
    want = hidden(bert, input_ids=IDS, attention_mask=MASK)
    assert np.array_equal(want, hidden(
        bert, input_ids=ids, attention_mask=MASK))


def test_our_own_tensors(bert, expected):
    ids = modelrun.Tensor.from_dlpack(IDS)
    outputs = bert(input_ids=ids, attention_mask=MASK, return_type="dlpack")
    assert isinstance(outputs[0], modelrun.Tensor)
    assert np.array_equal(expected, np.from_dlpack(outputs[0]))


class Dlpack:
    """An array that is known by its DLPack methods only."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule = capsule
        self.device = device

    def __dlpack__(self, **options):
        return self.capsule(**options)

    def __dlpack_device__(self):
        return self.device


def test_any_dlpack_array(bert, expected):
    ids = Dlpack(IDS.__dlpack__)
    assert np.array_equal(expected, hidden(
        bert, input_ids=ids, attention_mask=MASK))
    older = Dlpack(lambda: IDS.__dlpack__())
    assert np.array_equal(expected, hidden(
        bert, input_ids=older, attention_mask=MASK))


def fail(**_):
    raise RuntimeError("no memory of mine")


LIARS = {
    "no capsule": lambda **_: 7,
    "a capsule that was used": None,
    "fails": fail,
}


@pytest.mark.parametrize("lie", LIARS)
def test_objects_that_lie_about_dlpack(bert, lie):
    capsule = LIARS[lie]
    if capsule is None:
        used = IDS.__dlpack__()
        np.from_dlpack(Dlpack(lambda **_: used))
        capsule = lambda **_: used  # noqa: E731
    with pytest.raises(modelrun.InvalidArgument, match="__dlpack__|DLPack"):
        bert(input_ids=Dlpack(capsule), attention_mask=MASK)


def test_liar_of_a_device(bert):
    class Device(Dlpack):
        def __dlpack_device__(self):
            raise ValueError("no device")

    with pytest.raises(modelrun.InvalidArgument, match="no device"):
        bert(input_ids=Device(IDS.__dlpack__), attention_mask=MASK)


@pytest.mark.parametrize("value, kind, text", [
    (object(), modelrun.InvalidType, "input_ids.*is a object"),
    (b"2 45", modelrun.InvalidType, "input_ids.*is a bytes"),
    ({1, 2}, modelrun.InvalidType, "input_ids.*is a set"),
    ([[1, 2], [3]], modelrun.InvalidType, "differ in length"),
    ([[1, "a"]], modelrun.InvalidType, "numbers and of a str"),
    ([[True, 2]], modelrun.InvalidType, "bools and numbers"),
    ([[1 << 70]], modelrun.InvalidArgument, "past 64 bits"),
    (IDS.astype("float32"), modelrun.InvalidArgument, "expected int64"),
    (IDS.astype("complex64"), modelrun.InvalidType, "complex64"),
    (IDS.astype(">i8"), modelrun.InvalidType, "byte order"),
    (IDS.astype("datetime64[s]"), modelrun.InvalidType, "datetime64"),
    (np.array([["a"]]), modelrun.InvalidType, "<U1"),
    (np.array([[None]]), modelrun.InvalidType, "object"),
    (np.ma.masked_array(IDS, mask=MASK), modelrun.InvalidType, "masked"),
    ("text", modelrun.InvalidArgument, "must be a tensor"),
    (7, modelrun.InvalidArgument, "must be a tensor"),
    (IDS[0], modelrun.InvalidArgument, "input_ids.*rank|shape"),
    (np.array([[2, 45, 17, 3000]]), modelrun.InvalidArgument, "3000"),
])
def test_wrong_kinds_are_refused(bert, value, kind, text):
    with pytest.raises(kind, match=text):
        bert(input_ids=value, attention_mask=MASK)


def test_refusals_are_python_s_kinds(bert):
    with pytest.raises(TypeError):
        bert(input_ids=object(), attention_mask=MASK)
    with pytest.raises(ValueError, match="missing inputs.*attention_mask"):
        bert(input_ids=IDS)
    with pytest.raises(ValueError, match="did you mean 'input_ids'"):
        bert(input_id=IDS, attention_mask=MASK)


@pytest.mark.parametrize("args, kwargs, text", [
    ((IDS,), {}, "by name.*numpy.ndarray"),
    (({"input_ids": IDS}, True, False, 1), {}, "at most"),
    (({1: IDS},), {}, "key of type int"),
    ((), {"share_inputs": 1}, "share_inputs is a int"),
    ((1,), {}, "by name"),
])
def test_wrong_arguments_are_type_errors(bert, args, kwargs, text):
    with pytest.raises(TypeError, match=text):
        bert(*args, **kwargs)


def test_wrong_return_type(bert):
    with pytest.raises(modelrun.InvalidArgument, match="'jax'"):
        bert(input_ids=IDS, attention_mask=MASK, return_type="jax")


def test_untraced_kwargs_are_dropped_whatever_they_are(expected, caplog):
    model = modelrun.ExportedModel.from_pretrained(
        open_export("bert").program.path.rsplit("/", 1)[0], threads=1)
    for _ in range(2):
        got = hidden(model, input_ids=IDS, attention_mask=MASK,
                     labels=object(), offset_mapping=[[(0, 1)], [(0,)]],
                     token_type_ids=None)
        assert np.array_equal(expected, got)
    warnings = [record.message for record in caplog.records]
    assert len(warnings) == 1, warnings
    assert "'labels', 'offset_mapping'" in warnings[0]
    assert "token_type_ids" not in warnings[0]


def test_a_nest_may_not_be_endless():
    model = open_export("llama-generation").component("decode")
    endless = {}
    endless["layers"] = endless
    with pytest.raises(modelrun.InvalidType, match="past_key_values.*deep"):
        model(input_ids=IDS, past_key_values=endless)


def test_keys_of_a_nest_are_texts_or_integers():
    model = open_export("llama-generation").component("decode")
    with pytest.raises(modelrun.InvalidType, match="key of type tuple"):
        model(input_ids=IDS, past_key_values={(1, 2): IDS})


@pytest.mark.skipif(not is_installed("ml_dtypes"),
                    reason="ml_dtypes is not installed")
def test_bfloat16_round_trip():
    import ml_dtypes

    values = np.array([[1.5, -2.0]], ml_dtypes.bfloat16)
    tensor = modelrun.Tensor.from_dlpack(values)
    assert tensor.dtype == "bfloat16"
    back = tensor.numpy()
    assert back.dtype == values.dtype
    assert np.array_equal(back, values)
    assert (back.__array_interface__["data"][0]
            == values.__array_interface__["data"][0])


@needs_torch
class TestTorch:
    def test_parameters_and_views(self, bert, expected):
        import torch

        wide = torch.zeros(1, 8, dtype=torch.int64)
        wide[:, ::2] = torch.tensor(IDS)
        assert np.array_equal(expected, hidden(
            bert, input_ids=wide[:, ::2], attention_mask=torch.tensor(MASK)))

    def test_memory_that_is_gone(self, bert):
        import torch

        ids = torch.tensor(IDS)
        ids.untyped_storage().resize_(0)
        with pytest.raises(modelrun.InvalidArgument, match="null|storage"):
            bert(input_ids=ids, attention_mask=torch.tensor(MASK))

    @pytest.mark.parametrize("make", [
        lambda ids: ids.to("meta"), lambda ids: ids.to_sparse()])
    def test_tensors_without_memory_of_the_host(self, bert, make):
        import torch

        with pytest.raises(modelrun.Error):
            bert(input_ids=make(torch.tensor(IDS)),
                 attention_mask=torch.tensor(MASK))

    def test_torch_wins_over_numpy(self, bert):
        import torch

        outputs = bert(input_ids=IDS, attention_mask=torch.tensor(MASK))
        assert isinstance(outputs.last_hidden_state, torch.Tensor)

    def test_conversion_is_refused_with_the_fix(self, bert):
        import torch

        with pytest.raises(ValueError, match="float32.*convert it"):
            bert(input_ids=torch.tensor(IDS).float(),
                 attention_mask=torch.tensor(MASK))
