"""Measures the CPU time of the report of a reader study, computed as the app computes it.

``build_report`` receives the cases, readings and predictions of a simulated study. Each size runs in a
separate process, so the peak memory is that of one report. Run ``python -m benchmarks.study_report [SIZE
…]``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from domain.batches import SamplingPlan
from domain.protocols import Protocol, ProtocolVersion
from domain.questions import Answer, Question
from domain.readings import Prediction, Reading, ReadingKey
from domain.studies import (
    BlindCase,
    Case,
    CaseKind,
    CaseSource,
    Reader,
    ReaderStudy,
    Slot,
    SourceKind,
    StudyDesign,
    StudyState,
)
from domain.vocabulary import AnswerFormat, Task
from reader_study.report.report_builder import build_report
from reader_study.report.report_data import ModelAnswers, ReportData

NOW = datetime(2026, 1, 1, tzinfo=UTC)
#: Share of correct answers, and number of distinct free-text answers.
ACCURACY, TEXTS = 0.75, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A simulated study, and the CPU seconds that its report may take.

    ``before`` is the CPU time of an earlier version on the same machine, None if it was not measured: with 10
    readers, before all pairs of raters shared one matrix of random weights; with 203, before linear algebra
    used one thread; of models alone, before their answers were added, encoded and counted together.
    """

    readers: int
    models: int
    cases: int
    target: float
    before: float | None
    free_text: bool = False


SIZES = {
    "letters": Size(readers=10, models=1, cases=200, target=1, before=4.9),
    "text": Size(readers=10, models=1, cases=200, target=3, before=9.4, free_text=True),
    "readers": Size(readers=203, models=1, cases=200, target=60, before=91.5),
    "cases": Size(readers=26, models=2, cases=10_000, target=20, before=None),
    "models": Size(readers=0, models=20, cases=41_007, target=20, before=38.1),
}


def main(arguments: list[str]) -> None:
    """Print the results of all sizes, or compute the report of one."""
    if arguments[:1] == ["--one"]:
        _measure(SIZES[arguments[1]])
        return
    for name in arguments or SIZES:
        size = SIZES[name]
        completed = subprocess.run(  # noqa: S603 - the arguments are constants
            [sys.executable, "-m", "benchmarks.study_report", "--one", name],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        before = "not measured" if size.before is None else f"{size.before:.1f} s"
        kind = "letters and free text" if size.free_text else "letters"
        print(
            f"{name:8} {size.readers:3} readers, {size.models:2} models, {size.cases:6,} cases, {kind}: "
            f"{completed.stdout.strip()} (target {size.target:g} s; before {before})",
            flush=True,
        )


def _measure(size: Size) -> None:
    data = simulate_study(size)
    start = time.process_time()
    report = build_report(data)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.2f} CPU s, {len(report.tables.agreement):,} kappas, peak {memory:.0f} MB")


def simulate_study(size: Size) -> ReportData:
    """Build the data of a study with all tasks."""
    random = np.random.default_rng(7)
    cases = tuple(_build_case(number, size) for number in range(1, size.cases + 1))
    readers = tuple(
        Reader(id=index, study_id=1, name=f"reader {index:03}", display_name="", person_id=None)
        for index in range(1, size.readers + 1)
    )
    readings, slots = [], []
    for reader in readers:
        for case, answer in zip(cases, _draw_answers(random, cases), strict=True):
            number = case.blind_case.number
            readings.append(
                Reading(
                    key=ReadingKey(study_id=1, reader_id=reader.id, case_id=case.blind_case.id, arm=""),
                    revision=1, position=number, protocol_version=1, answer=answer, seconds=10.0,
                    seconds_looking=9.0, seconds_away=0.0, began_at=NOW, read_at=NOW,
                )
            )  # fmt: skip
            slots.append(Slot(reader_id=reader.id, position=number, case_id=case.blind_case.id, arm=""))
    models = tuple(
        ModelAnswers(
            name=f"model {index:02}",
            simulated=False,
            predictions={
                case.blind_case.question_row_id: Prediction(
                    model_id=index, question_row_id=case.blind_case.question_row_id, answer=answer
                )
                for case, answer in zip(cases, _draw_answers(random, cases), strict=True)
            },
        )
        for index in range(1, size.models + 1)
    )
    protocol = Protocol(models=None, model=models[0].name, open_answers=None)
    return ReportData(
        study=ReaderStudy(
            id=1, name="Simulated", dataset_id=1, source=CaseSource(kind=SourceKind.DATASET, dataset="d"),
            design=StudyDesign(plan=SamplingPlan(seed=1)), state=StudyState.CLOSED, frozen=True,
            simulated=True, created_at=NOW,
        ),
        versions=(
            ProtocolVersion(
                study_id=1, version=1, protocol=protocol, sha256=protocol.sha256(), reason="",
                answers_before=0, written_by=None, written_at=NOW,
            ),
        ),
        cases=cases, readers=readers, slots=tuple(slots), readings=tuple(readings), models=models,
        exclusions=(),
    )  # fmt: skip


def _build_case(number: int, size: Size) -> Case:
    tasks = list(Task)
    task = tasks[number % min(6, len(tasks))]
    is_text = size.free_text and number % 2 == 0
    options = () if is_text else ("first", "second", "third", "fourth")
    format_ = AnswerFormat.OPEN if is_text else AnswerFormat.SINGLE
    answer: Answer = f"finding {number % TEXTS}" if is_text else (number * 7 % 4,)
    return Case(
        blind_case=BlindCase(
            id=number, study_id=1, number=number, kind=CaseKind.SCORED, question_row_id=number,
            exam_row_id=number, question_id=f"q{number:06}", format=format_, stem="What is shown?",
            options=options, sha256="",
        ),
        question=Question(
            id=f"q{number:06}", exam_id=f"e{number:06}", format=format_, stem="What is shown?",
            answer=answer, options=options, task=task,
        ),
        stratum="all",
        inclusion_probability=1.0,
    )  # fmt: skip


def _draw_answers(random: np.random.Generator, cases: tuple[Case, ...]) -> list[Answer]:
    correct = random.random(len(cases)) < ACCURACY
    text_numbers, letters = random.integers(TEXTS, size=len(cases)), random.integers(4, size=len(cases))
    return [
        case.question.answer
        if is_correct
        else (f"finding {text_number}" if case.question.format.is_free_text else (int(letter),))
        for case, is_correct, text_number, letter in zip(cases, correct, text_numbers, letters, strict=True)
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
