"""Storage of reader studies, their protocols and exclusions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.protocols import ProtocolVersion, protocol_from_plain
from domain.studies import (
    Arm,
    CaseSource,
    Crossing,
    Exclusion,
    ReaderStudy,
    SourceKind,
    StudyDesign,
    StudyState,
)
from domain.vocabulary import AnswerFormat
from records.values import from_json, to_json
from storage.rows.datasets import DatasetRow
from storage.rows.studies import ExclusionRow, ProtocolRow, ReaderStudyRow, ReadingRow
from storage.sampling.batches import plan_from_dict, plan_to_dict
from storage.types import AnySelect


def add_study(
    db: Session,
    *,
    name: str,
    dataset_id: int,
    source: CaseSource,
    design: StudyDesign,
    simulated: bool,
    by: int | None,
    now: datetime,
) -> int:
    """Add an open study without cases and return its id. The name must be new."""
    row = ReaderStudyRow(
        name=name,
        dataset_id=dataset_id,
        source_kind=source.kind.value,
        source_name=source.name,
        design=to_json(design_to_plain(design)),
        state=StudyState.OPEN.value,
        simulated=simulated,
        created_by=by,
        created_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def find_study(db: Session, *, name: str) -> ReaderStudy | None:
    """Return the study with that name; None if there is none."""
    row = db.execute(_select_studies().where(ReaderStudyRow.name == name)).one_or_none()
    return None if row is None else _study_from_row(row)


def load_study(
    db: Session, *, name: str | None = None, study_id: int | None = None, lock: bool = False
) -> ReaderStudy:
    """Return the study with that name or id.

    With ``lock`` no other transaction can change the study, or save readings or marks, until this one ends.

    Raises:
        NotFound: there is none. For a name, the message lists the existing studies.
    """
    if (name is None) == (study_id is None):
        raise ValueError("give either the name or the id of the study")
    condition: ColumnElement[bool] = (
        ReaderStudyRow.name == name if name is not None else ReaderStudyRow.id == study_id
    )
    if lock:
        db.execute(select(ReaderStudyRow.id).where(condition).with_for_update())
    row = db.execute(_select_studies().where(condition)).one_or_none()
    if row is None:
        if name is None:
            raise NotFound(f"There is no reader study number {study_id}.")
        names = db.execute(select(ReaderStudyRow.name).order_by(ReaderStudyRow.id).limit(20)).scalars().all()
        raise NotFound(
            f"There is no reader study {name!r}. Existing reader studies: "
            f"{', '.join(names) or 'none yet; create one first'}."
        )
    return _study_from_row(row)


def lock_study_shared(db: Session, *, study_id: int) -> None:
    """Keep the study open and its slots unchanged until the transaction ends.

    Other transactions may hold the same lock, so several readers can save readings at the same time.
    """
    db.execute(select(ReaderStudyRow.id).where(ReaderStudyRow.id == study_id).with_for_update(read=True))


def list_studies(db: Session) -> list[ReaderStudy]:
    """Return all studies, the oldest first."""
    return [_study_from_row(row) for row in db.execute(_select_studies().order_by(ReaderStudyRow.id))]


def set_study_state(db: Session, *, study_id: int, state: StudyState) -> None:
    """Open or close the study."""
    db.get_one(ReaderStudyRow, study_id).state = state.value
    db.flush()


def add_protocol(db: Session, *, version: ProtocolVersion) -> None:
    """Append a version of the protocol."""
    db.add(
        ProtocolRow(
            study_id=version.study_id,
            version=version.version,
            body=version.protocol.to_canonical_json(),
            sha256=version.sha256,
            why=version.reason,
            answers_before=version.answers_before,
            written_by=version.written_by,
            written_at=version.written_at,
        )
    )
    db.flush()


def list_protocols(db: Session, *, study_id: int) -> tuple[ProtocolVersion, ...]:
    """Return every version of the study's protocol, the oldest first."""
    rows = db.execute(
        select(ProtocolRow).where(ProtocolRow.study_id == study_id).order_by(ProtocolRow.version)
    ).scalars()
    return tuple(_version_from_row(row) for row in rows)


