"""A click that comes just before its page is left is still carried out: the news of the leaving waits.

Streamlit stops a session's script the moment its browser is gone, and drops with it a click that the script
has not taken up yet: whoever clicks and reloads within some 40 ms has clicked in vain, and is not told so.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Seconds after a browser's last message in which its leaving is not passed on.
LINGER = 2.0
#: The server's own word when it stops (RFC 6455, IANA's registry): nothing waits then.
SERVICE_RESTART = 1012


class DisconnectGrace:
    """ASGI middleware around the websocket; it stands before the gate, which closes without waiting."""

    def __init__(self, app: ASGIApp, *, seconds: float = LINGER) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        last, gone = -self._seconds, False

        async def receive_later() -> Message:
            nonlocal last, gone
            message = await receive()
            if message["type"] == "websocket.receive":
                last = monotonic()
            elif message["type"] == "websocket.disconnect":
                gone = True
                if message.get("code") == SERVICE_RESTART:
                    return message
                await asyncio.sleep(max(0.0, last + self._seconds - monotonic()))
            return message

        async def send_to_who_is_there(message: Message) -> None:
            nonlocal gone
            if gone:
                return
            try:
                await send(message)
            except OSError:  # gone while it was sent; Streamlit would stop the script for that too
                gone = True

        await self._app(scope, receive_later, send_to_who_is_there)
