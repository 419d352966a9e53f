"""Converts corrections, opinions and verdicts to plain JSON and to the columns of the table of verdicts.

Ratings and yes/no fields are derived from their declarations, so a new one needs no change here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec

from domain.corrections import CORRECTABLE_FIELDS, Correction
from domain.image_display import ImageDisplay
from domain.questions import Answer
from domain.ratings import RATING_IDS, Ratings
from domain.verdicts import FLAG_IDS, Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import Difficulty, Task
from records.decoding import make_converter
from records.values import StoredBox, box_from_record, from_json, to_json, to_plain

_TEXT_COLUMNS = ("clinical_reasoning", "comment")
#: The columns of an opinion.
OPINION_COLUMNS = (*RATING_IDS, *FLAG_IDS, "difficulty", "errors", "correction", *_TEXT_COLUMNS)
#: The columns of a verdict.
VERDICT_COLUMNS = (
    "batch_id", "question_id", "person_id", "revision", "decision", "seconds", "seconds_looking",
    "seconds_away", "given_at", "why", "image", *OPINION_COLUMNS,
)  # fmt: skip
_OWN_COLUMN_COUNT = len(VERDICT_COLUMNS) - len(OPINION_COLUMNS)
_NO_CORRECTION = Correction()


# ------------------------------------------------------------------------------------------------ corrections
class CorrectionRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """New values of the fields that were wrong; None leaves a field unchanged."""

    stem: str | None = None
    options: tuple[str, ...] | None = None
    answer: Answer | None = None
    explanation: str | None = None
    task: Task | None = None
    category: str | None = None
    difficulty: Difficulty | None = None
    boxes: tuple[StoredBox, ...] | None = None
    also_right: tuple[tuple[int, ...], ...] | None = None


def correction_to_plain(correction: Correction) -> dict[str, Any]:
    """Convert the corrected fields to plain JSON."""
    return {
        name: to_plain(value)
        for name in CORRECTABLE_FIELDS
        if (value := getattr(correction, name)) is not None
    }


_to_record = make_converter(CorrectionRecord)


def correction_from_plain(plain: object) -> Correction:
    """Convert plain JSON to a correction; the inverse of :func:`correction_to_plain`.

    Raises:
        ValueError: a value is not valid.
    """
    if plain == {}:  # the most frequent case
        return _NO_CORRECTION
    try:
        record = _to_record(plain)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    values = {name: getattr(record, name) for name in CORRECTABLE_FIELDS}
    if record.boxes is not None:
        values["boxes"] = tuple([box_from_record(box) for box in record.boxes])
    return Correction(**values)


# -------------------------------------------------------------------------------------- opinions and verdicts
def opinion_to_plain(opinion: Opinion) -> dict[str, Any]:
    """Convert all fields of an opinion to plain JSON, with ratings by their ids."""
    return {
        **{name: getattr(opinion.ratings, name) for name in RATING_IDS},
        **{name: getattr(opinion, name) for name in FLAG_IDS},
        "difficulty": opinion.difficulty.value if opinion.difficulty else None,
        "errors": sorted(error.value for error in opinion.errors),
        "correction": correction_to_plain(opinion.correction),
        **{name: getattr(opinion, name) for name in _TEXT_COLUMNS},
    }


def verdict_to_plain(verdict: Verdict) -> dict[str, Any]:
    """Convert revision, decision, opinion, times, reason and, if known, the image display to plain JSON."""
    return {
        "revision": verdict.revision,
        "decision": verdict.decision.value,
        **opinion_to_plain(verdict.opinion),
        "why": verdict.why,
        "seconds": float(verdict.seconds),
        "seconds_looking": float(verdict.seconds_looking),
        "seconds_away": float(verdict.seconds_away),
        "given_at": verdict.given_at,
        **({} if verdict.image is None else {"image": verdict.image.value}),
    }


def verdict_to_columns(verdict: Verdict) -> dict[str, Any]:
    """Convert a verdict to the values of :data:`VERDICT_COLUMNS`; errors and correction become JSON text."""
    plain = verdict_to_plain(verdict)
    return {
        "batch_id": verdict.batch_id,
        "question_id": verdict.question_row_id,
        "person_id": verdict.person_id,
        **plain,
        "errors": to_json(plain["errors"]),
        "correction": to_json(plain["correction"]),
    }


def verdict_from_columns(values: Sequence[Any]) -> Verdict:
    """Convert the values of :data:`VERDICT_COLUMNS`, in their order, to a verdict."""
    (
        batch_id,
        question_id,
        person_id,
        revision,
        decision,
        seconds,
        seconds_looking,
        seconds_away,
        given_at,
        why,
        image,
    ) = values[:_OWN_COLUMN_COUNT]
    return Verdict(
        batch_id=batch_id,
        question_row_id=question_id,
        person_id=person_id,
        revision=revision,
        decision=_parse_decision(decision),
        opinion=_opinion_from_columns(tuple(values[_OWN_COLUMN_COUNT:])),
        why=why,
        image=image_display_from_column(image),
        seconds=seconds,
        seconds_looking=seconds_looking,
        seconds_away=seconds_away,
        given_at=given_at,
    )


_parse_decision = cache(Decision)


@cache
def image_display_from_column(value: str | None) -> ImageDisplay | None:
    """Convert the value of a column ``image``; None means "not recorded"."""
    return None if value is None else ImageDisplay(value)


@lru_cache(maxsize=10_000)
def errors_from_json(text: str) -> frozenset[ErrorKind]:
    """Convert the JSON of a column to kinds of error. Cached, because many verdicts have equal values."""
    return frozenset(map(ErrorKind, from_json(text)))


@lru_cache(maxsize=2_000)  # many verdicts are equal: acceptances with few ratings
def _opinion_from_columns(columns: tuple[Any, ...]) -> Opinion:
    values = dict(zip(OPINION_COLUMNS, columns, strict=True))
    ratings = Ratings(**{name: values.pop(name) for name in RATING_IDS})
    difficulty = values.pop("difficulty")
    return Opinion(
        ratings=ratings,
        difficulty=Difficulty(difficulty) if difficulty else None,
        errors=errors_from_json(values.pop("errors")),
        correction=correction_from_plain(from_json(values.pop("correction"))),
        **values,
    )
