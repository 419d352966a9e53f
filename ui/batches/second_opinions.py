"""Requests second opinions on a random share of a batch, and on questions with a reported error."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.batches import Batch, BatchState
from domain.errors import DomainError
from domain.people import Person
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review import service as review
from review.second_opinions import describe_targets
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_SCOPE_LABELS = {
    SecondOpinionScope.RANDOM_SHARE: "A random share",
    SecondOpinionScope.SHARE_AND_ERRORS: "A random share, and questions with a reported error",
    SecondOpinionScope.SHARE_AND_INFORMATION: "A random share, and questions by expected information",
}
#: The scopes that can follow each scope. A wider scope cannot be undone, so that it stays clear which
#: questions count for agreement.
_NEXT_SCOPES = {
    SecondOpinionScope.RANDOM_SHARE: list(SecondOpinionScope),
    SecondOpinionScope.SHARE_AND_ERRORS: list(SecondOpinionScope)[1:],
    SecondOpinionScope.SHARE_AND_INFORMATION: [SecondOpinionScope.SHARE_AND_INFORMATION],
}
_DEFAULT_INFORMATIVE_COUNT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The plan that the form describes.

    ``share`` is the random share, from 0 to 1. ``informative`` is the number of questions to add by expected
    information.
    """

    scope: SecondOpinionScope
    informative: int
    share: float
    seed: int


def show_second_opinions_panel(batch: Batch, reviewers: list[Person]) -> None:
    """Show the present plan for second opinions and the form that requests more."""
    st.subheader("Second opinions")
    with read_only_session() as db:
        saved_rules = review.load_second_opinions(db, by=current_person(), batch=batch.name)
    st.caption(
        "A second reviewer judges part of the batch. Request the random share before review begins, so that "
        "agreement is measured without bias. Reviewers see neither each other's verdicts nor which of them "
        "is the second reviewer."
        if saved_rules is None
        else f"Current plan: {_describe_rules(saved_rules)} Repeat this step as first verdicts arrive."
    )
    if batch.state is not BatchState.CLOSED and reviewers:
        _show_form(batch, reviewers, saved_rules)
    show_notice("seconds")


def _show_form(batch: Batch, reviewers: list[Person], saved_rules: SecondOpinions | None) -> None:
    reviewer_labels = {reviewer.name: f"{reviewer.display_name} ({reviewer.name})" for reviewer in reviewers}
    form_key = state.form_key(f"seconds-{batch.id}")
    saved_scope = SecondOpinionScope.RANDOM_SHARE if saved_rules is None else saved_rules.scope
    scope = st.radio(
        "Questions with a second reviewer",
        _NEXT_SCOPES[saved_scope],
        format_func=_SCOPE_LABELS.__getitem__,
        key=f"{form_key}-way-{batch.id}",
        help=(
            "A reported error: the first reviewer revised or rejected the question, or named a kind of "
            "error. Expected information: the questions whose right decision is least certain, such as those "
            "on which two reviewers disagree, with the reviewer whose verdict is expected to settle most."
        ),
    )
    is_by_information = scope is SecondOpinionScope.SHARE_AND_INFORMATION
    informative_count = (
        int(
            st.number_input(
                "Questions by expected information",
                min_value=1,
                value=_DEFAULT_INFORMATIVE_COUNT,
                key=f"{form_key}-informative-{batch.id}",
                help="In addition to the random share, and never from it. At most three reviewers per "
                "question.",
            )
        )
        if is_by_information
        else 0
    )
    people_column, share_column, seed_column = st.columns([3, 1, 1])
    names = people_column.multiselect(
        "Second reviewers",
        list(reviewer_labels),
        key=f"{form_key}-to-{batch.id}",
        format_func=reviewer_labels.__getitem__,
        placeholder="Choose second reviewers",
    )
    is_share_fixed = saved_scope is SecondOpinionScope.SHARE_AND_INFORMATION
    min_percent = 100 * saved_rules.share if saved_rules else 1.0
    percent = share_column.number_input(
        "Random share (%)",
        min_value=float(min_percent),
        max_value=100.0,
        value=float(min_percent) if is_share_fixed else max(20.0, float(min_percent)),
        step=5.0,
        format="%g",
        key=f"{form_key}-share-{batch.id}",
        disabled=is_share_fixed,
        help="Of all questions of the batch. It can be increased later, not reduced; no longer after "
        "questions were chosen by expected information.",
    )
    seed = seed_column.number_input(
        "Seed",
        min_value=0,
        max_value=2**31 - 1,
        value=saved_rules.seed if saved_rules else 0,
        key=f"{form_key}-seed-{batch.id}",
        disabled=saved_rules is not None,
        help="The same seed gives the same sample.",
    )
    request = _Request(
        scope=scope,
        informative=informative_count,
        share=saved_rules.share if saved_rules is not None and is_share_fixed else percent / 100,
        seed=int(seed),
    )
    if not names:
        st.caption("Choose reviewers to preview the split.")
        return
    _show_preview(batch, names, request, reviewer_labels)
    st.button(
        "Request second opinions",
        type="primary",
        key=f"{form_key}-go-{batch.id}",
        on_click=run_action,
        args=(_request_second_opinions, batch.name, batch.id, tuple(names), request),
        kwargs={"notice_key": "seconds"},
    )


def _show_preview(batch: Batch, names: list[str], request: _Request, reviewer_labels: dict[str, str]) -> None:
    try:
        with read_only_session() as db:
            preview = review.preview_second_opinions(
                db, by=current_person(), batch=batch.name, to=names, scope=request.scope,
                informative=request.informative, share=request.share, seed=request.seed,
            )  # fmt: skip
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    show_table(
        [{"Reviewer": reviewer_labels[name], "New": count} for name, count in preview.assigned.items()]
    )
    for note in preview.notes:
        st.caption(escape_markdown(note))


def _request_second_opinions(batch: str, batch_id: int, names: tuple[str, ...], request: _Request) -> str:
    with unit_of_work() as db:
        summary = review.request_second_opinions(
            db, by=current_person(), batch=batch, to=names, scope=request.scope,
            informative=request.informative, share=request.share, seed=request.seed, now=clock(),
        )  # fmt: skip
    state.clear_form(f"seconds-{batch_id}")
    assignment_text = ", ".join(f"{count:,} to {name}" for name, count in summary.assigned.items())
    return (
        f"Second opinions requested: {assignment_text} ({summary.random_count:,} of the random share,"
        f" {summary.added_count:,} because of their verdicts)."
    )


def _describe_rules(rules: SecondOpinions) -> str:
    share = f"a random share of {100 * rules.share:g} % of the questions (seed {rules.seed})"
    if rules.scope is SecondOpinionScope.RANDOM_SHARE:
        return f"{share}."
    return f"{share}, and {describe_targets(rules.scope)}."
