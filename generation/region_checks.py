"""Region checks: the sentences to mark, their order, and the report with its files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from domain.boxes import LabelledBox
from domain.exams import Exam
from domain.prompt_bench import BenchExpert
from domain.region_checks import (
    CheckedReport,
    CheckedSentence,
    RegionCheck,
    SentenceId,
    SentenceMark,
)
from domain.table_cells import escape_formula
from generation.recipes.stages import Statement
from language_models.bench_order import order_reports
from measures.proportions import Proportion, wilson_by_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTask:
    """A check of an expert: ``done`` of ``total`` sentences are marked, ``last`` most recently."""

    check_id: int
    name: str
    total: int
    done: int
    last: SentenceId | None
    last_revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionSheet:
    """One report with its sentences, and the sentence to mark.

    Attributes:
        task: the check.
        report_position: the position of the report in the expert's order, from 1, of ``reports``.
        report: the report.
        exam: the exam with its radiographs; None if it is in no dataset of the check.
        boxes: the boxes of the region on the radiographs; empty if unknown.
        id: the sentence to mark.
        marks: the marks of this report so far.
        revision: the revision of the sentence's latest mark; 0 if there is none.
        previous: the sentence before it in the order; None if it is the first.
        next: the sentence after it; None if it is the last.
        next_unmarked: the next other sentence without a mark; None if there is none.
    """

    task: RegionTask
    report_position: int
    reports: int
    report: CheckedReport
    exam: Exam | None
    boxes: tuple[LabelledBox, ...]
    id: SentenceId
    marks: Mapping[SentenceId, SentenceMark]
    revision: int
    previous: SentenceId | None
    next: SentenceId | None
    next_unmarked: SentenceId | None

    @property
    def sentence(self) -> CheckedSentence:
        """The sentence to mark."""
        return self.report.checked[self.id.sentence - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionCheckOverview:
    """A check for the coordinator. By expert id, ``done`` of ``total`` sentences are marked."""

    check: RegionCheck
    experts: tuple[BenchExpert, ...]
    total: int
    done: dict[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkShare:
    """The share of the mark "right" among the marks of one expert, or of all (""), on a group of sentences.

    ``wrong`` counts the other marks. ``reports`` is the number of reports behind ``right``, whose interval is
    clustered by report.
    """

    expert: str
    group: str
    reports: int
    right: Proportion
    wrong: dict[SentenceMark, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertPair:
    """The share of sentences to which two experts gave the same mark."""

    first: str
    second: str
    reports: int
    same: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionShare:
    """The share of grounded sentences with a region, and how many marks say that the region is wrong."""

    region: str
    share: Proportion
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionReport:
    """The results of a check: shares of right sentences, agreement of experts, distribution of regions."""

    shares: tuple[MarkShare, ...]
    pairs: tuple[ExpertPair, ...]
    regions: tuple[RegionShare, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRow:
    """A mark that counts, with the exam's id in the source."""

    exam: str
    report: int
    sentence: int
    text: str
    region: str | None
    expert: str
    mark: SentenceMark
    marked_at: datetime


#: The groups of sentences that are counted, with the test whether a sentence belongs to the group.
ALL_SENTENCES = "all sentences"
_GROUPS: Mapping[str, Callable[[CheckedSentence], bool]] = {
    ALL_SENTENCES: lambda _: True,
    "with a region": lambda sentence: sentence.region is not None,
    "without a region": lambda sentence: sentence.region is None,
}


def list_checked_sentences(
    sentences: Sequence[str], statements: Sequence[Statement]
) -> tuple[CheckedSentence, ...]:
    """Return the sentences to mark: the grounded ones, then the report's sentences without a region."""
    grounded = [
        CheckedSentence(text=statement.text, sentences=statement.sentences, region=statement.region)
        for statement in statements
    ]
    covered = {number for statement in statements for number in statement.sentences}
    ungrounded = [
        CheckedSentence(text=text, sentences=(number,))
        for number, text in enumerate(sentences, start=1)
        if number not in covered
    ]
    return (*grounded, *ungrounded)


def order_sentences(*, seed: int, person_id: int, reports: Sequence[CheckedReport]) -> list[SentenceId]:
    """Return all sentences in an expert's order: the reports at random, their sentences in order."""
    return [
        SentenceId(report=position, sentence=number)
        for position in order_reports(seed=seed, person_id=person_id, reports=len(reports))
        for number in range(1, len(reports[position - 1].checked) + 1)
    ]


_Marks = Mapping[str, Mapping[SentenceId, SentenceMark]]


