"""The list of matching questions, page by page, with thumbnails."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from browsing.service import Found, FoundQuestion, Search, count_found, find
from domain.people import Person
from ui import state
from ui.context import reading
from ui.parts import plain

_AT_ONCE = 20


def show_results(person: Person, search: Search) -> None:
    """Draw the current page of the list; a new search starts at its first page."""
    place = state.browse_place(search)
    with reading() as db:
        found = find(
            db, by=person, search=search, after=place if place >= 0 else 0,
            before=-place if place < 0 else None, most=_AT_ONCE,
        )  # fmt: skip
        count, whole = count_found(db, by=person, search=search)
    if not found.questions:
        st.info("No question of this dataset is like that. Take a filter or a word away.")
        return
    _turning(
        search, found, f"{count:,} question{'' if count == 1 else 's'}" if whole else f"{count:,} or more"
    )
    for each in found.questions:
        _line(each)


def _turning(search: Search, found: Found, count: str) -> None:
    first, last = found.questions[0].number, found.questions[-1].number
    # As wide as their labels: columns of a narrow window cut the labels off.
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{count}**, in the order in which they came in", width="stretch")
        _turn("Back", "arrow_back", "Left", search, -first, there=found.before)
        _turn("On", "arrow_forward", "Right", search, last, there=found.after)


def _turn(label: str, icon: str, arrow: str, search: Search, place: int, *, there: bool) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        shortcut=f"Shift+Arrow{arrow}",
        key=f"browse-{label}-{abs(place)}",
        disabled=not there,
        on_click=state.set_browse_place,
        args=(search, place),
    )


def _line(each: FoundQuestion) -> None:
    with st.container(border=True):
        picture, text = st.columns([1, 9], vertical_alignment="center")
        if each.radiograph is not None:
            address = f"/radiographs/{each.exam_number}/{quote(each.radiograph, safe='')}?longest=300"
            picture.markdown(f"![]({address})")
        said = [each.format, each.task, each.difficulty, each.category, *_judged(each)]
        text.markdown(
            f"[{plain(each.id)}](/browse?question={each.number}) {plain(each.stem)}  \n"
            f":small[{plain(' · '.join(str(word) for word in said if word))}]"
        )


def _judged(each: FoundQuestion) -> list[str]:
    return [f"judged: {', '.join(sorted(each.decisions))}"] if each.decisions else []
