"""Burned-in text: a program ranks the images, a person decides, and a release may require the decision."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import NotFound, Refused
from domain.patient_data import ConfirmPixels, PixelDecision, PixelLook
from domain.people import Action, Person, require
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.text_in_pixels import LONGEST, OWN_METHOD, TextRank, method, text_rank
from storage.images.files import ImageStore, image_store
from storage.intake import datasets
from storage.intake.bulk import known_images
from storage.privacy import patient_data
from storage.workspace import Workspace

_WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelState:
    """Progress of a dataset: how many of its ``images`` were ranked, decided, and decided to be removed.

    ``asked`` is the workspace's rule. ``open`` is the number of images without a required decision; a release
    is refused while it is above 0.
    """

    images: int
    ranked: int
    decided: int
    removed: int
    asked: ConfirmPixels
    open: int


def rank_images(
    db: Session,
    *,
    by: Person,
    dataset: str,
    workspace: Workspace,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[str, list[tuple[str, float, int]]]:
    """Rank the images that were not ranked with this machine's method yet; writes nothing.

    Args:
        db: a session that reads.
        by: who acts.
        dataset: its name.
        workspace: where the images are.
        progress: called with the number of images ranked and to be ranked.

    Returns:
        The method, and (SHA-256, score, words) of each image. An image that can't be shown is left out.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    found = datasets.dataset_named(db, name=dataset)
    todo = patient_data.unranked_images(db, dataset_id=found.id, method=method())
    store = image_store(workspace)
    ranks: list[tuple[str, float, int]] = []
    with GuardedReader(workers=_WORKERS) as reader:
        answers = _in_order(todo, lambda sha256: _rank(store, reader, sha256))
        for sha256, rank in zip(todo, answers, strict=True):
            if rank is not None:
                ranks.append((sha256, rank.score, rank.words))
            progress(len(ranks), len(todo))
    return method(), ranks


def ranking_told(ranked: tuple[str, list[tuple[str, float, int]]]) -> str:
    """A sentence for the user about the result of :func:`rank_images`."""
    with_text = sum(score > 0 for _, score, _ in ranked[1])
    if ranked[0] == OWN_METHOD:
        return (
            f"{len(ranked[1]):,} images ranked by {ranked[0]}, as tesseract, which reads words, is not "
            f"installed here: {with_text:,} have what may be letters."
        )
    return f"{len(ranked[1]):,} images ranked by {ranked[0]}; text was found in {with_text:,}."


def record_ranks(
    db: Session, *, by: Person, ranked: tuple[str, list[tuple[str, float, int]]], now: datetime
) -> None:
    """Store the result of :func:`rank_images`."""
    require(by, Action.PROTECT_PATIENTS)
    patient_data.keep_ranks(db, ranks=ranked[1], method=ranked[0], now=now)
    if ranked[1]:
        new = {"images": len(ranked[1]), "method": ranked[0]}
        record(db, by=by, what="rank images by text", subject="workspace", new=new, now=now)


def pixel_state(db: Session, *, by: Person, dataset: str) -> PixelState:
    """The progress of checking a dataset's images for burned-in text.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    number = datasets.dataset_named(db, name=dataset).id
    asked = patient_data.rules_of(db).confirm_pixels
    images, ranked, decided, removed = patient_data.count_looks(db, dataset_id=number, dicom_only=False)
    left = 0
    if asked is not ConfirmPixels.NONE:
        of, _, seen, _ = patient_data.count_looks(
            db, dataset_id=number, dicom_only=asked is ConfirmPixels.DICOM
        )
        left = of - seen
    return PixelState(images=images, ranked=ranked, decided=decided, removed=removed, asked=asked, open=left)


def next_looks(db: Session, *, by: Person, dataset: str, count: int) -> list[PixelLook]:
    """The next images to decide on: those not ranked first, then by score, highest first.

    Only DICOM images, if the workspace's rule requires decisions for DICOM images only.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    number = datasets.dataset_named(db, name=dataset).id
    only = patient_data.rules_of(db).confirm_pixels is ConfirmPixels.DICOM
    return patient_data.images_to_look_at(db, dataset_id=number, dicom_only=only, first=0, count=count)


def removed_images(db: Session, *, by: Person, dataset: str) -> list[PixelLook]:
    """The images that a person decided to remove.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    number = datasets.dataset_named(db, name=dataset).id
    return patient_data.decided_images(db, dataset_id=number, decision=PixelDecision.REMOVE)


def decide_images(
    db: Session, *, by: Person, decisions: Sequence[tuple[str, PixelDecision]], now: datetime
) -> None:
    """Store a person's decisions on images; the same decision again changes nothing.

    Args:
        db: a session that writes.
        by: who decides.
        decisions: SHA-256 of the image file and decision, of each image.
        now: the time.

    Raises:
        NotFound: the workspace has no such image; nothing is stored.
    """
    require(by, Action.PROTECT_PATIENTS)
    unknown = {sha256 for sha256, _ in decisions} - known_images(db, sha256=[each for each, _ in decisions])
    if unknown:
        raise NotFound(f"There is no image {min(unknown)} in this workspace.")
    for sha256, decision in decisions:
        before = patient_data.decide(db, sha256=sha256, decision=decision, by=by.id or None, now=now)
        if before is not decision:
            old = None if before is None else before.value
            subject = f"image {sha256}"
            record(
                db, by=by, what="look for patients in pixels", subject=subject, old=old, new=decision.value,
                now=now,
            )  # fmt: skip


def _rank(store: ImageStore, reader: GuardedReader, sha256: str) -> TextRank | None:
    try:
        with store.on_disk(sha256) as path:
            picture = reader.picture(path, name=sha256[:12], longest=LONGEST)
    except (NotFound, Refused, UnreadableImage):
        return None  # it can't be shown, so nobody can see text in it; it stays unranked
    return text_rank(picture)


def _in_order(items: Iterable[str], work: Callable[[str], TextRank | None]) -> Iterator[TextRank | None]:
    with ThreadPoolExecutor(_WORKERS) as threads:
        waiting: deque[Future[TextRank | None]] = deque()
        for item in items:
            waiting.append(threads.submit(work, item))
            if len(waiting) >= 4 * _WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
