"""The workspace's rules on patient data, the amount of text in images, and people's decisions on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Subquery, func, select, update
from sqlmodel import Session

from domain.errors import StaleRevision
from domain.patient_data import (
    Originals,
    PatientDataRules,
    PixelCheck,
    PixelCheckScope,
    PixelDecision,
)
from storage.rows.datasets import ExamRow, ImageRow, RadiographRow
from storage.rows.patient_data import PatientDataRulesRow, PixelDecisionRow, PixelTextRow
from storage.types import AnyRow

_DICOM = "application/dicom"


# ---------------------------------------------------------------------------------------------- the rules
def load_rules(db: Session) -> PatientDataRules:
    """Return the workspace's rules."""
    row = db.execute(
        select(
            PatientDataRulesRow.originals, PatientDataRulesRow.confirm_pixels, PatientDataRulesRow.revision
        )
    ).one()
    return PatientDataRules(
        originals=Originals(row.originals),
        confirm_pixels=PixelCheckScope(row.confirm_pixels),
        revision=row.revision,
    )


def change_rules(db: Session, *, rules: PatientDataRules) -> PatientDataRules:
    """Replace the rules of the same revision; return the stored rules with the next revision.

    Raises:
        StaleRevision: another person has changed the rules since that revision.
    """
    result = db.execute(
        update(PatientDataRulesRow)
        .where(PatientDataRulesRow.revision == rules.revision)
        .values(
            originals=rules.originals.value,
            confirm_pixels=rules.confirm_pixels.value,
            revision=rules.revision + 1,
        )
    )
    if result.rowcount != 1:  # type: ignore[attr-defined]  # an UPDATE's result counts its rows
        raise StaleRevision("Another person has changed these rules in the meantime. Check them again.")
    return load_rules(db)


def load_pseudonym_secret(db: Session) -> bytes:
    """Return the secret from which pseudonyms are derived."""
    return bytes(db.execute(select(PatientDataRulesRow.pseudonym_key)).scalar_one())


# --------------------------------------------------------------------------------------- text in pixels
def list_undecided_images(
    db: Session, *, dataset_id: int, dicom_only: bool, first: int, count: int
) -> list[PixelCheck]:
    """Return images of the dataset without a decision: unranked images first, then by amount of text."""
    images = _select_images(dataset_id, dicom_only)
    statement = (
        select(images)
        .where(images.c.decision.is_(None))
        .order_by(images.c.score.is_(None).desc(), images.c.score.desc(), images.c.sha256)
        .offset(first)
        .limit(count)
    )
    return [_image_from_row(row) for row in db.execute(statement)]


def list_decided_images(db: Session, *, dataset_id: int, decision: PixelDecision) -> list[PixelCheck]:
    """Return the images of the dataset whose latest decision is this one."""
    images = _select_images(dataset_id, dicom_only=False)
    statement = select(images).where(images.c.decision == decision.value).order_by(images.c.sha256)
    return [_image_from_row(row) for row in db.execute(statement)]


def count_images(db: Session, *, dataset_id: int, dicom_only: bool) -> tuple[int, int, int, int]:
    """Return the numbers of all images, ranked images, decided images and images to be removed."""
    images = _select_images(dataset_id, dicom_only)
    removed = func.count().filter(images.c.decision == PixelDecision.REMOVE.value)
    counts = select(func.count(), func.count(images.c.score), func.count(images.c.decision), removed)
    row = db.execute(counts.select_from(images)).one()
    return row[0], row[1], row[2], row[3]


def list_unranked_images(db: Session, *, dataset_id: int, method: str) -> list[str]:
    """Return the SHA-256 of the dataset's images that were not ranked by that method."""
    statement = (
        select(RadiographRow.image_sha256)
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .outerjoin(
            PixelTextRow,
            (PixelTextRow.image_sha256 == RadiographRow.image_sha256) & (PixelTextRow.method == method),
        )
        .where(
            ExamRow.dataset_id == dataset_id,
            RadiographRow.image_sha256.is_not(None),
            PixelTextRow.image_sha256.is_(None),
        )
        .distinct()
    )
    return sorted(db.execute(statement).scalars())


def save_ranks(db: Session, *, ranks: Iterable[tuple[str, float, int]], method: str, now: datetime) -> None:
    """Store (SHA-256, score, words) of images. They replace earlier ranks."""
    for sha256, score, words in ranks:
        db.merge(PixelTextRow(image_sha256=sha256, score=score, words=words, method=method, ranked_at=now))
    db.flush()


