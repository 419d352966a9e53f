"""A bucket that does not answer: each request ends within its limit, and after failures no more are sent."""

from __future__ import annotations

import hashlib

import pytest

from domain.errors import NotFound, NotNow
from storage.images.bucket import BucketStore
from storage.images.circuit_breaker import CircuitBreaker, CircuitOpen
from tests.storage.bucket_server import BUCKET
from tests.storage.scripted_bucket import Behaviour, scripted_bucket

pytestmark = [pytest.mark.slow, pytest.mark.full]

CONTENT = b"a radiograph's bytes, as they came"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch):
    with scripted_bucket() as bucket:
        for name, value in bucket.settings.items():
            monkeypatch.setenv(name, value)
        bucket.put(SHA256, CONTENT)
        yield bucket


def make_store(*, seconds: float = 8.0, failures: int = 2, pause: float = 60.0) -> BucketStore:
    breaker = CircuitBreaker(max_failures=failures, pause=pause)
    return BucketStore(f"s3://{BUCKET}/images", timeout=seconds, breaker=breaker)


def test_scripted_server_works_as_a_store(server):
    image_store = make_store()
    image_store.write(SHA256, CONTENT)
    image_store.check()
    assert (image_store.contains(SHA256), image_store.read(SHA256)) == (True, CONTENT)


def test_server_that_never_answers_times_out(server):
    server.behaviour = Behaviour.HANG
    with pytest.raises(NotNow, match="did not answer within 1 s"):
        make_store(seconds=1).read(SHA256)


def test_server_that_sends_byte_by_byte_times_out(server):
    server.behaviour = Behaviour.DRIP
    with pytest.raises(NotNow, match="did not answer within 2 s"):
        make_store(seconds=2).read(SHA256)


@pytest.mark.parametrize("method", ["read", "contains", "remove", "check", "write"])
def test_every_request_has_a_time_limit(server, method):
    server.behaviour = Behaviour.HANG
    arguments = {"check": (), "write": (SHA256, CONTENT)}.get(method, (SHA256,))
    with pytest.raises(NotNow):
        getattr(make_store(seconds=0.5), method)(*arguments)


def test_open_circuit_sends_nothing_and_states_the_next_attempt(server):
    server.behaviour = Behaviour.HANG
    image_store = make_store(seconds=0.5, failures=2)
    for _ in range(2):
        with pytest.raises(NotNow, match="did not answer"):
            image_store.read(SHA256)
    requests_before = len(server.requests)
    with pytest.raises(NotNow, match=r"has stopped answering\. Try again in \d+ s"):
        image_store.read(SHA256)
    assert len(server.requests) == requests_before


def test_recovered_store_is_used_again_after_the_pause(server):
    server.behaviour = Behaviour.HANG
    image_store = make_store(seconds=3, failures=1, pause=0)
    with pytest.raises(NotNow):
        image_store.read(SHA256)
    server.behaviour = Behaviour.ANSWER
    assert image_store.read(SHA256) == CONTENT


def test_missing_image_does_not_count_as_failure(server):
    image_store = make_store(failures=1)
    for _ in range(3):
        with pytest.raises(NotFound):
            image_store.read("0" * 64)
    assert image_store.read(SHA256) == CONTENT


# ----------------------------------------------------- the circuit breaker alone
def fail() -> None:
    raise OSError("away")


def test_only_consecutive_failures_count():
    breaker = CircuitBreaker(max_failures=2, pause=60)
    for _ in range(3):
        with pytest.raises(OSError, match="away"):
            breaker.call(fail)
        assert breaker.call(lambda: "answer") == "answer"


def test_only_one_call_passes_after_the_pause():
    now = 0.0
    breaker = CircuitBreaker(max_failures=1, pause=60, clock=lambda: now)
    with pytest.raises(OSError, match="away"):
        breaker.call(fail)
    now = 61.0

    def probe() -> str:
        with pytest.raises(CircuitOpen):  # another call while this one is running
            breaker.call(fail)
        return "answer"

    assert breaker.call(probe) == "answer"
    assert breaker.call(lambda: "closed again") == "closed again"


def test_failed_call_after_the_pause_starts_another_pause():
    now = 0.0
    breaker = CircuitBreaker(max_failures=1, pause=60, clock=lambda: now)
    with pytest.raises(OSError, match="away"):
        breaker.call(fail)
    now = 61.0
    with pytest.raises(OSError, match="away"):
        breaker.call(fail)
    now = 120.0
    with pytest.raises(CircuitOpen, match="another 1 s"):
        breaker.call(fail)
