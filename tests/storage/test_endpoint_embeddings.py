"""Near-duplicates with embeddings of an endpoint: the same interface as OpenAI's, and each of its faults."""

from __future__ import annotations

import numpy as np
import pytest

from domain.errors import Refused
from domain.language_models import DataUse, Endpoint
from language_models.embeddings import EndpointEmbedder
from tests.storage.embedding_server import make_vector, running_server


def make_embedder(url, **changes):
    endpoint = Endpoint(name="local", url=url, model="vectors", data_use=DataUse.LOCAL, max_parallel=1)
    return EndpointEmbedder(endpoint=endpoint, first_pause=0.0, **changes)


def test_vectors_have_length_1_and_the_order_of_the_texts():
    texts = ["effusion", "pneumothorax", "effusion", "heart"]
    with running_server() as (url, received):
        vectors = make_embedder(url, texts_at_once=2).embed(texts)
    expected = np.array([make_vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert [body["input"] for _, body, _ in received] == [["effusion", "pneumothorax"], ["heart"]]
    assert {path for path, _, _ in received} == {"/v1/embeddings"}


def test_an_empty_list_of_texts_needs_no_call():
    assert make_embedder("http://127.0.0.1:9/v1").embed([]).shape[0] == 0


def test_a_temporary_failure_is_tried_again():
    busy = (503, {"error": {"message": "busy"}})
    with running_server([busy, busy]) as (url, received):
        assert make_embedder(url).embed(["heart"]).shape == (1, 3)
    assert len(received) == 3


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((401, {"error": {"message": "wrong key"}}), "wrong key"),
        ((200, {"data": []}), "0 vectors for 1 text"),
        ((200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), "zero or not finite"),
        ((200, {"data": [{"index": 0, "embedding": []}]}), "zero or not finite"),
        ((200, {"choices": []}), "has no vectors"),
    ],
)
@pytest.mark.slow
def test_a_reply_without_vectors_is_refused(reply, reason):
    with running_server([reply]) as (url, _), pytest.raises(Refused, match=reason):
        make_embedder(url).embed(["heart"])


def test_a_server_that_does_not_answer_is_refused():
    with pytest.raises(Refused, match="provided no embeddings"):
        make_embedder("http://127.0.0.1:9/v1").embed(["heart"])
