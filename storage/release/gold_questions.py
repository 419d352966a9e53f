"""The input of a release: judged questions with their exams and each person's latest verdict.

A release may have hundreds of thousands of questions. Table columns are therefore selected in chunks; with
mapped columns the ORM would process every value again.
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
from records.verdicts import correction_from_plain, errors_from_json, image_display_from_column
from storage.intake.provenance import load_provenances
from storage.intake.questions import load_questions_with_exams
from storage.review.adjudications import load_adjudicated_questions, load_latest_adjudications, load_rules
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import ExamRow, ImageRow, RadiographRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.exclude_copies import exclude_hidden

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build
_EXAM_TABLE, _RADIOGRAPH_TABLE, _IMAGE_TABLE, _VERDICT_TABLE, _BATCH_QUESTION_TABLE = (
    row.__table__ for row in (ExamRow, RadiographRow, ImageRow, VerdictRow, BatchQuestionRow)
)
_EXAM, _RADIOGRAPH, _IMAGE = _EXAM_TABLE.c, _RADIOGRAPH_TABLE.c, _IMAGE_TABLE.c
_VERDICT, _BATCH_QUESTION = _VERDICT_TABLE.c, _BATCH_QUESTION_TABLE.c
_NUMBERS: BindParameter[int] = bindparam("numbers", expanding=True)
_BATCHES: BindParameter[int] = bindparam("batches", expanding=True)
_SELECT_VERDICTS = (
    select(
        _VERDICT.question_id, _VERDICT.person_id, _VERDICT.batch_id, _VERDICT.revision, _VERDICT.decision,
        _VERDICT.given_at, _VERDICT.errors, _VERDICT.correction, _VERDICT.comment, _VERDICT.why,
        _VERDICT.image,
    )
    .where(_VERDICT.question_id.in_(_NUMBERS), _VERDICT.batch_id.in_(_BATCHES))
)  # fmt: skip
_SELECT_STRATA = (
    select(_BATCH_QUESTION.question_id, _BATCH_QUESTION.stratum, _BATCH_QUESTION.inclusion_probability)
    .where(_BATCH_QUESTION.question_id.in_(_NUMBERS), _BATCH_QUESTION.batch_id.in_(_BATCHES))
    .order_by(_BATCH_QUESTION.batch_id.desc())
)
_SELECT_EXAMS = select(_EXAM.id, _EXAM.key, _EXAM.patient, _EXAM.indication, _EXAM.age, _EXAM.sex).where(
    _EXAM.id.in_(_NUMBERS)
)
_SELECT_RADIOGRAPHS = (
    select(
        _RADIOGRAPH.exam_id, _RADIOGRAPH.key, _RADIOGRAPH.file, _RADIOGRAPH.view, _IMAGE.rows, _IMAGE.columns,
        _RADIOGRAPH.image_sha256,
    )
    .select_from(_RADIOGRAPH_TABLE.outerjoin(_IMAGE_TABLE, _IMAGE.sha256 == _RADIOGRAPH.image_sha256))
    .where(_RADIOGRAPH.exam_id.in_(_NUMBERS))
    .order_by(_RADIOGRAPH.exam_id, _RADIOGRAPH.position)
)  # fmt: skip
# There are many rows but few distinct values, so each value is converted once.
_decision_of, _view_of, _sex_of = cache(Decision), cache(View), cache(Sex)


def iterate_judged_questions(
    db: Session,
    *,
    batches: Sequence[Batch],
    with_report: bool = False,
    include: Collection[int] | None = None,
) -> Iterator[JudgedQuestion]:
    """Yield the questions that were judged in these batches, in the order of import.

    If ``include`` is given, only questions with these ids are yielded. A person's latest verdict counts: the
    highest revision within a batch, and the latest by time among several batches. 500 questions are in memory
    at a time.
    """
    batches_by_id = {batch.id: batch for batch in batches}
    judged_ids = (
        select(_VERDICT.question_id)
        .where(_VERDICT.batch_id.in_(batches_by_id), exclude_hidden(_VERDICT.question_id))
        .distinct()
        .order_by(_VERDICT.question_id)
    )
    numbers = [
        question_row_id
        for question_row_id in db.execute(judged_ids).scalars()
        if include is None or question_row_id in include
    ]
    box_overlap_by_batch = {
        batch_id: load_rules(db, batch_id=batch_id).rules.same_box_iou for batch_id in batches_by_id
    }
    adjudicated_ids = load_adjudicated_questions(db, batch_ids=list(batches_by_id))
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        adjudications = _load_adjudications(
            db,
            [question_row_id for question_row_id in chunk if question_row_id in adjudicated_ids],
            batches_by_id,
        )
        yield from _load_chunk(
            db.connection(),
            chunk,
            batches_by_id,
            box_overlap_by_batch,
            adjudications,
            with_report=with_report,
        )


def _load_chunk(
    connection: Connection,
    numbers: list[int],
    batches_by_id: dict[int, Batch],
    box_overlap_by_batch: dict[int, float],
    adjudications: dict[int, Adjudication],
    *,
    with_report: bool,
) -> Iterator[JudgedQuestion]:
    judgements, box_overlap_by_question = _load_judgements(
        connection, numbers, batches_by_id, box_overlap_by_batch
    )
    strata = connection.execute(_SELECT_STRATA, {"numbers": numbers, "batches": list(batches_by_id)}).all()
    # The first batch comes last and overwrites the others.
    strata_by_question = {number: (stratum, probability) for number, stratum, probability in strata}
    questions = load_questions_with_exams(connection, question_ids=numbers)
    exams = _load_exams(connection, sorted({exam_id for _, exam_id, _ in questions}), with_report=with_report)
    provenances = load_provenances(connection, question_ids=numbers)
    for number, exam_id, question in questions:
        stratum, probability = strata_by_question[number]
        adjudication = adjudications.get(number)
        yield JudgedQuestion(
            question=question,
            exam=exams[exam_id],
            judgements=judgements[number],
            stratum=stratum,
            inclusion_probability=probability,
            adjudication=adjudication,
            adjudicated_in=batches_by_id[adjudication.batch_id].name if adjudication else "",
            same_box_iou=box_overlap_by_question[number],
            provenance=provenances.get(number),
        )


def _load_adjudications(
    db: Session, numbers: list[int], batches_by_id: dict[int, Batch]
) -> dict[int, Adjudication]:
    """Return the latest adjudication of each question. Among several batches the latest by time counts."""
    latest: dict[int, Adjudication] = {}
    if not numbers:  # the usual case
        return latest
    adjudications = load_latest_adjudications(db, batch_ids=list(batches_by_id), question_ids=numbers)
    for adjudication in sorted(adjudications.values(), key=lambda adjudication: adjudication.given_at):
        latest[adjudication.question_row_id] = adjudication
    return latest


# ---------------------------------------------------------------------------------------------- verdicts
def _load_judgements(
    connection: Connection,
    numbers: list[int],
    batches_by_id: dict[int, Batch],
    box_overlap_by_batch: dict[int, float],
) -> tuple[dict[int, tuple[Judgement, ...]], dict[int, float]]:
    """Return each person's latest verdict by question, and the minimum overlap of equal boxes by question.

    The minimum overlap is the setting of the first of the batches in which these verdicts were given.
    """
    rows = connection.execute(_SELECT_VERDICTS, {"numbers": numbers, "batches": list(batches_by_id)}).all()
    rows_by_question: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        rows_by_question[row[0]].append(row)
    judgements = {}
    box_overlap_by_question = {}
    for number, question_rows in rows_by_question.items():
        latest = question_rows if len(question_rows) == 1 else _latest_per_person(question_rows)
        judgements[number] = tuple([_judgement_from_row(row, batches_by_id[row[2]]) for row in latest])
        box_overlap_by_question[number] = box_overlap_by_batch[min([row[2] for row in latest])]
    return judgements, box_overlap_by_question


def _latest_per_person(rows: Sequence[Any]) -> list[Any]:
    """Return each person's latest row, in the order of person ids."""
    ordered = sorted(rows, key=itemgetter(1, 2, 3))  # by person, batch and revision; the highest one counts
    latest_per_batch = {(row[1], row[2]): row for row in ordered}
    latest: dict[int, Any] = {}
    for row in latest_per_batch.values():
        previous = latest.get(row[1])
        if previous is None or previous[5] <= row[5]:
            latest[row[1]] = row
    return list(latest.values())


