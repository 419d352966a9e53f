"""Searches a dataset's texts for patient data, by patterns and by the values of its images' headers.

Searching only reads, and storing the hits is one short write, so that reviewers do not have to wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotFound, Refused
from domain.patient_data import HEADER_HIT_KINDS, HitKind, Originals, TextHit
from domain.people import Action, Person, require
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.identity import IdentityValue
from privacy.header_values import HeaderValues
from privacy.text_hits import find_hits_in_texts
from storage.images.files import get_image_store
from storage.intake import datasets
from storage.privacy import patient_data, text_hits
from storage.privacy.text_hits import HitInText
from storage.workspace import Workspace

_FROM_PATTERNS = frozenset(HitKind) - HEADER_HIT_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSearchResult:
    """The result of a search before it is stored. ``hits`` contains (question id, hit).

    ``headers`` is the number of image headers whose values were searched for. ``headers_available`` is false
    if the workspace de-identifies files on import. The hits that the import detected by header values are
    then kept.
    """

    dataset_id: int
    dataset: str
    questions: int
    hits: tuple[tuple[int, TextHit], ...]
    headers: int
    headers_available: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HitReport:
    """The stored hits of a dataset: ``with_hits`` of ``questions`` questions, and counts of hits by kind."""

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
) -> TextSearchResult:
    """Search all texts of a dataset; writes nothing.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        workspace: the workspace with the images, whose headers are read.
        progress: a function that is called with the number done, the total number, and "headers" or
            "questions".

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    dataset_summary = datasets.load_dataset(db, name=dataset)
    headers_available = patient_data.load_rules(db).originals is Originals.WHOLE
    identity_values: dict[int, list[IdentityValue]] = {}
    images = text_hits.list_exam_images(db, dataset_id=dataset_summary.id) if headers_available else []
    if images:
        identity_values = _load_identity_values(images, workspace=workspace, progress=progress)
    header_values, hits = HeaderValues(identity_values), []
    for done, text_row in enumerate(
        text_hits.iterate_question_texts(db, dataset_id=dataset_summary.id), start=1
    ):
        hits += [
            (text_row.question_row_id, hit)
            for hit in find_hits_in_texts(text_row.texts, text_row.exam_row_id, header_values)
        ]
        if done % 1_000 == 0 or done == dataset_summary.questions:
            progress(done, dataset_summary.questions, "questions")
    return TextSearchResult(
        dataset_id=dataset_summary.id,
        dataset=dataset,
        questions=dataset_summary.questions,
        hits=tuple(hits),
        headers=len(images),
        headers_available=headers_available,
    )


def record_hits(db: Session, *, by: Person, result: TextSearchResult, now: datetime) -> None:
    """Replace the stored hits of a dataset. Only positions are stored, not the text."""
    require(by, Action.PROTECT_PATIENTS)
    replaced_kinds = frozenset(HitKind) if result.headers_available else _FROM_PATTERNS
    text_hits.replace_hits(db, dataset_id=result.dataset_id, hits=result.hits, kinds=sorted(replaced_kinds))
    record_action(
        db,
        by=by,
        action="search texts for patients",
        subject=f"dataset {result.dataset_id}",
        new={"questions": result.questions, "headers": result.headers, "hits": len(result.hits)},
        now=now,
    )


def search_with_headers(
    db: Session, *, dataset_id: int, values_by_exam: Mapping[str, Iterable[IdentityValue]]
) -> int:
    """Search all texts of a dataset for header values that are not stored, and add the hits.

    Imports that de-identify files call this function in their transaction, because the original headers can't
    be read later. It checks no permission.

    Args:
        db: a session that can write.
        dataset_id: the id of the dataset of the exams.
        values_by_exam: the values of the images' headers, by the exam's id in the file.

    Returns:
        The number of hits.
    """
    if not values_by_exam:
        return 0
    row_id_by_exam = text_hits.load_exam_numbers_by_key(
        db, dataset_id=dataset_id, keys=sorted(values_by_exam)
    )
    header_values = HeaderValues(
        {
            row_id_by_exam[key]: identity_values
            for key, identity_values in values_by_exam.items()
            if key in row_id_by_exam
        }
    )
    if not header_values:
        return 0
    hits = [
        (text_row.question_row_id, hit)
        for text_row in text_hits.iterate_question_texts(db, dataset_id=dataset_id)
        for field, text in text_row.texts
        for hit in header_values.find_hits(text, field=field, exam=text_row.exam_row_id)
    ]
    text_hits.add_hits(db, dataset_id=dataset_id, hits=hits)
    return len(hits)


def load_hit_report(db: Session, *, by: Person, dataset: str) -> HitReport:
    """Count the stored hits of a dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.load_dataset(db, name=dataset)
    return HitReport(
        dataset=dataset,
        questions=summary.questions,
        with_hits=text_hits.count_questions_with_hits(db, dataset_id=summary.id),
        counts=text_hits.count_hits(db, dataset_id=summary.id),
    )


def list_hits(
    db: Session, *, by: Person, dataset: str, kind: HitKind | None = None, offset: int = 0, limit: int = 20
) -> list[HitInText]:
    """List stored hits with the texts that contain them, ordered by question.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        kind: the kind of hits to list; None for all.
        offset: the number of hits to skip.
        limit: the maximum number of hits to return.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.PROTECT_PATIENTS)
    summary = datasets.load_dataset(db, name=dataset)
    return text_hits.list_hits_in_texts(db, dataset_id=summary.id, kind=kind, first=offset, count=limit)


def _load_identity_values(
    images: list[tuple[int, str]], *, workspace: Workspace, progress: Callable[[int, int, str], None]
) -> dict[int, list[IdentityValue]]:
    store = get_image_store(workspace)
    identity_values: dict[int, list[IdentityValue]] = defaultdict(list)
    with GuardedDecoder() as decoder:
        for done, (exam, sha256) in enumerate(images, start=1):
            try:
                with store.local_file(sha256) as path:
                    header = decoder.describe_with_identity(
                        path, name=f"exam {exam}", key=None, identity=True
                    )
                identity_values[exam] += header.identity
            except UnreadableImage:
                pass  # the file was readable on import; its texts are still searched by patterns
            except (NotFound, Refused):
                pass  # the file was deleted or changed
            if done % 100 == 0 or done == len(images):
                progress(done, len(images), "headers")
    return identity_values
