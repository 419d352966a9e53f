"""Shows the hidden questions of a batch, with the forms that add and remove hidden questions."""

from __future__ import annotations

import secrets

import streamlit as st

from domain.batches import Batch, BatchState
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.hidden import DEFAULT_MIN_DISTANCE, DETECTABLE_FAULTS, HiddenPlan, PlantedFault
from review import service as review
from ui import state
from ui.context import clock, current_person, current_workspace, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice


def show_hidden_panel(batch: Batch) -> None:
    """Show the plan, a preview of the questions that it would hide, and the present hidden questions."""
    with read_only_session() as db:
        saved_plan = review.load_hidden_plan(db, by=current_person(), batch=batch.name)
        hidden_rows = review.list_hidden_questions(db, by=current_person(), batch=batch.name)
    st.caption(
        "Hidden questions measure attention: some of a reviewer's own questions are repeated, and "
        "questions with a known fault are planted among the others. Reviewers cannot recognise them, "
        "and no figure of the batch includes them. Inform reviewers that there may be hidden questions, "
        "but not which ones. The page Reviewer attention shows the results."
    )
    if batch.state is BatchState.CLOSED:
        st.caption("This batch is closed. Reopen it to hide questions in it.")
    else:
        _show_plan_form(batch, saved_plan, hidden_rows)
        show_notice("hide")
    _show_hidden_list(batch, hidden_rows)


def _show_plan_form(
    batch: Batch, saved_plan: HiddenPlan | None, hidden_rows: list[review.ListedHiddenQuestion]
) -> None:
    form_key = state.form_key(f"hidden-{batch.id}")
    share_column, distance_column, rate_column, planted_column, seed_column = st.columns(
        5, vertical_alignment="bottom"
    )
    repeats_percent = share_column.number_input(
        "Repeats (% of questions)",
        min_value=0.0, max_value=50.0, step=5.0, format="%g", key=f"{form_key}-repeats-{batch.id}",
        value=100 * saved_plan.repeat_share if saved_plan else 10.0,
        help="Of the questions assigned to each reviewer; in a shared queue, of those judged so far.",
    )  # fmt: skip
    min_distance = distance_column.number_input(
        "Minimum gap (questions)",
        min_value=1, max_value=10_000, key=f"{form_key}-distance-{batch.id}",
        value=saved_plan.min_distance if saved_plan else DEFAULT_MIN_DISTANCE,
    )  # fmt: skip
    planted_every = rate_column.number_input(
        "Planted: one in (questions)",
        min_value=0, max_value=1000, key=f"{form_key}-every-{batch.id}",
        value=saved_plan.planted_every if saved_plan else 0,
        help=(
            "The rate of planted questions, so that attention is measured throughout the batch. With 0, the "
            "number under “Planted per reviewer” is used. After assigning more questions, hide again with "
            "the same rate."
        ),
    )  # fmt: skip
    planted_per_reviewer = planted_column.number_input(
        "Planted per reviewer",
        min_value=0, max_value=1000, key=f"{form_key}-planted-{batch.id}",
        value=saved_plan.planted_count if saved_plan else 5,
        disabled=planted_every > 0,
        help=(
            "Made from questions in which no check, reviewer or rule found a fault and that the reviewer "
            "has not judged."
        ),
    )  # fmt: skip
    seed_value = seed_column.number_input(
        "Seed", min_value=0, max_value=2**31 - 1, key=f"{form_key}-seed-{batch.id}",
        value=saved_plan.seed if saved_plan else 0, help="The same seed hides the same questions.",
    )  # fmt: skip
    detectable_faults = DETECTABLE_FAULTS[batch.settings.parts]
    faults = st.multiselect(
        "Kinds of fault (used in turn)",
        detectable_faults,
        default=[
            fault
            for fault in (saved_plan.faults if saved_plan else detectable_faults)
            if fault in detectable_faults
        ],
        format_func=lambda fault: fault.label,
        key=f"{form_key}-faults-{batch.id}",
        help=f"Faults that can be found in a batch that requests: {batch.settings.parts}.",
    )
    try:
        plan = HiddenPlan(
            repeat_share=repeats_percent / 100,
            min_distance=int(min_distance),
            planted_count=0 if planted_every else int(planted_per_reviewer),
            planted_every=int(planted_every),
            faults=tuple(faults),
            seed=int(seed_value),
        )
        preview = _load_preview(batch.name, repr(plan), _load_preview_version(batch, hidden_rows), plan)
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    _show_preview(preview)
    st.button(
        "Hide questions",
        type="primary",
        key=f"{form_key}-go-{batch.id}",
        disabled=not preview.total,
        on_click=run_action,
        args=(_hide_questions, batch.name, batch.id, plan),
        kwargs={"notice_key": "hide"},
    )


