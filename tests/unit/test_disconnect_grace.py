"""The message that a browser has disconnected is delayed, so that its last click is processed."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from web.disconnect_grace import DisconnectGrace

GRACE_SECONDS = 0.3
CLICK = {"type": "websocket.receive", "bytes": b"click"}
BROWSER_LEFT = {"type": "websocket.disconnect", "code": 1001}
ANSWER = {"type": "websocket.send", "bytes": b"drawn"}


def run_connection(messages, *, send_fails=False):
    """Run a connection with these messages from the browser.

    Returns (type, seconds since the app's start) of each message that the app received, and the messages that
    were sent to the browser.
    """
    incoming, received, sent = list(messages), [], []

    async def receive():
        return incoming.pop(0)

    async def send(message):
        if send_fails:
            raise OSError("gone")
        sent.append(message)

    async def app(scope, receive, send):
        started_at = time.monotonic()
        while True:
            message = await receive()
            received.append((message["type"], time.monotonic() - started_at))
            await send(ANSWER)
            if message["type"] != "websocket.receive":
                return

    asyncio.run(DisconnectGrace(app, seconds=GRACE_SECONDS)({"type": "websocket"}, receive, send))
    return received, sent


def test_a_disconnect_right_after_a_click_is_delayed():
    (_, clicked_at), (kind, delivered_at) = run_connection([CLICK, BROWSER_LEFT])[0]
    assert kind == "websocket.disconnect"
    assert delivered_at - clicked_at >= GRACE_SECONDS * 0.9


def test_a_disconnect_without_a_click_is_immediate():
    [(kind, delivered_at)] = run_connection([BROWSER_LEFT])[0]
    assert (kind, delivered_at < GRACE_SECONDS / 2) == ("websocket.disconnect", True)


def test_a_server_shutdown_is_not_delayed():
    (_, clicked_at), (_, delivered_at) = run_connection(
        [CLICK, {"type": "websocket.disconnect", "code": 1012}]
    )[0]
    assert delivered_at - clicked_at < GRACE_SECONDS / 2


def test_messages_after_the_browser_left_are_dropped():
    assert run_connection([CLICK, BROWSER_LEFT])[1] == [ANSWER]


def test_a_failed_send_does_not_end_the_session():
    received, sent = run_connection([CLICK, CLICK, BROWSER_LEFT], send_fails=True)
    assert [kind for kind, _ in received] == ["websocket.receive"] * 2 + ["websocket.disconnect"]
    assert sent == []


@pytest.mark.parametrize("kind", ["http", "lifespan"])
def test_other_scopes_are_passed_through(kind):
    app_calls = []

    async def app(scope, receive, send):
        app_calls.append((scope["type"], receive, send))

    receive: Any = "receive"
    send: Any = "send"
    asyncio.run(DisconnectGrace(app)({"type": kind}, receive, send))
    assert app_calls == [(kind, receive, send)]
