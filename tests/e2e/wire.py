"""Streamlit's websocket from a test: what a browser sends, and everything it receives."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.e2e.conftest import RunningApp


def open_socket(
    app: RunningApp, cookie: str | None, *, resume: str = "", origin: str | None = None, **headers: str
) -> ClientConnection:
    """The connection that a page of the app opens, with the cookie of that sign-in."""
    cookies = {"Cookie": f"overread={cookie}"} if cookie else {}
    return connect(
        app.url.replace("http", "ws") + "/_stcore/stream",
        origin=Origin(origin or app.url),
        additional_headers={**cookies, **headers},
        subprotocols=[*map(Subprotocol, ["streamlit", "no-xsrf-token", resume][: 3 if resume else 2])],
        max_size=None,
    )


@dataclass
class Run:
    """What one run of the script sent: raw messages and decoded ones."""

    frames: list[bytes] = field(default_factory=list)
    messages: list[ForwardMsg] = field(default_factory=list)
    closed: bool = False

    @property
    def texts(self) -> set[str]:
        """Every text in the drawn elements."""
        return {
            text for each in self.messages if each.WhichOneof("type") == "delta" for text in strings(each)
        }

    @property
    def widgets(self) -> set[str]:
        """The ids of all widgets that were drawn."""
        return {text for text in self.texts if text.startswith("$$ID-")}

    @property
    def pages(self) -> dict[str, str]:
        """Page name to page hash, from the navigation that was sent last."""
        found = [each.navigation for each in self.messages if each.WhichOneof("type") == "navigation"]
        return {page.url_pathname: page.page_script_hash for page in found[-1].app_pages} if found else {}

    @property
    def not_found(self) -> bool:
        """Whether the server answered that the requested page does not exist."""
        return any(each.WhichOneof("type") == "page_not_found" for each in self.messages)

    @property
    def fragments(self) -> set[str]:
        return {each.delta.fragment_id for each in self.messages if each.delta.fragment_id}


def ask(
    socket: ClientConnection,
    *,
    page: str = "",
    page_hash: str = "",
    query: str = "",
    fragment: str = "",
    widgets: Iterable[WidgetState] = (),
) -> None:
    """Request a run of the script, as a click does."""
    message = BackMsg()
    asked = message.rerun_script
    asked.page_name, asked.page_script_hash, asked.query_string = page, page_hash, query
    asked.fragment_id = fragment
    asked.widget_states.widgets.extend(widgets)
    socket.send(message.SerializeToString())


def rerun(socket: ClientConnection, **asked: Any) -> Run:
    """Request a run of the script (see :func:`ask`), and collect all messages until it has finished."""
    ask(socket, **asked)
    return take(socket)


def take(socket: ClientConnection) -> Run:
    """Collect all messages until the script has finished or the connection is closed."""
    run = Run()
    while True:
        try:
            frame = socket.recv(timeout=30)
        except ConnectionClosed:
            run.closed = True
            return run
        assert isinstance(frame, bytes)
        message = ForwardMsg()
        message.ParseFromString(frame)
        run.frames.append(frame)
        run.messages.append(message)
        if message.WhichOneof("type") == "script_finished":
            return run


def pressed(widget: str) -> WidgetState:
    """The widget state that a browser sends for a button that was pressed."""
    return WidgetState(id=widget, trigger_value=True)


def filled(widget: str) -> WidgetState:
    """The widget state that a browser sends for text that was entered."""
    return WidgetState(id=widget, string_value="forged")


def strings(message: Message) -> Iterator[str]:
    """Every text anywhere in a message."""
    for kind, value in message.ListFields():
        each = value.values() if _is_map(value) else value if _is_list(value) else [value]
        for one in each:
            if isinstance(one, Message):
                yield from strings(one)
            elif isinstance(one, str) and kind.name:
                yield one


def _is_map(value: object) -> bool:
    return hasattr(value, "keys") and hasattr(value, "values")


def _is_list(value: object) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__iter__")


def fresh_token() -> str:
    """A new cookie token."""
    return uuid.uuid4().hex
