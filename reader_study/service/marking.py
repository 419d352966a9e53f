"""Services for marking open answers: markers, the blind queue of answers, marks, and their progress.

A marker sees the question, the key and the answer. The reader or model that answered is not loaded.
"""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.mail import NoticeKind
from domain.marks import AnswerId, AnswerMark, Marker, MarkerRole, MarkRevision, identify_answer
from domain.people import Action, Person, require
from domain.questions import Question
from domain.studies import CaseKind, ReaderStudy
from notifications.service import notify
from reader_study.marking_sheet import MarkedAnswer, MarkingProgress, MarkingSheet, MarkingTask
from reader_study.open_answers import OpenAnswer, list_answers_to_mark, select_marks
from reader_study.service.sheets import load_stored_image
from review.sheet import StoredImage
from storage.audit.contents import MARK_ANSWER, mark_subject, mark_to_plain
from storage.intake.exams import load_exam_without_information
from storage.reader_study import marks as mark_storage
from storage.reader_study.cases import list_blind_cases, list_cases, load_blind_case
from storage.reader_study.predictions import list_models
from storage.reader_study.readers import list_readers
from storage.reader_study.studies import load_current_protocol, load_study, lock_study_shared


def assign_marker(
    db: Session, *, by: Person, study: str, role: MarkerRole, to: str | None, now: datetime
) -> tuple[Marker, ...]:
    """Assign or remove the first or the second marker of a study. Locks the study's row.

    A new person continues with the marks that exist.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        role: first or second marker.
        to: the sign-in name of the person; None removes the marker.
        now: the current time.

    Returns:
        All markers of the study.

    Raises:
        NotFound: the study or the person does not exist.
        Refused: the person may not mark, is a reader of the study, or is the other marker.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study, lock=True)
    markers = {marker.role: marker for marker in mark_storage.list_markers(db, study_id=loaded_study.id)}
    person = None if to is None else load_person_by_name(db, name=to)
    if person is not None:
        _check_may_mark(db, study=loaded_study, person=person, markers=markers, role=role)
    old = markers[role].name if role in markers else None
    if old == (person.name if person else None):
        return tuple(markers.values())
    mark_storage.save_marker(
        db, study_id=loaded_study.id, role=role, person_id=person.id if person else None, now=now
    )
    record_action(
        db,
        by=by,
        action="assign marker",
        subject=f"study {loaded_study.id}",
        old={role.label: old},
        new={role.label: person.name if person else None},
        now=now,
    )
    if person is not None:
        notify(
            db, by_id=by.id, person_ids=[person.id], kind=NoticeKind.MARKING, name=study,
            path=f"mark_answers?study={loaded_study.id}", now=now,
        )  # fmt: skip
    return mark_storage.list_markers(db, study_id=loaded_study.id)


def load_marking_progress(db: Session, *, by: Person, study: str) -> MarkingProgress:
    """Return the markers of a study and how many answers they have marked.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    questions = _load_open_questions(db, loaded_study)
    answers = _list_answers(db, study=loaded_study, questions=questions)
    marks = mark_storage.list_latest_marks(db, study_id=loaded_study.id)
    return MarkingProgress(
        open_cases=len(questions),
        markers=mark_storage.list_markers(db, study_id=loaded_study.id),
        total=len(answers),
        marked={
            role: len(select_marks(marks, role).keys() & {answer.id for answer in answers})
            for role in MarkerRole
        },
    )


