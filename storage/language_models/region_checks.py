"""Storage of region checks, their experts and marks. Marks are append-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.boxes import LabelledBox
from domain.errors import AlreadyThere
from domain.prompt_bench import BenchExpert
from domain.region_checks import (
    CheckedReport,
    CheckedSentence,
    RegionCheck,
    SentenceId,
    SentenceMark,
    SentenceRevision,
)
from records.decoding import decode_json
from storage.intake.questions import load_questions
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.language_models import ModelRunRow, PromptVersionRow
from storage.rows.people import PersonRow
from storage.rows.region_checks import (
    RegionCheckExpertRow,
    RegionCheckMarkRow,
    RegionCheckReportRow,
    RegionCheckRow,
)


def add_check(
    db: Session,
    *,
    name: str,
    run_id: int,
    dataset_id: int | None,
    seed: int,
    reports: Sequence[CheckedReport],
    person_id: int | None,
    now: datetime,
) -> int:
    """Store a check with its reports, and return its id."""
    row = RegionCheckRow(
        name=name, run_id=run_id, dataset_id=dataset_id, seed=seed, created_by=person_id, created_at=now
    )
    db.add(row)
    db.flush()
    check_id = row.id or 0
    db.execute(
        insert(RegionCheckReportRow),
        [
            {
                "check_id": check_id,
                "position": report.position,
                "exam": report.exam,
                "exam_id": report.exam_row_id,
                "sentences": msgspec.json.encode(report.sentences).decode(),
                "checked": msgspec.json.encode(report.checked).decode(),
            }
            for report in reports
        ],
    )
    return check_id


def list_checks(
    db: Session, *, check_id: int | None = None, name: str | None = None, person_id: int | None = None
) -> list[RegionCheck]:
    """Return checks, the newest first.

    Args:
        db: a session.
        check_id: only the check with that id.
        name: only the check with that name.
        person_id: only checks of which this person is an expert.
    """
    statement = (
        select(
            RegionCheckRow,
            ModelRunRow.name.label("run"),
            PromptVersionRow.name.label("prompt"),
            PromptVersionRow.version,
            DatasetRow.name.label("dataset"),
            func.count(RegionCheckReportRow.position).label("reports"),
        )
        .join(ModelRunRow, ModelRunRow.id == RegionCheckRow.run_id)
        .join(PromptVersionRow, PromptVersionRow.id == ModelRunRow.prompt_id)
        .outerjoin(DatasetRow, DatasetRow.id == RegionCheckRow.dataset_id)
        .join(RegionCheckReportRow, RegionCheckReportRow.check_id == RegionCheckRow.id)
        .group_by(
            RegionCheckRow.id,
            ModelRunRow.name,
            PromptVersionRow.name,
            PromptVersionRow.version,
            DatasetRow.name,
        )
        .order_by(RegionCheckRow.id.desc())
    )
    if check_id is not None:
        statement = statement.where(RegionCheckRow.id == check_id)
    if name is not None:
        statement = statement.where(RegionCheckRow.name == name)
    if person_id is not None:
        own_check_ids = select(RegionCheckExpertRow.check_id).where(
            RegionCheckExpertRow.person_id == person_id
        )
        statement = statement.where(RegionCheckRow.id.in_(own_check_ids))
    return [
        RegionCheck(
            id=row.RegionCheckRow.id or 0,
            name=row.RegionCheckRow.name,
            run=row.run,
            prompt=f"{row.prompt}@{row.version}",
            dataset=row.dataset,
            seed=row.RegionCheckRow.seed,
            reports=row.reports,
            created_at=row.RegionCheckRow.created_at,
        )
        for row in db.execute(statement)
    ]


def list_reports(db: Session, *, check_id: int) -> list[CheckedReport]:
    """Return the reports of a check by position."""
    statement = (
        select(RegionCheckReportRow)
        .where(RegionCheckReportRow.check_id == check_id)
        .order_by(RegionCheckReportRow.position)
    )
    return [
        CheckedReport(
            position=row.position,
            exam=row.exam,
            exam_row_id=row.exam_id,
            sentences=decode_json(row.sentences, tuple[str, ...]),
            checked=decode_json(row.checked, tuple[CheckedSentence, ...]),
        )
        for row in db.execute(statement).scalars()
    ]


def find_region_boxes(db: Session, *, exam_id: int) -> Mapping[str, tuple[LabelledBox, ...]]:
    """Return the boxes of an exam's questions by label, each once."""
    statement = select(QuestionRow.id).where(QuestionRow.exam_id == exam_id)
    boxes: dict[str, dict[LabelledBox, None]] = {}
    for _, question in load_questions(db, question_ids=db.execute(statement).scalars()):
        for box in question.boxes:
            boxes.setdefault(box.label, {})[box] = None
    return {label: tuple(unique_boxes) for label, unique_boxes in boxes.items()}


