"""The workspace's rules on patient data, the amount of text in images, and people's decisions on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Subquery, func, select, update
from sqlmodel import Session

from domain.errors import StaleRevision
from domain.patient_data import (
    ConfirmPixels,
    Originals,
    PatientDataRules,
    PixelDecision,
    PixelLook,
)
from storage.rows import (
    ExamRow,
    ImageRow,
    PatientDataRulesRow,
    PixelDecisionRow,
    PixelTextRow,
    RadiographRow,
)
from storage.types import AnyRow

_DICOM = "application/dicom"


# ---------------------------------------------------------------------------------------------- the rules
def rules_of(db: Session) -> PatientDataRules:
    """Return the workspace's rules."""
    row = db.execute(
        select(
            PatientDataRulesRow.originals, PatientDataRulesRow.confirm_pixels, PatientDataRulesRow.revision
        )
    ).one()
    return PatientDataRules(
        originals=Originals(row.originals),
        confirm_pixels=ConfirmPixels(row.confirm_pixels),
        revision=row.revision,
    )


def change_rules(db: Session, *, rules: PatientDataRules) -> PatientDataRules:
    """Replace the rules of the same revision; return the stored rules with the next revision.

    Raises:
        StaleRevision: the rules were changed since.
    """
    changed = db.execute(
        update(PatientDataRulesRow)
        .where(PatientDataRulesRow.revision == rules.revision)
        .values(
            originals=rules.originals.value,
            confirm_pixels=rules.confirm_pixels.value,
            revision=rules.revision + 1,
        )
    )
    if changed.rowcount != 1:  # type: ignore[attr-defined]  # an UPDATE's result counts its rows
        raise StaleRevision("Somebody else changed these rules meanwhile. Look at them again.")
    return rules_of(db)


def pseudonym_secret(db: Session) -> bytes:
    """Return the secret from which pseudonyms are derived."""
    return bytes(db.execute(select(PatientDataRulesRow.pseudonym_key)).scalar_one())


# --------------------------------------------------------------------------------------- text in pixels
def images_to_look_at(
    db: Session, *, dataset_id: int, dicom_only: bool, first: int, count: int
) -> list[PixelLook]:
    """Return images of the dataset without a decision: unranked ones first, then those with most text."""
    looks = _looks(dataset_id, dicom_only)
    statement = (
        select(looks)
        .where(looks.c.decision.is_(None))
        .order_by(looks.c.score.is_(None).desc(), looks.c.score.desc(), looks.c.sha256)
        .offset(first)
        .limit(count)
    )
    return [_look(row) for row in db.execute(statement)]


def decided_images(db: Session, *, dataset_id: int, decision: PixelDecision) -> list[PixelLook]:
    """Return the images of the dataset whose latest decision is this one."""
    looks = _looks(dataset_id, dicom_only=False)
    statement = select(looks).where(looks.c.decision == decision.value).order_by(looks.c.sha256)
    return [_look(row) for row in db.execute(statement)]


def count_looks(db: Session, *, dataset_id: int, dicom_only: bool) -> tuple[int, int, int, int]:
    """Return the numbers of images, ranked, decided and to be removed of the dataset."""
    looks = _looks(dataset_id, dicom_only)
    removed = func.count().filter(looks.c.decision == PixelDecision.REMOVE.value)
    counts = select(func.count(), func.count(looks.c.score), func.count(looks.c.decision), removed)
    row = db.execute(counts.select_from(looks)).one()
    return row[0], row[1], row[2], row[3]


def unranked_images(db: Session, *, dataset_id: int, method: str) -> list[str]:
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


def keep_ranks(db: Session, *, ranks: Iterable[tuple[str, float, int]], method: str, now: datetime) -> None:
    """Store (SHA-256, score, words) of images. They replace earlier ranks."""
    for sha256, score, words in ranks:
        db.merge(PixelTextRow(image_sha256=sha256, score=score, words=words, method=method, ranked_at=now))
    db.flush()


