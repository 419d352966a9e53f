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
            text
            for message in self.messages
            if message.WhichOneof("type") == "delta"
            for text in iterate_strings(message)
        }

    @property
    def widgets(self) -> set[str]:
        """The ids of all widgets that were drawn."""
        return {text for text in self.texts if text.startswith("$$ID-")}

    @property
    def pages(self) -> dict[str, str]:
        """Page name to page hash, from the navigation that was sent last."""
        navigations = [
            message.navigation for message in self.messages if message.WhichOneof("type") == "navigation"
        ]
        return (
            {page.url_pathname: page.page_script_hash for page in navigations[-1].app_pages}
            if navigations
            else {}
        )

    @property
    def not_found(self) -> bool:
        """Whether the server answered that the requested page does not exist."""
        return any(message.WhichOneof("type") == "page_not_found" for message in self.messages)

    @property
    def fragments(self) -> set[str]:
        return {message.delta.fragment_id for message in self.messages if message.delta.fragment_id}


def request_run(
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
    request = message.rerun_script
    request.page_name, request.page_script_hash, request.query_string = page, page_hash, query
    request.fragment_id = fragment
    request.widget_states.widgets.extend(widgets)
    socket.send(message.SerializeToString())


def rerun(socket: ClientConnection, **options: Any) -> Run:
    """Run the script (:func:`request_run`); collect all messages until it has finished."""
    request_run(socket, **options)
    return collect_run(socket)


def collect_run(socket: ClientConnection) -> Run:
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


def make_pressed_state(widget: str) -> WidgetState:
    """The widget state that a browser sends for a button that was pressed."""
    return WidgetState(id=widget, trigger_value=True)


def make_filled_state(widget: str) -> WidgetState:
    """The widget state that a browser sends for text that was entered."""
    return WidgetState(id=widget, string_value="forged")


def iterate_strings(message: Message) -> Iterator[str]:
    """Every text anywhere in a message."""
    for descriptor, value in message.ListFields():
        items = value.values() if _is_map(value) else value if _is_list(value) else [value]
        for item in items:
            if isinstance(item, Message):
                yield from iterate_strings(item)
            elif isinstance(item, str) and descriptor.name:
                yield item


def _is_map(value: object) -> bool:
    return hasattr(value, "keys") and hasattr(value, "values")


def _is_list(value: object) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__iter__")


def make_token() -> str:
    """A new cookie token."""
    return uuid.uuid4().hex
