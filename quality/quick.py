"""A first look that spares most questions the four checks: at 1.6 million records their cost would show.

It may say no where nothing is wrong, never yes where a check would find something; tests hold it against the
checks on generated questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from quality.checks import FORM_OPTIONS, LEFTOVERS

# Shorter sentences might be "none" or "n/a"; they are left to the checks.
_SHORT = 16
_BLANK = " \n\t\r"
_LETTERS_END = ".): "
_FIRST_OPTION_ENDS = _LETTERS_END + "\n"
_SUSPICIOUS_IN_OPTIONS = (" \n", "\n ", "  ", "[", "{", "\t", "\r")


def surely_all_fine(
    stems: Sequence[str],
    options: Sequence[Sequence[str]],
    explanations: Sequence[str],
    labels: Iterable[str],
    minimum_explanation: int,
) -> bool:
    """Whether none of the four checks can find anything in any of at least one choice question.

    They have difficulty, category and task. Texts are joined, so that one look serves all of them: it takes a
    tenth of the time. ``minimum_explanation`` is in characters.
    """
    if not (all(stems) and all(explanations) and set(map(len, options)) == {FORM_OPTIONS}):
        return False
    if min(map(len, stems)) < _SHORT or min(map(len, explanations)) < max(_SHORT, minimum_explanation):
        return False
    if not "".join([text[0] for text in (*stems, *explanations)]).isalpha():
        return False
    asked = "\n".join(stems)
    if "nswer" in asked or "NSWER" in asked:
        return False
    if "A" in asked and ("A." in asked or "A)" in asked or "A:" in asked or "A " in asked):
        return False
    each_joined = list(map("\n".join, options))
    joined = "\n".join(each_joined)
    if not joined.isascii() or any(each in joined for each in _SUSPICIOUS_IN_OPTIONS):
        return False
    folded = joined.casefold().split("\n")
    # As many as there should be: none holds a line end of its own.
    if len(folded) != FORM_OPTIONS * len(stems) or not all(folded) or not LEFTOVERS.isdisjoint(folded):
        return False
    by_four = iter(folded)
    if min(map(len, map(set, zip(by_four, by_four, by_four, by_four, strict=True)))) != FORM_OPTIONS:
        return False
    begins = {text[:2] for text in each_joined}
    return (
        joined[-1] not in _BLANK
        and {text[-1] for text in explanations}.isdisjoint(_BLANK)
        and all(begin[0].isalnum() and begin[1] not in _FIRST_OPTION_ENDS for begin in begins)
        and all(map(_fine_label, set(labels)))
    )


@lru_cache(maxsize=4096)
def _fine_label(label: str) -> bool:
    return label.isascii() and label[:1].isalpha() and label.strip().casefold() not in LEFTOVERS