def list_marked_answers(db: Session, *, by: Person, study: str) -> tuple[MarkedAnswer, ...]:
    """Return the open answers that differ from the key, with both marks, in the order of marking.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    questions = _load_open_questions(db, loaded_study)
    marks = mark_storage.list_latest_marks(db, study_id=loaded_study.id)
    first, second = (select_marks(marks, role) for role in MarkerRole)
    return tuple(
        MarkedAnswer(
            case=questions[answer.id.case_id][0],
            question_id=questions[answer.id.case_id][1].id,
            stem=questions[answer.id.case_id][1].stem,
            key=str(questions[answer.id.case_id][1].answer),
            answer=answer.text,
            first=first.get(answer.id),
            second=second.get(answer.id),
        )
        for answer in _list_answers(db, study=loaded_study, questions=questions)
    )


def list_marking_tasks(db: Session, *, person: Person) -> tuple[MarkingTask, ...]:
    """Return the studies in which the person marks, the oldest first."""
    require(person, Action.MARK_ANSWERS)
    tasks = []
    for study_id, role in mark_storage.list_marker_roles(db, person_id=person.id):
        study = load_study(db, study_id=study_id)
        answers = _list_answers(db, study=study, questions=_load_open_questions(db, study))
        tasks.append(_build_task(study, role, answers, _load_marks(db, study, role)))
    return tuple(tasks)


def load_marking_sheet(
    db: Session, *, person: Person, study_id: int, answer: AnswerId | None = None
) -> MarkingSheet | MarkingTask:
    """Load an open answer for a marker.

    Args:
        db: a read-only session.
        person: the marker.
        study_id: the id of the study.
        answer: the answer to open. If it is None or no longer exists, the first one without a mark is opened.

    Returns:
        The sheet of the answer. If there is no answer, or every answer is marked and none was requested, the
        marker's task.

    Raises:
        NotFound: the person does not mark in the study.
    """
    require(person, Action.MARK_ANSWERS)
    role = _find_marker_role(db, person=person, study_id=study_id)
    study = load_study(db, study_id=study_id)
    questions = _load_open_questions(db, study)
    answers = _list_answers(db, study=study, questions=questions)
    marks = _load_marks(db, study, role)
    task = _build_task(study, role, answers, marks)
    index = next((index for index, open_answer in enumerate(answers) if open_answer.id == answer), None)
    if index is None:
        index = next(
            (index for index, open_answer in enumerate(answers) if _find_mark(marks, open_answer) is None),
            None,
        )
    if index is None:
        return task
    shown_answer = answers[index]
    case_number, question = questions[shown_answer.id.case_id]
    latest = marks.get(shown_answer.id)
    exam_row_id = load_blind_case(db, case_id=shown_answer.id.case_id).exam_row_id
    others = (*answers[index + 1 :], *answers[:index])
    return MarkingSheet(
        task=task,
        answer=shown_answer,
        case_number=case_number,
        question=question,
        exam_row_id=exam_row_id,
        radiographs=load_exam_without_information(db, exam_id=exam_row_id).radiographs,
        number=index + 1,
        mark=_find_mark(marks, shown_answer),
        revision=latest.revision if latest else 0,
        previous=answers[index - 1] if index else None,
        next=answers[index + 1] if index + 1 < len(answers) else None,
        next_unmarked=next(
            (open_answer for open_answer in others if _find_mark(marks, open_answer) is None), None
        ),
    )


def load_marking_image(db: Session, *, person: Person, exam_row_id: int, radiograph_key: str) -> StoredImage:
    """Return the image file of a radiograph, for a marker of a study with an open question on the exam.

    Raises:
        NotAllowed: the person does not mark in any such study.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    require(person, Action.MARK_ANSWERS)
    if not any(
        case.exam_row_id == exam_row_id and case.kind is CaseKind.SCORED and case.format.is_free_text
        for study_id, _ in mark_storage.list_marker_roles(db, person_id=person.id)
        for case in list_blind_cases(db, study_id=study_id)
    ):
        raise NotAllowed(f"{person.display_name} marks no answers about exam {exam_row_id}.")
    return load_stored_image(db, exam_row_id=exam_row_id, radiograph_key=radiograph_key)


def mark_answer(
    db: Session,
    *,
    person: Person,
    study_id: int,
    answer: AnswerId,
    revision: int,
    mark: AnswerMark | None,
    now: datetime,
) -> MarkRevision:
    """Store a mark of an open answer, or undo the present one.

    Args:
        db: a session for writing.
        person: the marker.
        study_id: the id of the study.
        answer: the answer.
        revision: 1 for the first mark, otherwise the next number.
        mark: the mark; None to undo the present one, so that the answer is not marked.
        now: the current time.

    Returns:
        The stored mark. A repeated request with the same revision and mark stores nothing.

    Raises:
        NotFound: the person does not mark in the study, or the study has no such answer to mark.
        StaleRevision: the answer was marked meanwhile, in another tab or by the previous marker.
    """
    require(person, Action.MARK_ANSWERS)
    role = _find_marker_role(db, person=person, study_id=study_id)
    lock_study_shared(db, study_id=study_id)
    study = load_study(db, study_id=study_id)
    questions = _load_open_questions(db, study)
    if answer not in {open_answer.id for open_answer in _list_answers(db, study=study, questions=questions)}:
        raise NotFound(f"{study.name} no longer has this answer. Reload the page to continue.")
    return _save_mark(
        db, person=person, study=study, role=role, case_number=questions[answer.case_id][0],
        answer=answer, revision=revision, mark=mark, now=now,
    )  # fmt: skip


def import_marks(
    db: Session, *, person: Person, study: str, marks: dict[tuple[str, str], AnswerMark], now: datetime
) -> int:
    """Store the marks that a person wrote to a file, all or none.

    Args:
        db: a session for writing.
        person: the marker.
        study: the name of the study.
        marks: the marks by question id and text of the answer.
        now: the current time.

    Returns:
        The number of new or changed marks.

    Raises:
        NotFound: the study does not exist, or the person does not mark in it.
        InvalidValue: the study has no such answer to mark.
    """
    require(person, Action.MARK_ANSWERS)
    loaded_study = load_study(db, name=study, lock=True)
    role = _find_marker_role(db, person=person, study_id=loaded_study.id)
    questions = _load_open_questions(db, loaded_study)
    answers_to_mark = {answer.id for answer in _list_answers(db, study=loaded_study, questions=questions)}
    case_ids = {question.id: case_id for case_id, (_, question) in questions.items()}
    stored_marks = _load_marks(db, loaded_study, role)
    count = 0
    for (question_id, text), mark in marks.items():
        case_id = case_ids.get(question_id)
        answer = None if case_id is None else identify_answer(case_id, text)
        if answer is None or answer not in answers_to_mark:
            raise InvalidValue(
                "answer",
                f"{text[:60]!r} to question {question_id!r} is not an answer to be marked in {study}; "
                "`study marks` lists them",
            )
        latest = stored_marks.get(answer)
        if latest is not None and latest.mark is mark:
            continue
        _save_mark(
            db, person=person, study=loaded_study, role=role, case_number=questions[answer.case_id][0],
            answer=answer, revision=(latest.revision if latest else 0) + 1, mark=mark, now=now,
        )  # fmt: skip
        count += 1
    return count


