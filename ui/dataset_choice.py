"""The choice of the dataset that a page shows, the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from browsing.service import find_last_imported_dataset
from domain.people import Person
from ui import state
from ui.context import read_only_session


def choose_dataset(
    person: Person,
    names: Sequence[str],
    *,
    key: str,
    container: DeltaGenerator | None = None,
    format_name: Callable[[str], str] = str,
) -> str:
    """Draw the selection of a dataset and return its name.

    The default is the dataset that was chosen or imported last in this session, else the one that was
    imported last. ``key`` is the widget's key; it differs from page to page.
    """
    default = state.get_selection("dataset")
    if default not in names:
        with read_only_session() as db:
            default = find_last_imported_dataset(db, by=person)
    name = (st if container is None else container).selectbox(
        "Dataset",
        names,
        index=names.index(default) if isinstance(default, str) and default in names else 0,
        key=key,
        format_func=format_name,
    )
    state.set_selection("dataset", name)
    return name
