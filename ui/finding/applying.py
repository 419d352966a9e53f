"""Applying one step to many questions: reject or queue all that match the search, and take it back."""

from __future__ import annotations

import streamlit as st

from browsing.service import (
    AppliedRule,
    ApplyPreview,
    Search,
    Step,
    applied_rules,
    preview_apply,
    queue_like,
    reject_like,
    said,
    take_rule_back,
)
from domain.errors import Refused
from domain.people import Action, Person
from ui import state
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, notices, plain
from ui.tables import table

_CALLED = {
    Step.REJECT: "Reject them: in no later draw, in no release",
    Step.QUEUE: "Queue them in a new batch, which is no random sample",
}
_RULES = 20  # of the rules applied so far; the command line lists all


def apply_to_many(person: Person, search: Search) -> None:
    """Draw the preview, the step and the rules applied so far.

    Draw nothing without the permission to draw batches.
    """
    if not person.may(Action.DRAW_BATCH):
        return
    with st.expander("Apply to all of these"):
        notices("apply")
        _step(person, search)
        _applied(person, search.dataset)


def _step(person: Person, search: Search) -> None:
    if not search.asks:
        st.caption(
            "Say first what is wrong with them, by words or filters: what they find can be rejected or "
            "queued in one step."
        )
        return
    form = state.form("apply")
    if not st.toggle("Look at what would be taken", key=f"{form}-look-{search.dataset}"):
        return
    try:
        with st.spinner("Finding all of them …"), reading() as db:
            seen = preview_apply(db, by=person, search=search)
    except Refused as error:
        st.info(plain(str(error)))
        return
    _preview(seen)
    steps = list(Step)
    step = st.radio("What to do", steps, format_func=_CALLED.__getitem__, key=f"{form}-step-{search.dataset}")
    reason = st.text_input("What is wrong with them", key=f"{form}-reason-{search.dataset}", max_chars=1000)
    name = ""
    if step is Step.QUEUE:
        name = st.text_input("Name of the batch", key=f"{form}-batch-{search.dataset}", max_chars=80)
    st.button(
        f"{step.value.capitalize()} {seen.count:,} question{'' if seen.count == 1 else 's'}",
        type="primary",
        key=f"{form}-do-{step}-{search.dataset}",
        disabled=not seen.count or not reason.strip() or (step is Step.QUEUE and not name.strip()),
        on_click=act,
        args=(_save, search, step, reason, name, seen.count),
        kwargs={"place": "apply"},
    )


def _preview(seen: ApplyPreview) -> None:
    st.markdown(f"**{seen.count:,} question{'' if seen.count == 1 else 's'} would be taken.**")
    if seen.left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in seen.left_out.items())
        st.caption(f"Left out: {reasons}.")
    if seen.examples:
        table([{"Question": each.id, "Stem": each.stem} for each in seen.examples])
        if seen.count > len(seen.examples):
            st.caption(f"The first {len(seen.examples)} of them.")


def _applied(person: Person, dataset: str) -> None:
    with reading() as db:
        rules = applied_rules(db, by=person, dataset=dataset)
    if not rules:
        return
    st.markdown("**Applied so far**")
    for each in rules[:_RULES]:
        _rule(each)


def _rule(each: AppliedRule) -> None:
    what, reason, button = st.columns([4, 3, 1], vertical_alignment="bottom")
    done = "rejected" if each.what == Step.REJECT else f"queued into batch {plain(each.batch or '')}"
    what.markdown(
        f"Rule {each.number}: {each.questions:,} {done} by {plain(each.by)}, "
        f"{each.applied_at:%Y-%m-%d %H:%M} UTC  \n:small[{plain(said(each.search))}: {plain(each.reason)}]"
    )
    if each.back_at is not None:
        reason.caption(f"Taken back {each.back_at:%Y-%m-%d %H:%M} UTC: {plain(each.back_reason)}")
        return
    why = reason.text_input("Why it is taken back", key=f"rule-back-why-{each.number}", max_chars=1000)
    button.button(
        "Take back",
        key=f"rule-back-{each.number}",
        disabled=not why.strip(),
        on_click=act,
        args=(_back, each.number, why),
        kwargs={"place": "apply"},
    )


def _save(search: Search, step: Step, reason: str, name: str, expected: int) -> str:
    person = current_person()
    with unit_of_work() as db:
        if step is Step.REJECT:
            rule = reject_like(db, by=person, search=search, reason=reason, expected=expected, now=clock())
        else:
            rule = queue_like(
                db, by=person, search=search, reason=reason, batch_name=name, expected=expected, now=clock()
            )
    state.clear_form("apply")
    done = "rejected" if rule.batch is None else f"queued in batch {rule.batch}"
    return f"Rule {rule.number}: {rule.questions:,} questions are {done}."


def _back(rule: int, reason: str) -> str:
    with unit_of_work() as db:
        found = take_rule_back(db, by=current_person(), rule=rule, reason=reason, now=clock())
    return f"Rule {found.number} holds no more; its {found.questions:,} questions can be drawn again."