def _check_may_mark(
    db: Session, *, study: ReaderStudy, person: Person, markers: dict[MarkerRole, Marker], role: MarkerRole
) -> None:
    if not person.may(Action.MARK_ANSWERS):
        raise Refused(
            f"{person.name} may not mark answers. Choose a person with the role reviewer, or ask an admin "
            "for the role."
        )
    if any(reader.person_id == person.id for reader in list_readers(db, study_id=study.id)):
        raise Refused(f"{person.name} is a reader of this study, so they cannot mark its answers.")
    for marker in markers.values():
        if marker.person_id == person.id and marker.role is not role:
            raise Refused(f"{person.name} is the {marker.role.label} of this study. Choose another person.")


def _find_marker_role(db: Session, *, person: Person, study_id: int) -> MarkerRole:
    roles = dict(mark_storage.list_marker_roles(db, person_id=person.id))
    if study_id not in roles:
        raise NotFound(f"{person.display_name} does not mark answers of reader study {study_id}.")
    return roles[study_id]


def _load_open_questions(db: Session, study: ReaderStudy) -> dict[int, tuple[int, Question]]:
    """Return (number, question) of the scored cases with an open question, by case id."""
    return {
        case.blind_case.id: (case.blind_case.number, case.question)
        for case in list_cases(db, study_id=study.id)
        if case.scored and case.question.format.is_free_text
    }


def _list_answers(
    db: Session, *, study: ReaderStudy, questions: dict[int, tuple[int, Question]]
) -> tuple[OpenAnswer, ...]:
    """Return the answers to be marked; none if the protocol scores by exact match."""
    protocol = load_current_protocol(db, study_id=study.id).protocol
    if not protocol.marks_open_answers:
        return ()
    model_names = [
        model.name
        for model in list_models(db, dataset_id=study.dataset_id)
        if protocol.includes_model(model.name)
    ]
    return list_answers_to_mark(
        mark_storage.iterate_open_answers(db, study_id=study.id, model_names=model_names),
        {case_id: question for case_id, (_, question) in questions.items()},
    )


def _load_marks(db: Session, study: ReaderStudy, role: MarkerRole) -> dict[AnswerId, MarkRevision]:
    return {
        revision.answer: revision
        for revision in mark_storage.list_latest_marks(db, study_id=study.id, role=role)
    }


def _find_mark(marks: dict[AnswerId, MarkRevision], answer: OpenAnswer) -> AnswerMark | None:
    revision = marks.get(answer.id)
    return None if revision is None else revision.mark


def _build_task(
    study: ReaderStudy,
    role: MarkerRole,
    answers: tuple[OpenAnswer, ...],
    marks: dict[AnswerId, MarkRevision],
) -> MarkingTask:
    revisions = [marks[answer.id] for answer in answers if _find_mark(marks, answer) is not None]
    last = max(revisions, key=lambda revision: revision.marked_at, default=None)
    return MarkingTask(study=study, role=role, total=len(answers), done=len(revisions), last=last)


def _save_mark(
    db: Session,
    *,
    person: Person,
    study: ReaderStudy,
    role: MarkerRole,
    case_number: int,
    answer: AnswerId,
    revision: int,
    mark: AnswerMark | None,
    now: datetime,
) -> MarkRevision:
    latest = _load_marks(db, study, role).get(answer)
    if latest is not None and latest.revision == revision and latest.mark is mark:
        return latest
    if revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(
            "Not saved: this answer was marked meanwhile, in another tab or by another person. Check the "
            "mark that is shown now."
        )
    saved = MarkRevision(
        study_id=study.id,
        answer=answer,
        role=role,
        revision=revision,
        mark=mark,
        marked_by=person.id,
        marked_at=now,
    )
    try:
        mark_storage.add_mark(db, revision=saved)
    except AlreadyThere as error:
        raise StaleRevision(
            "Not saved: this answer was marked meanwhile, in another tab. Check the mark that is shown now."
        ) from error
    record_action(
        db,
        by=person,
        action=MARK_ANSWER,
        subject=mark_subject(study_id=study.id, case_number=case_number),
        new=mark_to_plain(saved),
        now=now,
    )
    return saved
