"""Searches a dataset's texts for patient data, by patterns and by the values of its images' headers.

Searching only reads, and storing the hits is one short write, so that reviewers do not have to wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import NotFound, Refused
from domain.patient_data import FROM_HEADERS, HitKind, Originals, TextHit
from domain.people import Action, Person, require
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.identity import IdentityValue
from privacy.header_values import HeaderValues
from privacy.patterns import hits_by_pattern
from storage.images.files import image_store
from storage.intake import datasets
from storage.privacy import patient_data, text_hits
from storage.privacy.text_hits import HitInText
from storage.workspace import Workspace

_FROM_PATTERNS = frozenset(HitKind) - FROM_HEADERS


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundHits:
    """The result of a search, not stored yet; ``hits`` are (question number, hit).

    ``headers`` is the number of image headers whose values were searched for. ``headers_kept`` is false if
    the workspace de-identifies files on import; the hits that the import found by headers then stay.
    """

    dataset_id: int
    dataset: str
    questions: int
    hits: tuple[tuple[int, TextHit], ...]
    headers: int
    headers_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HitReport:
    """The stored hits of a dataset: ``with_hits`` of ``questions`` questions, and hits by kind."""

    dataset: str
    questions: int
    with_hits: int
    counts: Mapping[HitKind, int]


def find_hits(
    db: Session,
    *,
    by: Person,
    dataset: str,
    workspace: Workspace,
    progress: Callable[[int, int, str], None] = lambda _done, _all, _what: None,
) -> FoundHits:
    """Search all texts of a dataset; writes nothing.

    Args:
        db: a session that reads.
        by: who searches.
        dataset: its name.
        workspace: where the images are, whose headers are read.
        progress: called with the number done, the number of all, and "headers" or "questions".

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.dataset_named(db, name=dataset)
    kept = patient_data.rules_of(db).originals is Originals.WHOLE
    identity: dict[int, list[IdentityValue]] = {}
    images = text_hits.exam_images(db, dataset_id=summary.id) if kept else []
    if images:
        identity = _identity_of(images, workspace=workspace, progress=progress)
    values, hits = HeaderValues(identity), []
    for done, each in enumerate(text_hits.question_texts(db, dataset_id=summary.id), start=1):
        hits += [(each.question_number, hit) for hit in _hits_of(each.texts, each.exam_number, values)]
        if done % 1_000 == 0 or done == summary.questions:
            progress(done, summary.questions, "questions")
    return FoundHits(
        dataset_id=summary.id,
        dataset=dataset,
        questions=summary.questions,
        hits=tuple(hits),
        headers=len(images),
        headers_kept=kept,
    )


def record_hits(db: Session, *, by: Person, found: FoundHits, now: datetime) -> None:
    """Replace the stored hits of a dataset; places are stored, not the text."""
    require(by, Action.PROTECT_PATIENTS)
    kinds = frozenset(HitKind) if found.headers_kept else _FROM_PATTERNS
    text_hits.replace_hits(db, dataset_id=found.dataset_id, hits=found.hits, kinds=sorted(kinds))
    record(
        db,
        by=by,
        what="search texts for patients",
        subject=f"dataset {found.dataset_id}",
        new={"questions": found.questions, "headers": found.headers, "hits": len(found.hits)},
        now=now,
    )


def search_with_headers(
    db: Session, *, dataset_id: int, by_exam: Mapping[str, Iterable[IdentityValue]]
) -> int:
    """Search all texts of a dataset for header values that are not stored, and add the hits.

    For imports that de-identify files, in the transaction of the import: the original headers can't be read
    later. Checks no permission.

    Args:
        db: a session that writes.
        dataset_id: of the dataset that the exams are in.
        by_exam: the values of the images' headers, by the exam's key.

    Returns:
        The number of hits.
    """
    if not by_exam:
        return 0
    numbers = text_hits.exams_by_key(db, dataset_id=dataset_id, keys=sorted(by_exam))
    values = HeaderValues({numbers[key]: found for key, found in by_exam.items() if key in numbers})
    if not values:
        return 0
    hits = [
        (each.question_number, hit)
        for each in text_hits.question_texts(db, dataset_id=dataset_id)
        for field, text in each.texts
        for hit in values.hits(text, field=field, exam=each.exam_number)
    ]
    text_hits.add_hits(db, dataset_id=dataset_id, hits=hits)
    return len(hits)


def hit_report(db: Session, *, by: Person, dataset: str) -> HitReport:
    """The stored hits of a dataset, counted.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.dataset_named(db, name=dataset)
    return HitReport(
        dataset=dataset,
        questions=summary.questions,
        with_hits=text_hits.questions_with_hits(db, dataset_id=summary.id),
        counts=text_hits.count_hits(db, dataset_id=summary.id),
    )


def hits(
    db: Session, *, by: Person, dataset: str, kind: HitKind | None = None, first: int = 0, count: int = 20
) -> list[HitInText]:
    """Stored hits with the texts that contain them, by question.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        kind: only hits of this kind; None for all.
        first: number of hits to skip.
        count: most hits to return.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.dataset_named(db, name=dataset)
    return text_hits.hits_in_texts(db, dataset_id=summary.id, kind=kind, first=first, count=count)


def _hits_of(texts: Iterable[tuple[str, str]], exam: int, values: HeaderValues) -> Iterator[TextHit]:
    for field, text in texts:
        # Paths contain many numbers, so they are searched only for header values.
        if not field.startswith("file"):
            yield from hits_by_pattern(text, field=field)
        if values:
            yield from values.hits(text, field=field, exam=exam)


def _identity_of(
    images: list[tuple[int, str]], *, workspace: Workspace, progress: Callable[[int, int, str], None]
) -> dict[int, list[IdentityValue]]:
    store = image_store(workspace)
    found: dict[int, list[IdentityValue]] = defaultdict(list)
    with GuardedReader() as reader:
        for done, (exam, sha256) in enumerate(images, start=1):
            try:
                with store.on_disk(sha256) as path:
                    known = reader.known_of(path, name=f"exam {exam}", key=None, identity=True)
            except UnreadableImage:
                continue  # it was readable on import; its texts are still searched by pattern
            except (NotFound, Refused):
                continue  # the file is gone or has been changed
            found[exam] += known.identity
            if done % 100 == 0 or done == len(images):
                progress(done, len(images), "headers")
    return found
