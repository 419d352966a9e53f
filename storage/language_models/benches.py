"""Storage of prompt benches, their experts and scores. Scores are append-only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.prompt_bench import BenchCell, BenchExpert, BenchScale, BenchScore, BenchVersion, PromptBench
from storage.rows.datasets import DatasetRow, ExamRow
from storage.rows.language_models import ModelRunRow, PromptVersionRow
from storage.rows.people import PersonRow
from storage.rows.prompt_bench import (
    BenchExpertRow,
    BenchReportRow,
    BenchScoreRow,
    BenchVersionRow,
    PromptBenchRow,
)
from storage.rows.region_checks import RegionCheckExpertRow, RegionCheckReportRow


def add_bench(
    db: Session,
    *,
    name: str,
    dataset_id: int,
    seed: int,
    exam_ids: Sequence[int],
    run_ids: Sequence[int],
    person_id: int | None,
    now: datetime,
) -> int:
    """Store a bench with its reports and the runs of its versions, and return its id."""
    row = PromptBenchRow(name=name, dataset_id=dataset_id, seed=seed, created_by=person_id, created_at=now)
    db.add(row)
    db.flush()
    bench_id = row.id or 0
    db.execute(
        insert(BenchReportRow),
        [
            {"bench_id": bench_id, "position": position, "exam_id": exam_id}
            for position, exam_id in enumerate(exam_ids, start=1)
        ],
    )
    db.execute(
        insert(BenchVersionRow),
        [
            {"bench_id": bench_id, "position": position, "run_id": run_id}
            for position, run_id in enumerate(run_ids, start=1)
        ],
    )
    return bench_id


def list_benches(
    db: Session, *, bench_id: int | None = None, name: str | None = None, person_id: int | None = None
) -> list[PromptBench]:
    """Return benches, the newest first.

    Args:
        db: a session.
        bench_id: only the bench with that id.
        name: only the bench with that name.
        person_id: only benches that this person scores.
    """
    statement = (
        select(PromptBenchRow, DatasetRow.name, func.count(BenchReportRow.position))
        .join(DatasetRow, DatasetRow.id == PromptBenchRow.dataset_id)
        .join(BenchReportRow, BenchReportRow.bench_id == PromptBenchRow.id)
        .group_by(PromptBenchRow.id, DatasetRow.name)
        .order_by(PromptBenchRow.id.desc())
    )
    if bench_id is not None:
        statement = statement.where(PromptBenchRow.id == bench_id)
    if name is not None:
        statement = statement.where(PromptBenchRow.name == name)
    if person_id is not None:
        own_bench_ids = select(BenchExpertRow.bench_id).where(BenchExpertRow.person_id == person_id)
        statement = statement.where(PromptBenchRow.id.in_(own_bench_ids))
    rows = db.execute(statement).all()
    versions = _load_versions(db, [row.id for row, _, _ in rows])
    return [
        PromptBench(
            id=row.id,
            name=row.name,
            dataset=dataset,
            seed=row.seed,
            reports=report_count,
            versions=tuple(versions[row.id]),
            created_at=row.created_at,
        )
        for row, dataset, report_count in rows
    ]


def list_report_exams(db: Session, *, bench_id: int) -> list[tuple[int, str]]:
    """Return the id of each report's exam, and its id in the file, in the order of the reports."""
    rows = db.execute(
        select(BenchReportRow.exam_id, ExamRow.key)
        .join(ExamRow, ExamRow.id == BenchReportRow.exam_id)
        .where(BenchReportRow.bench_id == bench_id)
        .order_by(BenchReportRow.position)
    )
    return [(row.exam_id, row.key) for row in rows]


def scores_outputs_on_exam(db: Session, *, person_id: int, exam_id: int) -> bool:
    """Return whether the person scores outputs about the exam, in a bench or in a region check."""
    bench = (
        select(BenchReportRow.bench_id)
        .join(BenchExpertRow, BenchExpertRow.bench_id == BenchReportRow.bench_id)
        .where(BenchExpertRow.person_id == person_id, BenchReportRow.exam_id == exam_id)
    )
    check = (
        select(RegionCheckReportRow.check_id)
        .join(RegionCheckExpertRow, RegionCheckExpertRow.check_id == RegionCheckReportRow.check_id)
        .where(RegionCheckExpertRow.person_id == person_id, RegionCheckReportRow.exam_id == exam_id)
    )
    return any(db.execute(statement.limit(1)).first() is not None for statement in (bench, check))


