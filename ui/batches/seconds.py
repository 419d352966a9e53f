"""Requesting second opinions for a batch: a random share, and where the first reviewer reported an error."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.batches import Batch, BatchState
from domain.errors import DomainError
from domain.people import Person
from domain.second_opinions import SecondOpinions, SecondWay
from review import service as review
from ui import state
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, notices, plain
from ui.tables import table

_WAYS = {
    False: "A random share",
    True: "A random share, and where the first found something",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _How:
    where_found: bool
    share: float
    seed: int


def seconds_panel(batch: Batch, reviewers: list[Person]) -> None:
    """Draw the present rules for second opinions, and the form that requests them."""
    st.subheader("Second opinions")
    with reading() as db:
        before = review.second_opinions(db, by=current_person(), batch=batch.name)
    st.caption(
        "A second reviewer for part of the batch. The share is drawn by hash before anything is judged, so "
        "that agreement is measured without bias; reviewers don't see each other, nor who is second."
        if before is None
        else f"So far: {_said(before)} Do it again as first verdicts come in."
    )
    notices("seconds")
    if batch.state is BatchState.CLOSED or not reviewers:
        return
    shown = {each.name: f"{each.display_name} ({each.name})" for each in reviewers}
    form = state.form(f"seconds-{batch.id}")
    found_before = before is not None and before.way is SecondWay.WHERE_FOUND
    where_found = bool(
        st.radio(
            "Who gets a second reviewer",
            [True] if found_before else [False, True],
            format_func=_WAYS.__getitem__,
            key=f"{form}-way-{batch.id}",
            horizontal=True,
            help="Where the first found something: revised, rejected, or named a kind of error.",
        )
    )
    people, number, drawn = st.columns([3, 1, 1])
    names = people.multiselect(
        "Second reviewers",
        list(shown),
        key=f"{form}-to-{batch.id}",
        format_func=shown.__getitem__,
        placeholder="Choose who judges a second time",
    )
    least = 100 * before.share if before else 1.0
    percent = number.number_input(
        "Random share, %",
        min_value=float(least),
        max_value=100.0,
        value=max(20.0, float(least)),
        step=5.0,
        format="%g",
        key=f"{form}-share-{batch.id}",
        help="Of all questions of the batch. It can grow later, not shrink.",
    )
    seed = drawn.number_input(
        "Seed",
        min_value=0,
        max_value=2**31 - 1,
        value=before.seed if before else 0,
        key=f"{form}-seed-{batch.id}",
        disabled=before is not None,
        help="With the same seed the same questions are drawn.",
    )
    how = _How(where_found=where_found, share=percent / 100, seed=int(seed))
    if not names:
        st.caption("Choose reviewers to see who would get how many.")
        return
    _preview(batch, names, how, shown)
    st.button(
        "Seek second opinions",
        type="primary",
        key=f"{form}-go-{batch.id}",
        on_click=act,
        args=(_seek, batch.name, batch.id, tuple(names), how),
        kwargs={"place": "seconds"},
    )


def _preview(batch: Batch, names: list[str], how: _How, shown: dict[str, str]) -> None:
    try:
        with reading() as db:
            would = review.preview_second_opinions(
                db, by=current_person(), batch=batch.name, to=names, where_found=how.where_found,
                share=how.share, seed=how.seed,
            )  # fmt: skip
    except DomainError as error:
        st.error(plain(str(error)))
        return
    table([{"Reviewer": shown[name], "Would get": count} for name, count in would.given.items()])
    for note in would.notes:
        st.caption(plain(note))


def _seek(batch: str, batch_id: int, names: tuple[str, ...], how: _How) -> str:
    with unit_of_work() as db:
        done = review.seek_second_opinions(
            db, by=current_person(), batch=batch, to=names, where_found=how.where_found,
            share=how.share, seed=how.seed, now=clock(),
        )  # fmt: skip
    state.clear_form(f"seconds-{batch_id}")
    given = ", ".join(f"{count:,} to {name}" for name, count in done.given.items())
    return (
        f"Second opinions sought: {given} ({done.random:,} of the random share, {done.found:,} where "
        "something was found)."
    )


def _said(sought: SecondOpinions) -> str:
    share = f"a random share of {100 * sought.share:g} % of the questions (seed {sought.seed})"
    if sought.way is SecondWay.WHERE_FOUND:
        return f"{share}, and where the first found something."
    return f"{share}."
