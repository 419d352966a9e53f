"""Text in the cells of a CSV file, so that no spreadsheet runs it as a formula."""

from __future__ import annotations

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula.

    A spreadsheet shows the cell without it. Only text that came from outside goes through here: a number
    of our own stays a number.
    """
    return f"'{text}" if _is_run(text) else text


def as_written(text: str) -> str:
    """The inverse of :func:`harmless`."""
    return text[1:] if text.startswith("'") and _is_run(text) else text


def _is_run(text: str) -> bool:
    # Apostrophes that were there before count too, or the way back would take off one too many.
    return text.lstrip("'").startswith(_RUN_BY_SPREADSHEETS)
