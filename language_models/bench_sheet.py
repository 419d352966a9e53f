"""The data that an expert of a prompt bench sees: a report and its outputs, without their versions."""

from __future__ import annotations

from dataclasses import dataclass

from domain.exams import Exam
from domain.language_models import RunProgress
from domain.prompt_bench import BenchCell, BenchExpert, BenchScale, PromptBench


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTask:
    """A bench of an expert: ``done`` of ``total`` scores are given; ``last`` is the latest one.

    ``waiting`` is the number of outputs that models have not given yet.
    """

    bench_id: int
    name: str
    total: int
    done: int
    waiting: int
    last: BenchCell | None
    last_revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOutput:
    """An output as it is shown: its letter, its text, and the scores so far."""

    letter: str
    text: str
    scores: dict[BenchScale, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSheet:
    """One report with its outputs, and the cell to score.

    Attributes:
        task: the bench.
        report_position: the position of the report in the expert's order, from 1, of ``reports``.
        exam_row_id: the exam's id in the database.
        exam: the exam with its report.
        outputs: in the expert's order.
        cell: the cell to score; its version is not shown.
        letter: the output of ``cell``.
        score: the present score of ``cell``; None if it has none.
        revision: the revision of the latest score of ``cell``; 0 if there is none.
        previous: the cell before ``cell`` in the order; None if it is the first.
        next: the cell after ``cell``; None if it is the last.
        next_unscored: the next other cell without a score; None if there is none.
    """

    task: BenchTask
    report_position: int
    reports: int
    exam_row_id: int
    exam: Exam
    outputs: tuple[BenchOutput, ...]
    cell: BenchCell
    letter: str
    score: int | None
    revision: int
    previous: BenchCell | None
    next: BenchCell | None
    next_unscored: BenchCell | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOverview:
    """A bench for the coordinator: the progress of its runs, and how many scores each expert has given.

    ``done`` maps an expert's id to the number of scores given, of ``total``. ``total`` includes the scores of
    waiting outputs.
    """

    bench: PromptBench
    runs: tuple[RunProgress, ...]
    experts: tuple[BenchExpert, ...]
    total: int
    done: dict[int, int]
