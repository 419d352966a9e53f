"""A file that somebody hands in, taken in behind the page, which shows how far it is and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from ui import state
from ui.behind.shown import is_going_on, what_came_of
from ui.behind.work import Work, begin, work_of
from ui.imports.deliveries import Delivery, discard, uploaded
from ui.parts import act, notices

#: What was typed beside the file, by the names of the fields, as it was at the click.
Typed = dict[str, object]
#: Takes the file in and says what came in, or refuses with a DomainError; the work's ``result`` has the rest.
Take = Callable[[Person, str, Typed, Delivery, Work], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileForm:
    """What a form asks of ``person`` for ``study``, and what is done with it.

    Attributes:
        work: what taking in a file there is called; one comes in at a time.
        file: what kind of file, in words.
        go: the button's words; the ``main`` one of the page stands out.
        take: is called behind the page.
        outcome: draws the ``result`` of the work.
        fields: of what is asked beside the file; their keys are ``{form}-{field}``.
        draw_fields: draws these, given the form.
    """

    person: Person
    study: str
    work: str
    file: str
    go: str
    take: Take
    outcome: Callable[[Any], None]
    fields: tuple[str, ...] = ()
    draw_fields: Callable[[str], None] = lambda _: None
    main: bool = False


def draw(asked: FileForm) -> None:
    """The form; while a file comes in, how far it is; then what came in, or what was refused."""
    _clear_when_in(asked.work)
    form = state.form(asked.work)
    asked.draw_fields(form)
    st.file_uploader(asked.file, key=f"{form}-file")
    place = f"file-{asked.work}"
    if not is_going_on(asked.work):
        st.button(
            asked.go,
            key=f"{form}-go",
            type="primary" if asked.main else "secondary",
            on_click=act,
            args=(_begin, asked, form),
            kwargs={"place": place},
        )
        what_came_of(asked.work)
        came = work_of(asked.work)
        if came is not None and came.result is not None:
            asked.outcome(came.result)
    notices(place)


def _begin(asked: FileForm, form: str) -> None:
    file = state.field(f"{form}-file")
    if file is None:
        raise Refused("Choose a file first.")
    typed: Typed = {each: state.field(f"{form}-{each}") for each in asked.fields}
    delivery = uploaded(file, None, by=asked.person, in_memory=False)  # type: ignore[arg-type]  # what an uploader holds
    state.set_chosen(asked.work, begin(asked.work, partial(_carry_out, asked, typed, delivery)))


def _carry_out(asked: FileForm, typed: Typed, delivery: Delivery, work: Work) -> str:
    try:
        return asked.take(asked.person, asked.study, typed, delivery, work)
    finally:
        discard(delivery)


def _clear_when_in(work: str) -> None:
    """Start the form anew where its file is in; a refused one stays, to be corrected."""
    begun = state.chosen(work)
    if isinstance(begun, Work) and begun is work_of(work) and begun.said is not None:
        state.clear_form(work)
        state.set_chosen(work, None)
