"""The report of a prompt bench: means of the versions, paired differences, and agreement of the experts.

A paired difference is one expert's score of the later version minus that of the earlier one, for one report.
Intervals are Student's, clustered by report. The agreement of two experts is kappa with quadratic weights.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

import numpy as np

from domain.prompt_bench import BENCH_SCORES, BenchCell, BenchExpert, BenchScale, BenchVersion
from measures.agreement import Weights, agreement_weights
from measures.estimate import Estimate
from measures.kappa_intervals import kappa_interval
from measures.means import Mean, mean_by_cluster

_SPAN = BENCH_SCORES[-1] - BENCH_SCORES[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScore:
    """A score that counts, with the expert's sign-in name."""

    cell: BenchCell
    expert: str
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A score that counts, with the exam's id in its file, the label of the version, and the letter shown."""

    exam: str
    version: str
    letter: str
    expert: str
    scale: str
    score: int
    scored_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionMean:
    """The mean score of a version on one scale; ``reports`` is the number of reports behind it."""

    scale: BenchScale
    version: str
    reports: int
    mean: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference:
    """The mean of the paired differences ``later`` minus ``earlier`` on one scale."""

    scale: BenchScale
    earlier: str
    later: str
    reports: int
    mean: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertAgreement:
    """Kappa of two experts with quadratic weights, over the outputs that both scored."""

    scale: BenchScale
    first: str
    second: str
    kappa: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """All results of a bench. ``unusable`` counts outputs without a usable reply, by version."""

    means: tuple[VersionMean, ...]
    differences: tuple[VersionDifference, ...]
    agreement: tuple[ExpertAgreement, ...]
    unusable: dict[str, int]


def build_report(
    *,
    versions: Sequence[BenchVersion],
    experts: Sequence[BenchExpert],
    scores: Iterable[GivenScore],
    unusable: dict[str, int],
) -> BenchReport:
    """Compute the report. Scores of experts who have not finished count, too."""
    scores_by_key = {
        (score.cell.scale, score.cell.version, score.expert, score.cell.report): score.score
        for score in scores
    }
    names = [expert.name for expert in experts]
    reports = sorted({report for *_, report in scores_by_key})
    return BenchReport(
        means=tuple(
            _compute_mean(scores_by_key, scale, version, names, reports)
            for scale in BenchScale
            for version in versions
        ),
        differences=tuple(
            _compute_difference(scores_by_key, scale, pair, names, reports)
            for scale in BenchScale
            for pair in combinations(versions, 2)
        ),
        agreement=tuple(
            _compute_agreement(scores_by_key, scale, pair, versions, reports)
            for scale in BenchScale
            for pair in combinations(names, 2)
        ),
        unusable=unusable,
    )


_Scores = dict[tuple[BenchScale, int, str, int], int]


def _compute_mean(
    scores: _Scores, scale: BenchScale, version: BenchVersion, names: Sequence[str], reports: Sequence[int]
) -> VersionMean:
    values, clusters = [], []
    for report in reports:
        for name in names:
            score = scores.get((scale, version.position, name, report))
            if score is not None:
                values.append(score)
                clusters.append(report)
    return VersionMean(
        scale=scale,
        version=version.label,
        reports=len(set(clusters)),
        mean=mean_by_cluster(values, clusters, minimum=BENCH_SCORES[0], maximum=BENCH_SCORES[-1]),
    )


def _compute_difference(
    scores: _Scores,
    scale: BenchScale,
    pair: tuple[BenchVersion, BenchVersion],
    names: Sequence[str],
    reports: Sequence[int],
) -> VersionDifference:
    earlier, later = pair
    values, clusters = [], []
    for report in reports:
        for name in names:
            before = scores.get((scale, earlier.position, name, report))
            after = scores.get((scale, later.position, name, report))
            if before is not None and after is not None:
                values.append(after - before)
                clusters.append(report)
    return VersionDifference(
        scale=scale,
        earlier=earlier.label,
        later=later.label,
        reports=len(set(clusters)),
        mean=mean_by_cluster(values, clusters, minimum=-_SPAN, maximum=_SPAN),
    )


def _compute_agreement(
    scores: _Scores,
    scale: BenchScale,
    pair: tuple[str, str],
    versions: Sequence[BenchVersion],
    reports: Sequence[int],
) -> ExpertAgreement:
    first, second = pair
    ratings, clusters = [], []
    for report in reports:
        for version in versions:
            pair_scores = [scores.get((scale, version.position, name, report)) for name in pair]
            if None not in pair_scores:
                ratings.append([score - BENCH_SCORES[0] for score in pair_scores if score is not None])
                clusters.append(report)
    table = np.array(ratings, dtype=np.int64).reshape(-1, 2)
    return ExpertAgreement(
        scale=scale,
        first=first,
        second=second,
        kappa=kappa_interval(
            table[:, 0],
            table[:, 1],
            weights=agreement_weights(len(BENCH_SCORES), Weights.QUADRATIC),
            clusters=np.array(clusters, dtype=np.int64),
        ),
    )


def format_report_csv(report: BenchReport) -> str:
    """Format all results as one table with a column for each kind of value; empty where undefined."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["table", "scale", "of", "minus", "n", "reports", "estimate", "low", "high", "note"])
    for mean in report.means:
        writer.writerow(["mean", mean.scale.value, mean.version, "", *_format_cells(mean.mean, mean.reports)])
    for row in report.differences:
        cells = _format_cells(row.mean, row.reports)
        writer.writerow(["paired difference", row.scale.value, row.later, row.earlier, *cells])
    for pair in report.agreement:
        kappa = pair.kappa
        values = [kappa.n, "", *map(_round, (kappa.value, kappa.low, kappa.high)), kappa.note]
        writer.writerow(["weighted kappa", pair.scale.value, f"{pair.first} and {pair.second}", "", *values])
    for version, count in report.unusable.items():
        writer.writerow(["without usable reply", "", version, "", count, "", "", "", "", ""])
    return buffer.getvalue()


def format_scores_csv(rows: Iterable[ScoreRow]) -> str:
    """Format scores as CSV, one per line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["exam", "version", "output", "expert", "scale", "score", "scored_at"])
    for row in rows:
        scored_at = row.scored_at.isoformat(timespec="seconds")
        writer.writerow([row.exam, row.version, row.letter, row.expert, row.scale, row.score, scored_at])
    return buffer.getvalue()


def _format_cells(mean: Mean, reports: int) -> list[object]:
    return [mean.n, reports, *map(_round, (mean.estimate, mean.low, mean.high)), mean.note]


def _round(value: float | None) -> float | str:
    return "" if value is None else round(value, 6)
