"""Converts a piece of a reply to an answer: one option, several, yes or no; the whole text must match."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from domain.questions import Answer, letter
from domain.vocabulary import AnswerFormat

#: Separators between letters.
_BETWEEN = re.compile(r"\s*(?:,\s*and\b|[,;|&+]|\band\b)\s*", re.IGNORECASE)
#: A letter alone or with the usual marks: "B", "(B)", "[B]", "'B'", "B.", "B)", "option B".
_LETTER = re.compile(
    r"(?:(?:option|choice|letter)\s+)?[\[({\"']*\s*([A-Za-z])\s*[\])}\"']*\s*[.:)]?", re.IGNORECASE
)
#: A letter before the text of its option: "B) Pleural effusion", "(B): …", "B - …".
_BEFORE_TEXT = re.compile(r"[\[(]?\s*([A-Za-z])\s*(?:[\])]\s*[.:]?|[.:]|\s-|\s–)\s*(\S.*)", re.DOTALL)
_MARKS = str.maketrans("", "", "*`")


def plain_text(text: str) -> str:
    """The text without marks of emphasis, with normalised characters (full-width letters become letters)."""
    return unicodedata.normalize("NFKC", text).translate(_MARKS).strip()


def value_of(text: str, *, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Convert a whole text to the answer that it names.

    Args:
        text: a piece of a reply.
        format_: of the question.
        options: of the question.

    Returns:
        None if it names no answer, contradictory ones, or more than the format allows.
    """
    text = plain_text(text)
    if not text:
        return None
    if format_.is_free_text:
        return text
    if format_.words:
        word = text.strip(" .!\"'()[]").lower()
        return word if word in format_.words else None
    by_text = _by_text(text, options)
    named = _letters(text, len(options))
    if named is None:
        before = _BEFORE_TEXT.fullmatch(text)
        if before and _by_text(before[2], options) == [_index(before[1])]:
            named = by_text = [_index(before[1])]
    if by_text and named and by_text != named:
        return None  # the text of one option is the letter of another
    found = by_text or named
    if not found or max(found) >= len(options):
        return None
    if not format_.takes_several and len(found) != 1:
        return None
    return tuple(found)


def listed(values: Sequence[object], *, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Convert a list to the answer that its items name; None as for :func:`value_of`."""
    found: set[int] = set()
    for each in values:
        answer = value_of(each, format_=format_, options=options) if isinstance(each, str) else None
        if not isinstance(answer, tuple):
            return None
        found |= set(answer)
    if not found or (not format_.takes_several and len(found) != 1):
        return None
    return tuple(sorted(found))


def _letters(text: str, count: int) -> list[int] | None:
    """The sorted indices of letters, if the text has nothing else and no letter twice; otherwise None."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if len(text) > 40 * max(1, count):
        return None
    matches = [_LETTER.fullmatch(part.strip()) for part in _BETWEEN.split(text)]
    indices = [_index(match[1]) for match in matches if match is not None]
    if len(indices) < len(matches) or len(set(indices)) < len(indices):
        return None
    return sorted(indices)


def is_option_text(text: str, options: Sequence[str]) -> bool:
    """Whether the whole text is the text of one option."""
    return _by_text(text, options) is not None


def _by_text(text: str, options: Sequence[str]) -> list[int] | None:
    """The option with exactly this text; None if none or two options have it."""
    wanted = _bare(text)
    found = [index for index, option in enumerate(options) if _bare(option) == wanted]
    return found if wanted and len(found) == 1 else None


def _bare(text: str) -> str:
    return " ".join(plain_text(text).split()).strip(" .\"'“”").casefold()


def _index(sign: str) -> int:
    return ord(sign.upper()) - ord(letter(0))
