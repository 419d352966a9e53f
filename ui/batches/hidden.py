"""Hidden questions of a batch: the list of them, the form that hides more, and their removal."""

from __future__ import annotations

import secrets

import streamlit as st

from domain.batches import Batch, BatchState
from domain.errors import DomainError
from domain.hidden import DISTANCE, FINDABLE, HiddenPlan, PlantedFault
from review import service as review
from ui import state
from ui.context import clock, current_person, current_workspace, reading, unit_of_work
from ui.parts import act, notices, plain
from ui.tables import table


def hidden_panel(batch: Batch) -> None:
    """Draw the plan, a preview of what it would hide, and the questions hidden so far."""
    with reading() as db:
        before = review.hidden_plan(db, by=current_person(), batch=batch.name)
        lines = review.hidden_lines(db, by=current_person(), batch=batch.name)
    st.caption(
        "A share of each reviewer's own questions comes again, and questions with a known fault are planted "
        "among them. Reviewers can't tell which; no figure of the batch counts them. Tell reviewers that "
        "there may be some, not where. What comes of it is on the page Attention."
    )
    notices("hidden")
    if batch.state is BatchState.CLOSED:
        st.caption("This batch is closed; open it again to hide questions in it.")
    else:
        _form(batch, before, lines)
    _there(batch, lines)


def _form(batch: Batch, before: HiddenPlan | None, lines: list[review.HiddenLine]) -> None:
    form = state.form(f"hidden-{batch.id}")
    share, distance, planted, seed = st.columns(4, vertical_alignment="bottom")
    repeats = share.number_input(
        "Repeats, % of their questions",
        min_value=0.0, max_value=50.0, step=5.0, format="%g", key=f"{form}-repeats-{batch.id}",
        value=100 * before.repeats if before else 10.0,
        help="Of what each reviewer has; in a shared queue of what they have judged so far.",
    )  # fmt: skip
    least = distance.number_input(
        "Questions between, at least",
        min_value=1, max_value=10_000, key=f"{form}-distance-{batch.id}",
        value=before.distance if before else DISTANCE,
    )  # fmt: skip
    each = planted.number_input(
        "Planted for each reviewer",
        min_value=0, max_value=1000, key=f"{form}-planted-{batch.id}",
        value=before.planted if before else 5,
        help="Made of questions that no check, reviewer or rule found fault with and that they never had.",
    )  # fmt: skip
    number = seed.number_input(
        "Seed", min_value=0, max_value=2**31 - 1, key=f"{form}-seed-{batch.id}",
        value=before.seed if before else 0, help="The same seed hides the same questions.",
    )  # fmt: skip
    findable = FINDABLE[batch.settings.parts]
    faults = st.multiselect(
        "Kinds of fault, by turns",
        findable,
        default=[fault for fault in (before.faults if before else findable) if fault in findable],
        format_func=str,
        key=f"{form}-faults-{batch.id}",
        help=f"Those that can be found in a batch that asks for: {batch.settings.parts}.",
    )
    try:
        plan = HiddenPlan(
            repeats=repeats / 100, distance=int(least), planted=int(each), faults=tuple(faults),
            seed=int(number),
        )  # fmt: skip
        would = _would(batch.name, repr(plan), _version(batch, lines), plan)
    except DomainError as error:
        st.error(plain(str(error)))
        return
    _preview(would)
    st.button(
        "Hide questions",
        type="primary",
        key=f"{form}-go-{batch.id}",
        disabled=not would.total,
        on_click=act,
        args=(_hide, batch.name, batch.id, plan),
        kwargs={"place": "hidden"},
    )


def _version(batch: Batch, lines: list[review.HiddenLine]) -> tuple[object, ...]:
    """Return a version that stays the same as long as the preview does."""
    with reading() as db:
        counted = review.counted_version(db, by=current_person(), batches=[batch.name])
    removed = sum(not each.hidden.counts for each in lines)
    return (str(current_workspace().home), *counted, len(lines), removed)


@st.cache_data(max_entries=10, ttl=60, show_spinner="Looking for room in the queues …")
def _would(batch: str, said: str, version: tuple[object, ...], _plan: HiddenPlan) -> review.HiddenSummary:
    """Return the preview; cached, because planning takes seconds for a queue of 100,000 questions."""
    del said, version
    with reading() as db:
        return review.preview_hiding(db, by=current_person(), batch=batch, plan=_plan)


def _preview(would: review.HiddenSummary) -> None:
    if would.people:
        table(
            [
                {
                    "Reviewer": f"{each.person.display_name} ({each.person.name})",
                    "Repeats to hide": each.repeats,
                    "Planted to hide": each.planted,
                    "No room or no question": each.short_repeats + each.short_planted,
                }
                for each in would.people
            ]
        )
    for note in would.notes:
        st.caption(plain(note))


def _there(batch: Batch, lines: list[review.HiddenLine]) -> None:
    st.subheader("Hidden so far")
    table([_row(each) for each in lines], empty="Nothing is hidden in this batch.")
    counting = {
        each.hidden.number: f"{each.hidden.number}: {_what(each)} for {each.person}"
        for each in lines
        if each.hidden.counts
    }
    if not counting:
        return
    form = state.form(f"unhide-{batch.id}")
    chosen = st.multiselect(
        "Remove",
        list(counting),
        key=f"{form}-which-{batch.id}",
        format_func=counting.__getitem__,
        placeholder="Choose hidden questions",
    )
    why = st.text_input(
        "Why they are removed",
        key=f"{form}-why-{batch.id}",
        max_chars=500,
        placeholder="The key was wrong before it was swapped",
    )
    st.button(
        "Remove from what is measured",
        key=f"{form}-go-{batch.id}",
        disabled=not (chosen and why.strip()),
        on_click=act,
        args=(_remove, batch.name, batch.id, tuple(chosen), why),
        kwargs={"place": "hidden"},
        help="Those not judged yet leave the reviewer's queue. What was judged stays on record.",
    )


def _row(each: review.HiddenLine) -> dict[str, object]:
    hidden = each.hidden
    return {
        "Number": str(hidden.number),
        "Reviewer": each.person,
        "Hidden": _what(each),
        "Made of": each.source_id,
        "State": "removed" if not hidden.counts else str(each.state or "to come"),
        "First time": str(each.first or ""),
        "Verdict": str(each.decision or ""),
        "Fault": str(each.seen or ""),
        "Removed because": hidden.removed_why,
    }


def _what(each: review.HiddenLine) -> str:
    fault: PlantedFault | None = each.hidden.fault
    return f"planted: {fault}" if fault else "repeat"


def _hide(batch: str, batch_id: int, plan: HiddenPlan) -> str:
    with unit_of_work() as db:
        done = review.hide_questions(
            db, by=current_person(), batch=batch, plan=plan, veil=secrets.randbits(62), now=clock()
        )
    state.clear_form(f"hidden-{batch_id}")
    given = ", ".join(
        f"{each.repeats:,} repeats and {each.planted:,} planted for {each.person.name}"
        for each in done.people
        if each.repeats + each.planted
    )
    return f"Hidden: {given}."


def _remove(batch: str, batch_id: int, numbers: tuple[int, ...], why: str) -> str:
    with unit_of_work() as db:
        done = review.remove_hidden(
            db, by=current_person(), batch=batch, numbers=numbers, why=why, now=clock()
        )
    state.clear_form(f"unhide-{batch_id}")
    return f"{done:,} hidden {'question is' if done == 1 else 'questions are'} removed: {why.strip()}"
