"""Lists why records, lines or boxes of a file were refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from domain.count_texts import count_text
from ui.widgets import escape_markdown

#: The maximum number of refusals on the page.
MAX_REFUSALS_SHOWN = 50
#: The maximum number of reasons without a scroll bar.
_MAX_UNSCROLLED = 8
_MAX_RECORDS_NAMED = 5


def describe_refused_lines(count: int) -> str:
    """Return a text such as "3 lines are invalid"."""
    return f"{count_text(count, 'line')} {'is' if count == 1 else 'are'} invalid"


class _Refusal(Protocol):
    @property
    def record(self) -> str: ...
    @property
    def field(self) -> str: ...
    @property
    def reason(self) -> str: ...


def show_refusals(refusals: Sequence[_Refusal], *, total: int, item: str = "") -> None:
    """Show one line for each reason, with its first records.

    The lines are text, because the cells of a table would truncate reasons.

    Args:
        refusals: the first refusals; no more than :data:`MAX_REFUSALS_SHOWN` of them are shown.
        total: the number of all refusals.
        item: what a record is, such as "line", if its name does not say so.
    """
    if not refusals:
        return
    records_by_reason: dict[tuple[str, str], list[str]] = {}
    for refusal in refusals[:MAX_REFUSALS_SHOWN]:
        records_by_reason.setdefault((refusal.field, refusal.reason), []).append(refusal.record)
    is_long = len(records_by_reason) > _MAX_UNSCROLLED
    with st.container(border=True, gap="small", height=400 if is_long else "content"):
        for (field, reason), records in records_by_reason.items():
            names = _format_record_names(records, item)
            location = f"**{escape_markdown(names)}**" + (f" ({escape_markdown(field)})" if field else "")
            st.markdown(f"{location}: {escape_markdown(reason)}" if names else escape_markdown(reason))
        if len(refusals) > MAX_REFUSALS_SHOWN or len(refusals) < total:
            st.caption(f"Showing the first {min(len(refusals), MAX_REFUSALS_SHOWN):,} of {total:,}.")


def _format_record_names(records: list[str], item: str) -> str:
    names = ", ".join(records[:_MAX_RECORDS_NAMED])
    if item:
        names = f"{item.capitalize()}{'s' if len(records) > 1 else ''} {names}"
    omitted_count = len(records) - _MAX_RECORDS_NAMED
    return f"{names} and {omitted_count:,} more" if omitted_count > 0 else names
