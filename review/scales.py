"""The scales of agreement: decision, ratings, yes-or-no fields and kinds of error, encoded as categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATING_VALUES, RATINGS
from domain.verdicts import FLAGS, Decision, ErrorKind, Verdict
from domain.vocabulary import Difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One aspect of a verdict. ``field`` is the path of its value, and ``encode`` converts it to a category.

    A category is 0 to ``k`` - 1, or -1 if the aspect is not judged.
    """

    name: str
    group: str
    k: int
    weighted: bool = False
    field: str = ""
    encode: Callable[[Any], int] = int


def encode_verdicts(verdicts: Sequence[Verdict]) -> dict[str, NDArray[np.int64]]:
    """Return the categories of all verdicts by the name of the scale, each of shape (verdicts,)."""
    values_by_field = {
        field: list(map(attrgetter(field), verdicts)) for field in {scale.field for scale in SCALES}
    }
    codes = {}
    for scale in SCALES:
        values = values_by_field[scale.field]
        code_by_value = {value: scale.encode(value) for value in set(values)}
        codes[scale.name] = np.array(list(map(code_by_value.__getitem__, values)), dtype=np.int64)
    return codes


def _encode_flag(value: int | bool | None) -> int:
    return -1 if value is None else int(value)


def _encode_rating(value: int | None) -> int:
    return -1 if value is None else value - 1


def _build_error_encoder(kind: ErrorKind) -> Callable[[frozenset[ErrorKind]], int]:
    return lambda errors: int(kind in errors)


SCALES: tuple[Scale, ...] = (
    Scale(
        name="decision",
        group="decision",
        k=len(Decision),
        field="decision",
        encode=list(Decision).index,
    ),
    *(
        Scale(
            name=rating.name,
            group="rating",
            k=len(RATING_VALUES),
            field=f"opinion.ratings.{rating.id}",
            encode=_encode_rating,
            weighted=True,
        )
        for rating in RATINGS
    ),
    Scale(
        name="reviewer's difficulty",
        group="rating",
        k=len(Difficulty),
        field="opinion.difficulty",
        encode=lambda tier: -1 if tier is None else list(Difficulty).index(tier),
        weighted=True,
    ),
    *(
        Scale(name=flag.name, group="flag", k=2, field=f"opinion.{flag.id}", encode=_encode_flag)
        for flag in FLAGS
    ),
    *(
        Scale(name=kind.value, group="error", k=2, field="opinion.errors", encode=_build_error_encoder(kind))
        for kind in ErrorKind
    ),
)
