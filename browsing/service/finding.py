"""Searches questions, page by page by question number, so that the last page is as fast as the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from browsing.search import Search, Standing
from domain.people import Action, Person, require
from storage.browsing import search as words
from storage.browsing.found_questions import FoundQuestion, found_questions, values_of
from storage.sampling.batches import list_batches, load_batch
from storage.sampling.frames import dataset_names, dataset_number

#: Counting stops at this number. Counting twice as many of 1.6 million questions took 185 ms
#: (benchmarks/browse.py).
COUNTED = 5_000

# The latest revision of each person's verdict in each batch.
_VERDICT = (
    "SELECT question_id FROM verdict said WHERE decision = :decision AND NOT EXISTS ("
    "SELECT 1 FROM verdict since WHERE since.batch_id = said.batch_id "
    "AND since.question_id = said.question_id AND since.person_id = said.person_id "
    "AND since.revision > said.revision)"
)
_STANDING = {
    Standing.NOT_DRAWN: "NOT EXISTS (SELECT 1 FROM batch_question b WHERE b.question_id = number)",
    Standing.DRAWN: "number IN (SELECT question_id FROM batch_question) "
    "AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.question_id = number)",
}
_WITHIN = {
    Standing.ACCEPTED: _VERDICT,
    Standing.REVISED: _VERDICT,
    Standing.REJECTED: _VERDICT,
    Standing.SKIPPED: "SELECT question_id FROM assignment WHERE state = 'skipped'",
    Standing.RELEASED: "SELECT question_id FROM release_item",
}
_DECISIONS = {Standing.ACCEPTED: "accept", Standing.REVISED: "revise", Standing.REJECTED: "reject"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A page of results; ``before`` and ``after``: whether there are more on either side."""

    questions: tuple[FoundQuestion, ...]
    before: bool
    after: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The values that a search can filter by, with their numbers of questions, the most frequent first."""

    categories: tuple[tuple[str, int], ...]
    content_types: tuple[tuple[str, int], ...]
    generators: tuple[tuple[str, int], ...]
    prompt_versions: tuple[tuple[str, int], ...]


def browsable(db: Session, *, by: Person) -> list[str]:
    """The names of all datasets, sorted."""
    require(by, Action.BROWSE)
    return dataset_names(db)


def choices(db: Session, *, by: Person, dataset: str) -> Choices:
    """The values to filter by. It reads every question of the dataset, so callers should cache the result.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = dataset_number(db, name=dataset)
    columns = ("category", "content_type", "generator", "prompt_version")
    found = [tuple(values_of(db, dataset_id=dataset_id, column=column)) for column in columns]
    return Choices(
        categories=found[0],
        content_types=found[1],
        generators=found[2],
        prompt_versions=found[3],
    )


def batches_of(db: Session, *, by: Person, dataset: str) -> list[str]:
    """The names of the dataset's batches.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    return [each.name for each in list_batches(db, dataset_id=dataset_number(db, name=dataset))]


def find(
    db: Session,
    *,
    by: Person,
    search: Search,
    after: int = 0,
    before: int | None = None,
    most: int = 50,
) -> Found:
    """Find a page of questions, in the order of their numbers.

    Args:
        db: a session that reads.
        by: who asks.
        search: the search.
        after: the page begins above this question number.
        before: if given, the page ends below this question number instead.
        most: questions per page.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    require(by, Action.BROWSE)
    numbers = words.matching(db, **asked(db, search), after=after, before=before, most=most + 1)
    more = len(numbers) > most
    if before is None:
        numbers = numbers[:most]
        return Found(questions=_shown(db, numbers), before=after > 0, after=more)
    numbers = numbers[-most:]
    return Found(questions=_shown(db, numbers), before=more, after=True)


def count_found(db: Session, *, by: Person, search: Search) -> tuple[int, bool]:
    """The number of questions that a search finds, at most :data:`COUNTED`, and whether it is exact.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    require(by, Action.BROWSE)
    count = len(words.matching(db, **asked(db, search), most=COUNTED + 1))
    return min(count, COUNTED), count <= COUNTED


def _shown(db: Session, numbers: list[int]) -> tuple[FoundQuestion, ...]:
    return tuple(found_questions(db, numbers=numbers))


def asked(db: Session, search: Search) -> dict[str, Any]:
    """The arguments of :func:`storage.browsing.words.matching` for a search.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    facets = []
    for column in ("format", "task", "difficulty", "category", "content_type", "generator", "prompt_version"):
        value = getattr(search, column)
        if value is not None:
            facets.append(words.facet(column, str(value)))
    if search.with_boxes:
        facets.append(words.WITH_BOXES)
    conditions: list[str] = []
    values: dict[str, object] = {}
    if search.standing is not None:
        if search.standing in _STANDING:
            conditions.append(_STANDING[search.standing])
        if search.standing in _DECISIONS:
            values["decision"] = _DECISIONS[search.standing]
    if search.batch is not None:
        conditions.append("number IN (SELECT question_id FROM batch_question WHERE batch_id = :batch)")
        values["batch"] = load_batch(db, name=search.batch).id
    if search.check is not None:
        conditions.append("number IN (SELECT question_id FROM problem WHERE check_name = :check)")
        values["check"] = search.check.value
    return {
        "said": search.words,
        "facets": facets,
        "dataset_id": dataset_number(db, name=search.dataset),
        "also": " AND ".join(conditions),
        "within": "" if search.standing is None else _WITHIN.get(search.standing, ""),
        "values": values,
    }
