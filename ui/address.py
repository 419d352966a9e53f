"""Ids from a page's address or a form's request. Users can enter any value there."""

from __future__ import annotations

from web.requests import MAX_ID


def parse_id(value: object) -> int | None:
    """Return the id of a batch, study or question; None if the value cannot be an id."""
    try:
        number = int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return None
    return number if 0 < number <= MAX_ID else None
