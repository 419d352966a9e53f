"""Services for searching questions.

Pages are selected by question id, so the last page loads as fast as the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlmodel import Session

from browsing.dataset_statistics import count_derived_values
from browsing.search import QuestionStatus, Search
from domain.people import Action, Person, require
from storage.browsing import search as search_storage
from storage.browsing.search_results import SearchResult, count_values, load_search_results
from storage.intake.datasets import find_dataset_of_last_import
from storage.quality.name_mappings import load_mapping, load_newest_mapping
from storage.sampling.batches import list_batches, load_batch
from storage.sampling.frames import list_dataset_names, load_dataset_row_id
from terminology.taxonomy import derive_feature, get_column

#: The features that a search can filter by and that follow from raw names.
_DERIVED_FILTERS = ("controlled_category", "domain", "controlled_content_type")
_UNUSED_FACET = "xnone"  # no facet begins with this letter
#: Counting stops at this number. Counting twice as many of 1.6 million questions takes 185 ms
#: (benchmarks/browse.py).
MAX_COUNTED = 5_000

# Questions for which the latest revision of a person's verdict in a batch has this decision.
_LATEST_VERDICT_SQL = (
    "SELECT question_id FROM verdict latest WHERE decision = :decision AND NOT EXISTS ("
    "SELECT 1 FROM verdict newer WHERE newer.batch_id = latest.batch_id "
    "AND newer.question_id = latest.question_id AND newer.person_id = latest.person_id "
    "AND newer.revision > latest.revision)"
)
_STATUS_CONDITIONS = {
    QuestionStatus.NOT_DRAWN: "NOT EXISTS (SELECT 1 FROM batch_question b WHERE b.question_id = number)",
    QuestionStatus.DRAWN: "number IN (SELECT question_id FROM batch_question) "
    "AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.question_id = number)",
}
_STATUS_SUBQUERIES = {
    QuestionStatus.ACCEPTED: _LATEST_VERDICT_SQL,
    QuestionStatus.REVISED: _LATEST_VERDICT_SQL,
    QuestionStatus.REJECTED: _LATEST_VERDICT_SQL,
    QuestionStatus.SKIPPED: "SELECT question_id FROM assignment WHERE state = 'skipped'",
    QuestionStatus.RELEASED: "SELECT question_id FROM release_item",
}
_DECISIONS = {
    QuestionStatus.ACCEPTED: "accept",
    QuestionStatus.REVISED: "revise",
    QuestionStatus.REJECTED: "reject",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """A page of results; ``has_previous`` and ``has_next`` state whether there are more pages."""

    questions: tuple[SearchResult, ...]
    has_previous: bool
    has_next: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterChoices:
    """The values that a search can filter by, as (value, number of questions), the most frequent first."""

    categories: tuple[tuple[str, int], ...]
    content_types: tuple[tuple[str, int], ...]
    controlled_categories: tuple[tuple[str, int], ...]
    domains: tuple[tuple[str, int], ...]
    controlled_content_types: tuple[tuple[str, int], ...]
    generators: tuple[tuple[str, int], ...]
    prompt_versions: tuple[tuple[str, int], ...]


def list_browsable_datasets(db: Session, *, by: Person) -> list[str]:
    """List the names of all datasets, sorted."""
    require(by, Action.BROWSE)
    return list_dataset_names(db)


def find_last_imported_dataset(db: Session, *, by: Person) -> str | None:
    """Find the name of the dataset with the newest import; None if there is no import."""
    require(by, Action.BROWSE)
    return find_dataset_of_last_import(db)


def load_filter_choices(db: Session, *, by: Person, dataset: str) -> FilterChoices:
    """Load the values to filter by.

    This reads all questions of the dataset, so callers should cache the result.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = load_dataset_row_id(db, name=dataset)
    columns = ("category", "content_type", "generator", "prompt_version")
    values_by_column = [tuple(count_values(db, dataset_id=dataset_id, column=column)) for column in columns]
    mapping = load_mapping(db, dataset_id=dataset_id)
    derived = {
        feature: count_derived_values(
            values_by_column[columns.index(get_column(feature))],
            partial(derive_feature, feature, mapping=mapping),
        )
        for feature in _DERIVED_FILTERS
    }
    return FilterChoices(
        controlled_categories=derived["controlled_category"],
        domains=derived["domain"],
        controlled_content_types=derived["controlled_content_type"],
        categories=values_by_column[0],
        content_types=values_by_column[1],
        generators=values_by_column[2],
        prompt_versions=values_by_column[3],
    )