def decide(
    db: Session, *, sha256: str, decision: PixelDecision, by: int | None, now: datetime
) -> PixelDecision | None:
    """Append a decision on an image; return the previous one. An unchanged decision is not appended."""
    latest = db.execute(
        select(PixelDecisionRow.revision, PixelDecisionRow.decision)
        .where(PixelDecisionRow.image_sha256 == sha256)
        .order_by(PixelDecisionRow.revision.desc())
        .limit(1)
    ).one_or_none()
    before = None if latest is None else PixelDecision(latest.decision)
    if before is not decision:
        revision = 0 if latest is None else latest.revision + 1
        db.add(
            PixelDecisionRow(
                image_sha256=sha256, revision=revision, decision=decision.value, person_id=by, decided_at=now
            )
        )
        db.flush()
    return before


def decisions_on(db: Session, *, sha256: Sequence[str]) -> dict[str, PixelDecision]:
    """Return the latest decision by image, for those of these images that have one."""
    found: dict[str, PixelDecision] = {}
    for start in range(0, len(sha256), 500):
        statement = (
            select(PixelDecisionRow.image_sha256, PixelDecisionRow.decision)
            .where(PixelDecisionRow.image_sha256.in_(sha256[start : start + 500]))
            .order_by(PixelDecisionRow.revision)
        )
        found.update({row.image_sha256: PixelDecision(row.decision) for row in db.execute(statement)})
    return found


def removed_everywhere(db: Session) -> set[str]:
    """Return the SHA-256 of all images of the workspace that a person decided to remove."""
    removed = (
        select(PixelDecisionRow.image_sha256)
        .where(PixelDecisionRow.decision == PixelDecision.REMOVE.value)
        .distinct()
    )
    once = list(db.execute(removed).scalars())
    latest = decisions_on(db, sha256=once)
    return {sha256 for sha256 in once if latest[sha256] is PixelDecision.REMOVE}


def undecided(db: Session, *, sha256: Sequence[str], dicom_only: bool) -> list[str]:
    """Return those of these images that have no decision; with ``dicom_only`` only those from DICOM files."""
    wanted = list(sha256)
    if dicom_only:
        wanted = []
        for start in range(0, len(sha256), 500):
            part = sha256[start : start + 500]
            statement = select(ImageRow.sha256).where(
                ImageRow.sha256.in_(part), ImageRow.media_type == _DICOM
            )
            wanted += db.execute(statement).scalars()
    decided = decisions_on(db, sha256=wanted)
    return [each for each in wanted if each not in decided]


def _looks(dataset_id: int, dicom_only: bool) -> Subquery:
    """Return a subquery with one row per image of the dataset: first use, rank, latest decision."""
    place = (
        select(RadiographRow.image_sha256.label("sha256"), func.min(RadiographRow.exam_id).label("exam_id"))
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .where(ExamRow.dataset_id == dataset_id, RadiographRow.image_sha256.is_not(None))
        .group_by(RadiographRow.image_sha256)
        .subquery("place")
    )
    latest = (
        select(PixelDecisionRow.image_sha256, func.max(PixelDecisionRow.revision).label("revision"))
        .group_by(PixelDecisionRow.image_sha256)
        .subquery("latest")
    )
    radiograph = (
        select(func.min(RadiographRow.key))
        .where(RadiographRow.exam_id == place.c.exam_id, RadiographRow.image_sha256 == place.c.sha256)
        .scalar_subquery()
    )
    statement = (
        select(
            place.c.sha256,
            place.c.exam_id,
            radiograph.label("radiograph"),
            ImageRow.media_type,
            PixelTextRow.score,
            PixelTextRow.words,
            PixelTextRow.method,
            PixelDecisionRow.decision,
            PixelDecisionRow.decided_at,
        )
        .join(ImageRow, ImageRow.sha256 == place.c.sha256)
        .outerjoin(PixelTextRow, PixelTextRow.image_sha256 == place.c.sha256)
        .outerjoin(latest, latest.c.image_sha256 == place.c.sha256)
        .outerjoin(
            PixelDecisionRow,
            (PixelDecisionRow.image_sha256 == latest.c.image_sha256)
            & (PixelDecisionRow.revision == latest.c.revision),
        )
    )
    if dicom_only:
        statement = statement.where(ImageRow.media_type == _DICOM)
    return statement.subquery("looks")


def _look(row: AnyRow) -> PixelLook:
    return PixelLook(
        sha256=row.sha256,
        exam_number=row.exam_id,
        radiograph=row.radiograph,
        dicom=row.media_type == _DICOM,
        score=row.score,
        words=row.words,
        method=row.method,
        decision=None if row.decision is None else PixelDecision(row.decision),
        decided_at=row.decided_at,
    )
