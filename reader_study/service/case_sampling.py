"""Draws the cases of a study from a dataset, batch or release, and freezes their content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from domain.batches import SamplingPlan, Stratum
from domain.count_texts import count_text
from domain.errors import NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.protocols import canonical_json
from domain.questions import Question
from domain.studies import BlindCase, Case, CaseKind, CaseSource, SourceKind, StudyDesign
from domain.vocabulary import AnswerFormat, Task
from reader_study.study_sizes import AvailableCases
from records.questions import question_from_plain
from release.service import find_release_file
from sampling.allocation import allocate
from sampling.draw import draw_questions, mix_hashes, sort_by_hash
from storage.intake.exams import load_exam
from storage.intake.questions import load_questions
from storage.quality.name_mappings import load_derived_names
from storage.reader_study.cases import load_question_row_ids
from storage.release.releases import find_release
from storage.review.assignments import list_batch_members
from storage.sampling import frames
from storage.sampling.batches import load_batch


def draw_cases(
    db: Session, *, by: Person, dataset_id: int, source: CaseSource, design: StudyDesign
) -> tuple[Case, ...]:
    """Draw the cases of a new study. Nothing is written.

    Training cases and scored cases are from different exams, because feedback on a training case would reveal
    answers.

    Returns:
        The scored cases, then the training cases, each in the order of the draw. Their ids are 0.

    Raises:
        NotFound: the batch or the release does not exist.
        Refused: no case can be drawn, too few cases are left for training, or the file of the release was
            changed.
    """
    released_questions = _load_released_questions(db, by=by, dataset_id=dataset_id, source=source)
    frame = frames.load_frame(
        db,
        dataset_id=dataset_id,
        after=0,
        through=frames.load_last_question_row_id(db, dataset_id=dataset_id),
        stratify_by=design.plan.strata,
        names=load_derived_names(db, dataset_id=dataset_id, features=design.plan.strata),
        formats=design.formats,
    )
    is_candidate = np.ones(len(frame.numbers), dtype=np.bool_)
    eligible_row_ids = _find_eligible_row_ids(db, source=source, released_questions=released_questions)
    if eligible_row_ids is not None:
        is_candidate = np.isin(frame.numbers, np.array(sorted(eligible_row_ids), dtype=np.int64))
    exam_by_question = frames.map_questions_to_exams(db, question_ids=frame.numbers[is_candidate].tolist())
    if design.one_per_exam:
        is_candidate &= _select_one_per_exam(frame, is_candidate, exam_by_question, seed=design.plan.seed)
    scored = list(_draw_questions(db, frame, is_candidate, plan=design.plan))
    if not scored:
        raise Refused(
            f"No cases could be drawn from {source}{_describe_formats(design)}. Increase the number of "
            f"cases, {'choose other answer formats, ' if design.formats else ''}or import questions first."
        )
    training = []
    if design.training:
        used_exams = {exam_by_question[number] for number, _ in scored}
        is_remaining = is_candidate & np.array(
            [exam_by_question.get(number) not in used_exams for number in frame.numbers.tolist()],
            dtype=np.bool_,
        )
        plan = replace(design.plan, per_1000=None, n=design.training)
        training = list(_draw_questions(db, frame, is_remaining, plan=plan))
        if len(training) < design.training:
            raise Refused(
                _describe_shortage(
                    design, source, cases=int(is_candidate.sum()), exams=len(set(exam_by_question.values()))
                )
            )
    kinds = [CaseKind.SCORED] * len(scored) + [CaseKind.TRAINING] * len(training)
    return tuple(
        _build_cases(
            db,
            [*scored, *training],
            kinds=kinds,
            exam_by_question=exam_by_question,
            released_questions=released_questions,
        )
    )


def _describe_shortage(design: StudyDesign, source: CaseSource, *, cases: int, exams: int) -> str:
    """Return the message for too few cases: ``cases`` questions on ``exams`` exams are available."""
    available_text = (
        f"With one question per exam, {source} has {count_text(cases, 'case')}{_describe_formats(design)}."
        if design.one_per_exam
        else f"{str(source).capitalize()} has {count_text(cases, 'question')} on {count_text(exams, 'exam')}"
        f"{_describe_formats(design)}."
    )
    requested_text = f"{design.plan.n:,} scored and " if design.plan.n is not None else ""
    way_out = "Request fewer cases" + (
        ", or allow several questions per exam." if design.one_per_exam else "."
    )
    return (
        f"{available_text} Requested: {requested_text}{count_text(design.training, 'training case')}, which"
        f" must be on other exams than the scored cases. {way_out}"
    )


def _describe_formats(design: StudyDesign) -> str:
    """Return the answer formats of the design as text; "" if all formats are drawn."""
    if not design.formats:
        return ""
    return f" with the answer format {' or '.join(format_.label for format_ in design.formats)}"


def hash_content(*, question: Question | BlindCase, exam: Exam) -> str:
    """Return the SHA-256 of the content that readers see: question, options, images, clinical information."""
    content = {
        "format": question.format.value,
        "stem": question.stem,
        "options": list(question.options),
        "exam": {
            "indication": exam.indication,
            "age": exam.age,
            "sex": exam.sex.value if exam.sex else None,
            "radiographs": [
                {"id": radiograph.id, "view": radiograph.view.value, "sha256": radiograph.sha256}
                for radiograph in exam.radiographs
            ],
        },
    }
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def count_available_cases(
    db: Session, *, by: Person, source: CaseSource, formats: Sequence[AnswerFormat] = ()
) -> AvailableCases:
    """Count the questions from which :func:`draw_cases` can draw, and their exams.

    ``formats`` are the answer formats of the design; empty means all.

    Raises:
        NotFound: the dataset, the batch or the release does not exist.
        Refused: the file of the release was changed.
    """
    require(by, Action.RUN_STUDY)
    dataset_id = frames.load_dataset_row_id(db, name=source.dataset)
    released_questions = _load_released_questions(db, by=by, dataset_id=dataset_id, source=source)
    eligible_row_ids = _find_eligible_row_ids(db, source=source, released_questions=released_questions)
    questions, exams = frames.load_exam_sizes(
        db, dataset_id=dataset_id, question_ids=eligible_row_ids, formats=formats
    )
    return AvailableCases(questions=questions, exams=exams)


def _find_eligible_row_ids(
    db: Session, *, source: CaseSource, released_questions: dict[int, Question] | None
) -> frozenset[int] | None:
    if source.kind is SourceKind.DATASET:
        return None
    if released_questions is not None:
        return frozenset(released_questions)
    batch = load_batch(db, name=source.name)
    return frozenset(member.question_row_id for member in list_batch_members(db, batch_id=batch.id))


def _load_released_questions(
    db: Session, *, by: Person, dataset_id: int, source: CaseSource
) -> dict[int, Question] | None:
    """Return the corrected questions of a release by database id; None if the source is not a release."""
    if source.kind is not SourceKind.RELEASE:
        return None
    release = find_release(db, dataset_id=dataset_id, name=source.name)
    if release is None:
        raise NotFound(f"The dataset {source.dataset} has no release {source.name!r}. Create it first.")
    file = find_release_file(db, by=by, release_id=release.id, name="gold.jsonl")
    content = file.path.read_bytes()
    if hashlib.sha256(content).hexdigest() != file.entry.sha256:
        raise Refused(
            f"gold.jsonl of the release {source.name} was changed after its creation. Restore it from a "
            "backup."
        )
    questions = [question_from_plain(json.loads(line)) for line in content.splitlines() if line.strip()]
    numbers = load_question_row_ids(db, dataset_id=dataset_id, keys=[question.id for question in questions])
    return {numbers[question.id]: question for question in questions}


def _select_one_per_exam(
    frame: frames.Frame, is_candidate: NDArray[np.bool_], exam_by_question: dict[int, int], *, seed: int
) -> NDArray[np.bool_]:
    """Return a mask of one candidate question per exam: the question with the lowest mixed hash."""
    indices = np.flatnonzero(is_candidate)
    order = indices[np.argsort(mix_hashes(frame.hashes[indices], seed=seed), kind="stable")]
    exam_row_ids = np.array(
        [exam_by_question[number] for number in frame.numbers[order].tolist()], dtype=np.int64
    )
    _, first_positions = np.unique(exam_row_ids, return_index=True)
    is_selected = np.zeros(len(is_candidate), dtype=np.bool_)
    is_selected[order[first_positions]] = True
    return is_selected


def _draw_questions(
    db: Session, frame: frames.Frame, is_candidate: NDArray[np.bool_], *, plan: SamplingPlan
) -> Iterator[tuple[int, Stratum]]:
    """Yield (question row id, stratum) of each drawn question, in the order of the mixed hashes."""
    numbers, hashes, strata = (
        frame.numbers[is_candidate],
        frame.hashes[is_candidate],
        frame.strata[is_candidate],
    )
    stratum_counts = Counter(strata.tolist())
    cells = [frame.cells[code] for code in sorted(stratum_counts)]
    index_by_code = {code: position for position, code in enumerate(sorted(stratum_counts))}
    stratum_by_cell = {
        (stratum.tier, stratum.further): stratum
        for stratum in allocate(
            {frame.cells[code]: count for code, count in stratum_counts.items()}, plan=plan
        )
    }
    if not cells:
        return

    def question_id_at(index: int) -> str:
        return frames.load_question_key(db, question_id=int(numbers[index]))

    stratum_indices = np.array([index_by_code[code] for code in strata.tolist()], dtype=np.int32)
    sizes = [stratum_counts[code] for code in sorted(stratum_counts)]
    counts_to_draw = [stratum_by_cell[cell].drawn for cell in cells]
    drawn_indices = draw_questions(
        hashes,
        stratum_indices,
        counts_to_draw=counts_to_draw,
        sizes=sizes,
        seed=plan.seed,
        question_id_at=question_id_at,
    )
    sorted_indices = sort_by_hash(drawn_indices, hashes, seed=plan.seed, question_id_at=question_id_at)
    for index in sorted_indices.tolist():
        yield int(numbers[index]), stratum_by_cell[cells[stratum_indices[index]]]


def _build_cases(
    db: Session,
    drawn_questions: list[tuple[int, Stratum]],
    *,
    kinds: list[CaseKind],
    exam_by_question: dict[int, int],
    released_questions: dict[int, Question] | None,
) -> Iterator[Case]:
    questions = released_questions or dict(
        load_questions(db, question_ids=[number for number, _ in drawn_questions])
    )
    loaded_exams: dict[int, Any] = {}
    for position, ((number, stratum), kind) in enumerate(zip(drawn_questions, kinds, strict=True), start=1):
        question, exam_row_id = questions[number], exam_by_question[number]
        exam = loaded_exams.get(exam_row_id) or load_exam(db, exam_id=exam_row_id)
        loaded_exams[exam_row_id] = exam
        yield Case(
            blind_case=BlindCase(
                id=0,
                study_id=0,
                number=position,
                kind=kind,
                question_row_id=number,
                exam_row_id=exam_row_id,
                question_id=question.id,
                format=question.format,
                stem=question.stem,
                options=question.options,
                asks_box=question.task is Task.LOCATION,
                sha256=hash_content(question=question, exam=exam),
            ),
            question=question,
            stratum=stratum.name,
            inclusion_probability=stratum.inclusion_probability,
        )
