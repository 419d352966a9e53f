"""All measures of a table of ratings, and the content of ``measures.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from domain.errors import InvalidValue
from measures.agreement_ratings import select_agreement_ratings
from measures.families import (
    EVERY_PAIR,
    READERS_WITH_MODELS,
    Pairs,
    adjust_arms,
    adjust_mrmc,
    adjust_paired,
    list_compared_pairs,
    resolve_pairs,
)
from measures.rating_encoding import encode_ratings
from measures.rating_matrix import RatingMatrix
from measures.ratings import answer_by_threshold, check_ratings, pair_repeats
from measures.records.accuracy import (
    compute_accuracy,
    compute_category_accuracy,
    compute_coverage,
    compute_overall_accuracy,
)
from measures.records.agreement import compute_agreement
from measures.records.calibration import compute_calibration
from measures.records.diagnostic import compute_diagnostic
from measures.records.group_agreement import compute_group_agreement
from measures.records.group_details import compute_category_agreement, compute_intraclass
from measures.records.kappa_contrasts import compute_kappa_contrasts
from measures.records.leave_one_out import compute_leave_one_out
from measures.records.mrmc import compute_arm_comparisons, compute_mrmc, compute_reader_means
from measures.records.paired import compute_paired_differences, compute_unpaired_differences
from measures.records.repeats import compute_repeat_agreement
from measures.records.settings import VERSION, Settings
from measures.results import (
    AccuracyResult,
    ArmComparison,
    CalibrationResult,
    CategoryAgreement,
    CoverageResult,
    DiagnosticResult,
    GroupAgreement,
    IntraclassResult,
    KappaContrast,
    MrmcComparison,
    OverallAccuracy,
    PairAgreement,
    PairedDifference,
    ReaderMean,
    Record,
    ReliabilityResult,
    RepeatAgreement,
    UnpairedDifference,
    UsedSettings,
    tables_to_records,
    to_record,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """All results of one table of ratings, and the settings that they were computed with."""

    accuracy: tuple[AccuracyResult, ...] = field(metadata={"group": "task"})
    agreement: tuple[PairAgreement, ...]
    group: tuple[GroupAgreement, ...]
    kappa_contrasts: tuple[KappaContrast, ...]
    paired: tuple[PairedDifference, ...]
    mrmc: tuple[MrmcComparison, ...]
    reader_means: tuple[ReaderMean, ...]
    leave_one_out: tuple[AccuracyResult, ...] = field(metadata={"group": "task"})
    leave_one_out_paired: tuple[PairedDifference, ...]
    arms: tuple[ArmComparison, ...]
    diagnostic: tuple[DiagnosticResult, ...]
    categories: tuple[CategoryAgreement, ...]
    intraclass: tuple[IntraclassResult, ...]
    calibration: tuple[CalibrationResult, ...]
    reliability: tuple[ReliabilityResult, ...]
    by_category: tuple[AccuracyResult, ...] = field(metadata={"group": "category"})
    overall: tuple[OverallAccuracy, ...]
    coverage: tuple[CoverageResult, ...]
    unpaired: tuple[UnpairedDifference, ...]
    repeats: tuple[RepeatAgreement, ...]
    settings: UsedSettings

    def to_records(self) -> dict[str, list[Record]]:
        """Return the results as flat records by table name, without the settings."""
        return tables_to_records(self)

    def to_json(self) -> str:
        """Return the content of ``measures.json``, with one record per line.

        The same ratings and settings give the same bytes. Values that are not defined are null; NaN and
        infinity are never written.
        """
        parts = []
        for name, records in self.to_records().items():
            lines = ",\n  ".join(_to_json(record) for record in records)
            parts.append(f'"{name}": [\n  {lines}\n]' if lines else f'"{name}": []')
        parts.append(f'"settings": {_to_json(to_record(self.settings))}')
        return "{\n" + ",\n".join(parts) + "\n}\n"


def compute_measures(
    ratings: pd.DataFrame,
    *,
    settings: Settings | None = None,
    progress: Callable[[float], None] | None = None,
) -> Measures:
    """Compute all measures of a table of ratings.

    Args:
        ratings: one answer per row, with the columns of :mod:`measures.ratings`.
        settings: the settings; None for the defaults.
        progress: a function that is called with the fraction done, 0 to 1. Agreement takes most of the time.

    Returns:
        One tuple for each kind of result; it is empty if the table has no raters that can be compared.

    Raises:
        Refused: a column is missing, a value is not allowed, or rows contradict each other (the message
            contains line and field); or weights are set, but the answers have no order.
        InvalidValue: an entry of the family names no raters of the table.
    """
    settings = settings or Settings()
    return compute_encoded_measures(encode_table(ratings, settings), settings, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedRatings:
    """A checked table of ratings: its answers as arrays, and the pairs of :func:`pair_repeats`."""

    matrix: RatingMatrix
    repeats: pd.DataFrame


def encode_table(ratings: pd.DataFrame, settings: Settings) -> EncodedRatings:
    """Check and encode a table of ratings; see :func:`compute_measures`."""
    table = check_ratings(ratings)
    if settings.threshold is not None and settings.positive is not None:
        table = answer_by_threshold(
            table, positive=settings.positive, threshold=settings.threshold, reference=settings.reference
        )
    return EncodedRatings(
        matrix=encode_ratings(table, reference=settings.reference, missing_answers=settings.missing_answers),
        repeats=pair_repeats(table),
    )


def compute_encoded_measures(
    encoded: EncodedRatings, settings: Settings, *, progress: Callable[[float], None] | None = None
) -> Measures:
    """Compute all measures of ratings that :func:`encode_table` encoded with the same settings.

    Matrix operations use one thread: most matrices are small, and two threads of the linear algebra would
    take a fifth more processor time to save a twentieth of the elapsed time. The limit applies to the
    process. If two computations overlap, it can remain after both have ended; it changes no result.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only commands that compute measures need it

    with threadpool_limits(1, user_api="blas"):
        return _compute_measures(encoded, settings, progress)