def build_region_report(reports: Sequence[CheckedReport], marks: _Marks) -> RegionReport:
    """Compute the report.

    Args:
        reports: the reports of the check by position.
        marks: the marks that count, by the expert's sign-in name.
    """
    sentences = {
        SentenceId(report=report.position, sentence=number): sentence
        for report in reports
        for number, sentence in enumerate(report.checked, start=1)
    }
    experts = ["", *marks] if len(marks) > 1 else [*marks]
    return RegionReport(
        shares=tuple(
            _compute_share(expert, group, sentences, marks) for expert in experts for group in _GROUPS
        ),
        pairs=tuple(_compare_experts(pair, marks) for pair in combinations(marks, 2)),
        regions=_compute_regions(sentences, marks),
    )


def _compute_share(
    expert: str, group: str, sentences: Mapping[SentenceId, CheckedSentence], marks: _Marks
) -> MarkShare:
    given_marks = [
        (id_, mark)
        for name in ([expert] if expert else marks)
        for id_, mark in marks[name].items()
        if _GROUPS[group](sentences[id_])
    ]
    clusters = [id_.report for id_, _ in given_marks]
    return MarkShare(
        expert=expert,
        group=group,
        reports=len(set(clusters)),
        right=wilson_by_cluster([mark is SentenceMark.RIGHT for _, mark in given_marks], clusters),
        wrong={
            kind: sum(mark is kind for _, mark in given_marks)
            for kind in SentenceMark
            if kind is not SentenceMark.RIGHT
        },
    )


def _compare_experts(pair: tuple[str, str], marks: _Marks) -> ExpertPair:
    first_marks, second_marks = (marks[name] for name in pair)
    common_ids = sorted(first_marks.keys() & second_marks.keys())
    clusters = [id_.report for id_ in common_ids]
    return ExpertPair(
        first=pair[0],
        second=pair[1],
        reports=len(set(clusters)),
        same=wilson_by_cluster([first_marks[id_] is second_marks[id_] for id_ in common_ids], clusters),
    )


def _compute_regions(
    sentences: Mapping[SentenceId, CheckedSentence], marks: _Marks
) -> tuple[RegionShare, ...]:
    region_by_id = {
        id_: sentence.region for id_, sentence in sentences.items() if sentence.region is not None
    }
    clusters = [id_.report for id_ in region_by_id]
    shares = [
        RegionShare(
            region=region,
            share=wilson_by_cluster(
                [other_region == region for other_region in region_by_id.values()], clusters
            ),
            wrong=sum(
                mark is SentenceMark.WRONG_REGION and region_by_id.get(id_) == region
                for given_marks in marks.values()
                for id_, mark in given_marks.items()
            ),
        )
        for region in dict.fromkeys(region_by_id.values())
    ]
    return tuple(sorted(shares, key=lambda share: (-share.share.count, share.region)))


def format_region_report_csv(report: RegionReport) -> str:
    """Format all results as one table with a column for each kind of value; empty where undefined."""
    kinds = [kind for kind in SentenceMark if kind is not SentenceMark.RIGHT]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["table", "of", "group", "n", "reports", "count", "share", "low", "high", "note"]
        + [kind.value for kind in kinds]
    )
    for share in report.shares:
        writer.writerow(
            [
                "right",
                escape_formula(share.expert or "all experts"),
                share.group,
                *_format_share(share.right, share.reports),
            ]
            + [share.wrong[kind] for kind in kinds]
        )
    for pair in report.pairs:
        names = f"{pair.first} and {pair.second}"
        writer.writerow(
            [
                "same mark",
                escape_formula(names),
                ALL_SENTENCES,
                *_format_share(pair.same, pair.reports),
                "",
                "",
                "",
            ]
        )
    for region in report.regions:
        cells = _format_share(region.share, "")
        writer.writerow(
            ["region", escape_formula(region.region), "with a region", *cells, region.wrong, "", ""]
        )
    return buffer.getvalue()


def format_marks_csv(rows: Iterable[MarkRow]) -> str:
    """Format marks as CSV, one per line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["exam", "report", "sentence", "text", "region", "expert", "mark", "marked_at"])
    for row in rows:
        marked_at = row.marked_at.isoformat(timespec="seconds")
        values = [escape_formula(row.exam), row.report, row.sentence, escape_formula(row.text)]
        values += [escape_formula(row.region or ""), escape_formula(row.expert)]
        writer.writerow([*values, row.mark.value, marked_at])
    return buffer.getvalue()


def _format_share(share: Proportion, reports: int | str) -> list[object]:
    values = [share.estimate, share.low, share.high]
    return [
        share.n,
        reports,
        share.count,
        *("" if value is None else round(value, 6) for value in values),
        share.note,
    ]
