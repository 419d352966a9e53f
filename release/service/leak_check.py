"""Service that finds patients, images, reports and questions that several datasets share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext

from sqlmodel import Session

from domain.errors import Refused
from domain.people import Action, Person, require
from imaging.guarded_decoder import GuardedDecoder
from release.leak_report import DatasetContent, LeakReport, SharedQuestions, SharedWording
from release.leaks import ExamLinks, Leak, LeakKind, find_leaks, hash_report
from release.service.images import hash_pixels
from release.splits import link_exam
from storage.release import gold
from storage.sampling.frames import load_dataset_row_id
from storage.workspace import Workspace


def find_dataset_leaks(
    db: Session,
    *,
    by: Person,
    datasets: Sequence[str],
    workspace: Workspace | None = None,
    with_questions: bool = False,
    report_progress: Callable[[int], None] = lambda _: None,
) -> LeakReport:
    """Find patients, images, reports and, on request, questions that are in more than one of the datasets.

    Reports are compared without regard to case and white space. Equal reports may be templates, so they do
    not prove that exams are the same.

    Args:
        db: a read-only session.
        by: the acting person.
        datasets: the names of the datasets.
        workspace: the workspace with the images, to compare images by their pixels, which decodes all of
            them; None to compare their files.
        with_questions: whether to find equal and near-duplicate questions, too, by the definition of
            :mod:`quality.duplicates`; takes about a minute per 100,000 questions.
        report_progress: called with the number of exams, images and wordings that were compared.

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
        for content in gold.iterate_exam_contents(db, dataset_id=load_dataset_row_id(db, name=name))
    ]
    report_progress(len(exams))
    pixel_hash: dict[str, str] = {}
    if workspace is not None:
        image_hashes = sorted({sha256 for _, content in exams for sha256 in content.images})
        with GuardedDecoder() as decoder:
            pixel_hash = hash_pixels(
                workspace,
                image_hashes,
                decoder=decoder,
                progress=lambda count: report_progress(len(exams) + count),
            )
    links = [(name, _link_content(content, pixel_hash)) for name, content in exams]
    leaks = find_leaks(links)
    compared_count = len(exams) + len(pixel_hash)
    shared_questions = (
        _find_shared_questions(
            db, by=by, names=names, progress=lambda count: report_progress(compared_count + count)
        )
        if with_questions
        else None
    )
    questions_by_exam = {(name, content.exam): content.questions for name, content in exams}
    return LeakReport(
        datasets=tuple(
            _describe_dataset(name, [content for dataset, content in exams if dataset == name])
            for name in names
        ),
        leaks=tuple(leaks),
        affected=_count_affected(leaks, questions_by_exam),
        pixels_compared=workspace is not None,
        shared_questions=shared_questions,
    )


def _find_shared_questions(
    db: Session, *, by: Person, names: Sequence[str], progress: Callable[[int], None]
) -> SharedQuestions:
    from quality.service import find_repeated_wordings  # noqa: PLC0415 - imports models, rarely needed

    _, pairs = find_repeated_wordings(
        by=by, names=names, progress=progress, read_session=lambda: nullcontext(db)
    )
    shared = []
    counts_by_wording: dict[int, Mapping[str, int]] = {}
    for first, second, similarity in pairs:
        wordings = (first,) if first is second else (first, second)
        counts_by_wording |= {wording.question.number: wording.counts for wording in wordings}
        shared.append(
            SharedWording(
                stems=tuple(wording.question.stem for wording in wordings),
                similarity=similarity,
                questions=_add_counts(wording.counts for wording in wordings),
            )
        )
    return SharedQuestions(wordings=tuple(shared), questions=_add_counts(counts_by_wording.values()))


def _add_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for counts_by_dataset in counts:
        total.update(counts_by_dataset)
    return dict(total)


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