def _compute_measures(
    encoded: EncodedRatings, settings: Settings, progress: Callable[[float], None] | None
) -> Measures:
    matrix = encoded.matrix
    agreement_ratings = select_agreement_ratings(matrix, settings)
    paired = compute_paired_differences(matrix, settings)
    pairs, kinds = (
        _resolve_family(matrix, settings, paired),
        dict(zip(matrix.raters, matrix.kinds, strict=True)),
    )
    calibration, reliability = compute_calibration(matrix, settings)
    leave_one_out, leave_one_out_paired = compute_leave_one_out(matrix, settings)
    return Measures(
        accuracy=compute_accuracy(matrix, settings),
        agreement=compute_agreement(agreement_ratings, settings, progress),
        group=compute_group_agreement(agreement_ratings, settings),
        kappa_contrasts=compute_kappa_contrasts(agreement_ratings, settings),
        paired=adjust_paired(paired, pairs, settings.adjustment),
        mrmc=adjust_mrmc(compute_mrmc(matrix, settings), pairs, kinds=kinds, adjustment=settings.adjustment),
        reader_means=compute_reader_means(matrix, settings),
        leave_one_out=leave_one_out,
        leave_one_out_paired=adjust_paired(leave_one_out_paired, pairs, settings.adjustment),
        diagnostic=compute_diagnostic(matrix, settings),
        categories=compute_category_agreement(agreement_ratings),
        intraclass=compute_intraclass(matrix, settings),
        calibration=calibration,
        reliability=reliability,
        arms=adjust_arms(compute_arm_comparisons(matrix, settings), settings.adjustment),
        by_category=compute_category_accuracy(matrix, settings),
        overall=compute_overall_accuracy(matrix, settings),
        coverage=compute_coverage(matrix, settings),
        unpaired=compute_unpaired_differences(matrix, settings),
        repeats=compute_repeat_agreement(encoded.repeats, settings),
        settings=UsedSettings(
            seed=settings.seed,
            bootstrap=settings.bootstrap,
            confidence=settings.confidence,
            family=settings.family,
            version=VERSION,
            weights=settings.weights.value,
            reference=None if matrix.reference is None else matrix.raters[matrix.reference],
            adjustment=settings.adjustment.value,
            missing_answers=settings.missing_answers.value,
            positive=settings.positive,
            agreement_basis=settings.agreement_basis.value,
            missing_in_agreement=settings.missing_in_agreement,
            leave_one_out=settings.leave_one_out,
        ),
    )


def _resolve_family(matrix: RatingMatrix, settings: Settings, paired: tuple[PairedDifference, ...]) -> Pairs:
    kinds = {matrix.raters[column]: matrix.kinds[column] for column in matrix.non_reference_raters}
    comparable = list_compared_pairs(paired)
    pairs: Pairs = frozenset()
    for entry in settings.family.split(","):
        entry_pairs = resolve_pairs(entry.strip(), kinds=kinds, comparable=comparable)
        if not entry_pairs and entry.strip() not in (EVERY_PAIR, READERS_WITH_MODELS):
            raise InvalidValue(
                "family",
                f"{entry.strip()!r} must be {EVERY_PAIR}, {READERS_WITH_MODELS}, or two raters that are "
                f"compared, such as A:B, readers:B or A:models. The raters are {', '.join(kinds)}",
            )
        pairs |= entry_pairs
    return pairs


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
