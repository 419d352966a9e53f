"""Service that finds patients, images and reports that several datasets share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from sqlmodel import Session

from domain.errors import Refused
from domain.people import Action, Person, require
from imaging.guarded_decoder import GuardedDecoder
from release.leak_report import DatasetContent, LeakReport
from release.leaks import ExamLinks, Leak, LeakKind, find_leaks, hash_report
from release.service.images import hash_pixels
from release.splits import link_exam
from storage.release import gold
from storage.sampling.frames import load_dataset_number
from storage.workspace import Workspace


def find_dataset_leaks(
    db: Session,
    *,
    by: Person,
    datasets: Sequence[str],
    workspace: Workspace | None = None,
    report_progress: Callable[[int], None] = lambda _: None,
) -> LeakReport:
    """Find patients, images and reports that are in more than one of the datasets.

    Reports are compared without regard to case and white space. Equal reports may be templates, so they do
    not prove that exams are the same.

    Args:
        db: a read-only session.
        by: the acting person.
        datasets: the names of the datasets.
        workspace: the workspace with the images, to compare images by their pixels, which decodes all of
            them; None to compare their files.
        report_progress: a function that is called with the number of exams read and images decoded.

    Raises:
        NotFound: there is no such dataset.
        Refused: there are fewer than two datasets.
    """
    require(by, Action.BROWSE)
    names = tuple(dict.fromkeys(datasets))
    if len(names) < 2:
        raise Refused("Choose at least two different datasets.")
    exams = [
        (name, content)
        for name in names
        for content in gold.iterate_exam_contents(db, dataset_id=load_dataset_number(db, name=name))
    ]
    report_progress(len(exams))
    pixel_hash: dict[str, str] = {}
    if workspace is not None:
        files = sorted({sha256 for _, content in exams for sha256 in content.images})
        with GuardedDecoder() as decoder:
            pixel_hash = hash_pixels(
                workspace,
                files,
                decoder=decoder,
                progress=lambda count: report_progress(len(exams) + count),
            )
    links = [(name, _link_content(content, pixel_hash)) for name, content in exams]
    leaks = find_leaks(links)
    questions_by_exam = {(name, content.exam): content.questions for name, content in exams}
    return LeakReport(
        datasets=tuple(
            _describe_dataset(name, [content for other, content in exams if other == name]) for name in names
        ),
        leaks=tuple(leaks),
        affected=_count_affected(leaks, questions_by_exam),
        pixels_compared=workspace is not None,
    )


def _link_content(content: gold.ExamContent, pixel_hash: Mapping[str, str]) -> ExamLinks:
    return link_exam(
        content.exam,
        patient=content.patient,
        images=content.images,
        pixel_hash=pixel_hash,
        report=hash_report(content.report or ""),
    )


def _describe_dataset(name: str, contents: Sequence[gold.ExamContent]) -> DatasetContent:
    return DatasetContent(
        name=name,
        exams=len(contents),
        with_patient=sum(bool(content.patient and content.patient.strip()) for content in contents),
        with_images=sum(bool(content.images) for content in contents),
        with_report=sum(hash_report(content.report or "") is not None for content in contents),
    )


def _count_affected(
    leaks: Sequence[Leak], questions_by_exam: Mapping[tuple[str, str], int]
) -> dict[tuple[LeakKind, str], tuple[int, int]]:
    exams = defaultdict[tuple[LeakKind, str], set[str]](set)
    for leak in leaks:
        for dataset, ids in leak.exams.items():
            exams[leak.kind, dataset].update(ids)
    return {
        (kind, dataset): (len(ids), sum(questions_by_exam[dataset, exam] for exam in ids))
        for (kind, dataset), ids in exams.items()
    }
