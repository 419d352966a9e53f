"""What a release is made from: each judged question with its exam and everybody's latest verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlmodel import Session

from domain.adjudications import Adjudication
from domain.batches import Batch
from domain.exams import Exam, Radiograph
from domain.gold import JudgedQuestion, Judgement
from domain.vocabulary import Sex, View
from storage.adjudications import latest_adjudications, rules_of
from storage.ordinary import ordinary_question
from storage.questions import load_questions
from storage.rows import (
    AdjudicationRow,
    BatchQuestionRow,
    ExamRow,
    ImageRow,
    PersonRow,
    QuestionRow,
    RadiographRow,
    VerdictRow,
)
from storage.verdicts import VERDICT_COLUMNS, verdict_from_columns

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build
# Built once, of the tables' columns: the ORM would look at every value of every row again.
_QUESTION, _EXAM, _RADIOGRAPH, _IMAGE, _VERDICT, _PLACE = (
    row.__table__.c  # type: ignore[attr-defined]  # SQLModel's table
    for row in (QuestionRow, ExamRow, RadiographRow, ImageRow, VerdictRow, BatchQuestionRow)
)
_NUMBERS, _BATCHES = bindparam("numbers", expanding=True), bindparam("batches", expanding=True)
_VERDICTS = (
    select(*(_VERDICT[name] for name in VERDICT_COLUMNS))
    .where(_VERDICT.question_id.in_(_NUMBERS), _VERDICT.batch_id.in_(_BATCHES))
    .order_by(_VERDICT.question_id, _VERDICT.person_id, _VERDICT.batch_id, _VERDICT.revision)
)
_STRATA = (
    select(_PLACE.question_id, _PLACE.stratum, _PLACE.inclusion_probability)
    .where(_PLACE.question_id.in_(_NUMBERS), _PLACE.batch_id.in_(_BATCHES))
    .order_by(_PLACE.batch_id.desc())
)
_EXAM_OF = select(_QUESTION.id, _QUESTION.exam_id).where(_QUESTION.id.in_(_NUMBERS))
_EXAMS = select(_EXAM.id, _EXAM.key, _EXAM.patient, _EXAM.indication, _EXAM.age, _EXAM.sex).where(
    _EXAM.id.in_(_NUMBERS)
)
_RADIOGRAPHS = (
    select(
        _RADIOGRAPH.exam_id, _RADIOGRAPH.key, _RADIOGRAPH.file, _RADIOGRAPH.view, _RADIOGRAPH.image_sha256,
        _IMAGE.rows, _IMAGE.columns,
    )
    .select_from(RadiographRow)
    .outerjoin(ImageRow, _IMAGE.sha256 == _RADIOGRAPH.image_sha256)
    .where(_RADIOGRAPH.exam_id.in_(_NUMBERS))
    .order_by(_RADIOGRAPH.exam_id, _RADIOGRAPH.position)
)  # fmt: skip


def judged_questions(
    db: Session, *, batches: Sequence[Batch], with_report: bool = False
) -> Iterator[JudgedQuestion]:
    """The questions that were judged in these batches, in the order in which they came in.

    Of each person the verdict that was given last counts: the highest revision in a batch, and of several
    batches the latest by its time. Five hundred questions are in memory at a time.
    """
    of_batch = {batch.id: batch for batch in batches}
    judged = (
        select(VerdictRow.question_id)
        .where(
            VerdictRow.batch_id.in_(of_batch),  # type: ignore[attr-defined]  # a column
            ordinary_question(VerdictRow.question_id),
        )
        .distinct()
        .order_by(VerdictRow.question_id)
    )
    numbers = list(db.execute(judged).scalars())
    same_box = {number: rules_of(db, batch_id=number).rules.same_box for number in of_batch}
    for start in range(0, len(numbers), _CHUNK):
        yield from _chunk(db, numbers[start : start + _CHUNK], of_batch, same_box, with_report=with_report)


def count_unjudged(db: Session, *, batches: Sequence[Batch]) -> int:
    """How many questions of these batches nobody has judged."""
    ids = [batch.id for batch in batches]
    judged = select(VerdictRow.question_id).where(VerdictRow.batch_id.in_(ids))  # type: ignore[attr-defined]  # a column
    statement = select(func.count(BatchQuestionRow.question_id.distinct())).where(  # type: ignore[attr-defined]  # a column
        BatchQuestionRow.batch_id.in_(ids),  # type: ignore[attr-defined]  # a column
        BatchQuestionRow.question_id.not_in(judged),  # type: ignore[attr-defined]  # a column
    )
    return db.execute(statement).scalar_one()


def judged_version(db: Session, *, batches: Sequence[Batch]) -> tuple[int | datetime | None, ...]:
    """As long as it stays the same, so does what these batches would release."""
    ids = [batch.id for batch in batches]
    counts: list[int | datetime | None] = []
    for table in (VerdictRow, AdjudicationRow, BatchQuestionRow):
        of_these = table.__table__.c.batch_id.in_(ids)  # type: ignore[attr-defined]  # SQLModel's table
        counts.append(db.execute(select(func.count()).select_from(table).where(of_these)).scalar_one())
    return (*counts, last_verdict_at(db, batches=batches))


def drawn_by_stratum(db: Session, *, batches: Sequence[Batch]) -> dict[str, int]:
    """How many questions these batches have, by the stratum in the first batch that drew them."""
    of_these = BatchQuestionRow.batch_id.in_([batch.id for batch in batches])  # type: ignore[attr-defined]  # a column
    first = (
        select(BatchQuestionRow.question_id, func.min(BatchQuestionRow.batch_id).label("batch_id"))
        .where(of_these)
        .group_by(BatchQuestionRow.question_id)
        .subquery()
    )
    statement = (
        select(BatchQuestionRow.stratum, func.count())
        .join(
            first,
            (first.c.question_id == BatchQuestionRow.question_id)
            & (first.c.batch_id == BatchQuestionRow.batch_id),
        )
        .group_by(BatchQuestionRow.stratum)
    )
    return {row[0]: row[1] for row in db.execute(statement)}


def reviewers(db: Session, *, batches: Sequence[Batch]) -> dict[int, tuple[str, str]]:
    """(sign-in name, display name) of everybody who judged or settled in these batches, by number."""
    ids = [each.id for each in batches]
    judged = select(VerdictRow.person_id).where(
        VerdictRow.batch_id.in_(ids),  # type: ignore[attr-defined]  # a column
        ordinary_question(VerdictRow.question_id),
    )
    statement = (
        select(PersonRow.id, PersonRow.name, PersonRow.display_name)
        .where(
            PersonRow.id.in_(judged)  # type: ignore[union-attr]  # a column
            | PersonRow.id.in_(select(AdjudicationRow.person_id).where(AdjudicationRow.batch_id.in_(ids)))  # type: ignore[union-attr,attr-defined]  # these are columns
        )
        .order_by(PersonRow.id)
    )
    return {row[0]: (row[1], row[2]) for row in db.execute(statement)}


def _chunk(
    db: Session,
    numbers: list[int],
    of_batch: dict[int, Batch],
    same_box: dict[int, float],
    *,
    with_report: bool,
) -> Iterator[JudgedQuestion]:
    judgements = _judgements(db, numbers, of_batch)
    strata = _strata(db, numbers, list(of_batch))
    settled = _settled(db, numbers, of_batch)
    exams = _exams(db, numbers, with_report=with_report)
    for number, question in load_questions(db, question_ids=numbers):
        stratum, probability = strata[number]
        adjudication = settled.get(number)
        batches = [each.verdict.batch_id for each in judgements[number]]
        yield JudgedQuestion(
            question=question,
            exam=exams[number],
            judgements=judgements[number],
            stratum=stratum,
            inclusion_probability=probability,
            adjudication=adjudication,
            settled_in=of_batch[adjudication.batch_id].name if adjudication else "",
            same_box=same_box[min(batches)],
        )


def _settled(db: Session, numbers: list[int], of_batch: dict[int, Batch]) -> dict[int, Adjudication]:
    """The latest adjudication of each question that has one; of several batches the latest by its time."""
    found: dict[int, Adjudication] = {}
    every = latest_adjudications(db, batch_ids=list(of_batch), question_ids=numbers)
    for each in sorted(every.values(), key=lambda each: each.given_at):
        found[each.question_id] = each
    return found


def _judgements(
    db: Session, numbers: list[int], of_batch: dict[int, Batch]
) -> dict[int, tuple[Judgement, ...]]:
    asked = {batch.id: (batch.name, batch.settings.parts) for batch in of_batch.values()}
    last: dict[int, dict[int, Judgement]] = defaultdict(dict)
    rows = db.execute(_VERDICTS, {"numbers": numbers, "batches": list(of_batch)})
    # The highest revision comes last, and so stays.
    newest = {(row[1], row[2], row[0]): row for row in rows}
    for (question, person, batch), row in newest.items():
        name, parts = asked[batch]
        judgement = Judgement(verdict=verdict_from_columns(row), batch=name, parts=parts)
        before = last[question].get(person)
        if before is None or before.verdict.given_at <= judgement.verdict.given_at:
            last[question][person] = judgement
    return {number: tuple(by_person.values()) for number, by_person in last.items()}


def _strata(db: Session, numbers: list[int], batch_ids: list[int]) -> dict[int, tuple[str, float]]:
    # The first batch comes last, and so stays.
    rows = db.execute(_STRATA, {"numbers": numbers, "batches": batch_ids})
    return {number: (stratum, probability) for number, stratum, probability in rows}


def _exams(db: Session, numbers: list[int], *, with_report: bool) -> dict[int, Exam]:
    """The exam of each question, one object an exam."""
    exam_of = {row[0]: row[1] for row in db.execute(_EXAM_OF, {"numbers": numbers})}
    ids = sorted(set(exam_of.values()))
    radiographs = _radiographs(db, ids)
    statement = _EXAMS.add_columns(_EXAM.report) if with_report else _EXAMS
    exams = {
        row.id: Exam(
            id=row.key,
            patient=row.patient,
            indication=row.indication,
            age=row.age,
            sex=Sex(row.sex) if row.sex else None,
            report=row.report if with_report else None,
            radiographs=tuple(radiographs[row.id]),
        )
        for row in db.execute(statement, {"numbers": ids})
    }
    return {number: exams[exam] for number, exam in exam_of.items()}


def _radiographs(db: Session, exam_ids: list[int]) -> dict[int, list[Radiograph]]:
    found: dict[int, list[Radiograph]] = defaultdict(list)
    for row in db.execute(_RADIOGRAPHS, {"numbers": exam_ids}):
        found[row.exam_id].append(
            Radiograph(
                id=row.key,
                file=row.file,
                view=View(row.view),
                rows=row.rows,
                columns=row.columns,
                sha256=row.image_sha256,
            )
        )
    return found


def exam_ties(db: Session, *, batches: Sequence[Batch]) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """(exam, patient, SHA-256 of its images) of every exam with a question judged in these batches."""
    judged = (
        select(QuestionRow.exam_id)
        .join(VerdictRow, VerdictRow.question_id == QuestionRow.id)
        .where(
            VerdictRow.batch_id.in_([each.id for each in batches]),  # type: ignore[attr-defined]  # a column
            ordinary_question(VerdictRow.question_id),
        )
        .distinct()
    )
    statement = (
        select(ExamRow.key, ExamRow.patient, RadiographRow.image_sha256)
        .join(RadiographRow, RadiographRow.exam_id == ExamRow.id)
        .where(ExamRow.id.in_(judged))  # type: ignore[union-attr]  # a column
        .order_by(ExamRow.id, RadiographRow.position)
    )
    found: dict[str, tuple[str | None, list[str]]] = {}
    for key, patient, sha256 in db.execute(statement):
        images = found.setdefault(key, (patient, []))[1]
        if sha256:
            images.append(sha256)
    return [(key, patient, tuple(images)) for key, (patient, images) in found.items()]


def last_verdict_at(db: Session, *, batches: Sequence[Batch]) -> datetime | None:
    """When the last verdict in these batches was given."""
    statement = select(func.max(VerdictRow.given_at)).where(
        VerdictRow.batch_id.in_([each.id for each in batches]),  # type: ignore[attr-defined]  # a column
        ordinary_question(VerdictRow.question_id),
    )
    return db.execute(statement).scalar_one()
