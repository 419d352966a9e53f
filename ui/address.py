"""Parses ids from a page's address or a form's request, where users can enter any value."""

from __future__ import annotations

from web.requests import MAX_ID


def parse_id(value: object) -> int | None:
    """Return the id of a batch, study or question; None if the value cannot be an id."""
    try:
        parsed_id = int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return None
    return parsed_id if 0 < parsed_id <= MAX_ID else None