def _load_preview_version(batch: Batch, hidden_rows: list[review.ListedHiddenQuestion]) -> tuple[object, ...]:
    """Return values that change whenever the preview can change; they are part of its cache key."""
    with read_only_session() as db:
        counts_version = review.load_counts_version(db, by=current_person(), batches=[batch.name])
    removed_count = sum(not hidden_row.hidden.is_counted for hidden_row in hidden_rows)
    return (str(current_workspace().home), *counts_version, len(hidden_rows), removed_count)


@st.cache_data(max_entries=10, ttl=60, show_spinner="Planning hidden questions …")
def _load_preview(
    batch: str, plan_text: str, version: tuple[object, ...], _plan: HiddenPlan
) -> review.HiddenSummary:
    """Return the preview of a plan. It is cached, because planning for 100,000 questions takes seconds.

    ``plan_text`` and ``version`` identify the cached value. Streamlit does not hash ``_plan``.
    """
    del plan_text, version
    with read_only_session() as db:
        return review.preview_hiding(db, by=current_person(), batch=batch, plan=_plan)


def _show_preview(preview: review.HiddenSummary) -> None:
    if preview.people:
        show_table(
            [
                {
                    "Reviewer": f"{row.person.display_name} ({row.person.name})",
                    "Repeats to hide": row.repeats,
                    "Planted to hide": row.planted,
                    "Not placed": row.missing_repeats + row.missing_planted,
                }
                for row in preview.people
            ]
        )
    for note in preview.notes:
        st.caption(escape_markdown(note))


def _show_hidden_list(batch: Batch, hidden_rows: list[review.ListedHiddenQuestion]) -> None:
    st.subheader("Hidden questions")
    show_table(
        [_build_table_row(hidden_row) for hidden_row in hidden_rows],
        empty="This batch has no hidden questions.",
    )
    _show_removal_form(batch, hidden_rows)
    show_notice("unhide")


def _show_removal_form(batch: Batch, hidden_rows: list[review.ListedHiddenQuestion]) -> None:
    labels_by_id = {
        hidden_row.hidden.question_row_id: (
            f"{hidden_row.hidden.question_row_id}: {_describe_kind(hidden_row)} for {hidden_row.person}"
        )
        for hidden_row in hidden_rows
        if hidden_row.hidden.is_counted
    }
    if not labels_by_id:
        return
    form_key = state.form_key(f"unhide-{batch.id}")
    chosen_ids = st.multiselect(
        "Remove",
        list(labels_by_id),
        key=f"{form_key}-which-{batch.id}",
        format_func=labels_by_id.__getitem__,
        placeholder="Choose hidden questions",
    )
    reason = st.text_input(
        "Reason for removal",
        key=f"{form_key}-reason-{batch.id}",
        max_chars=500,
        placeholder="For example: the key was wrong before it was swapped",
    )
    st.button(
        "Remove hidden questions",
        key=f"{form_key}-go-{batch.id}",
        disabled=not (chosen_ids and reason.strip()),
        on_click=run_action,
        args=(_remove_questions, batch.name, batch.id, tuple(chosen_ids), reason),
        kwargs={"notice_key": "unhide"},
        help="Questions that are not judged yet leave the reviewer's queue. Verdicts are kept.",
    )


def _build_table_row(hidden_row: review.ListedHiddenQuestion) -> dict[str, object]:
    hidden = hidden_row.hidden
    return {
        "Number": str(hidden.question_row_id),
        "Reviewer": hidden_row.person,
        "Hidden": _describe_kind(hidden_row),
        "Source": hidden_row.source_question_id,
        "State": "removed" if not hidden.is_counted else str(hidden_row.state or "not shown yet"),
        "First verdict": str(hidden_row.first_decision or ""),
        "Verdict": str(hidden_row.decision or ""),
        "Fault": str(hidden_row.detection or ""),
        "Reason for removal": hidden.removal_reason,
    }


def _describe_kind(hidden_row: review.ListedHiddenQuestion) -> str:
    fault: PlantedFault | None = hidden_row.hidden.fault
    return f"planted: {fault}" if fault else "repeat"


def _hide_questions(batch: str, batch_id: int, plan: HiddenPlan) -> str:
    with unit_of_work() as db:
        summary = review.hide_questions(
            db, by=current_person(), batch=batch, plan=plan, mask_secret=secrets.randbits(62), now=clock()
        )
    state.clear_form(f"hidden-{batch_id}")
    hidden_text = ", ".join(
        f"{count_text(row.repeats, 'repeat')} and {row.planted:,} planted for {row.person.name}"
        for row in summary.people
        if row.repeats + row.planted
    )
    return f"Hidden: {hidden_text}."


def _remove_questions(batch: str, batch_id: int, question_row_ids: tuple[int, ...], reason: str) -> str:
    with unit_of_work() as db:
        removed_count = review.remove_hidden(
            db, by=current_person(), batch=batch, numbers=question_row_ids, reason=reason, now=clock()
        )
    state.clear_form(f"unhide-{batch_id}")
    return f"{count_text(removed_count, 'hidden question')} removed: {reason.strip()}"