def set_experts(db: Session, *, check_id: int, person_ids: Sequence[int], now: datetime) -> None:
    """Replace the experts of a check. Those who stay keep their rows, because their marks refer to them."""
    db.execute(
        delete(RegionCheckExpertRow).where(
            RegionCheckExpertRow.check_id == check_id, RegionCheckExpertRow.person_id.not_in(person_ids)
        )
    )
    current_ids = {expert.person_id for expert in list_experts(db, check_id=check_id)}
    added_ids = [person_id for person_id in person_ids if person_id not in current_ids]
    if added_ids:
        db.execute(
            insert(RegionCheckExpertRow),
            [{"check_id": check_id, "person_id": person_id, "assigned_at": now} for person_id in added_ids],
        )


def list_experts(db: Session, *, check_id: int) -> list[BenchExpert]:
    """Return the experts of a check by name."""
    rows = db.execute(
        select(PersonRow.id, PersonRow.name, PersonRow.display_name)
        .join(RegionCheckExpertRow, RegionCheckExpertRow.person_id == PersonRow.id)
        .where(RegionCheckExpertRow.check_id == check_id)
        .order_by(PersonRow.name)
    )
    return [BenchExpert(person_id=row.id, name=row.name, display_name=row.display_name) for row in rows]


def add_mark(db: Session, *, check_id: int, revision: SentenceRevision) -> None:
    """Append a mark.

    Raises:
        AlreadyThere: that revision of the mark already exists.
    """
    values = {
        "check_id": check_id,
        "person_id": revision.person_id,
        "report": revision.sentence.report,
        "sentence": revision.sentence.sentence,
        "revision": revision.revision,
        "mark": None if revision.mark is None else revision.mark.value,
        "marked_at": revision.marked_at,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(RegionCheckMarkRow), [values])
    except IntegrityError as error:
        raise AlreadyThere("This mark has already been saved.") from error


def list_latest_marks(db: Session, *, check_id: int, person_id: int | None = None) -> list[SentenceRevision]:
    """Return the latest revision of each mark, including undone ones, ordered by time.

    ``person_id`` limits the result to one expert's marks.
    """
    statement = select(RegionCheckMarkRow).where(RegionCheckMarkRow.check_id == check_id)
    if person_id is not None:
        statement = statement.where(RegionCheckMarkRow.person_id == person_id)
    latest: dict[tuple[int, SentenceId], SentenceRevision] = {}
    for row in db.execute(statement.order_by(RegionCheckMarkRow.revision)).scalars():
        sentence = SentenceId(report=row.report, sentence=row.sentence)
        latest[row.person_id, sentence] = SentenceRevision(
            sentence=sentence,
            person_id=row.person_id,
            revision=row.revision,
            mark=None if row.mark is None else SentenceMark(row.mark),
            marked_at=row.marked_at,
        )
    return sorted(latest.values(), key=lambda mark: (mark.marked_at, mark.person_id, mark.sentence))
