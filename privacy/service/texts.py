"""Looking for patients in a dataset's texts: by patterns, and by what the headers of its images say.

Finding only reads, and recording is one short write, so that nobody who judges waits for it.
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
    """What was found, not recorded yet: hits by number of the question.

    ``headers`` are how many image headers were searched for, ``headers_kept`` whether there were any to read:
    of files that were de-identified at the door, what their import found stays.
    """

    dataset_id: int
    dataset: str
    questions: int
    hits: tuple[tuple[int, TextHit], ...]
    headers: int
    headers_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HitReport:
    """What stands recorded of a dataset: ``with_hits`` of ``questions``, and hits by kind."""

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
    """Search all texts of the dataset; nothing is written.

    Args:
        db: a session that reads only.
        by: who searches.
        dataset: its name.
        workspace: where the images are, whose headers are read.
        progress: is told how many of how many, and of what.

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
    """Keep what was found in place of what was found before: where it stands, not what it says."""
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
    """Look for header values that are about to be forgotten, in all texts of the dataset, and keep the hits.

    For the import, in its own transaction: of a file that is de-identified at the door nobody can read the
    header again.

    Args:
        dataset_id: of the dataset that the exams are in.
        by_exam: key of the exam -> the values of its images' headers.

    Returns:
        How many hits there are.
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
    """What was found when the dataset was last searched.

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
    """Hits with the texts that they stand in, by question.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.dataset_named(db, name=dataset)
    return text_hits.hits_in_texts(db, dataset_id=summary.id, kind=kind, first=first, count=count)


def _hits_of(texts: Iterable[tuple[str, str]], exam: int, values: HeaderValues) -> Iterator[TextHit]:
    for field, text in texts:
        # A path is numbers by nature; what matters in it is only whether they are those of a header.
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
                continue  # it was readable when it came in; its texts are searched by pattern all the same
            except (NotFound, Refused):
                continue  # the file is gone, or has other bytes by now
            found[exam] += known.identity
            if done % 100 == 0 or done == len(images):
                progress(done, len(images), "headers")
    return found
