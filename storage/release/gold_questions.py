"""The input of a release: judged questions with their exams and each person's latest verdict.

A release may have hundreds of thousands of questions. Rows are therefore read as columns of the tables, in
chunks, because the ORM would process every value of every row again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select
from sqlmodel import Session

from domain.adjudications import Adjudication
from domain.batches import Batch
from domain.corrections import Correction
from domain.exams import Exam, Radiograph
from domain.gold import JudgedQuestion, Judgement
from domain.verdicts import Decision
from domain.vocabulary import Sex, View
from records.values import from_json
from records.verdicts import correction_from_plain, errors_from_text, image_display
from storage.intake.questions import questions_on_exams
from storage.review.adjudications import latest_adjudications, rules_of, settled_numbers
from storage.rows import BatchQuestionRow, ExamRow, ImageRow, RadiographRow, VerdictRow
from storage.sampling.ordinary import ordinary_question

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build
_EXAM_TABLE, _RADIOGRAPH_TABLE, _IMAGE_TABLE, _VERDICT_TABLE, _PLACE_TABLE = (
    row.__table__ for row in (ExamRow, RadiographRow, ImageRow, VerdictRow, BatchQuestionRow)
)
_EXAM, _RADIOGRAPH, _IMAGE = _EXAM_TABLE.c, _RADIOGRAPH_TABLE.c, _IMAGE_TABLE.c
_VERDICT, _PLACE = _VERDICT_TABLE.c, _PLACE_TABLE.c
_NUMBERS: BindParameter[int] = bindparam("numbers", expanding=True)
_BATCHES: BindParameter[int] = bindparam("batches", expanding=True)
_VERDICTS = (
    select(
        _VERDICT.question_id, _VERDICT.person_id, _VERDICT.batch_id, _VERDICT.revision, _VERDICT.decision,
        _VERDICT.given_at, _VERDICT.errors, _VERDICT.correction, _VERDICT.comment, _VERDICT.why,
        _VERDICT.image,
    )
    .where(_VERDICT.question_id.in_(_NUMBERS), _VERDICT.batch_id.in_(_BATCHES))
)  # fmt: skip
_STRATA = (
    select(_PLACE.question_id, _PLACE.stratum, _PLACE.inclusion_probability)
    .where(_PLACE.question_id.in_(_NUMBERS), _PLACE.batch_id.in_(_BATCHES))
    .order_by(_PLACE.batch_id.desc())
)
_EXAMS = select(_EXAM.id, _EXAM.key, _EXAM.patient, _EXAM.indication, _EXAM.age, _EXAM.sex).where(
    _EXAM.id.in_(_NUMBERS)
)
_RADIOGRAPHS = (
    select(
        _RADIOGRAPH.exam_id, _RADIOGRAPH.key, _RADIOGRAPH.file, _RADIOGRAPH.view, _IMAGE.rows, _IMAGE.columns,
        _RADIOGRAPH.image_sha256,
    )
    .select_from(_RADIOGRAPH_TABLE.outerjoin(_IMAGE_TABLE, _IMAGE.sha256 == _RADIOGRAPH.image_sha256))
    .where(_RADIOGRAPH.exam_id.in_(_NUMBERS))
    .order_by(_RADIOGRAPH.exam_id, _RADIOGRAPH.position)
)  # fmt: skip
# There are few values and many rows, so each member is created once.
_decision, _view, _sex = cache(Decision), cache(View), cache(Sex)


def judged_questions(
    db: Session,
    *,
    batches: Sequence[Batch],
    with_report: bool = False,
    only: Collection[int] | None = None,
) -> Iterator[JudgedQuestion]:
    """Yield the questions that were judged in these batches, in the order of import.

    If ``only`` is given, other question numbers are left out. A person's latest verdict counts: the highest
    revision in a batch, and the latest by time among several batches. 500 questions are in memory at a time.
    """
    of_batch = {batch.id: batch for batch in batches}
    judged = (
        select(_VERDICT.question_id)
        .where(_VERDICT.batch_id.in_(of_batch), ordinary_question(_VERDICT.question_id))
        .distinct()
        .order_by(_VERDICT.question_id)
    )
    numbers = [each for each in db.execute(judged).scalars() if only is None or each in only]
    same_box = {number: rules_of(db, batch_id=number).rules.same_box for number in of_batch}
    disputed = settled_numbers(db, batch_ids=list(of_batch))
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        settled = _settled(db, [each for each in chunk if each in disputed], of_batch)
        yield from _chunk(db.connection(), chunk, of_batch, same_box, settled, with_report=with_report)


def _chunk(
    connection: Connection,
    numbers: list[int],
    of_batch: dict[int, Batch],
    same_box: dict[int, float],
    settled: dict[int, Adjudication],
    *,
    with_report: bool,
) -> Iterator[JudgedQuestion]:
    judgements, boxes_by = _judgements(connection, numbers, of_batch, same_box)
    strata = connection.execute(_STRATA, {"numbers": numbers, "batches": list(of_batch)}).all()
    # The first batch comes last and overwrites the others.
    places = {number: (stratum, probability) for number, stratum, probability in strata}
    questions = questions_on_exams(connection, question_ids=numbers)
    exams = _exams(connection, sorted({exam for _, exam, _ in questions}), with_report=with_report)
    for number, exam, question in questions:
        stratum, probability = places[number]
        adjudication = settled.get(number)
        yield JudgedQuestion(
            question=question,
            exam=exams[exam],
            judgements=judgements[number],
            stratum=stratum,
            inclusion_probability=probability,
            adjudication=adjudication,
            settled_in=of_batch[adjudication.batch_id].name if adjudication else "",
            same_box=boxes_by[number],
        )


def _settled(db: Session, numbers: list[int], of_batch: dict[int, Batch]) -> dict[int, Adjudication]:
    """Return the latest adjudications by question; among several batches, the latest by time."""
    found: dict[int, Adjudication] = {}
    if not numbers:  # the usual case
        return found
    every = latest_adjudications(db, batch_ids=list(of_batch), question_ids=numbers)
    for each in sorted(every.values(), key=lambda each: each.given_at):
        found[each.question_id] = each
    return found


# ---------------------------------------------------------------------------------------------- verdicts
def _judgements(
    connection: Connection, numbers: list[int], of_batch: dict[int, Batch], same_box: dict[int, float]
) -> tuple[dict[int, tuple[Judgement, ...]], dict[int, float]]:
    """Return each person's latest verdict by question, and the overlap from which boxes count as the same.

    The overlap is that of the first batch among those in which these verdicts were given.
    """
    rows = connection.execute(_VERDICTS, {"numbers": numbers, "batches": list(of_batch)}).all()
    of_question: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        of_question[row[0]].append(row)
    found = {}
    boxes_by = {}
    for number, given in of_question.items():
        last = given if len(given) == 1 else _last_of_each(given)
        found[number] = tuple([_judgement(row, of_batch[row[2]]) for row in last])
        boxes_by[number] = same_box[min([row[2] for row in last])]
    return found, boxes_by


def _last_of_each(rows: Sequence[Any]) -> list[Any]:
    """Return each person's latest row, in the order of the people's numbers."""
    ordered = sorted(rows, key=itemgetter(1, 2, 3))  # by person, batch and revision; the highest one counts
    newest = {(row[1], row[2]): row for row in ordered}
    last: dict[int, Any] = {}
    for row in newest.values():
        before = last.get(row[1])
        if before is None or before[5] <= row[5]:
            last[row[1]] = row
    return list(last.values())


def _judgement(row: Sequence[Any], batch: Batch) -> Judgement:
    _, person, _, revision, decision, given_at, errors, correction, comment, why, image = row
    return Judgement(
        person_id=person,
        revision=revision,
        decision=_decision(decision),
        given_at=given_at,
        errors=errors_from_text(errors),
        correction=_correction(correction),
        comment=comment,
        why=why,
        image=image_display(image),
        batch=batch.name,
        parts=batch.settings.parts,
    )


@lru_cache(maxsize=2_000)
def _correction(text: str) -> Correction:
    return correction_from_plain(from_json(text))


# ------------------------------------------------------------------------------------------------- exams
def _exams(connection: Connection, numbers: list[int], *, with_report: bool) -> dict[int, Exam]:
    """Return the exams by number."""
    radiographs: dict[int, list[Radiograph]] = defaultdict(list)
    for exam, key, file, view, rows, columns, sha256 in connection.execute(
        _RADIOGRAPHS, {"numbers": numbers}
    ).all():
        radiographs[exam].append(
            Radiograph(id=key, file=file, view=_view(view), rows=rows, columns=columns, sha256=sha256)
        )
    statement = _EXAMS.add_columns(_EXAM.report) if with_report else _EXAMS
    return {
        number: Exam(
            id=key,
            patient=patient,
            indication=indication,
            age=age,
            sex=_sex(sex) if sex else None,
            report=report[0] if report else None,
            radiographs=tuple(radiographs[number]),
        )
        for number, key, patient, indication, age, sex, *report in connection.execute(
            statement, {"numbers": numbers}
        ).all()
    }