def _judgement_from_row(row: Sequence[Any], batch: Batch) -> Judgement:
    _, person, _, revision, decision, given_at, errors, correction, comment, why, image = row
    return Judgement(
        person_id=person,
        revision=revision,
        decision=_decision_of(decision),
        given_at=given_at,
        errors=errors_from_json(errors),
        correction=_parse_correction(correction),
        comment=comment,
        why=why,
        image=image_display_from_column(image),
        batch=batch.name,
        parts=batch.settings.parts,
    )


@lru_cache(maxsize=2_000)
def _parse_correction(text: str) -> Correction:
    return correction_from_plain(from_json(text))


# ------------------------------------------------------------------------------------------------- exams
def _load_exams(connection: Connection, numbers: list[int], *, with_report: bool) -> dict[int, Exam]:
    """Return the exams by id."""
    radiographs: dict[int, list[Radiograph]] = defaultdict(list)
    for exam, key, file, view, rows, columns, sha256 in connection.execute(
        _SELECT_RADIOGRAPHS, {"numbers": numbers}
    ).all():
        radiographs[exam].append(
            Radiograph(id=key, file=file, view=_view_of(view), rows=rows, columns=columns, sha256=sha256)
        )
    statement = _SELECT_EXAMS.add_columns(_EXAM.report) if with_report else _SELECT_EXAMS
    return {
        number: Exam(
            id=key,
            patient=patient,
            indication=indication,
            age=age,
            sex=_sex_of(sex) if sex else None,
            report=report[0] if report else None,
            radiographs=tuple(radiographs[number]),
        )
        for number, key, patient, indication, age, sex, *report in connection.execute(
            statement, {"numbers": numbers}
        ).all()
    }
