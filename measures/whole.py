"""Every measure of a table of ratings at once, as the flat records of ``measures.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from measures.coded import coded
from measures.ratings import checked
from measures.ratings import repeats as again
from measures.records.accuracy import accuracy, by_category, coverage, overall
from measures.records.agreement import agreement
from measures.records.group import group
from measures.records.mrmc import mrmc
from measures.records.paired import paired, unpaired
from measures.records.repeats import repeats
from measures.records.settings import VERSION, Settings

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Arrays of flat records; what is undefined is None, and the record's ``note`` says why."""

    accuracy: list[Record]
    agreement: list[Record]
    group: list[Record]
    paired: list[Record]
    mrmc: list[Record]
    by_category: list[Record]
    overall: list[Record]
    coverage: list[Record]
    unpaired: list[Record]
    repeats: list[Record]
    settings: Record

    def plain(self) -> dict[str, Any]:
        """As one object, the arrays in the order of the fields."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def text(self) -> str:
        """As JSON with one record a line; the same ratings and settings give the same bytes."""
        parts = []
        for name, value in self.plain().items():
            if isinstance(value, list):
                lines = ",\n  ".join(_json(record) for record in value)
                parts.append(f'"{name}": [\n  {lines}\n]' if lines else f'"{name}": []')
            else:
                parts.append(f'"{name}": {_json(value)}')
        return "{\n" + ",\n".join(parts) + "\n}\n"


def measure(
    ratings: pd.DataFrame,
    *,
    settings: Settings | None = None,
    progress: Callable[[float], None] | None = None,
) -> Measures:
    """Accuracy, agreement, paired differences and the readers against each model.

    Args:
        ratings: one answer a row; the columns of :mod:`measures.ratings`.
        settings: reference, weights, seed, resamples, confidence, family; None for the defaults.
        progress: is told the part that is done, 0 to 1: agreement, which takes nearly all the time.

    Raises:
        Refused: a column or value that cannot be; names the line and the field.
        InvalidValue: a family that names nobody.
    """
    settings = settings or Settings()
    table = checked(ratings)
    known = coded(table, reference=settings.reference)
    return Measures(
        accuracy=accuracy(known, settings),
        agreement=agreement(known, settings, progress),
        group=group(known, settings),
        paired=paired(known, settings),
        mrmc=mrmc(known, settings),
        by_category=by_category(known, settings),
        overall=overall(known, settings),
        coverage=coverage(known, settings),
        unpaired=unpaired(known, settings),
        repeats=repeats(again(table), settings),
        settings={
            "seed": settings.seed,
            "bootstrap": settings.bootstrap,
            "confidence": settings.confidence,
            "family": settings.family,
            "version": VERSION,
            "weights": settings.weights.value,
            "reference": None if known.reference is None else known.raters[known.reference],
        },
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
