"""Delays the disconnect message of a browser: a click just before leaving the page is still processed.

Streamlit stops a session's script as soon as its browser disconnects, and drops any click that the script has
not processed yet. Without the delay, a click within about 40 ms before a reload is lost without notice.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Seconds after a browser's last message during which its disconnect message is held back.
GRACE_SECONDS = 2.0
#: Close code of a server that is stopping (RFC 6455, IANA registry). It is passed on without delay.
SERVICE_RESTART = 1012


class DisconnectGrace:
    """ASGI middleware for websockets. It wraps the gate: connections that the gate closes are not delayed."""

    def __init__(self, app: ASGIApp, *, seconds: float = GRACE_SECONDS) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        last_message_at, is_disconnected = -self._seconds, False

        async def receive_delayed() -> Message:
            nonlocal last_message_at, is_disconnected
            message = await receive()
            if message["type"] == "websocket.receive":
                last_message_at = monotonic()
            elif message["type"] == "websocket.disconnect":
                is_disconnected = True
                if message.get("code") == SERVICE_RESTART:
                    return message
                await asyncio.sleep(max(0.0, last_message_at + self._seconds - monotonic()))
            return message

        async def send_if_connected(message: Message) -> None:
            nonlocal is_disconnected
            if is_disconnected:
                return
            try:
                await send(message)
            except OSError:  # the browser disconnected; raising this would stop the script
                is_disconnected = True

        await self._app(scope, receive_delayed, send_if_connected)
