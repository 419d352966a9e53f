"""Model runs: the requests of a run, and one request with its messages, raw replies and usage."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import streamlit as st

from domain.errors import NotFound
from domain.language_models import Call, RequestStatus, format_cost
from domain.people import Person
from language_models import service as models
from ui.context import read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown

_PAGE_SIZE = 50
_ALL = "all"


def show_requests(name: str, request_count: int, person: Person, *, custom_id: str | None = None) -> None:
    """Show one page of a run's requests and the details of the selected request.

    If ``custom_id`` is given, show only that request.
    """
    if custom_id is not None:
        query = urlencode({"run": name})
        st.markdown(f"**Request {escape_markdown(custom_id)}** · [All requests](/model_runs?{query})")
        try:
            _show_request(name, custom_id, person)
        except NotFound as error:
            st.error(escape_markdown(str(error)))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        status = st.selectbox(
            "Requests",
            [_ALL, *(status.value for status in RequestStatus)],
            key=f"requests-of-{name}",
            width=220,
        )
        page_count = max(1, -(-request_count // _PAGE_SIZE))
        page = (
            st.number_input("Page", 1, page_count, 1, key=f"page-of-{name}-{status}", width=140)
            if page_count > 1
            else 1
        )
    with read_only_session() as db:
        rows = models.list_requests(
            db,
            by=person,
            name=name,
            status=None if status == _ALL else RequestStatus(status),
            first=(int(page) - 1) * _PAGE_SIZE,
            limit=_PAGE_SIZE,
        )
    show_table([_build_request_row(row) for row in rows], empty="No such requests.", visible_rows=8)
    if rows:
        chosen_id = st.selectbox(
            "Request", [row.custom_id for row in rows], key=f"request-of-{name}-{status}-{page}", width=320
        )
        _show_request(name, chosen_id, person)


def _build_request_row(row: models.RequestOverview) -> dict[str, object]:
    return {
        "Request": row.custom_id,
        "Status": row.status.value,
        "Reason": row.failure.value if row.failure else "",
        "Corrections": row.repairs,
        "Source": "ledger" if row.reused else "call",
    }


def _show_request(name: str, custom_id: str, person: Person) -> None:
    with read_only_session() as db:
        details = models.load_request(db, by=person, name=name, custom_id=custom_id)
    st.markdown("**Messages**")
    for message in details.body["messages"]:
        content = message["content"]
        st.caption(message["role"])
        st.code(
            content if isinstance(content, str) else json.dumps(content, indent=2),
            language=None,
            wrap_lines=True,
        )
    parameters = {field: value for field, value in details.body.items() if field != "messages"}
    with st.expander("Parameters"):
        st.json(parameters)
    st.markdown("**Calls**")
    show_table([_build_call_row(call) for call in details.calls], empty="Not called yet.")
    for number, call in enumerate(details.calls, start=1):
        with st.expander(f"Raw reply of call {number}"):
            if call.error:
                st.code(call.error, language=None, wrap_lines=True)
            st.code(_format_raw_reply(call.raw), language="json", wrap_lines=True)


def _build_call_row(call: Call) -> dict[str, object]:
    return {
        "Time": f"{call.called_at:%Y-%m-%d %H:%M:%S} UTC",
        "Outcome": call.failure.value if call.failure else "usable reply",
        "Model": call.model or "",
        "Tokens in": call.usage.prompt_tokens,
        "Tokens out": call.usage.completion_tokens,
        "Cost": "unknown" if call.cost_nanos is None else format_cost(call.cost_nanos),
        "Attempts": call.attempts,
        "Seconds": f"{call.seconds:.1f}",
    }


def _format_raw_reply(raw: str) -> str:
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False, indent=2)
    except ValueError:
        return raw or "No response."
