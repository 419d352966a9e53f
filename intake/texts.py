"""Text conversions that several formats share: options with letters, lists as text, empty values."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from domain.errors import InvalidValue

_LETTERED = re.compile(r"\s*([A-Za-z])\s*[.):]\s*(.*\S)\s*", re.DOTALL)
_LETTER = re.compile(r"\s*\(?([A-Za-z])\)?\s*(?:[.):].*)?", re.DOTALL)
_UNKNOWN_WORDS = {"", "none", "nan", "null", "n/a", "na"}


def none_if_unknown(text: str | None) -> str | None:
    """Return the text without surrounding spaces; None if it means "unknown" (such as "None" or "nan")."""
    stripped = (text or "").strip()
    return None if stripped.casefold() in _UNKNOWN_WORDS else stripped


def split_option_letters(options: list[str]) -> tuple[list[str], list[str]]:
    """Split options such as "A. text", "A) text" or "A: text" into (letters, texts).

    Options without letters get letters in their order.

    Raises:
        InvalidValue: some options have a letter and others have none, or two have the same letter.
    """
    matches = [_LETTERED.fullmatch(option) for option in options]
    letter_matches = [match for match in matches if match]
    letters = [match[1].upper() for match in letter_matches]
    expected_letters = [chr(ord("A") + index) for index in range(len(options))]
    if len(letter_matches) == len(options) and sorted(letters) == expected_letters:
        return letters, [match[2] for match in letter_matches]
    lettered_indices = [
        index for index, match in enumerate(matches) if match and match[1].upper() == expected_letters[index]
    ]
    if len(lettered_indices) > len(options) / 2:
        raise InvalidValue(
            "options", f"some begin with a letter and others do not, or a letter is repeated: {options}"
        )
    return expected_letters, [option.strip() for option in options]


def option_index(answer: str, letters: list[str]) -> int:
    """Return the index, from 0, of the option that a letter names ("C", "C.", "(c)", "C: text").

    Raises:
        InvalidValue: the letter does not name an option.
    """
    match = _LETTER.fullmatch(answer)
    if match is None or match[1].upper() not in letters:
        raise InvalidValue("answer", f"{answer!r} is not an option; the options are {', '.join(letters)}")
    return letters.index(match[1].upper())


def parse_list(value: Sequence[str | None] | None, field: str) -> list[str | None]:
    """Return a list that may be given as the text of a Python list ("['PA', None]"). Other text is one item.

    Raises:
        InvalidValue: the text begins like a list but is not a list.
    """
    if value is None:
        return []
    if not isinstance(value, str):
        return list(value)
    stripped = value.strip()
    if not stripped.startswith(("[", "(")):
        return [stripped] if none_if_unknown(stripped) else []
    try:
        parsed = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise InvalidValue(field, f"begins like a list but is not a valid list: {stripped[:60]!r}") from None
    if not isinstance(parsed, list | tuple) or not all(
        item is None or isinstance(item, str) for item in parsed
    ):
        raise InvalidValue(field, f"must be a list of texts, not {stripped[:60]!r}")
    return list(parsed)
