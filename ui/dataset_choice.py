"""Lets a person choose the dataset that a page shows. All pages use the same selection."""

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
    """Show the selection of a dataset and return its name.

    The default is the dataset that was last chosen or imported in this session, otherwise the dataset with
    the latest import.

    Args:
        person: the person at the browser.
        names: the names of the datasets to choose from.
        key: the key of the widget, a different one for each page.
        container: the place on the page where the selection is drawn; None for the current place.
        format_name: returns the text that is shown for a name.
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
