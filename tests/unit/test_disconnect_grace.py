"""The message that a browser has disconnected is delayed, so that its last click is processed."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from web.disconnect_grace import DisconnectGrace

LINGER = 0.3
CLICK = {"type": "websocket.receive", "bytes": b"click"}
LEFT = {"type": "websocket.disconnect", "code": 1001}
ANSWER = {"type": "websocket.send", "bytes": b"drawn"}


def heard(messages, *, send_fails=False):
    """The messages that the app gets, each with the seconds since the first; and what the browser got."""
    waiting, got, sent = list(messages), [], []

    async def receive():
        return waiting.pop(0)

    async def send(message):
        if send_fails:
            raise OSError("gone")
        sent.append(message)

    async def app(scope, receive, send):
        begun = time.monotonic()
        while True:
            message = await receive()
            got.append((message["type"], time.monotonic() - begun))
            await send(ANSWER)
            if message["type"] != "websocket.receive":
                return

    asyncio.run(DisconnectGrace(app, seconds=LINGER)({"type": "websocket"}, receive, send))
    return got, sent


def test_a_leaving_right_after_a_click_comes_later():
    (_, first), (kind, at) = heard([CLICK, LEFT])[0]
    assert kind == "websocket.disconnect"
    assert at - first >= LINGER * 0.9


def test_a_leaving_without_a_click_comes_at_once():
    [(kind, at)] = heard([LEFT])[0]
    assert (kind, at < LINGER / 2) == ("websocket.disconnect", True)


def test_a_server_that_stops_waits_for_nobody():
    (_, first), (_, at) = heard([CLICK, {"type": "websocket.disconnect", "code": 1012}])[0]
    assert at - first < LINGER / 2


def test_what_is_sent_to_who_has_left_is_dropped():
    assert heard([CLICK, LEFT])[1] == [ANSWER]


def test_a_line_that_breaks_while_something_is_sent_does_not_end_the_session():
    got, sent = heard([CLICK, CLICK, LEFT], send_fails=True)
    assert [kind for kind, _ in got] == ["websocket.receive"] * 2 + ["websocket.disconnect"]
    assert sent == []


@pytest.mark.parametrize("kind", ["http", "lifespan"])
def test_nothing_else_waits(kind):
    handed = []

    async def app(scope, receive, send):
        handed.append((scope["type"], receive, send))

    receive: Any = "receive"
    send: Any = "send"
    asyncio.run(DisconnectGrace(app)({"type": kind}, receive, send))
    assert handed == [(kind, receive, send)]
