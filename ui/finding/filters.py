"""The query of the search: the words and the filters above the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from browsing.service import Choices, Search, Standing, batches_of, choices, search_index
from domain.people import Person
from domain.problems import Check
from domain.vocabulary import AnswerFormat, Difficulty, Task
from ui import state
from ui.context import reading

T = TypeVar("T")
_SHOWN_VALUES = 500  # of a column; nobody reads more in a list


def ask(person: Person, datasets: Sequence[str]) -> Search:
    """Draw the filters and return the query."""
    first, second = st.columns([1, 3], vertical_alignment="bottom")
    names = list(datasets)
    before = state.chosen("dataset")
    dataset = first.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key="dataset-to-browse",  # allow fixed-widget-key: it selects the dataset that the other keys name
    )
    state.set_chosen("dataset", dataset)
    words = second.text_input(
        "Words",
        key=f"words-{dataset}",
        max_chars=500,
        placeholder='pneumothorax "compared to" left …',
        help="All of them must be in id, stem, options or explanation. Words in quotation marks stand "
        "together; a star makes a beginning: effus*.",
    )
    with reading() as db:
        newest = search_index(db).newest
        batches = batches_of(db, by=person, dataset=dataset)
    known = _remembered(dataset, newest, person)
    search = Search(dataset=dataset, words=words.strip())
    columns = st.columns(6)
    search = replace(
        search,
        standing=_one(columns[0], "Standing", list(Standing), dataset),
        task=_one(columns[1], "Task", list(Task), dataset),
        difficulty=_one(columns[2], "Difficulty", list(Difficulty), dataset),
        format=_one(columns[3], "Answer format", list(AnswerFormat), dataset),
        category=_value(columns[4], "Category", known.categories, dataset),
        batch=_one(columns[5], "Batch", batches, dataset),
    )
    more = st.popover("More filters")
    return replace(
        search,
        check=_one(more, "Check that found something", list(Check), dataset),
        content_type=_value(more, "Content type", known.content_types, dataset),
        generator=_value(more, "Generator", known.generators, dataset),
        prompt_version=_value(more, "Prompt version", known.prompt_versions, dataset),
        with_boxes=more.checkbox("Only with boxes", key=f"with-boxes-{dataset}"),
    )


@st.cache_data(max_entries=50, show_spinner="Reading what there is to choose from …")
def _remembered(dataset: str, newest: int, _person: Person) -> Choices:
    """Return the values to choose from, cached until a question newer than ``newest`` is imported."""
    del newest
    with reading() as db:
        return choices(db, by=_person, dataset=dataset)


def _one(place: DeltaGenerator, label: str, values: Sequence[T], dataset: str) -> T | None:
    return place.selectbox(
        label,
        values,
        index=None,
        placeholder="any",
        format_func=str,
        key=f"browse-{label}-{dataset}",
    )


def _value(place: DeltaGenerator, label: str, values: Sequence[tuple[str, int]], dataset: str) -> str | None:
    counts = dict(values[:_SHOWN_VALUES])
    return place.selectbox(
        label,
        list(counts),
        index=None,
        placeholder="any",
        format_func=lambda name: f"{name} ({counts[name]:,})",
        key=f"browse-{label}-{dataset}",
    )
