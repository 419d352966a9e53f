"""Creates the demo's reader studies: one completed by simulated readers, and one open to the demo's reader.

Simulated data are marked in the study, in the readers' names, and in reports. A rater's accuracy determines
the exact number of cases that the rater answers correctly. Which cases these are depends on a latent
difficulty per case that all raters share, so that their agreement resembles that of people.
"""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from demo.people import LEO
from domain.batches import SamplingPlan
from domain.people import Person
from domain.protocols import OpenAnswerRule, Protocol
from domain.questions import option_letter
from domain.studies import (
    Case,
    CaseSource,
    ReaderLevel,
    ReaderProfile,
    ReaderStudy,
    SourceKind,
    StudyDesign,
)
from domain.vocabulary import YES_NO, AnswerFormat
from reader_study import service as studies
from storage.reader_study.cases import list_cases

STUDY, PILOT = "Readers and models (simulated)", "Pilot for readers"
#: Number of cases to draw; a demo with few exams has fewer.
CASES = 200
#: Share of the variance that is due to the case's difficulty: the latent correlation of two raters.
_DIFFICULTY_VARIANCE_SHARE = 0.5
_GUIDELINE = """\
**Answer what the images of this exam show.** You see the same clinical information as the radiologist.

- Give one answer per case; select all correct options if the question asks for it.
- *Cannot determine* is an answer: choose it if the images do not show it.
- Report a faulty question, with the reason. You can still answer it.
- Time is measured while an image is on screen and you are active. Take breaks.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedReader:
    """A simulated reader: accuracy and profile."""

    name: str
    accuracy: float
    profile: ReaderProfile


#: Three residents; the best one has the accuracy of the best reader of ReXVQA's study (its section 6.1).
READERS = (
    SimulatedReader(
        name="simulated-resident-1",
        accuracy=0.6566,
        profile=ReaderProfile(level=ReaderLevel.RESIDENT, years=2),
    ),
    SimulatedReader(
        name="simulated-resident-2",
        accuracy=0.6970,
        profile=ReaderProfile(level=ReaderLevel.RESIDENT, years=3),
    ),
    SimulatedReader(
        name="simulated-resident-3",
        accuracy=0.7727,
        profile=ReaderProfile(level=ReaderLevel.RESIDENT, years=4, subspecialty="chest"),
    ),
)


def create_studies(
    db: Session, *, by: Person, dataset: str, exams: int, models: Sequence[str], now: datetime
) -> ReaderStudy:
    """Create both studies on a dataset of ``exams`` exams. Returns the study with the simulated readings.

    ``models`` take part in the returned study. Their answers are imported as predictions on the same
    questions; see :func:`right_case_numbers`.
    """
    source = CaseSource(kind=SourceKind.DATASET, dataset=dataset)
    created_at = now - timedelta(days=5)
    studies.create_study(
        db,
        by=by,
        name=PILOT,
        source=source,
        design=StudyDesign(
            plan=SamplingPlan(seed=12, per_1000=None, n=max(1, min(12, exams - 2))),
            one_per_exam=True,
            training=2 if exams > 2 else 0,
            repeats=2 if exams > 8 else 0,
            repeat_gap=4,
        ),
        protocol=Protocol(guideline=_GUIDELINE, show_own_result=True),
        now=now - timedelta(days=6),
    )
    studies.assign_readers(db, by=by, study=PILOT, to=[LEO.name], now=now - timedelta(days=6))
    study = studies.create_study(
        db,
        by=by,
        name=STUDY,
        source=source,
        design=StudyDesign(plan=SamplingPlan(seed=198, per_1000=None, n=CASES, strata=("task",))),
        protocol=Protocol(
            primary_comparison="Mean accuracy of the readers minus that of the model",
            model="MedGemma (simulated)",
            models=tuple(sorted(models)),
            exclusions="None",
            open_answers=OpenAnswerRule.EXACT_MATCH,
            notes="Readers and models of this study are simulated. It illustrates the report only.",
        ),
        simulated=True,
        now=created_at,
    )
    cases = [case for case in list_cases(db, study_id=study.id) if case.scored]
    for index, reader in enumerate(READERS):
        content = render_readings(
            study, cases, reader, started_at=created_at + timedelta(hours=6 * index + 2)
        )
        outcome = studies.import_readings(
            db,
            by=by,
            study=STUDY,
            content=content.encode(),
            file=f"{reader.name}.csv",
            simulated=True,
            now=now - timedelta(days=3),
        )
        if outcome.refusals:
            raise ValueError(f"the readings of the demo were refused: {outcome.refusals[0]}")
        studies.set_profile(
            db, by=by, study=STUDY, reader=reader.name, profile=reader.profile, now=created_at
        )
    return study


def right_case_numbers(name: str, cases: list[Case], *, accuracy: float) -> frozenset[int]:
    """Return the numbers of the cases that a simulated rater answers correctly: the share ``accuracy``."""
    latent_scores = {
        case.blind_case.number: math.sqrt(_DIFFICULTY_VARIANCE_SHARE)
        * random.Random(f"case {case.blind_case.question_id}").gauss(0, 1)
        + math.sqrt(1 - _DIFFICULTY_VARIANCE_SHARE)
        * random.Random(f"{name} on {case.blind_case.question_id}").gauss(0, 1)
        for case in cases
    }
    easiest_first = sorted(latent_scores, key=lambda number: (-latent_scores[number], number))
    return frozenset(easiest_first[: round(accuracy * len(cases))])


def simulate_answer(case: Case, *, right: bool, name: str) -> str:
    """Return a simulated answer, as written in a file of readings or predictions.

    Different raters often give the same wrong answer.
    """
    question = case.question
    if right:
        return _format_answer(question.answer)
    rng = random.Random(f"{name} errs on {question.id}")
    if question.format is AnswerFormat.OPEN:
        return "?" if rng.random() < 0.3 else "none of it"
    if isinstance(question.answer, str):  # closed
        return next(option for option in YES_NO if option != question.answer)
    key = set(question.answer)
    wrong_indices = [index for index in range(len(question.options)) if not question.is_correct((index,))]
    frequent_wrong_index = random.Random(f"what tempts in {question.id}").choice(wrong_indices)
    chosen_index = frequent_wrong_index if rng.random() < 0.6 else rng.choice(wrong_indices)
    if question.format is AnswerFormat.MULTIPLE and len(key) > 1 and chosen_index in key:
        return _format_answer(tuple(sorted(key - {chosen_index})))
    return _format_answer((chosen_index,))


def render_readings(
    study: ReaderStudy, cases: list[Case], reader: SimulatedReader, *, started_at: datetime
) -> str:
    """Return a reader's readings as overread.reading/1. A tenth of the cases is read again at the end."""
    rng = random.Random(f"{reader.name} reads")
    right_numbers = right_case_numbers(reader.name, cases, accuracy=reader.accuracy)
    order = rng.sample(cases, len(cases))
    repeated = rng.sample(order[: len(order) // 2], len(order) // 10)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["study", "reader", "question_id", "answer", "confidence", "seconds", "read_at"])
    clock = started_at
    for position, case in enumerate([*order, *repeated]):
        is_right = case.blind_case.number in right_numbers
        if position >= len(order) and rng.random() < 0.15:
            is_right = not is_right  # the second reading sometimes differs
        seconds = round(math.exp(rng.gauss(3.2 - 0.2 * position / len(order), 0.45)), 1)
        clock += timedelta(seconds=seconds + 4)
        confidence = min(5, max(1, round(rng.gauss(3.9 if is_right else 3.1, 0.9))))
        answer = simulate_answer(case, right=is_right, name=reader.name)
        writer.writerow(
            [
                study.name,
                reader.name,
                case.blind_case.question_id,
                answer,
                confidence,
                seconds,
                clock.isoformat(),
            ]
        )
    return buffer.getvalue()


def _format_answer(answer: tuple[int, ...] | str) -> str:
    return answer if isinstance(answer, str) else "|".join(option_letter(index) for index in answer)
