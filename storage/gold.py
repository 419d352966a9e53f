"""What a release is made from: each judged question with its exam and everybody's latest verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from sqlalchemy import func, select
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
from storage.verdicts import verdict_from_row

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


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
    for start in range(0, len(numbers), _CHUNK):
        yield from _chunk(db, numbers[start : start + _CHUNK], of_batch, with_report=with_report)


def count_unjudged(db: Session, *, batches: Sequence[Batch]) -> int:
    """How many questions of these batches nobody has judged."""
    ids = [batch.id for batch in batches]
    judged = select(VerdictRow.question_id).where(VerdictRow.batch_id.in_(ids))  # type: ignore[attr-defined]  # a column
    statement = select(func.count(BatchQuestionRow.question_id.distinct())).where(  # type: ignore[attr-defined]  # a column
        BatchQuestionRow.batch_id.in_(ids),  # type: ignore[attr-defined]  # a column
        BatchQuestionRow.question_id.not_in(judged),  # type: ignore[attr-defined]  # a column
    )
    return db.execute(statement).scalar_one()


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
    db: Session, numbers: list[int], of_batch: dict[int, Batch], *, with_report: bool
) -> Iterator[JudgedQuestion]:
    judgements = _judgements(db, numbers, of_batch)
    strata = _strata(db, numbers, list(of_batch))
    settled = _settled(db, numbers, of_batch)
    same_box = {number: rules_of(db, batch_id=number).rules.same_box for number in of_batch}
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
    statement = (
        select(*VerdictRow.__table__.c)  # type: ignore[attr-defined]  # SQLModel's table
        .where(VerdictRow.question_id.in_(numbers), VerdictRow.batch_id.in_(of_batch))  # type: ignore[attr-defined]  # these are columns
        .order_by(VerdictRow.question_id, VerdictRow.person_id, VerdictRow.batch_id, VerdictRow.revision)
    )
    last: dict[int, dict[int, Judgement]] = defaultdict(dict)
    for (question, person, batch), rows in groupby(
        db.execute(statement), key=lambda row: (row.question_id, row.person_id, row.batch_id)
    ):
        *_, newest = rows  # the highest revision
        judgement = Judgement(
            verdict=verdict_from_row(newest),
            batch=of_batch[batch].name,
            parts=of_batch[batch].settings.parts,
        )
        before = last[question].get(person)
        if before is None or before.verdict.given_at <= judgement.verdict.given_at:
            last[question][person] = judgement
    return {number: tuple(by_person.values()) for number, by_person in last.items()}


def _strata(db: Session, numbers: list[int], batch_ids: list[int]) -> dict[int, tuple[str, float]]:
    statement = (
        select(BatchQuestionRow.question_id, BatchQuestionRow.stratum, BatchQuestionRow.inclusion_probability)
        .where(BatchQuestionRow.question_id.in_(numbers), BatchQuestionRow.batch_id.in_(batch_ids))  # type: ignore[attr-defined]  # these are columns
        .order_by(BatchQuestionRow.batch_id.desc())  # type: ignore[attr-defined]  # a column
    )
    # The first batch comes last, and so stays.
    return {row[0]: (row[1], row[2]) for row in db.execute(statement)}


def _exams(db: Session, numbers: list[int], *, with_report: bool) -> dict[int, Exam]:
    """The exam of each question, one object an exam."""
    statement = select(QuestionRow.id, QuestionRow.exam_id).where(QuestionRow.id.in_(numbers))  # type: ignore[attr-defined]  # a column
    exam_of = {row[0]: row[1] for row in db.execute(statement)}
    ids = sorted(set(exam_of.values()))
    radiographs = _radiographs(db, ids)
    columns = [ExamRow.id, ExamRow.key, ExamRow.patient, ExamRow.indication, ExamRow.age, ExamRow.sex]
    if with_report:
        columns.append(ExamRow.report)
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
        for row in db.execute(select(*columns).where(ExamRow.id.in_(ids)))  # type: ignore[attr-defined]  # a column
    }
    return {number: exams[exam] for number, exam in exam_of.items()}


def _radiographs(db: Session, exam_ids: list[int]) -> dict[int, list[Radiograph]]:
    statement = (
        select(
            RadiographRow.exam_id,
            RadiographRow.key,
            RadiographRow.file,
            RadiographRow.view,
            RadiographRow.image_sha256,
            ImageRow.rows,
            ImageRow.columns,
        )
        .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
        .where(RadiographRow.exam_id.in_(exam_ids))  # type: ignore[attr-defined]  # a column
        .order_by(RadiographRow.exam_id, RadiographRow.position)
    )
    found: dict[int, list[Radiograph]] = defaultdict(list)
    for row in db.execute(statement):
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
