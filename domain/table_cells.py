"""Text in the cells of a CSV file, so that no spreadsheet runs it as a formula."""

from __future__ import annotations

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would run it as a formula.

    A spreadsheet shows the cell without it. Only text from outside needs this: our own numbers stay numbers.

    >>> harmless("=1+1")
    "'=1+1"
    >>> harmless("Pneumonia")
    'Pneumonia'
    """
    return f"'{text}" if _is_run(text) else text


def as_written(text: str) -> str:
    """The inverse of :func:`harmless`.

    >>> as_written(harmless("=1+1"))
    '=1+1'
    """
    return text[1:] if text.startswith("'") and _is_run(text) else text


def _is_run(text: str) -> bool:
    # Apostrophes that were there before count too, or the way back would take off one too many.
    return text.lstrip("'").startswith(_RUN_BY_SPREADSHEETS)
