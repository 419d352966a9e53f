"""Numbers that come by a page's address, or by a form's request: anybody can write anything there."""

from __future__ import annotations

from web.requests import LARGEST_NUMBER


def number_in(value: object) -> int | None:
    """The number of a batch, study or question; None for what can be none's."""
    try:
        number = int(value) if isinstance(value, str | int) else 0
    except ValueError:
        return None
    return number if 0 < number <= LARGEST_NUMBER else None
