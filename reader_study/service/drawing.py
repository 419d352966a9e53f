"""Draws the cases of a study from a dataset, batch or release, and freezes their content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from domain.batches import SamplingPlan, Stratum
from domain.errors import NotFound, Refused
from domain.exams import Exam
from domain.people import Person
from domain.protocols import canonical_json
from domain.questions import Question
from domain.studies import BlindCase, Case, CaseKind, CaseSource, SourceKind, StudyDesign
from domain.vocabulary import Task
from records.questions import question_from_plain
from release.service import release_file
from sampling.allocation import allocate
from sampling.draw import draw, in_order, mixed
from storage.intake.exams import load_exam
from storage.intake.questions import load_questions
from storage.reader_study.cases import question_numbers
from storage.release.releases import find_release
from storage.review.assignments import batch_members
from storage.sampling import frames
from storage.sampling.batches import load_batch


def drawn_cases(
    db: Session, *, by: Person, dataset_id: int, source: CaseSource, design: StudyDesign
) -> tuple[Case, ...]:
    """Draw the cases of a new study; writes nothing.

    Training cases are from other exams than scored cases, because their feedback would reveal answers.

    Returns:
        Scored cases first, then training cases, each in the order of the draw; their ids are 0.

    Raises:
        NotFound: there is no such batch or release.
        Refused: no case is drawn, too few are left for training, or the file of the release was changed.
    """
    released = _released(db, by=by, dataset_id=dataset_id, source=source)
    frame = frames.read_frame(
        db,
        dataset_id=dataset_id,
        after=0,
        through=frames.last_question_number(db, dataset_id=dataset_id),
        further=design.plan.strata,
    )
    among = np.ones(len(frame.numbers), dtype=np.bool_)
    wanted = _wanted(db, source=source, released=released)
    if wanted is not None:
        among = np.isin(frame.numbers, np.array(sorted(wanted), dtype=np.int64))
    exams = frames.exam_numbers(db, question_ids=frame.numbers[among].tolist())
    if design.one_per_exam:
        among &= _first_of_each_exam(frame, among, exams, seed=design.plan.seed)
    scored = list(_drawn(db, frame, among, plan=design.plan))
    if not scored:
        raise Refused(f"This plan draws no case from {source}. Ask for more, or import questions first.")
    training = []
    if design.training:
        taken = {exams[number] for number, _ in scored}
        rest = among & np.array(
            [exams.get(each) not in taken for each in frame.numbers.tolist()], dtype=np.bool_
        )
        plan = replace(design.plan, per_1000=None, n=design.training)
        training = list(_drawn(db, frame, rest, plan=plan))
        if len(training) < design.training:
            raise Refused(
                f"Only {len(training)} training cases are left on other exams than the scored cases, "
                f"{design.training} are asked for. Score fewer cases, or train on fewer."
            )
    kinds = [CaseKind.SCORED] * len(scored) + [CaseKind.TRAINING] * len(training)
    return tuple(_cases(db, [*scored, *training], kinds=kinds, exams=exams, released=released))


def content_hash(*, question: Question | BlindCase, exam: Exam) -> str:
    """SHA-256 of all that a reader is shown of a case: question, options, images, clinical information."""
    shown = {
        "format": question.format.value,
        "stem": question.stem,
        "options": list(question.options),
        "exam": {
            "indication": exam.indication,
            "age": exam.age,
            "sex": exam.sex.value if exam.sex else None,
            "radiographs": [
                {"id": each.id, "view": each.view.value, "sha256": each.sha256} for each in exam.radiographs
            ],
        },
    }
    return hashlib.sha256(canonical_json(shown).encode()).hexdigest()


def _wanted(
    db: Session, *, source: CaseSource, released: dict[int, Question] | None
) -> frozenset[int] | None:
    if source.kind is SourceKind.DATASET:
        return None
    if released is not None:
        return frozenset(released)
    batch = load_batch(db, name=source.name)
    return frozenset(member.question_number for member in batch_members(db, batch_id=batch.id))


def _released(db: Session, *, by: Person, dataset_id: int, source: CaseSource) -> dict[int, Question] | None:
    """The corrected questions of a release by question number; None if the source is no release."""
    if source.kind is not SourceKind.RELEASE:
        return None
    known = find_release(db, dataset_id=dataset_id, name=source.name)
    if known is None:
        raise NotFound(f"There is no release {source.name!r} of {source.dataset}. Make it first.")
    file = release_file(db, by=by, release_id=known.id, name="gold.jsonl")
    content = file.path.read_bytes()
    if hashlib.sha256(content).hexdigest() != file.entry.sha256:
        raise Refused(f"gold.jsonl of the release {source.name} was changed since it was made.")
    questions = [question_from_plain(json.loads(line)) for line in content.splitlines() if line.strip()]
    numbers = question_numbers(db, dataset_id=dataset_id, keys=[question.id for question in questions])
    return {numbers[question.id]: question for question in questions}


def _first_of_each_exam(
    frame: frames.Frame, among: NDArray[np.bool_], exams: dict[int, int], *, seed: int
) -> NDArray[np.bool_]:
    """The question of each exam with the lowest mixed hash."""
    indices = np.flatnonzero(among)
    order = indices[np.argsort(mixed(frame.hashes[indices], seed=seed), kind="stable")]
    of = np.array([exams[number] for number in frame.numbers[order].tolist()], dtype=np.int64)
    _, first = np.unique(of, return_index=True)
    kept = np.zeros(len(among), dtype=np.bool_)
    kept[order[first]] = True
    return kept


def _drawn(
    db: Session, frame: frames.Frame, among: NDArray[np.bool_], *, plan: SamplingPlan
) -> Iterator[tuple[int, Stratum]]:
    """(number, stratum) of each drawn question, in the order of the mixed hashes."""
    numbers, hashes, strata = frame.numbers[among], frame.hashes[among], frame.strata[among]
    counted = Counter(strata.tolist())
    cells = [frame.cells[code] for code in sorted(counted)]
    codes = {code: place for place, code in enumerate(sorted(counted))}
    by_cell = {
        (each.tier, each.further): each
        for each in allocate({frame.cells[code]: count for code, count in counted.items()}, plan=plan)
    }
    if not cells:
        return

    def key_of(index: int) -> str:
        return frames.question_key(db, question_id=int(numbers[index]))

    places = np.array([codes[code] for code in strata.tolist()], dtype=np.int32)
    sizes = [counted[code] for code in sorted(counted)]
    take = [by_cell[cell].drawn for cell in cells]
    chosen = draw(hashes, places, take=take, sizes=sizes, seed=plan.seed, key_of=key_of)
    for index in in_order(chosen, hashes, seed=plan.seed, key_of=key_of).tolist():
        yield int(numbers[index]), by_cell[cells[places[index]]]


def _cases(
    db: Session,
    drawn: list[tuple[int, Stratum]],
    *,
    kinds: list[CaseKind],
    exams: dict[int, int],
    released: dict[int, Question] | None,
) -> Iterator[Case]:
    questions = released or dict(load_questions(db, question_ids=[number for number, _ in drawn]))
    loaded: dict[int, Any] = {}
    for place, ((number, stratum), kind) in enumerate(zip(drawn, kinds, strict=True), start=1):
        question, exam_number = questions[number], exams[number]
        exam = loaded.get(exam_number) or load_exam(db, exam_id=exam_number)
        loaded[exam_number] = exam
        yield Case(
            shown=BlindCase(
                id=0,
                study_id=0,
                number=place,
                kind=kind,
                question_number=number,
                exam_number=exam_number,
                question_id=question.id,
                format=question.format,
                stem=question.stem,
                options=question.options,
                asks_box=question.task is Task.LOCATION,
                sha256=content_hash(question=question, exam=exam),
            ),
            question=question,
            stratum=stratum.name,
            inclusion_probability=stratum.inclusion_probability,
        )
