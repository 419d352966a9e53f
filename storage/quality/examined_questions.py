"""What the compliance checks read: questions with their exams, and the origins of generated questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import and_, select
from sqlmodel import Session

from domain.compliance import ExaminedQuestion
from domain.language_models import DataUse
from domain.provenance import Provenance
from domain.vocabulary import AnswerFormat
from records.provenance import provenance_from_json
from records.values import answer_from_json, answers_from_json, from_json
from storage.intake.provenance import load_provenances
from storage.rows.datasets import ExamRow, QuestionProvenanceRow, QuestionRow, RadiographRow
from storage.rows.language_models import ModelEndpointRow, ModelRunRow

_BLOCK = 10_000  # rows in memory at a time
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


def iterate_examined_questions(db: Session, *, dataset_id: int) -> Iterator[ExaminedQuestion]:
    """Yield the questions of a dataset by id, with the view of the exam's first radiograph."""
    statement = (
        select(
            QuestionRow.id, QuestionRow.format, QuestionRow.stem, QuestionRow.options, QuestionRow.answer,
            QuestionRow.also_right, QuestionRow.task, QuestionRow.difficulty, ExamRow.key, ExamRow.patient,
            ExamRow.age, ExamRow.sex, RadiographRow.view,
        )
        .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
        .outerjoin(RadiographRow, and_(RadiographRow.exam_id == ExamRow.id, RadiographRow.position == 0))
        .where(QuestionRow.dataset_id == dataset_id)
        .order_by(QuestionRow.id)
    )  # fmt: skip
    for row in db.connection().execute(statement, execution_options={"yield_per": _BLOCK}):
        yield ExaminedQuestion(
            number=row.id,
            # A patient and an exam with the same id are different clusters.
            patient=f"patient {row.patient}" if row.patient else f"exam {row.key}",
            format=AnswerFormat(row.format),
            stem=row.stem,
            options=tuple(from_json(row.options)),
            answer=answer_from_json(row.answer),
            also_right=answers_from_json(row.also_right),
            task=row.task or "",
            difficulty=row.difficulty or "",
            age=row.age or "",
            sex=row.sex or "",
            view="" if row.view in (None, "UNKNOWN") else row.view,
        )


def iterate_origins(db: Session, *, dataset_id: int) -> Iterator[tuple[int, Provenance]]:
    """Yield (question id, origin) of the questions of a dataset whose file states an origin."""
    statement = (
        select(QuestionProvenanceRow.question_id, QuestionProvenanceRow.content)
        .join(QuestionRow, QuestionRow.id == QuestionProvenanceRow.question_id)
        .where(QuestionRow.dataset_id == dataset_id)
        .order_by(QuestionProvenanceRow.question_id)
    )
    for row in db.connection().execute(statement, execution_options={"yield_per": _BLOCK}):
        yield row[0], provenance_from_json(row[1])


def list_questions_from_runs(db: Session, *, question_ids: Collection[int]) -> set[int]:
    """Return the ids of those questions that a model run of this workspace wrote."""
    numbers, run_names = sorted(question_ids), load_run_endpoints(db).keys()
    return {
        number
        for start in range(0, len(numbers), _CHUNK)
        for number, origin in load_provenances(
            db.connection(), question_ids=numbers[start : start + _CHUNK]
        ).items()
        if any(call.run in run_names for call in origin.calls)
    }


def load_run_endpoints(db: Session) -> dict[str, tuple[str, DataUse]]:
    """Return name and use of data of the endpoint of each model run, by the name of the run."""
    statement = select(ModelRunRow.name, ModelEndpointRow.name, ModelEndpointRow.data_use).join(
        ModelEndpointRow, ModelEndpointRow.id == ModelRunRow.endpoint_id
    )
    return {row[0]: (row[1], DataUse(row[2])) for row in db.execute(statement)}
