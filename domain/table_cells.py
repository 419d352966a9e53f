"""Text for cells of CSV files, protected against being run as a formula by a spreadsheet."""

from __future__ import annotations

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")


def escape_formula(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it as a formula.

    Use it for text from outside only; computed numbers must stay numbers.

    Args:
        text: starts with =, +, -, @, tab or carriage return, possibly after apostrophes, to be changed.

    >>> escape_formula("=1+1")
    "'=1+1"
    >>> escape_formula("Pneumonia")
    'Pneumonia'
    """
    return f"'{text}" if _is_formula(text) else text


def unescape_formula(text: str) -> str:
    """The inverse of :func:`escape_formula`.

    Args:
        text: of a cell that :func:`escape_formula` wrote.

    >>> unescape_formula(escape_formula("=1+1"))
    '=1+1'
    """
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    # The text may begin with apostrophes of its own; without this, as_written would remove one of them.
    return text.lstrip("'").startswith(_FORMULA_PREFIXES)
