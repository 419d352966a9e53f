"""Converts a part of a reply to an answer: options, yes or no, or free text. The whole text must match."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from domain.questions import Answer, option_letter
from domain.vocabulary import AnswerFormat

#: Separators between letters.
_LETTER_SEPARATOR = re.compile(r"\s*(?:,\s*and\b|[,;|&+]|\band\b)\s*", re.IGNORECASE)
#: A letter alone or with the usual marks: "B", "(B)", "[B]", "'B'", "B.", "B)", "option B".
_LETTER = re.compile(
    r"(?:(?:option|choice|letter)\s+)?[\[({\"']*\s*([A-Za-z])\s*[\])}\"']*\s*[.:)]?", re.IGNORECASE
)
#: A letter before the text of its option: "B) Pleural effusion", "(B): …", "B - …", "B (…)".
_LETTER_AND_TEXT = re.compile(
    r"[\[(]?\s*([A-Za-z])\s*(?:[\])]\s*[.:]?|[.:,]|\s-|\s–|\s(?=\())\s*(\S.*)", re.DOTALL
)
_ENCLOSED = re.compile(r"\((.*)\)", re.DOTALL)
_EMPHASIS = str.maketrans("", "", "*`")


def to_plain_text(text: str) -> str:
    """Remove Markdown emphasis and normalise characters (Unicode NFKC: full-width letters become letters)."""
    return unicodedata.normalize("NFKC", text).translate(_EMPHASIS).strip()


def parse_answer(text: str, *, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Convert a whole text to the answer that it names.

    Args:
        text: a part of a reply.
        format_: the answer format of the question.
        options: the options of the question.

    Returns:
        The answer; None if the text names no answer, contradictory answers, or more than the format allows.
    """
    text = to_plain_text(text)
    if not text:
        return None
    if format_.is_free_text:
        return text
    if format_.fixed_answers:
        word = text.strip(" .!\"'()[]").lower()
        return word if word in format_.fixed_answers else None
    text_match = _match_option_text(text, options)
    letter_match = _parse_letters(text, len(options))
    if letter_match is None:
        prefixed = _LETTER_AND_TEXT.fullmatch(text)
        if prefixed:
            option_text = prefixed[2].rstrip(" .")
            enclosed = _ENCLOSED.fullmatch(option_text)
            option_texts = [prefixed[2], enclosed[1]] if enclosed else [prefixed[2]]
            index = [_letter_index(prefixed[1])]
            if any(_match_option_text(candidate, options) == index for candidate in option_texts):
                letter_match = text_match = index
    if text_match and letter_match and text_match != letter_match:
        return None  # the text of one option is the letter of another
    matched = text_match or letter_match
    if not matched or max(matched) >= len(options):
        return None
    if not format_.allows_multiple and len(matched) != 1:
        return None
    return tuple(matched)


def parse_answer_list(
    values: Sequence[object], *, format_: AnswerFormat, options: Sequence[str]
) -> Answer | None:
    """Convert a list of texts to the answer that they name; None as for :func:`parse_answer`."""
    indices: set[int] = set()
    for value in values:
        answer = parse_answer(value, format_=format_, options=options) if isinstance(value, str) else None
        if not isinstance(answer, tuple):
            return None
        indices |= set(answer)
    if not indices or (not format_.allows_multiple and len(indices) != 1):
        return None
    return tuple(sorted(indices))


def _parse_letters(text: str, count: int) -> list[int] | None:
    """Return the sorted indices of the letters; None if the text has other content or a letter twice."""
    if len(text) == 1 and text.isascii():  # a shortcut for the most frequent reply, ten times as fast
        return [_letter_index(text)] if text.isalpha() else None
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if len(text) > 40 * max(1, count):
        return None
    matches = [_LETTER.fullmatch(part.strip()) for part in _LETTER_SEPARATOR.split(text)]
    indices = [_letter_index(match[1]) for match in matches if match is not None]
    if len(indices) < len(matches) or len(set(indices)) < len(indices):
        return None
    return sorted(indices)


def is_option_text(text: str, options: Sequence[str]) -> bool:
    """Whether the whole text is the text of one option."""
    return _match_option_text(text, options) is not None


def _match_option_text(text: str, options: Sequence[str]) -> list[int] | None:
    """Return [index] of the only option with this text; None if no option or several options have it."""
    normalised = _normalise_text(text)
    matches = [index for index, option in enumerate(options) if _normalise_option(option) == normalised]
    return matches if normalised and len(matches) == 1 else None


def _normalise_text(text: str) -> str:
    return " ".join(to_plain_text(text).split()).strip(" .\"'“”").casefold()


@lru_cache(maxsize=10_000)  # many questions share options, and extraction compares them several times
def _normalise_option(option: str) -> str:
    return _normalise_text(option)


def _letter_index(character: str) -> int:
    return ord(character.upper()) - ord(option_letter(0))
