"""A bucket that does not answer: each request ends within its limit, and soon no more are sent."""

from __future__ import annotations

import hashlib

import pytest

from domain.errors import NotFound, NotNow
from storage.images.bucket import BucketStore
from storage.images.circuit_breaker import CircuitBreaker, CircuitOpen
from tests.storage.bucket_server import BUCKET
from tests.storage.scripted_bucket import Behaviour, scripted_bucket

pytestmark = pytest.mark.slow

CONTENT = b"a radiograph's bytes, as they came"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch):
    with scripted_bucket() as running:
        for name, value in running.settings.items():
            monkeypatch.setenv(name, value)
        running.put(SHA256, CONTENT)
        yield running


def store(*, seconds: float = 8.0, failures: int = 2, pause: float = 60.0) -> BucketStore:
    breaker = CircuitBreaker(failures=failures, pause=pause)
    return BucketStore(f"s3://{BUCKET}/images", timeout=seconds, breaker=breaker)


def test_the_scripted_server_is_a_store(server):
    there = store()
    there.write(SHA256, CONTENT)
    there.check()
    assert (there.contains(SHA256), there.read(SHA256)) == (True, CONTENT)


def test_a_server_that_accepts_and_never_answers_is_given_up(server):
    server.behaviour = Behaviour.HANG
    with pytest.raises(NotNow, match="did not answer within 1 s"):
        store(seconds=1).read(SHA256)


def test_a_server_that_drips_is_given_up_although_each_byte_comes_in_time(server):
    server.behaviour = Behaviour.DRIP
    with pytest.raises(NotNow, match="did not answer within 2 s"):
        store(seconds=2).read(SHA256)


@pytest.mark.parametrize("request_of", ["read", "contains", "remove", "check", "write"])
def test_no_request_waits_for_ever(server, request_of):
    server.behaviour = Behaviour.HANG
    arguments = {"check": (), "write": (SHA256, CONTENT)}.get(request_of, (SHA256,))
    with pytest.raises(NotNow):
        getattr(store(seconds=0.5), request_of)(*arguments)


def test_after_some_failures_nothing_is_sent_and_the_message_says_when_it_is_tried_again(server):
    server.behaviour = Behaviour.HANG
    there = store(seconds=0.5, failures=2)
    for _ in range(2):
        with pytest.raises(NotNow, match="did not answer"):
            there.read(SHA256)
    sent = len(server.requests)
    with pytest.raises(NotNow, match=r"has stopped answering\. It is tried again in \d+ s"):
        there.read(SHA256)
    assert len(server.requests) == sent


def test_a_store_that_recovers_is_used_again_after_the_pause(server):
    server.behaviour = Behaviour.HANG
    there = store(seconds=3, failures=1, pause=0)
    with pytest.raises(NotNow):
        there.read(SHA256)
    server.behaviour = Behaviour.ANSWER
    assert there.read(SHA256) == CONTENT


def test_a_missing_image_is_no_failure_of_the_store(server):
    there = store(failures=1)
    for _ in range(3):
        with pytest.raises(NotFound):
            there.read("0" * 64)
    assert there.read(SHA256) == CONTENT


# ----------------------------------------------------- the circuit breaker alone
def failing() -> None:
    raise OSError("away")


def test_only_consecutive_failures_count():
    breaker = CircuitBreaker(failures=2, pause=60)
    for _ in range(3):
        with pytest.raises(OSError, match="away"):
            breaker.call(failing)
        assert breaker.call(lambda: "answer") == "answer"


def test_of_several_calls_after_the_pause_one_is_let_through():
    now = 0.0
    breaker = CircuitBreaker(failures=1, pause=60, clock=lambda: now)
    with pytest.raises(OSError, match="away"):
        breaker.call(failing)
    now = 61.0

    def probe() -> str:
        with pytest.raises(CircuitOpen):  # another call while this one is running
            breaker.call(failing)
        return "answer"

    assert breaker.call(probe) == "answer"
    assert breaker.call(lambda: "closed again") == "closed again"


def test_a_call_that_fails_after_the_pause_begins_another_pause():
    now = 0.0
    breaker = CircuitBreaker(failures=1, pause=60, clock=lambda: now)
    with pytest.raises(OSError, match="away"):
        breaker.call(failing)
    now = 61.0
    with pytest.raises(OSError, match="away"):
        breaker.call(failing)
    now = 120.0
    with pytest.raises(CircuitOpen, match="another 1 seconds"):
        breaker.call(failing)
