"""Counts, strata, reviewers and exams of judged questions for a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlmodel import Session

from domain.batches import Batch
from storage.review.latest_verdicts import factorize, read_columns
from storage.rows.adjudications import AdjudicationRow
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import ExamRow, QuestionRow, RadiographRow
from storage.rows.people import PersonRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.exclude_copies import exclude_hidden

_EXAMS_PER_READ = 2_000


def count_unjudged(db: Session, *, batches: Sequence[Batch]) -> int:
    """Return how many questions of these batches have no verdict."""
    batch_ids = [batch.id for batch in batches]
    judged_question_ids = select(VerdictRow.question_id).where(VerdictRow.batch_id.in_(batch_ids))
    statement = select(func.count(BatchQuestionRow.question_id.distinct())).where(
        BatchQuestionRow.batch_id.in_(batch_ids),
        BatchQuestionRow.question_id.not_in(judged_question_ids),
    )
    return int(db.execute(statement).scalar_one())


def compute_judged_version(db: Session, *, batches: Sequence[Batch]) -> tuple[int | datetime | None, ...]:
    """Return a cache key that stays the same as long as a release of these batches would be the same."""
    batch_ids = [batch.id for batch in batches]
    key_parts: list[int | datetime | None] = []
    for table in (VerdictRow, AdjudicationRow, BatchQuestionRow):
        in_batches = table.__table__.c.batch_id.in_(batch_ids)
        key_parts.append(db.execute(select(func.count()).select_from(table).where(in_batches)).scalar_one())
    return (*key_parts, find_last_verdict_time(db, batches=batches))


def count_drawn_by_stratum(db: Session, *, batches: Sequence[Batch]) -> dict[str, int]:
    """Count the questions of these batches by their stratum in the first batch that drew them."""
    in_batches = BatchQuestionRow.batch_id.in_([batch.id for batch in batches])
    first_batch = (
        select(BatchQuestionRow.question_id, func.min(BatchQuestionRow.batch_id).label("batch_id"))
        .where(in_batches)
        .group_by(BatchQuestionRow.question_id)
        .subquery()
    )
    statement = (
        select(BatchQuestionRow.stratum, func.count())
        .join(
            first_batch,
            (first_batch.c.question_id == BatchQuestionRow.question_id)
            & (first_batch.c.batch_id == BatchQuestionRow.batch_id),
        )
        .group_by(BatchQuestionRow.stratum)
    )
    return {row[0]: row[1] for row in db.execute(statement)}


def load_strata(
    db: Session, *, batches: Sequence[Batch], numbers: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of the strata, and the index of each question's stratum among them.

    A question belongs to the stratum of the first batch that drew it. ``numbers`` are question ids in
    ascending order.
    """
    table = BatchQuestionRow.__table__.c
    statement = select(table.question_id, table.batch_id, table.stratum).where(
        table.batch_id.in_([batch.id for batch in batches])
    )
    question_column, batch_column, stratum_column = read_columns(db, statement)
    names, indices = factorize(stratum_column, str)
    question_row_ids = np.array(question_column, dtype=np.int64)
    order = np.lexsort((np.array(batch_column, dtype=np.int64), question_row_ids))
    return names, indices[order][np.searchsorted(question_row_ids[order], numbers)]


def load_reviewers(db: Session, *, batches: Sequence[Batch]) -> dict[int, tuple[str, str]]:
    """Return {person id: (sign-in name, display name)} of all reviewers and adjudicators of these batches."""
    batch_ids = [batch.id for batch in batches]
    reviewer_ids = select(VerdictRow.person_id).where(
        VerdictRow.batch_id.in_(batch_ids),
        exclude_hidden(VerdictRow.question_id),
    )
    statement = (
        select(PersonRow.id, PersonRow.name, PersonRow.display_name)
        .where(
            PersonRow.id.in_(reviewer_ids)
            | PersonRow.id.in_(
                select(AdjudicationRow.person_id).where(AdjudicationRow.batch_id.in_(batch_ids))
            )
        )
        .order_by(PersonRow.id)
    )
    return {row[0]: (row[1], row[2]) for row in db.execute(statement)}


def load_exam_links(
    db: Session, *, batches: Sequence[Batch]
) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """Return (exam, patient, SHA-256 of each image) of all exams with a judged question of these batches."""
    judged_exam_ids = (
        select(QuestionRow.exam_id)
        .join(VerdictRow, VerdictRow.question_id == QuestionRow.id)
        .where(
            VerdictRow.batch_id.in_([batch.id for batch in batches]),
            exclude_hidden(VerdictRow.question_id),
        )
        .distinct()
    )
    statement = (
        select(ExamRow.key, ExamRow.patient, RadiographRow.image_sha256)
        .join(RadiographRow, RadiographRow.exam_id == ExamRow.id)
        .where(ExamRow.id.in_(judged_exam_ids))
        .order_by(ExamRow.id, RadiographRow.position)
    )
    exams: dict[str, tuple[str | None, list[str]]] = {}
    for key, patient, sha256 in db.execute(statement):
        images = exams.setdefault(key, (patient, []))[1]
        if sha256:
            images.append(sha256)
    return [(key, patient, tuple(images)) for key, (patient, images) in exams.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamContent:
    """An exam: ``exam`` is its id in the file, ``number`` in the database; ``images`` are SHA-256."""

    number: int
    exam: str
    patient: str | None
    images: tuple[str, ...]
    report: str | None
    questions: int


def iterate_exam_contents(db: Session, *, dataset_id: int) -> Iterator[ExamContent]:
    """Yield every exam of a dataset, in the order of import."""
    images = defaultdict[int, list[str]](list)
    image_rows = (
        select(RadiographRow.exam_id, RadiographRow.image_sha256)
        .join(ExamRow, RadiographRow.exam_id == ExamRow.id)
        .where(ExamRow.dataset_id == dataset_id, RadiographRow.image_sha256.is_not(None))
        .order_by(RadiographRow.exam_id, RadiographRow.position)
    )
    for exam_id, sha256 in db.execute(image_rows):
        images[exam_id].append(sha256)
    count_rows = db.execute(
        select(QuestionRow.exam_id, func.count())
        .where(QuestionRow.dataset_id == dataset_id)
        .group_by(QuestionRow.exam_id)
    )
    question_counts = {exam_id: count for exam_id, count in count_rows}  # noqa: C416 - rows are no pairs
    exam_rows = (
        select(ExamRow.id, ExamRow.key, ExamRow.patient, ExamRow.report)
        .where(ExamRow.dataset_id == dataset_id)
        .order_by(ExamRow.id)
        .execution_options(yield_per=_EXAMS_PER_READ)
    )
    for exam_id, key, patient, report in db.execute(exam_rows):
        yield ExamContent(
            number=exam_id,
            exam=key,
            patient=patient,
            images=tuple(images[exam_id]),
            report=report,
            questions=question_counts.get(exam_id, 0),
        )


def find_last_verdict_time(db: Session, *, batches: Sequence[Batch]) -> datetime | None:
    """Return the time of the last verdict in these batches; None if there is none."""
    statement = select(func.max(VerdictRow.given_at)).where(
        VerdictRow.batch_id.in_([batch.id for batch in batches]),
        exclude_hidden(VerdictRow.question_id),
    )
    last: datetime | None = db.execute(statement).scalar_one()
    return last
