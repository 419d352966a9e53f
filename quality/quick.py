"""A first look that spares most questions the four checks: at 1.6 million records their cost would show.

``surely_fine`` may say no where nothing is wrong, never yes where a check would find something; a test holds
it against the checks on generated questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quality.checks import FORM_OPTIONS, LEFTOVERS

# Shorter sentences might be "none" or "n/a"; they are left to the checks.
_SHORT = 16


class _Labelled(Protocol):
    @property
    def label(self) -> str: ...


def surely_fine(
    *,
    stem: str,
    options: Sequence[str],
    explanation: str,
    boxes: Sequence[_Labelled],
    has_categories: bool,
    minimum_explanation: int,
) -> bool:
    """Whether none of the four checks can find anything in a single-choice or multiple-choice question.

    Args:
        stem: and the further texts as they are stored.
        options: at least two.
        explanation: may be empty.
        boxes: whatever has a label.
        has_categories: difficulty, category and task are all there.
        minimum_explanation: in characters.
    """
    if not has_categories or len(options) != FORM_OPTIONS:
        return False
    if len(stem) < _SHORT or not stem[0].isalpha() or "nswer" in stem.casefold() or _lettered(stem):
        return False
    if len(explanation) < _SHORT or len(explanation) < minimum_explanation:
        return False
    if not (explanation[0].isalpha() and not explanation[-1].isspace()):
        return False
    joined = "\n".join(options)
    if (
        "[" in joined
        or "{" in joined
        or "  " in joined
        or " \n" in joined
        or "\n " in joined
        or "\t" in joined
    ):
        return False
    if options[0][1:2] in ".): " or joined.count("\n") != FORM_OPTIONS - 1:
        return False
    folded = set(joined.casefold().split("\n"))
    if len(folded) != FORM_OPTIONS or not folded.isdisjoint(LEFTOVERS):
        return False
    return all(
        box.label and box.label[0].isalpha() and len(box.label) > 4 and box.label[-1] != " " for box in boxes
    )


def _lettered(stem: str) -> bool:
    return "A" in stem and ("A." in stem or "A)" in stem or "A:" in stem or "A " in stem)
