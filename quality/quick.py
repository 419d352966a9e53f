"""A first look that spares most questions the four checks: at 1.6 million records their cost would show.

``surely_fine`` may say no where nothing is wrong, never yes where a check would find something; a test holds
it against the checks on generated questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from quality.checks import FORM_OPTIONS, LEFTOVERS

# Shorter sentences might be "none" or "n/a"; they are left to the checks.
_SHORT = 16
_BLANK = " \n\t\r"
_LETTERS_END = ".): "


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


@lru_cache(maxsize=4096)
def _fine_label(label: str) -> bool:
    return label.isascii() and label[:1].isalpha() and label.strip().casefold() not in LEFTOVERS