def add_decision(
    db: Session, *, sha256: str, decision: PixelDecision, by: int | None, now: datetime
) -> PixelDecision | None:
    """Append a decision on an image and return the previous decision. An equal decision is not appended."""
    latest = db.execute(
        select(PixelDecisionRow.revision, PixelDecisionRow.decision)
        .where(PixelDecisionRow.image_sha256 == sha256)
        .order_by(PixelDecisionRow.revision.desc())
        .limit(1)
    ).one_or_none()
    previous = None if latest is None else PixelDecision(latest.decision)
    if previous is not decision:
        revision = 0 if latest is None else latest.revision + 1
        db.add(
            PixelDecisionRow(
                image_sha256=sha256, revision=revision, decision=decision.value, person_id=by, decided_at=now
            )
        )
        db.flush()
    return previous


def load_latest_decisions(db: Session, *, sha256: Sequence[str]) -> dict[str, PixelDecision]:
    """Return the latest decision by image. Images without a decision are omitted."""
    decisions: dict[str, PixelDecision] = {}
    for start in range(0, len(sha256), 500):
        statement = (
            select(PixelDecisionRow.image_sha256, PixelDecisionRow.decision)
            .where(PixelDecisionRow.image_sha256.in_(sha256[start : start + 500]))
            .order_by(PixelDecisionRow.revision)
        )
        decisions.update({row.image_sha256: PixelDecision(row.decision) for row in db.execute(statement)})
    return decisions


def load_removed_images(db: Session) -> set[str]:
    """Return the SHA-256 of all images of the workspace that a person decided to remove."""
    statement = (
        select(PixelDecisionRow.image_sha256)
        .where(PixelDecisionRow.decision == PixelDecision.REMOVE.value)
        .distinct()
    )
    ever_removed = list(db.execute(statement).scalars())
    latest = load_latest_decisions(db, sha256=ever_removed)
    return {sha256 for sha256 in ever_removed if latest[sha256] is PixelDecision.REMOVE}


def filter_undecided(db: Session, *, sha256: Sequence[str], dicom_only: bool) -> list[str]:
    """Return the images without a decision; with ``dicom_only`` only those from DICOM files."""
    candidates = list(sha256)
    if dicom_only:
        candidates = []
        for start in range(0, len(sha256), 500):
            chunk = sha256[start : start + 500]
            statement = select(ImageRow.sha256).where(
                ImageRow.sha256.in_(chunk), ImageRow.media_type == _DICOM
            )
            candidates += db.execute(statement).scalars()
    decided = load_latest_decisions(db, sha256=candidates)
    return [image for image in candidates if image not in decided]


def _select_images(dataset_id: int, dicom_only: bool) -> Subquery:
    """Return a subquery with one row per image of the dataset: first use, rank, latest decision."""
    first_use = (
        select(RadiographRow.image_sha256.label("sha256"), func.min(RadiographRow.exam_id).label("exam_id"))
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .where(ExamRow.dataset_id == dataset_id, RadiographRow.image_sha256.is_not(None))
        .group_by(RadiographRow.image_sha256)
        .subquery("first_use")
    )
    latest = (
        select(PixelDecisionRow.image_sha256, func.max(PixelDecisionRow.revision).label("revision"))
        .group_by(PixelDecisionRow.image_sha256)
        .subquery("latest")
    )
    radiograph = (
        select(func.min(RadiographRow.key))
        .where(RadiographRow.exam_id == first_use.c.exam_id, RadiographRow.image_sha256 == first_use.c.sha256)
        .scalar_subquery()
    )
    statement = (
        select(
            first_use.c.sha256,
            first_use.c.exam_id,
            radiograph.label("radiograph"),
            ImageRow.media_type,
            PixelTextRow.score,
            PixelTextRow.words,
            PixelTextRow.method,
            PixelDecisionRow.decision,
            PixelDecisionRow.decided_at,
        )
        .join(ImageRow, ImageRow.sha256 == first_use.c.sha256)
        .outerjoin(PixelTextRow, PixelTextRow.image_sha256 == first_use.c.sha256)
        .outerjoin(latest, latest.c.image_sha256 == first_use.c.sha256)
        .outerjoin(
            PixelDecisionRow,
            (PixelDecisionRow.image_sha256 == latest.c.image_sha256)
            & (PixelDecisionRow.revision == latest.c.revision),
        )
    )
    if dicom_only:
        statement = statement.where(ImageRow.media_type == _DICOM)
    return statement.subquery("images")


def _image_from_row(row: AnyRow) -> PixelCheck:
    return PixelCheck(
        sha256=row.sha256,
        exam_row_id=row.exam_id,
        radiograph=row.radiograph,
        dicom=row.media_type == _DICOM,
        score=row.score,
        words=row.words,
        method=row.method,
        decision=None if row.decision is None else PixelDecision(row.decision),
        decided_at=row.decided_at,
    )
