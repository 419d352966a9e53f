"""Storage of passages of question and report texts that may identify a patient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlmodel import Session

from domain.patient_data import HitKind, TextHit
from domain.provenance import Provenance
from records.values import from_json
from storage.intake.bulk import insert_rows
from storage.intake.provenance import load_provenances
from storage.rows.comments import QuestionCommentRow
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.rows.patient_data import TextHitRow
from storage.types import AnyRow

_BLOCK = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTexts:
    """The texts of a question and its exam, by field.

    ``texts`` are pairs (field, text) with the field names of :class:`domain.patient_data.TextHit`.
    """

    question_row_id: int
    question_id: str
    exam_row_id: int
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitInText:
    """A hit with its question and the text of its field."""

    question_row_id: int
    question_id: str
    hit: TextHit
    text: str


def iterate_question_texts(db: Session, *, dataset_id: int) -> Iterator[QuestionTexts]:
    """Yield all questions of the dataset in order. An exam's texts are yielded with its first question."""
    last_id = 0
    while True:
        rows = db.execute(
            select(
                QuestionRow.id, QuestionRow.key, QuestionRow.stem, QuestionRow.options, QuestionRow.answer,
                QuestionRow.explanation, QuestionRow.exam_id, ExamRow.indication, ExamRow.report,
            )
            .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
            .where(QuestionRow.dataset_id == dataset_id, QuestionRow.id > last_id)
            .order_by(QuestionRow.id)
            .limit(_BLOCK)
        ).all()  # fmt: skip
        if not rows:
            return
        last_id = rows[-1].id
        exam_ids = sorted({row.exam_id for row in rows})
        first_questions, files = _load_first_questions(db, exam_ids), _load_files(db, exam_ids)
        comments = _load_comments(db, [row.id for row in rows])
        provenances = load_provenances(db.connection(), question_ids=[row.id for row in rows])
        for row in rows:
            answer = from_json(row.answer)
            texts = [("stem", row.stem), ("explanation", row.explanation)]
            texts += [
                (f"options {index}", option) for index, option in enumerate(from_json(row.options), start=1)
            ]
            texts += [("answer", answer)] if isinstance(answer, str) else []
            if row.id in provenances:
                # A sentence of the report is searched once, in the report.
                texts += [
                    (f"provenance {index}", evidence.text)
                    for index, evidence in enumerate(provenances[row.id].evidence, start=1)
                    if evidence.text not in (row.report or "")
                ]
            if first_questions[row.exam_id] == row.id:
                texts += [("indication", row.indication or ""), ("report", row.report or "")]
                texts += [
                    (f"file {index}", file_name)
                    for index, file_name in enumerate(files[row.exam_id], start=1)
                ]
            texts += [
                (f"comment {comment_id}", text) for comment_id, text in comments.get(row.id, {}).items()
            ]
            yield QuestionTexts(
                question_row_id=row.id,
                question_id=row.key,
                exam_row_id=row.exam_id,
                texts=tuple((field, text) for field, text in texts if text),
            )


