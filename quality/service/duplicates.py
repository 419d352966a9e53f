"""Services that find near-duplicates and contradictions in a dataset and mark them.

The search only reads. Marking is one short transaction, and is refused above a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.checks import Check, Problem, Settings
from domain.duplicates import ComparedQuestion
from domain.people import Action, Person, require
from language_models.embeddings import EndpointEmbedder
from language_models.service.data_use import check_data_use
from language_models.service.endpoints import load_endpoint
from parallel.executors import open_executor_for
from quality.duplicates.marking import (
    DEFAULT_LIMIT,
    GroupShare,
    KeepRule,
    Mark,
    choose_marks,
    count_shares,
    require_below_limit,
)
from quality.duplicates.meaning import Outcome
from quality.duplicates.search import (
    Pair,
    SearchSettings,
    Wording,
    find_pairs_in_exams,
    find_similar_wordings,
)
from quality.duplicates.vectors import Embedder
from quality.service.runs import record_results
from quality.service.settings import switch_check
from storage.intake import datasets
from storage.quality import compared_questions
from storage.quality.name_mappings import load_mapping
from storage.unit_of_work import read_only_session

_QUESTIONS_PER_QUERY = 400
#: The largest number of contradicting questions that a message names.
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateReport:
    """The result of a search within the exams of a dataset. Nothing is marked yet.

    Attributes:
        dataset: the name of the dataset.
        questions: how many questions were compared.
        through: the highest id of the compared questions; 0 if there are none.
        marks: the questions that would be marked.
        contradictions: pairs with the same question and contradicting keys.
        shares: the share that would be marked, of all questions, by task and by category.
        differences: what differs in the other candidates.
        paper_pairs: pairs above the paper's threshold, by the outcome of the meaning comparison.
        settings: the settings of the search, as they are stored.
    """

    dataset: str
    questions: int
    through: int
    marks: tuple[Mark, ...]
    contradictions: tuple[Pair, ...]
    shares: tuple[GroupShare, ...]
    differences: Counter[Outcome]
    paper_pairs: Counter[Outcome]
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """Two questions with the ids of their file, for display."""

    first: ComparedQuestion
    second: ComparedQuestion
    first_key: str
    second_key: str
    similarity: float


def load_embedder(db: Session, *, by: Person, endpoint: str, names: Sequence[str]) -> Embedder:
    """Return an embedder that uses the model of an endpoint, which may see the questions of these datasets.

    Raises:
        NotFound: there is no such endpoint or dataset.
        Refused: a dataset does not permit the endpoint.
    """
    chosen_endpoint = load_endpoint(db, by=by, name=endpoint)
    for name in names:
        datasets.load_dataset(db, name=name)
    check_data_use(db, datasets=names, endpoint=chosen_endpoint)
    return EndpointEmbedder(endpoint=chosen_endpoint)


def find_duplicates(
    *,
    by: Person,
    dataset: str,
    settings: SearchSettings | None = None,
    rule: KeepRule = KeepRule.LONGEST_EXPLANATION,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    read_session: Callable[[], AbstractContextManager[Session]] = read_only_session,
) -> DuplicateReport:
    """Compare the questions of each exam of a dataset.

    Args:
        by: the acting person.
        dataset: the name of the dataset.
        settings: how similar candidates are; None for the defaults.
        rule: which of two duplicates stays.
        progress: called with the number of compared questions and of all questions.
        read_session: opens a read-only session.

    Raises:
        NotFound: there is no such dataset.
        Refused: the cluster does not answer, or a process was killed.
    """
    require(by, Action.SEE_CHECKS)
    settings = settings or SearchSettings()
    with read_session() as db:
        summary = datasets.load_dataset(db, name=dataset)
        highest = _HighestNumber()
        with open_executor_for(summary.questions) as executor:
            result = find_pairs_in_exams(
                highest.watch(compared_questions.iterate_compared_questions(db, dataset_id=summary.id)),
                settings=settings,
                executor=executor,
                progress=lambda done: progress(done, summary.questions),
            )
        compared = _load_questions(db, [number for pair in result.pairs for number in pair[:2]])
        lengths = {number: question.explanation_length for number, question in compared.items()}
        marks = choose_marks(result.pairs, explanation_lengths=lengths, rule=rule)
        groups = {mark.question: compared[mark.question].group for mark in marks}
        sizes = compared_questions.count_groups(db, dataset_id=summary.id)
        mapping = load_mapping(db, dataset_id=summary.id)
    return DuplicateReport(
        dataset=dataset,
        questions=result.questions,
        through=highest.number,
        marks=tuple(marks),
        contradictions=tuple(pair for pair in result.pairs if pair.outcome is Outcome.CONTRADICTION),
        shares=tuple(count_shares(marks, sizes=sizes, groups=groups, mapping=mapping)),
        differences=result.differences,
        paper_pairs=result.paper_pairs,
        settings={
            "embedding": settings.embedder.name,
            "threshold": settings.threshold,
            "text_weight": settings.text_weight,
            "structure_weight": settings.structure_weight,
            "keep": rule.value,
        },
    )


def mark_duplicates(
    db: Session, *, by: Person, report: DuplicateReport, limit: float = DEFAULT_LIMIT, now: datetime
) -> None:
    """Store duplicates and contradictions as problems of their checks, and switch these checks on.

    Args:
        db: a session that can write.
        by: the acting person.
        report: the result of :func:`find_duplicates`.
        limit: the largest share of the dataset, a task or a category that may be marked.
        now: the current time.

    Raises:
        NotFound: there is no such dataset.
        Refused: a share is above the limit.
    """
    require(by, Action.IMPORT_QUESTIONS)
    require_below_limit(report.shares, limit=limit)
    numbers = [number for mark in report.marks for number in (mark.question, mark.kept)]
    numbers += [number for pair in report.contradictions for number in pair[:2]]
    keys = compared_questions.load_question_keys(db, numbers=numbers)
    problems_by_check = {
        Check.DUPLICATE: [(mark.question, _describe_mark(mark, keys[mark.kept])) for mark in report.marks],
        Check.CONTRADICTION: _describe_contradictions(report.contradictions, keys),
    }
    for check, problems in problems_by_check.items():
        switch_check(db, by=by, dataset=report.dataset, check=check, is_on=True, now=now)
        record_results(
            db,
            by=by,
            dataset=report.dataset,
            check=check,
            settings=report.settings,
            through=report.through,
            problems_found=problems,
            now=now,
        )


def load_pairs(db: Session, *, by: Person, pairs: Sequence[tuple[int, int, float]]) -> list[ComparedPair]:
    """Load pairs of questions, given as (number, number, similarity), for display."""
    require(by, Action.SEE_CHECKS)
    numbers = [number for pair in pairs for number in pair[:2]]
    questions = _load_questions(db, numbers)
    keys = compared_questions.load_question_keys(db, numbers=numbers)
    return [
        ComparedPair(
            first=questions[first],
            second=questions[second],
            first_key=keys[first],
            second_key=keys[second],
            similarity=similarity,
        )
        for first, second, similarity in pairs
    ]


def find_repeated_wordings(
    *,
    by: Person,
    names: Sequence[str],
    settings: SearchSettings | None = None,
    progress: Callable[[int], None] = lambda _: None,
    read_session: Callable[[], AbstractContextManager[Session]] = read_only_session,
) -> tuple[int, list[tuple[Wording, Wording, float]]]:
    """Compare the wordings of one or several datasets; of several, return only pairs between datasets.

    The same wording on another exam is repetition, so nothing is marked.

    Args:
        by: the acting person.
        names: the names of the datasets, at least one.
        settings: how similar candidates are; None for the defaults.
        progress: called with the number of compared wordings.
        read_session: opens a read-only session.

    Returns:
        The number of wordings, and pairs of them with their similarity, the most similar first. With several
        datasets, a wording that occurs in more than one is a pair with itself.

    Raises:
        NotFound: there is no such dataset.
        Refused: the cluster does not answer, or a process was killed.
    """
    require(by, Action.SEE_CHECKS)
    with read_session() as db:
        names = list(dict.fromkeys(names))
        summaries = [datasets.load_dataset(db, name=name) for name in names]
        questions = (
            (summary.name, question)
            for summary in summaries
            for question in compared_questions.iterate_compared_questions(db, dataset_id=summary.id)
        )
        with open_executor_for(sum(summary.questions for summary in summaries)) as executor:
            result, wordings = find_similar_wordings(
                questions, settings=settings or SearchSettings(), executor=executor, progress=progress
            )
    pairs = [
        (wordings[pair.first], wordings[pair.second], pair.similarity)
        for pair in result.pairs
        if pair.outcome is Outcome.DUPLICATE
        and (len(names) == 1 or len({*wordings[pair.first].counts, *wordings[pair.second].counts}) > 1)
    ]
    pairs += [(wording, wording, 1.0) for wording in wordings.values() if len(wording.counts) > 1]
    return result.wordings, sorted(pairs, key=lambda pair: -pair[2])


class _HighestNumber:
    """The highest number of the questions that passed through :meth:`watch`; 0 if there was none."""

    def __init__(self) -> None:
        self.number = 0

    def watch(self, questions: Iterator[ComparedQuestion]) -> Iterator[ComparedQuestion]:
        for question in questions:
            self.number = max(self.number, question.number)
            yield question


def _load_questions(db: Session, numbers: Sequence[int]) -> dict[int, ComparedQuestion]:
    questions: dict[int, ComparedQuestion] = {}
    sorted_numbers = sorted(set(numbers))
    for start in range(0, len(sorted_numbers), _QUESTIONS_PER_QUERY):
        block = sorted_numbers[start : start + _QUESTIONS_PER_QUERY]
        questions |= compared_questions.load_compared_questions(db, numbers=block)
    return questions


def _describe_mark(mark: Mark, kept_key: str) -> Problem:
    return Problem(
        check=Check.DUPLICATE,
        field="stem",
        reason=f"asks the same as question {kept_key} of the exam (similarity {mark.similarity:.2f})",
    )


def _describe_contradictions(pairs: Sequence[Pair], keys: dict[int, str]) -> list[tuple[int, Problem]]:
    contradicting_keys: dict[int, list[str]] = {}
    for pair in pairs:
        contradicting_keys.setdefault(pair.first, []).append(keys[pair.second])
        contradicting_keys.setdefault(pair.second, []).append(keys[pair.first])
    return [
        (
            number,
            Problem(
                check=Check.CONTRADICTION,
                field="answer",
                reason="contradicts the answer key of the same question: " + ", ".join(names[:_MAX_NAMED]),
            ),
        )
        for number, names in sorted(contradicting_keys.items())
    ]