def load_current_protocol(db: Session, *, study_id: int) -> ProtocolVersion:
    """Return the latest version of the study's protocol."""
    row = db.execute(
        select(ProtocolRow)
        .where(ProtocolRow.study_id == study_id)
        .order_by(ProtocolRow.version.desc())
        .limit(1)
    ).scalar_one()
    return _version_from_row(row)


def add_exclusion(db: Session, *, exclusion: Exclusion) -> None:
    """Append an exclusion."""
    db.add(
        ExclusionRow(
            study_id=exclusion.study_id,
            case_id=exclusion.case_id,
            reader_id=exclusion.reader_id,
            why=exclusion.reason,
            excluded_by=exclusion.excluded_by,
            excluded_at=exclusion.excluded_at,
        )
    )
    db.flush()


def list_exclusions(db: Session, *, study_id: int) -> tuple[Exclusion, ...]:
    """Return the exclusions from the analysis of the study, in the order in which they were added."""
    rows = db.execute(
        select(ExclusionRow).where(ExclusionRow.study_id == study_id).order_by(ExclusionRow.id)
    ).scalars()
    return tuple(
        Exclusion(
            study_id=row.study_id,
            case_id=row.case_id,
            reader_id=row.reader_id,
            reason=row.why,
            excluded_by=row.excluded_by,
            excluded_at=row.excluded_at,
        )
        for row in rows
    )


#: The stored name of ``clinical_info_shown``.
_CLINICAL_INFO_KEY = "told"


def design_to_plain(design: StudyDesign) -> dict[str, Any]:
    """Return the design as plain JSON values."""
    return {
        "plan": plan_to_dict(design.plan),
        "crossing": design.crossing.value,
        "arms": [{"name": arm.name, _CLINICAL_INFO_KEY: arm.clinical_info_shown} for arm in design.arms],
        "readers_per_case": design.readers_per_case,
        "shared": design.shared,
        "washout_days": design.washout_days,
        "training": design.training,
        "repeats": design.repeats,
        "repeat_gap": design.repeat_gap,
        "blocks": design.blocks,
        "one_per_exam": design.one_per_exam,
        "formats": [format_.value for format_ in design.formats],
    }


def design_from_plain(plain: dict[str, Any]) -> StudyDesign:
    """Return the design that :func:`design_to_plain` converted."""
    converted_fields = {"plan", "crossing", "arms", "formats"}
    other_fields = {name: value for name, value in plain.items() if name not in converted_fields}
    return StudyDesign(
        plan=plan_from_dict(plain["plan"]),
        crossing=Crossing(plain["crossing"]),
        arms=tuple(
            Arm(name=arm["name"], clinical_info_shown=arm[_CLINICAL_INFO_KEY]) for arm in plain["arms"]
        ),
        formats=tuple(map(AnswerFormat, plain.get("formats", ()))),
        **other_fields,
    )


def _select_studies() -> AnySelect:
    # A study is frozen by the first reading that was made in Overread.
    has_reading = (
        select(ReadingRow.study_id)
        .where(ReadingRow.study_id == ReaderStudyRow.id, ~ReadingRow.outside)
        .exists()
    )
    return select(
        ReaderStudyRow,
        DatasetRow.name.label("dataset"),
        func.coalesce(has_reading, False).label("frozen"),
    ).join(DatasetRow, DatasetRow.id == ReaderStudyRow.dataset_id)


def _study_from_row(result: Any) -> ReaderStudy:  # noqa: ANN401  # a row of _select_studies()
    row: ReaderStudyRow = result[0]
    return ReaderStudy(
        id=row.id or 0,
        name=row.name,
        dataset_id=row.dataset_id,
        source=CaseSource(kind=SourceKind(row.source_kind), dataset=result.dataset, name=row.source_name),
        design=design_from_plain(from_json(row.design)),
        state=StudyState(row.state),
        frozen=bool(result.frozen),
        simulated=row.simulated,
        created_at=row.created_at,
    )


def _version_from_row(row: ProtocolRow) -> ProtocolVersion:
    return ProtocolVersion(
        study_id=row.study_id,
        version=row.version,
        protocol=protocol_from_plain(from_json(row.body)),
        sha256=row.sha256,
        reason=row.why,
        answers_before=row.answers_before,
        written_by=row.written_by,
        written_at=row.written_at,
    )
