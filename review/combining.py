"""Combines an adjudicator's choices, field by field, into a correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.corrections import Correction, corrected, without_unchanged
from domain.errors import InvalidValue
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from review.disputes import FIELDS

#: The source "imported version" of a field.
MACHINE = "machine"
#: The source "adjudicator's own value" of a field.
OWN = "own"


def combined(
    question: Question, verdicts: Sequence[Verdict], picks: Mapping[str, int | str], own: Mapping[str, Any]
) -> tuple[Correction, tuple[int, ...]]:
    """Combine choices into a correction.

    Args:
        question: the machine's version.
        verdicts: the reviewers', in the order in which they are shown.
        picks: the source of each field: an index of ``verdicts``, :data:`MACHINE` or :data:`OWN`; fields
            that are not named are the machine's.
        own: the adjudicator's own values of the fields with the source :data:`OWN`.

    Returns:
        The correction, and the ids of the reviewers whose correction is identical.

    Raises:
        InvalidValue: an unknown field or reviewer, or a reviewer who rejected the question.
    """
    values: dict[str, Any] = {}
    for field, whose in picks.items():
        if field not in FIELDS:
            raise InvalidValue("picks", f"{field!r} is no field of a question that is corrected")
        if whose == OWN:
            values[field] = own.get(field)
        elif whose != MACHINE:
            values[field] = getattr(_result(question, verdicts, whose), field)
    correction = without_unchanged(question, Correction(**values))
    result = corrected(question, correction)
    follows = tuple(
        each.person_id
        for each in verdicts
        if each.decision is not Decision.REJECT and corrected(question, each.opinion.correction) == result
    )
    return correction, follows


def _result(question: Question, verdicts: Sequence[Verdict], whose: int | str) -> Question:
    if not isinstance(whose, int) or not 0 <= whose < len(verdicts):
        raise InvalidValue("picks", f"{whose!r} is none of the {len(verdicts)} reviewers")
    verdict = verdicts[whose]
    if verdict.decision is Decision.REJECT:
        raise InvalidValue("picks", "somebody who rejected the question corrected nothing in it")
    return corrected(question, verdict.opinion.correction)
