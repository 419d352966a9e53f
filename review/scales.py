"""The scales of agreement: decision, ratings, yes-or-no fields, kinds of error, as categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATINGS, VALUES
from domain.verdicts import FLAGS, Decision, ErrorKind, Verdict
from domain.vocabulary import Difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One aspect of a verdict: ``field`` reads its value, ``code`` converts the value to a category.

    A category is 0 to ``k`` - 1, or -1 if not judged.
    """

    name: str
    group: str
    k: int
    weighted: bool = False
    field: str = ""
    code: Callable[[Any], int] = int


def codes_of(verdicts: Sequence[Verdict]) -> dict[str, NDArray[np.int64]]:
    """The categories of all verdicts on each scale, by the scale's name, shape (verdicts,)."""
    said = {field: list(map(attrgetter(field), verdicts)) for field in {each.field for each in SCALES}}
    codes = {}
    for scale in SCALES:
        values = said[scale.field]
        known = {each: scale.code(each) for each in set(values)}
        codes[scale.name] = np.array(list(map(known.__getitem__, values)), dtype=np.int64)
    return codes


def _number(value: int | bool | None) -> int:
    return -1 if value is None else int(value)


def _rating(value: int | None) -> int:
    return -1 if value is None else value - 1


def _error(kind: ErrorKind) -> Callable[[frozenset[ErrorKind]], int]:
    return lambda errors: int(kind in errors)


SCALES: tuple[Scale, ...] = (
    Scale(
        name="decision", group="decision", k=len(Decision), field="decision", code=list(Decision).index,
    ),
    *(
        Scale(
            name=each.name, group="rating", k=len(VALUES), field=f"opinion.ratings.{each.id}", code=_rating,
            weighted=True,
        )
        for each in RATINGS
    ),
    Scale(
        name="expert tier", group="rating", k=len(Difficulty), field="opinion.difficulty",
        code=lambda tier: -1 if tier is None else list(Difficulty).index(tier), weighted=True,
    ),
    *(
        Scale(name=each.name, group="flag", k=2, field=f"opinion.{each.id}", code=_number)
        for each in FLAGS
    ),
    *(
        Scale(name=each.value, group="error", k=2, field="opinion.errors", code=_error(each))
        for each in ErrorKind
    ),
)  # fmt: skip
