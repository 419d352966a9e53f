"""Finding questions: page by page by number, so that the thousandth page is as quick as the first."""

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

#: Above it a count says "more than". Twice as many took 185 ms of 1.6 million (benchmarks/browse.py).
COUNTED = 5_000

# What somebody says now: a verdict that they changed their mind about does not count.
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
    """A page of what was found; ``before`` and ``after`` say whether there are more on either side."""

    questions: tuple[FoundQuestion, ...]
    before: bool
    after: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a search of that dataset may choose from, each with its number of questions, the most first."""

    categories: tuple[tuple[str, int], ...]
    content_types: tuple[tuple[str, int], ...]
    generators: tuple[tuple[str, int], ...]
    prompt_versions: tuple[tuple[str, int], ...]


def browsable(db: Session, *, by: Person) -> list[str]:
    """The datasets there are, by name."""
    require(by, Action.BROWSE)
    return dataset_names(db)


def choices(db: Session, *, by: Person, dataset: str) -> Choices:
    """The values to choose from. It reads every question of the dataset: remember what it says."""
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
    """The dataset's batches, by name."""
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
    """The next questions above the number ``after``, or the last ones below ``before``.

    Raises:
        NotFound: no such dataset or batch.
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
    """How many there are, and whether that is all; a count stops at :data:`COUNTED`."""
    require(by, Action.BROWSE)
    count = len(words.matching(db, **asked(db, search), most=COUNTED + 1))
    return min(count, COUNTED), count <= COUNTED


def _shown(db: Session, numbers: list[int]) -> tuple[FoundQuestion, ...]:
    return tuple(found_questions(db, numbers=numbers))


def asked(db: Session, search: Search) -> dict[str, Any]:
    """What storage is asked: words, facets, and conditions on the number."""
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