def list_exam_images(db: Session, *, dataset_id: int) -> list[tuple[int, str]]:
    """Return (exam row id, SHA-256) of each DICOM image of the dataset, ordered by exam."""
    statement = (
        select(RadiographRow.exam_id, RadiographRow.image_sha256)
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .join(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
        .where(ExamRow.dataset_id == dataset_id, ImageRow.media_type == "application/dicom")
        .order_by(RadiographRow.exam_id, RadiographRow.position)
    )
    return [(row.exam_id, row.image_sha256) for row in db.execute(statement)]


def load_exam_numbers_by_key(db: Session, *, dataset_id: int, keys: Sequence[str]) -> dict[str, int]:
    """Return the database ids of exams, by their ids in the file (``keys``)."""
    numbers: dict[str, int] = {}
    for start in range(0, len(keys), 500):
        statement = select(ExamRow.key, ExamRow.id).where(
            ExamRow.dataset_id == dataset_id, ExamRow.key.in_(keys[start : start + 500])
        )
        numbers.update({row.key: row.id for row in db.execute(statement)})
    return numbers


def replace_hits(
    db: Session, *, dataset_id: int, hits: Iterable[tuple[int, TextHit]], kinds: Iterable[HitKind]
) -> None:
    """Store hits, given as (database id of the question, hit). They replace earlier hits of these kinds."""
    db.execute(
        delete(TextHitRow).where(
            TextHitRow.dataset_id == dataset_id, TextHitRow.kind.in_([kind.value for kind in kinds])
        )
    )
    insert_rows(
        db,
        table="text_hit",
        columns=("question_id", "field", "begins", "kind", "ends", "dataset_id"),
        rows=((number, hit.field, hit.start, hit.kind.value, hit.end, dataset_id) for number, hit in hits),
    )


def add_hits(db: Session, *, dataset_id: int, hits: Iterable[tuple[int, TextHit]]) -> None:
    """Add hits. An existing hit is left unchanged."""
    for number, hit in hits:
        key = (number, hit.field, hit.start, hit.kind.value)
        if db.get(TextHitRow, key) is None:
            db.add(
                TextHitRow(
                    question_id=number, field=hit.field, begins=hit.start, kind=hit.kind.value,
                    ends=hit.end, dataset_id=dataset_id,
                )
            )  # fmt: skip
    db.flush()


def count_hits(db: Session, *, dataset_id: int) -> dict[HitKind, int]:
    """Return the number of hits by kind, the most frequent first."""
    statement = (
        select(TextHitRow.kind, func.count())
        .where(TextHitRow.dataset_id == dataset_id)
        .group_by(TextHitRow.kind)
        .order_by(func.count().desc(), TextHitRow.kind)
    )
    return {HitKind(kind): count for kind, count in db.execute(statement)}


def count_questions_with_hits(db: Session, *, dataset_id: int) -> int:
    """Return how many questions have a hit. A hit in an exam's text counts for the exam's first question."""
    statement = select(func.count(TextHitRow.question_id.distinct())).where(
        TextHitRow.dataset_id == dataset_id
    )
    return int(db.execute(statement).scalar_one())


def list_hits_in_texts(
    db: Session, *, dataset_id: int, kind: HitKind | None, first: int, count: int
) -> list[HitInText]:
    """Return hits with their texts, ordered by question."""
    statement = (
        select(
            TextHitRow, QuestionRow.key, QuestionRow.stem, QuestionRow.explanation, QuestionRow.options,
            QuestionRow.answer, QuestionRow.exam_id, ExamRow.indication, ExamRow.report,
        )
        .join(QuestionRow, QuestionRow.id == TextHitRow.question_id)
        .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
        .where(TextHitRow.dataset_id == dataset_id)
        .order_by(TextHitRow.question_id, TextHitRow.field, TextHitRow.begins)
        .offset(first)
        .limit(count)
    )  # fmt: skip
    if kind is not None:
        statement = statement.where(TextHitRow.kind == kind.value)
    rows = db.execute(statement).all()
    files = _load_files(db, sorted({row.exam_id for row in rows}))
    numbers = [row[0].question_id for row in rows]
    comments = _load_comments(db, numbers)
    provenances = load_provenances(db.connection(), question_ids=numbers)
    return [_hit_in_text(row, files, comments, provenances) for row in rows]


def _hit_in_text(
    row: AnyRow,
    files: dict[int, list[str]],
    comments: dict[int, dict[int, str]],
    provenances: dict[int, Provenance],
) -> HitInText:
    hit_row: TextHitRow = row[0]
    field, _, index = hit_row.field.partition(" ")
    if field == "options":
        text = from_json(row.options)[int(index) - 1]
    elif field == "file":
        text = files[row.exam_id][int(index) - 1]
    elif field == "comment":
        text = comments[hit_row.question_id][int(index)]
    elif field == "provenance":
        text = provenances[hit_row.question_id].evidence[int(index) - 1].text
    elif field == "answer":
        text = from_json(row.answer)
    else:
        text = getattr(row, field) or ""
    return HitInText(
        question_row_id=hit_row.question_id,
        question_id=row.key,
        hit=TextHit(field=hit_row.field, start=hit_row.begins, end=hit_row.ends, kind=HitKind(hit_row.kind)),
        text=text,
    )


def _load_first_questions(db: Session, exam_ids: Sequence[int]) -> dict[int, int]:
    first_questions: dict[int, int] = {}
    for start in range(0, len(exam_ids), 500):
        statement = (
            select(QuestionRow.exam_id, func.min(QuestionRow.id))
            .where(QuestionRow.exam_id.in_(exam_ids[start : start + 500]))
            .group_by(QuestionRow.exam_id)
        )
        first_questions.update({exam_id: question_id for exam_id, question_id in db.execute(statement)})  # noqa: C416 - rows are no pairs
    return first_questions


def _load_files(db: Session, exam_ids: Sequence[int]) -> dict[int, list[str]]:
    files: dict[int, list[str]] = {exam_id: [] for exam_id in exam_ids}
    for start in range(0, len(exam_ids), 500):
        statement = (
            select(RadiographRow.exam_id, RadiographRow.file)
            .where(RadiographRow.exam_id.in_(exam_ids[start : start + 500]))
            .order_by(RadiographRow.exam_id, RadiographRow.position)
        )
        for exam_id, file in db.execute(statement):
            files[exam_id].append(file)
    return files


def _load_comments(db: Session, question_ids: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the texts of comments between reviewers and coordinators: {question: {comment id: text}}."""
    comments: dict[int, dict[int, str]] = {}
    for start in range(0, len(question_ids), 500):
        statement = (
            select(QuestionCommentRow.question_id, QuestionCommentRow.id, QuestionCommentRow.text)
            .where(QuestionCommentRow.question_id.in_(question_ids[start : start + 500]))
            .order_by(QuestionCommentRow.id)
        )
        for question_id, comment_id, text in db.execute(statement):
            comments.setdefault(question_id, {})[comment_id] = text
    return comments
