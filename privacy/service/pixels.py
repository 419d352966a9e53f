"""Services for burned-in text: a program ranks images, a person decides, a release may require decisions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotFound, Refused
from domain.patient_data import PixelCheck, PixelCheckScope, PixelDecision
from domain.people import Action, Person, require
from imaging.burned_in_text import LONGEST_SIDE, TextRank, rank_text, ranking_method
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from storage.images.files import ImageStore, get_image_store
from storage.intake import datasets
from storage.intake.bulk import load_known_images
from storage.privacy import patient_data
from storage.workspace import Workspace

_WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelState:
    """The progress of a dataset: how many of its ``images`` were ranked, decided on, and removed.

    ``required`` is the workspace's rule. ``undecided`` is the number of images that still need a decision. A
    release is refused while it is above 0.
    """

    images: int
    ranked: int
    decided: int
    removed: int
    required: PixelCheckScope
    undecided: int


def rank_images(
    db: Session,
    *,
    by: Person,
    dataset: str,
    workspace: Workspace,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[str, list[tuple[str, float, int]]]:
    """Rank the images that have not been ranked with this machine's method; writes nothing.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        workspace: the workspace with the images.
        progress: a function that is called with the numbers of processed images and of images to rank.

    Returns:
        The method, and (SHA-256, score, words) of each image. Images that can't be shown are left out.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_summary = datasets.load_dataset(db, name=dataset)
    pending = patient_data.list_unranked_images(db, dataset_id=dataset_summary.id, method=ranking_method())
    store = get_image_store(workspace)
    ranks: list[tuple[str, float, int]] = []
    with GuardedDecoder(workers=_WORKERS) as decoder:
        text_ranks = _map_in_order(pending, lambda sha256: _rank_image(store, decoder, sha256))
        for done, (sha256, rank) in enumerate(zip(pending, text_ranks, strict=True), start=1):
            if rank is not None:
                ranks.append((sha256, rank.score, rank.words))
            progress(done, len(pending))
    return ranking_method(), ranks


def record_ranks(
    db: Session, *, by: Person, ranking: tuple[str, list[tuple[str, float, int]]], now: datetime
) -> None:
    """Store the result of :func:`rank_images`."""
    require(by, Action.PROTECT_PATIENTS)
    patient_data.save_ranks(db, ranks=ranking[1], method=ranking[0], now=now)
    if ranking[1]:
        audit_values = {"images": len(ranking[1]), "method": ranking[0]}
        record_action(db, by=by, action="rank images by text", subject="workspace", new=audit_values, now=now)


def load_pixel_state(db: Session, *, by: Person, dataset: str) -> PixelState:
    """Load the progress of checking a dataset's images for burned-in text.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    required = patient_data.load_rules(db).confirm_pixels
    images, ranked, decided, removed = patient_data.count_images(db, dataset_id=dataset_id, dicom_only=False)
    undecided = 0
    if required is not PixelCheckScope.NONE:
        image_count, _, decided_count, _ = patient_data.count_images(
            db, dataset_id=dataset_id, dicom_only=required is PixelCheckScope.DICOM
        )
        undecided = image_count - decided_count
    return PixelState(
        images=images, ranked=ranked, decided=decided, removed=removed, required=required, undecided=undecided
    )


def load_next_images(db: Session, *, by: Person, dataset: str, count: int) -> list[PixelCheck]:
    """Load the next images to decide on: first the unranked ones, then the others by descending score.

    If the workspace's rule requires decisions only for DICOM images, other images are left out.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    dicom_only = patient_data.load_rules(db).confirm_pixels is PixelCheckScope.DICOM
    return patient_data.list_undecided_images(
        db, dataset_id=dataset_id, dicom_only=dicom_only, first=0, count=count
    )


def load_removed_images(db: Session, *, by: Person, dataset: str) -> list[PixelCheck]:
    """Load the images that a person decided to remove.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    return patient_data.list_decided_images(db, dataset_id=dataset_id, decision=PixelDecision.REMOVE)


def decide_images(
    db: Session, *, by: Person, decisions: Sequence[tuple[str, PixelDecision]], now: datetime
) -> None:
    """Store a person's decisions on images. Repeating a decision changes nothing.

    Args:
        db: a session that can write.
        by: the person who decides.
        decisions: the SHA-256 of the image file and the decision, for each image.
        now: the current time.

    Raises:
        NotFound: the workspace has no such image; nothing is stored.
    """
    require(by, Action.PROTECT_PATIENTS)
    unknown_hashes = {sha256 for sha256, _ in decisions} - load_known_images(
        db, sha256=[image_hash for image_hash, _ in decisions]
    )
    if unknown_hashes:
        raise NotFound(f"The workspace has no image {min(unknown_hashes)}.")
    for sha256, decision in decisions:
        previous = patient_data.add_decision(db, sha256=sha256, decision=decision, by=by.id or None, now=now)
        if previous is not decision:
            previous_value = None if previous is None else previous.value
            subject = f"image {sha256}"
            record_action(
                db,
                by=by,
                action="look for patients in pixels",
                subject=subject,
                old=previous_value,
                new=decision.value,
                now=now,
            )


def _rank_image(store: ImageStore, decoder: GuardedDecoder, sha256: str) -> TextRank | None:
    try:
        with store.local_file(sha256) as path:
            image = decoder.render_jpeg(path, name=sha256[:12], longest_side=LONGEST_SIDE)
    except (NotFound, Refused, UnreadableImage):
        return None  # an image that can't be shown stays unranked; nobody can read text in it
    return rank_text(image)


def _map_in_order(hashes: Iterable[str], work: Callable[[str], TextRank | None]) -> Iterator[TextRank | None]:
    with ThreadPoolExecutor(_WORKERS) as threads:
        pending: deque[Future[TextRank | None]] = deque()
        for sha256 in hashes:
            pending.append(threads.submit(work, sha256))
            if len(pending) >= 4 * _WORKERS:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