def set_experts(db: Session, *, bench_id: int, person_ids: Sequence[int], now: datetime) -> None:
    """Replace the experts of a bench. Those who stay keep their rows, because their scores refer to them."""
    db.execute(
        delete(BenchExpertRow).where(
            BenchExpertRow.bench_id == bench_id, BenchExpertRow.person_id.not_in(person_ids)
        )
    )
    current_ids = {expert.person_id for expert in list_experts(db, bench_id=bench_id)}
    added_ids = [person_id for person_id in person_ids if person_id not in current_ids]
    if added_ids:
        db.execute(
            insert(BenchExpertRow),
            [{"bench_id": bench_id, "person_id": person_id, "assigned_at": now} for person_id in added_ids],
        )


def list_experts(db: Session, *, bench_id: int) -> list[BenchExpert]:
    """Return the experts of a bench by name."""
    rows = db.execute(
        select(PersonRow.id, PersonRow.name, PersonRow.display_name)
        .join(BenchExpertRow, BenchExpertRow.person_id == PersonRow.id)
        .where(BenchExpertRow.bench_id == bench_id)
        .order_by(PersonRow.name)
    )
    return [BenchExpert(person_id=row.id, name=row.name, display_name=row.display_name) for row in rows]


def add_score(db: Session, *, bench_id: int, score: BenchScore) -> None:
    """Append a score.

    Raises:
        AlreadyThere: that revision of the score already exists.
    """
    values = {
        "bench_id": bench_id,
        "person_id": score.person_id,
        "report": score.cell.report,
        "version": score.cell.version,
        "scale": score.cell.scale.value,
        "revision": score.revision,
        "score": score.score,
        "scored_at": score.scored_at,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(BenchScoreRow), [values])
    except IntegrityError as error:
        raise AlreadyThere("This score has already been saved.") from error


def list_latest_scores(db: Session, *, bench_id: int, person_id: int | None = None) -> list[BenchScore]:
    """Return the latest revision of each score, including undone ones, ordered by time.

    ``person_id`` limits the result to one expert's scores.
    """
    statement = select(BenchScoreRow).where(BenchScoreRow.bench_id == bench_id)
    if person_id is not None:
        statement = statement.where(BenchScoreRow.person_id == person_id)
    latest: dict[tuple[int, BenchCell], BenchScore] = {}
    for row in db.execute(statement.order_by(BenchScoreRow.revision)).scalars():
        cell = BenchCell(report=row.report, version=row.version, scale=BenchScale(row.scale))
        latest[row.person_id, cell] = BenchScore(
            cell=cell,
            person_id=row.person_id,
            revision=row.revision,
            score=row.score,
            scored_at=row.scored_at,
        )
    return sorted(latest.values(), key=lambda score: (score.scored_at, score.person_id, score.cell))


def _load_versions(db: Session, bench_ids: Sequence[int]) -> dict[int, list[BenchVersion]]:
    rows = db.execute(
        select(
            BenchVersionRow.bench_id,
            BenchVersionRow.position,
            ModelRunRow.name.label("run"),
            PromptVersionRow.name.label("prompt"),
            PromptVersionRow.version,
        )
        .join(ModelRunRow, ModelRunRow.id == BenchVersionRow.run_id)
        .join(PromptVersionRow, PromptVersionRow.id == ModelRunRow.prompt_id)
        .where(BenchVersionRow.bench_id.in_(bench_ids))
        .order_by(BenchVersionRow.bench_id, BenchVersionRow.position)
    )
    versions: dict[int, list[BenchVersion]] = {bench_id: [] for bench_id in bench_ids}
    for row in rows:
        versions[row.bench_id].append(
            BenchVersion(position=row.position, label=f"{row.prompt}@{row.version}", run=row.run)
        )
    return versions
