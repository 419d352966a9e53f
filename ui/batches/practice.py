"""Shows the practice sets that a batch requires, the results, and the forms to create and assign sets."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.people import Person
from domain.practice import MAX_PRACTICE_QUESTIONS, PassMark
from review import service as review
from review.practice import format_pass_mark, format_share
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice


def show_practice_panel(batch: Batch, reviewers: list[Person]) -> None:
    """Show the requirement of the batch, all practice sets with results, and the form for a new set."""
    with read_only_session() as db:
        overviews = review.list_practice_overviews(db, by=current_person())
        requirement = review.load_requirement(db, by=current_person(), batch=batch.name)
        candidates = review.count_practice_candidates(db, by=current_person(), batch=batch.name)
    st.caption(
        "A practice set has questions with known answers. Reviewers judge them on the page Review and see "
        "the known answer after each verdict. A batch that requires a practice set is locked for reviewers "
        "who have not passed it. Practice verdicts are in no other figure."
    )
    if overviews:
        _show_requirement(batch, overviews, requirement, reviewers)
        _show_results(overviews, reviewers)
    _show_create_form(batch, candidates)
    show_notice("create-practice")


def _show_requirement(
    batch: Batch,
    overviews: list[review.PracticeOverview],
    requirement: review.BatchRequirement,
    reviewers: list[Person],
) -> None:
    st.subheader("Requirement of this batch")
    form_key = state.form_key(f"require-{batch.id}")
    saved_names = [practice.name for practice in requirement.practices]
    chosen_names = st.multiselect(
        "Required practice sets (one must be passed)",
        [overview.practice.name for overview in overviews],
        default=saved_names,
        key=f"{form_key}-sets-{batch.id}-{'-'.join(saved_names)}",
        placeholder="None",
    )
    st.button(
        "Save requirement",
        key=f"{form_key}-go-{batch.id}",
        disabled=set(chosen_names) == set(saved_names),
        on_click=run_action,
        args=(_save_requirement, batch.name, tuple(chosen_names)),
        kwargs={"notice_key": "require-practice"},
        help="It applies at once, also to reviewers who have questions of this batch.",
    )
    show_notice("require-practice")
    if saved_names:
        _show_exemption_form(batch, requirement, reviewers)


def _show_exemption_form(batch: Batch, requirement: review.BatchRequirement, reviewers: list[Person]) -> None:
    form_key = state.form_key(f"exempt-{batch.id}")
    exempted_names = {person.name for person, _ in requirement.exemptions}
    labels = {
        reviewer.name: f"{reviewer.display_name} ({reviewer.name})"
        for reviewer in reviewers
        if reviewer.name not in exempted_names
    }
    widget_keys = {name: f"{form_key}-{name}-{batch.id}" for name in ("who", "reason")}
    # In a form, a click on the button includes the text that is still being typed.
    with st.form(f"{form_key}-form-{batch.id}", border=False):
        person_column, reason_column = st.columns(2)
        person_column.selectbox(
            "Exempt a reviewer",
            list(labels),
            index=None,
            key=widget_keys["who"],
            format_func=labels.__getitem__,
            placeholder="Choose a reviewer",
        )
        reason_column.text_input(
            "Reason for the exemption",
            key=widget_keys["reason"],
            max_chars=500,
            placeholder="For example: reviewed the pilot",
        )
        st.form_submit_button(
            "Exempt",
            on_click=run_action,
            args=(_exempt_reviewer, batch.name, batch.id, widget_keys),
            kwargs={"notice_key": "exempt"},
            help="The reviewer may review this batch without having passed a practice set. The audit trail "
            "records the exemption.",
        )
    show_notice("exempt")
    if requirement.exemptions:
        show_table(
            [
                {
                    "Exempted": person.display_name,
                    "Reason": exemption.reason,
                    "Date": f"{exemption.granted_at:%Y-%m-%d}",
                }
                for person, exemption in requirement.exemptions
            ]
        )


def _show_results(overviews: list[review.PracticeOverview], reviewers: list[Person]) -> None:
    st.subheader("Practice sets")
    show_table(
        [
            {
                "Practice set": overview.practice.name,
                "Questions": f"{overview.practice.sound:,} sound, {overview.practice.faulty:,} faulty",
                "Pass mark": (
                    f"{100 * overview.practice.pass_mark.found:g} % found, "
                    f"{100 * overview.practice.pass_mark.accepted:g} % accepted"
                ),
                "Source": overview.practice.source,
                "Required by": ", ".join(overview.required_by) or "no batch",
            }
            for overview in overviews
        ]
    )
    _show_assignment_form(overviews, reviewers)
    show_table(
        [
            {
                "Reviewer": row.person.display_name,
                "Practice set": overview.practice.name,
                "Result": str(row.score.state),
                "Errors found": format_share(row.score.found),
                "Sound accepted": format_share(row.score.accepted),
                "Judged": f"{row.score.judged:,} of {row.score.questions:,}",
            }
            for overview in overviews
            for row in overview.reviewers
        ],
        empty="No practice set is assigned yet.",
    )
    st.caption("95 % intervals: Wilson's, clustered by exam. Only first verdicts count.")


def _show_assignment_form(overviews: list[review.PracticeOverview], reviewers: list[Person]) -> None:
    form_key = state.form_key("assign-practice")
    set_column, people_column = st.columns(2)
    name = set_column.selectbox(
        "Assign practice set", [overview.practice.name for overview in overviews], key=f"{form_key}-set"
    )
    assigned_names = {
        row.person.name
        for overview in overviews
        if overview.practice.name == name
        for row in overview.reviewers
    }
    labels = {
        reviewer.name: f"{reviewer.display_name} ({reviewer.name})"
        for reviewer in reviewers
        if reviewer.name not in assigned_names
    }
    to = people_column.multiselect(
        "Assign to",
        list(labels),
        key=f"{form_key}-to-{name}",
        format_func=labels.__getitem__,
        placeholder="Choose reviewers" if labels else "All reviewers have it",
    )
    st.button(
        "Assign practice set",
        key=f"{form_key}-go",
        disabled=not to,
        on_click=run_action,
        args=(_assign_practice_set, name, tuple(to)),
        kwargs={"notice_key": "assign-practice"},
    )
    show_notice("assign-practice")


def _show_create_form(batch: Batch, candidates: review.PracticeCandidates) -> None:
    st.subheader("New practice set from this batch")
    st.caption(
        f"Settled questions of {escape_markdown(batch.name)} that are in no practice set: "
        f"{candidates.sound:,} sound, {candidates.faulty:,} faulty. Not settled: {candidates.unsettled:,}; "
        f"in a practice set already: {candidates.used:,}. To use a file with known errors, run cli.py "
        "practice create."
    )
    if not (candidates.sound and candidates.faulty):
        st.caption("A practice set needs sound and faulty questions.")
        return
    form_key = state.form_key(f"create-practice-{batch.id}")
    name = st.text_input("Name", key=f"{form_key}-name", max_chars=100, placeholder="For example: Practice 1")
    columns = st.columns(5, vertical_alignment="bottom")
    max_per_kind = MAX_PRACTICE_QUESTIONS // 2
    sound = columns[0].number_input(
        "Sound", min_value=1, max_value=min(max_per_kind, candidates.sound), value=min(10, candidates.sound),
        key=f"{form_key}-sound-{candidates.sound}",
    )  # fmt: skip
    faulty = columns[1].number_input(
        "Faulty", min_value=1, max_value=min(max_per_kind, candidates.faulty),
        value=min(10, candidates.faulty), key=f"{form_key}-faulty-{candidates.faulty}",
    )  # fmt: skip
    found_percent = columns[2].number_input(
        "Errors found (%)", min_value=0.0, max_value=100.0, step=5.0, format="%g",
        value=100 * PassMark().found, key=f"{form_key}-found",
    )  # fmt: skip
    accepted_percent = columns[3].number_input(
        "Accepted (%)", min_value=0.0, max_value=100.0, step=5.0, format="%g",
        value=100 * PassMark().accepted, key=f"{form_key}-accepted",
        help="Of the sound questions.",
    )  # fmt: skip
    seed = columns[4].number_input(
        "Seed", min_value=0, max_value=2**31 - 1, value=0, key=f"{form_key}-seed",
        help="The same seed chooses the same questions.",
    )  # fmt: skip
    if not name.strip():
        st.caption("Enter a name.")
        return
    plan = review.PracticePlan(
        name=name,
        sound=int(sound),
        faulty=int(faulty),
        pass_mark=PassMark(found=found_percent / 100, accepted=accepted_percent / 100),
        seed=int(seed),
    )
    st.button(
        "Create practice set",
        type="primary",
        key=f"{form_key}-go",
        on_click=run_action,
        args=(_create_practice_set, batch.name, batch.id, plan),
        kwargs={"notice_key": "create-practice"},
    )


def _save_requirement(batch: str, practices: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        requirement = review.require_practice(
            db, by=current_person(), batch=batch, practices=practices, now=clock()
        )
    names = " or ".join(practice.name for practice in requirement.practices)
    return f"Batch {batch} requires {names or 'no practice set'}."


def _exempt_reviewer(batch: str, batch_id: int, widget_keys: dict[str, str]) -> str:
    reviewer = state.get_widget_value(widget_keys["who"])
    if not isinstance(reviewer, str):
        raise InvalidValue("reviewer", "choose the reviewer to exempt")
    reason = str(state.get_widget_value(widget_keys["reason"]) or "")
    with unit_of_work() as db:
        review.exempt_reviewer(
            db, by=current_person(), batch=batch, reviewer=reviewer, reason=reason, now=clock()
        )
    state.clear_form(f"exempt-{batch_id}")
    return f"{reviewer} may review batch {batch} without having passed a practice set."


def _assign_practice_set(practice: str, to: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        new_names = review.assign_practice(db, by=current_person(), practice=practice, to=to, now=clock())
    state.clear_form("assign-practice")
    return f"Practice set {practice} is assigned to {', '.join(new_names)}." if new_names else "No change."


def _create_practice_set(batch: str, batch_id: int, plan: review.PracticePlan) -> str:
    with unit_of_work() as db:
        practice = review.create_practice_from_batch(
            db, by=current_person(), batch=batch, plan=plan, now=clock()
        )
    state.clear_form(f"create-practice-{batch_id}")
    questions = count_text(practice.sound + practice.faulty, "question")
    return f"Practice set {practice.name} has {questions}; {format_pass_mark(practice.pass_mark)}."
