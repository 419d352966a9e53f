"""All measures of a table of ratings, and the content of ``measures.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

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
from measures.results import (
    AccuracyResult,
    CoverageResult,
    GroupAgreement,
    MrmcComparison,
    OverallAccuracy,
    PairAgreement,
    PairedDifference,
    Record,
    RepeatAgreement,
    UnpairedDifference,
    UsedSettings,
    tables_to_records,
    to_record,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """All results of one table of ratings, and the settings they were computed with."""

    accuracy: tuple[AccuracyResult, ...] = field(metadata={"group": "task"})
    agreement: tuple[PairAgreement, ...]
    group: tuple[GroupAgreement, ...]
    paired: tuple[PairedDifference, ...]
    mrmc: tuple[MrmcComparison, ...]
    by_category: tuple[AccuracyResult, ...] = field(metadata={"group": "category"})
    overall: tuple[OverallAccuracy, ...]
    coverage: tuple[CoverageResult, ...]
    unpaired: tuple[UnpairedDifference, ...]
    repeats: tuple[RepeatAgreement, ...]
    settings: UsedSettings

    def records(self) -> dict[str, list[Record]]:
        """The results as flat records, by the name of the table; without the settings."""
        return tables_to_records(self)

    def text(self) -> str:
        """The content of ``measures.json``, one record per line.

        The same ratings and settings give the same bytes. NaN and infinity are not written; what is not
        defined is null.
        """
        parts = []
        for name, records in self.records().items():
            lines = ",\n  ".join(_json(record) for record in records)
            parts.append(f'"{name}": [\n  {lines}\n]' if lines else f'"{name}": []')
        parts.append(f'"settings": {_json(to_record(self.settings))}')
        return "{\n" + ",\n".join(parts) + "\n}\n"


def measure(
    ratings: pd.DataFrame,
    *,
    settings: Settings | None = None,
    progress: Callable[[float], None] | None = None,
) -> Measures:
    """Compute all measures of a table of ratings.

    Args:
        ratings: one answer per row, with the columns of :mod:`measures.ratings`.
        settings: reference, weights, seed, resamples, confidence, family; None for the defaults.
        progress: called with the fraction that is done, 0 to 1; agreement takes nearly all the time.

    Returns:
        One tuple of results per kind, empty if the table has no raters of the kinds compared.

    Raises:
        Refused: a missing column, a value that is not allowed, or rows that contradict each other; names the
            line and the field. Also weights for answers without an order.
        InvalidValue: the family is no rule and names a pair that is not in the table.
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
        settings=UsedSettings(
            seed=settings.seed,
            bootstrap=settings.bootstrap,
            confidence=settings.confidence,
            family=settings.family,
            version=VERSION,
            weights=settings.weights.value,
            reference=None if known.reference is None else known.raters[known.reference],
        ),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
