"""A first look that spares most questions the four checks: at 1.6 million records their cost would show.

``surely_fine`` looks at one question, ``surely_all_fine`` at many together. Both may say no where nothing is
wrong, never yes where a check would find something; tests hold them against the checks on generated
questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from quality.checks import FORM_OPTIONS, LEFTOVERS

# Shorter sentences might be "none" or "n/a"; they are left to the checks.
_SHORT = 16
_BLANK = " \n\t\r"
_LETTERS_END = ".): "
_FIRST_OPTION_ENDS = _LETTERS_END + "\n"
_SUSPICIOUS_IN_OPTIONS = (" \n", "\n ", "  ", "[", "{", "\t", "\r")


class _Labelled(Protocol):
    @property
    def label(self) -> str: ...


def surely_fine(
    stem: str, options: Sequence[str], explanation: str, boxes: Sequence[_Labelled], minimum_explanation: int
) -> bool:
    """Whether none of the four checks can find anything in a choice question that has difficulty, category
    and task. ``minimum_explanation`` is in characters; by place, not by keyword, since that is quicker.
    """
    if len(options) != FORM_OPTIONS or not stem or not explanation:
        return False
    if len(stem) < _SHORT or not stem[0].isalpha() or "nswer" in stem or "NSWER" in stem:
        return False
    if "A" in stem and ("A." in stem or "A)" in stem or "A:" in stem or "A " in stem):
        return False
    if len(explanation) < max(_SHORT, minimum_explanation) or not explanation[0].isalpha():
        return False
    joined = "\n".join(options)
    if " \n" in joined or "\n " in joined or "  " in joined or "[" in joined or "{" in joined:
        return False
    if (
        explanation[-1] in _BLANK
        or joined[-1:] in _BLANK
        or not joined[:1].isalnum()
        or options[0][1:2] in _LETTERS_END
    ):
        return False
    folded = set(joined.casefold().split("\n"))
    if (
        len(folded) != FORM_OPTIONS
        or not folded.isdisjoint(LEFTOVERS)
        or not joined.isascii()
        or "\t" in joined
    ):
        return False
    return all(map(_fine_label, [box.label for box in boxes]))


def surely_all_fine(
    stems: Sequence[str],
    options: Sequence[Sequence[str]],
    explanations: Sequence[str],
    labels: Iterable[str],
    minimum_explanation: int,
) -> bool:
    """Whether ``surely_fine`` says yes to each of at least one question; no where it may not.

    Texts are joined, so that one look serves all of them: it takes a tenth of the time.
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