def load_newest_name_mapping(db: Session, *, by: Person, dataset: str) -> int:
    """Load the id of the newest mapping of a name; 0 if there is none.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    return load_newest_mapping(db, dataset_id=load_dataset_row_id(db, name=dataset))


def list_batch_names(db: Session, *, by: Person, dataset: str) -> list[str]:
    """List the names of the dataset's batches.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    return [batch.name for batch in list_batches(db, dataset_id=load_dataset_row_id(db, name=dataset))]


def search_questions(
    db: Session,
    *,
    by: Person,
    search: Search,
    after: int = 0,
    before: int | None = None,
    most: int = 50,
) -> SearchPage:
    """Find a page of questions, ordered by id.

    Args:
        db: a read-only session.
        by: the acting person.
        search: the search.
        after: the page begins after the question with this id.
        before: if given, the page ends before the question with this id, and ``after`` is ignored.
        most: the maximum number of questions per page.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    require(by, Action.BROWSE)
    numbers = search_storage.find_matching_questions(
        db, **build_query_arguments(db, search), after=after, before=before, limit=most + 1
    )
    has_more = len(numbers) > most
    if before is None:
        numbers = numbers[:most]
        return SearchPage(questions=_load_results(db, numbers), has_previous=after > 0, has_next=has_more)
    numbers = numbers[-most:]
    return SearchPage(questions=_load_results(db, numbers), has_previous=has_more, has_next=True)


def count_matches(db: Session, *, by: Person, search: Search) -> tuple[int, bool]:
    """Count the matching questions up to :data:`MAX_COUNTED`; also return whether the count is exact.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    require(by, Action.BROWSE)
    count = len(
        search_storage.find_matching_questions(db, **build_query_arguments(db, search), limit=MAX_COUNTED + 1)
    )
    return min(count, MAX_COUNTED), count <= MAX_COUNTED


def _load_results(db: Session, numbers: list[int]) -> tuple[SearchResult, ...]:
    return tuple(load_search_results(db, numbers=numbers))


def build_query_arguments(db: Session, search: Search) -> dict[str, Any]:
    """Build the arguments of :func:`storage.browsing.search.find_matching_questions` for a search.

    Raises:
        NotFound: there is no such dataset or batch.
    """
    facets: list[str | tuple[str, ...]] = []
    dataset_id = load_dataset_row_id(db, name=search.dataset)
    for column in ("format", "task", "difficulty", "category", "content_type", "generator", "prompt_version"):
        value = getattr(search, column)
        if value is not None:
            facets.append(search_storage.encode_facet(column, str(value)))
    for feature in _DERIVED_FILTERS:
        value = getattr(search, feature)
        if value is not None:
            facets.append(_list_facets(db, dataset_id=dataset_id, feature=feature, value=value))
    if search.with_boxes:
        facets.append(search_storage.WITH_BOXES)
    conditions: list[str] = []
    values: dict[str, object] = {}
    if search.status is not None:
        if search.status in _STATUS_CONDITIONS:
            conditions.append(_STATUS_CONDITIONS[search.status])
        if search.status in _DECISIONS:
            values["decision"] = _DECISIONS[search.status]
    if search.batch is not None:
        conditions.append("number IN (SELECT question_id FROM batch_question WHERE batch_id = :batch)")
        values["batch"] = load_batch(db, name=search.batch).id
    if search.check is not None:
        conditions.append("number IN (SELECT question_id FROM problem WHERE check_name = :check)")
        values["check"] = search.check.value
    return {
        "query": search.words,
        "facets": facets,
        "dataset_id": dataset_id,
        "condition": " AND ".join(conditions),
        "allowed_sql": "" if search.status is None else _STATUS_SUBQUERIES.get(search.status, ""),
        "values": values,
    }


def _list_facets(db: Session, *, dataset_id: int, feature: str, value: str) -> tuple[str, ...]:
    """Return the facets of the raw names that give the value; if there are none, a facet of no question."""
    column, mapping = get_column(feature), load_mapping(db, dataset_id=dataset_id)
    raw_names = [
        raw_name
        for raw_name, _ in count_values(db, dataset_id=dataset_id, column=column)
        if derive_feature(feature, raw_name, mapping) == value
    ]
    return tuple(search_storage.encode_facet(column, raw_name) for raw_name in raw_names) or (_UNUSED_FACET,)
