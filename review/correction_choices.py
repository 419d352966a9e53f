"""Combines an adjudicator's choices, field by field, into a correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.corrections import Correction, apply_correction, drop_unchanged
from domain.errors import InvalidValue
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from review.disputes import FIELDS

#: The source of a field whose value is from the imported version.
ORIGINAL = "original"
#: The source of a field whose value the adjudicator enters.
OWN_VALUE = "own"


def combine_value_sources(
    question: Question,
    verdicts: Sequence[Verdict],
    value_sources: Mapping[str, int | str],
    own_values: Mapping[str, Any],
) -> tuple[Correction, tuple[int, ...]]:
    """Combine values from several sources into a correction.

    Args:
        question: the imported version of the question.
        verdicts: the verdicts of the reviewers, in the order in which they are shown.
        value_sources: the source of each field: an index of ``verdicts``, :data:`ORIGINAL` or
            :data:`OWN_VALUE`. Fields without a source keep the imported value.
        own_values: the adjudicator's values of the fields with the source :data:`OWN_VALUE`.

    Returns:
        The correction, and the ids of the reviewers whose corrections give the same question.

    Raises:
        InvalidValue: a field or a reviewer is unknown, or the reviewer rejected the question.
    """
    values: dict[str, Any] = {}
    for field, source in value_sources.items():
        if field not in FIELDS:
            raise InvalidValue("value_sources", f"{field!r} is not a field that can be corrected")
        if source == OWN_VALUE:
            values[field] = own_values.get(field)
        elif source != ORIGINAL:
            values[field] = getattr(_apply_reviewer_correction(question, verdicts, source), field)
    correction = drop_unchanged(question, Correction(**values))
    result = apply_correction(question, correction)
    follows = tuple(
        verdict.person_id
        for verdict in verdicts
        if verdict.decision is not Decision.REJECT
        and apply_correction(question, verdict.opinion.correction) == result
    )
    return correction, follows


def _apply_reviewer_correction(
    question: Question, verdicts: Sequence[Verdict], source: int | str
) -> Question:
    if not isinstance(source, int) or not 0 <= source < len(verdicts):
        raise InvalidValue("value_sources", f"{source!r} is not one of the {len(verdicts)} reviewers")
    verdict = verdicts[source]
    if verdict.decision is Decision.REJECT:
        raise InvalidValue("value_sources", "this reviewer rejected the question and made no correction")
    return apply_correction(question, verdict.opinion.correction)
