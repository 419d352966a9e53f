"""Escapes the text of CSV cells, so that no spreadsheet runs it as a formula."""

from __future__ import annotations

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula.

    Use this function only for text from outside, because computed numbers must stay numbers. The text is
    changed if it starts with =, +, -, @, tab or carriage return, possibly after apostrophes.

    Args:
        text: the text of the cell.

    >>> escape_formula("=1+1")
    "'=1+1"
    >>> escape_formula("Pneumonia")
    'Pneumonia'
    """
    return f"'{text}" if _is_formula(text) else text


def unescape_formula(text: str) -> str:
    """Restore the original text; the inverse of :func:`escape_formula`.

    Args:
        text: a text that :func:`escape_formula` returned.

    >>> unescape_formula(escape_formula("=1+1"))
    '=1+1'
    """
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    # Text may begin with its own apostrophes. Without this rule, unescape_formula would remove one of them.
    return text.lstrip("'").startswith(_FORMULA_PREFIXES)
