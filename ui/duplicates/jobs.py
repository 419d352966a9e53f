"""Background jobs of the page Near-duplicates: the search, with or without marking, and the draw of pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from jobs.encoding import from_json
from jobs.service import JobKind, JobRun
from quality.duplicates.marking import GroupShare
from quality.duplicates.meaning import Outcome
from quality.duplicates.search import SearchSettings
from quality.service import draw_calibration, find_duplicates, mark_duplicates, store_calibration
from ui.background_jobs import job_control

#: The maximum number of pairs of each kind that the page shows.
_MAX_SHOWN_PAIRS = 20
_ShownPair = tuple[int, int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The parameters of a search.

    ``limit`` is the largest share of the dataset's questions to mark; None to search without marking.
    """

    dataset: str
    threshold: float
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSummary:
    """The result of a search as the page shows it. A pair is (row id, row id, similarity).

    ``paper_pairs`` is the number of pairs above the threshold of the paper. ``paper_wrong`` is the number of
    these pairs that are not near-duplicates.
    """

    threshold: float
    questions: int
    shares: tuple[GroupShare, ...]
    duplicates: tuple[_ShownPair, ...]
    contradictions: tuple[_ShownPair, ...]
    contradiction_count: int
    paper_pairs: int
    paper_wrong: int
    is_marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRequest:
    """The parameters of a draw of pairs for the calibration."""

    dataset: str
    seed: int


def start_search(person: Person, request: SearchRequest) -> None:
    """Start a search. If a search of the dataset is active, do nothing."""
    job_control.start_job(DUPLICATES, request, by=person, subject=request.dataset)


def start_draw(person: Person, request: DrawRequest) -> None:
    """Start a draw of pairs. If a draw of the dataset is active, do nothing."""
    job_control.start_job(CALIBRATION, request, by=person, subject=request.dataset)


def load_latest_search_job(person: Person, dataset: str) -> Job | None:
    """Return the latest search of a dataset; None if there is none or it was dismissed."""
    return job_control.load_latest_job(DUPLICATES, by=person, subject=dataset)


def load_latest_draw_job(person: Person, dataset: str) -> Job | None:
    """Return the latest draw of a dataset; None if there is none or it was dismissed."""
    return job_control.load_latest_job(CALIBRATION, by=person, subject=dataset)


def read_summary(job: Job | None) -> SearchSummary | None:
    """Return the result of a search that is done; otherwise None."""
    return from_json(job.result, SearchSummary) if job is not None and job.result else None


def _run_search(job: JobRun[SearchRequest]) -> None:
    request = job.parameters
    report = find_duplicates(
        by=job.owner,
        dataset=request.dataset,
        settings=replace(SearchSettings(), threshold=request.threshold),
        progress=lambda done, total: job.report_progress(done, total, "questions"),
        read_session=job.read_session,
    )
    summary = SearchSummary(
        threshold=request.threshold,
        questions=report.questions,
        shares=report.shares,
        duplicates=tuple(
            (mark.kept, mark.question, mark.similarity) for mark in report.marks[:_MAX_SHOWN_PAIRS]
        ),
        contradictions=tuple(pair[:3] for pair in report.contradictions[:_MAX_SHOWN_PAIRS]),
        contradiction_count=len(report.contradictions),
        paper_pairs=report.paper_pairs.total(),
        paper_wrong=report.paper_pairs.total() - report.paper_pairs[Outcome.DUPLICATE],
        is_marked=request.limit is not None,
    )
    with job.transaction() as db:
        duplicates_text = count_text(len(report.marks), "near-duplicate")
        contradictions_text = count_text(len(report.contradictions), "pair")
        counts = f"{duplicates_text} and {contradictions_text} with contradicting keys"
        message = f"{counts} found. Nothing is marked yet."
        if not report.marks and not report.contradictions:
            message = "No near-duplicates and no contradicting keys found."
        if request.limit is not None:
            mark_duplicates(db, by=job.owner, report=report, limit=request.limit, now=job.now())
            message = f"{counts} marked."
        job.finish(db, message, summary)


def _run_draw(job: JobRun[DrawRequest]) -> None:
    request, embedding = job.parameters, SearchSettings().embedder.name
    pairs = draw_calibration(
        by=job.owner, dataset=request.dataset, seed=request.seed, read_session=job.read_session
    )
    with job.transaction() as db:
        store_calibration(
            db, by=job.owner, dataset=request.dataset, embedding=embedding, pairs=pairs, now=job.now()
        )
        job.finish(db, f"{count_text(len(pairs), 'pair')} drawn.")


DUPLICATES = JobKind(
    name="duplicates",
    title="Near-duplicates",
    action=Action.IMPORT_QUESTIONS,
    parameters=SearchRequest,
    run=_run_search,
    failure_prefix="The search stopped. Nothing was marked.",
)
CALIBRATION = JobKind(
    name="calibration",
    title="Pairs for calibration",
    action=Action.IMPORT_QUESTIONS,
    parameters=DrawRequest,
    run=_run_draw,
    failure_prefix="No pairs were drawn.",
)
