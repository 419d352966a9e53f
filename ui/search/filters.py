"""The inputs of a search: words and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from browsing.service import (
    FilterChoices,
    QuestionStatus,
    Search,
    list_batch_names,
    load_filter_choices,
    load_newest_name_mapping,
    load_search_index_state,
)
from domain.checks import Check
from domain.people import Person
from domain.vocabulary import AnswerFormat, Choice, Difficulty, Task
from ui.context import read_only_session
from ui.dataset_choice import choose_dataset

T = TypeVar("T")
_MAX_VALUES = 500  # the maximum number of choices in a filter


def choose_search(person: Person, datasets: Sequence[str]) -> Search:
    """Show the search field and the filters, and return the search."""
    dataset_column, words_column = st.columns([1, 3], vertical_alignment="bottom")
    dataset = choose_dataset(person, datasets, key="dataset-to-browse", container=dataset_column)
    words = words_column.text_input(
        "Search",
        key=f"words-{dataset}",
        max_chars=500,
        placeholder='pneumothorax left (both words), or "compared to" (exact phrase)',
        help=(
            "Finds questions whose id, stem, options or explanation contain all words. Use quotation marks "
            "for phrases and an asterisk for prefixes: effus*."
        ),
    )
    with read_only_session() as db:
        newest = (
            load_search_index_state(db).newest,
            load_newest_name_mapping(db, by=person, dataset=dataset),
        )
        batches = list_batch_names(db, by=person, dataset=dataset)
    filter_choices = _load_choices(dataset, newest, person)
    search = Search(dataset=dataset, words=words.strip())
    columns = st.columns(6)
    search = replace(
        search,
        status=_choose_one(columns[0], "Status", list(QuestionStatus), dataset),
        task=_choose_one(columns[1], "Task", list(Task), dataset),
        difficulty=_choose_one(columns[2], "Difficulty", list(Difficulty), dataset),
        format=_choose_one(columns[3], "Answer format", list(AnswerFormat), dataset),
        category=_choose_value(columns[4], "Category", filter_choices.categories, dataset),
        batch=_choose_one(columns[5], "Batch", batches, dataset),
    )
    filter_popover = st.popover("More filters")
    return replace(
        search,
        check=_choose_one(filter_popover, "Failed check", list(Check), dataset),
        controlled_category=_choose_value(
            filter_popover, "Controlled category", filter_choices.controlled_categories, dataset
        ),
        domain=_choose_value(filter_popover, "Domain", filter_choices.domains, dataset),
        controlled_content_type=_choose_value(
            filter_popover, "Controlled content type", filter_choices.controlled_content_types, dataset
        ),
        content_type=_choose_value(filter_popover, "Content type", filter_choices.content_types, dataset),
        generator=_choose_value(filter_popover, "Generator", filter_choices.generators, dataset),
        prompt_version=_choose_value(
            filter_popover, "Prompt version", filter_choices.prompt_versions, dataset
        ),
        with_boxes=filter_popover.checkbox("Only with boxes", key=f"with-boxes-{dataset}"),
    )


@st.cache_data(max_entries=50, show_spinner="Loading filters …")
def _load_choices(dataset: str, newest: tuple[int, int], _person: Person) -> FilterChoices:
    """Return the choices of the filters.

    They are cached until ``newest`` changes: the ids of the newest question and the newest mapping of a name.
    """
    del newest
    with read_only_session() as db:
        return load_filter_choices(db, by=_person, dataset=dataset)


def _choose_one(container: DeltaGenerator, label: str, values: Sequence[T], dataset: str) -> T | None:
    return container.selectbox(
        label,
        values,
        index=None,
        placeholder="any",
        format_func=lambda value: value.label if isinstance(value, Choice) else str(value),
        key=f"browse-{label}-{dataset}",
    )


def _choose_value(
    container: DeltaGenerator, label: str, values: Sequence[tuple[str, int]], dataset: str
) -> str | None:
    counts = dict(values[:_MAX_VALUES])
    return container.selectbox(
        label,
        list(counts),
        index=None,
        placeholder="any",
        format_func=lambda name: f"{name} ({counts[name]:,})",
        key=f"browse-{label}-{dataset}",
    )
