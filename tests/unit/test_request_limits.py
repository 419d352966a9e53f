"""Limits on the size and duration of a request, applied before anything reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message

from web.request_limits import GRACE_SECONDS, KIB, MIB, MIN_BYTES_PER_SECOND, RequestLimits, max_body_bytes


class Clock:
    """A clock that stands still until a test advances it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()
READ: list[int] = []


async def read(request: Request) -> Response:
    READ.append(len(await request.body()))
    return PlainTextResponse("read")


APP = Starlette(
    routes=[Route("/{anything:path}", read, methods=["POST", "PUT"])],
    middleware=[Middleware(RequestLimits, patience=0.2, clock=CLOCK)],
)


def send(path: str, pieces: Iterator[bytes], **headers: str) -> tuple[int, dict[str, str]]:
    """The status and headers with which the app answers a body sent in these pieces."""
    sent: list[Message] = []
    READ.clear()

    async def receive() -> Message:
        piece = next(pieces, None)
        if piece is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": piece, "more_body": True}

    async def take(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    asyncio.run(APP(scope, receive, take))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_a_form_a_json_body_and_an_upload_have_limits_of_their_own():
    assert [max_body_bytes(path) for path in ("/sign-in", "/first-admin", "/judging/verdict", "/people")] == [
        16 * KIB, 16 * KIB, 2 * MIB, 2 * MIB,
    ]  # fmt: skip
    assert 200 * MIB <= max_body_bytes("/_stcore/upload_file/x/y") < 210 * MIB


@pytest.mark.parametrize(
    ("path", "length"), [("/sign-in", 16 * KIB + 1), ("/judging/draft", 2 * MIB + 1), ("/anything", 1 << 40)]
)
def test_a_body_whose_declared_length_is_too_large_is_refused_and_at_most_three_mebibytes_are_discarded(
    path, length
):
    pieces = iter([b"x" * MIB] * 100)
    status, headers = send(path, pieces, **{"content-length": str(length)})
    assert (status, headers["connection"], READ) == (413, "close", [])
    assert len(list(pieces)) == 97


@pytest.mark.parametrize("said", ["-1", "many", "1e3", "٣"])
def test_a_length_that_is_no_number_is_refused(said):
    assert send("/people", iter([]), **{"content-length": said.encode().decode("latin-1")})[0] == 413


@pytest.mark.parametrize(("accept", "kind"), [("text/html,*/*", "text/html"), ("*/*", "application/json")])
def test_whoever_sends_a_form_by_its_button_is_refused_on_a_page(accept, kind):
    headers = {"content-length": str(MIB), "accept": accept}
    status, told = send("/sign-in", iter(()), **headers)
    assert (status, told["content-type"].partition(";")[0]) == (413, kind)


def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_large():
    pieces = iter([b"x" * MIB] * 100)
    status, headers = send("/judging/draft", pieces)
    assert (status, headers["connection"], READ) == (413, "close", [])
    assert len(list(pieces)) == 94  # three were counted, three discarded


def test_a_body_that_stops_coming_is_given_up():
    status, headers = send("/judging/draft", iter([b"{"]))
    assert (status, headers["connection"], READ) == (408, "close", [])


def test_a_body_that_comes_a_byte_at_a_time_is_given_up():
    def dripping() -> Iterator[bytes]:
        for _ in range(10_000):
            CLOCK.now += 0.1
            yield b"x"

    assert send("/judging/draft", dripping())[0] == 408


def test_a_large_upload_has_the_time_that_it_needs():
    assert GRACE_SECONDS + 200 * MIB / MIN_BYTES_PER_SECOND > 3 * 60 * 60
