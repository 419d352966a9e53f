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
BODY_LENGTHS: list[int] = []


async def handle_request(request: Request) -> Response:
    BODY_LENGTHS.append(len(await request.body()))
    return PlainTextResponse("read")


LIMITED_APP = Starlette(
    routes=[Route("/{anything:path}", handle_request, methods=["POST", "PUT"])],
    middleware=[Middleware(RequestLimits, patience=0.2, clock=CLOCK)],
)


def send_request(path: str, pieces: Iterator[bytes], **headers: str) -> tuple[int, dict[str, str]]:
    """The status and headers with which the app answers a body sent in these pieces."""
    sent: list[Message] = []
    BODY_LENGTHS.clear()

    async def receive() -> Message:
        piece = next(pieces, None)
        if piece is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": piece, "more_body": True}

    async def collect_message(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    asyncio.run(LIMITED_APP(scope, receive, collect_message))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_form_json_body_and_upload_have_their_own_limits():
    assert [max_body_bytes(path) for path in ("/sign-in", "/first-admin", "/review/verdict", "/people")] == [
        16 * KIB, 16 * KIB, 2 * MIB, 2 * MIB,
    ]  # fmt: skip
    assert 200 * MIB <= max_body_bytes("/_stcore/upload_file/x/y") < 210 * MIB


@pytest.mark.parametrize(
    ("path", "length"), [("/sign-in", 16 * KIB + 1), ("/review/draft", 2 * MIB + 1), ("/anything", 1 << 40)]
)
def test_a_body_with_a_declared_length_above_the_limit_is_refused(path, length):
    pieces = iter([b"x" * MIB] * 100)
    status, headers = send_request(path, pieces, **{"content-length": str(length)})
    assert (status, headers["connection"], BODY_LENGTHS) == (413, "close", [])
    assert len(list(pieces)) == 97


@pytest.mark.parametrize("length_text", ["-1", "many", "1e3", "٣"])
def test_a_non_numeric_length_is_refused(length_text):
    assert (
        send_request("/people", iter([]), **{"content-length": length_text.encode().decode("latin-1")})[0]
        == 413
    )


@pytest.mark.parametrize(("accept", "kind"), [("text/html,*/*", "text/html"), ("*/*", "application/json")])
def test_a_form_post_is_refused_in_the_accepted_media_type(accept, kind):
    headers = {"content-length": str(MIB), "accept": accept}
    status, response_headers = send_request("/sign-in", iter(()), **headers)
    assert (status, response_headers["content-type"].partition(";")[0]) == (413, kind)


def test_a_body_without_a_length_is_refused_above_the_limit():
    pieces = iter([b"x" * MIB] * 100)
    status, headers = send_request("/review/draft", pieces)
    assert (status, headers["connection"], BODY_LENGTHS) == (413, "close", [])
    assert len(list(pieces)) == 94  # three pieces were counted, three discarded


def test_a_stalled_body_times_out():
    status, headers = send_request("/review/draft", iter([b"{"]))
    assert (status, headers["connection"], BODY_LENGTHS) == (408, "close", [])


def test_a_body_sent_byte_by_byte_times_out():
    def send_slowly() -> Iterator[bytes]:
        for _ in range(10_000):
            CLOCK.now += 0.1
            yield b"x"

    assert send_request("/review/draft", send_slowly())[0] == 408


def test_a_large_upload_has_enough_time():
    assert GRACE_SECONDS + 200 * MIB / MIN_BYTES_PER_SECOND > 3 * 60 * 60
