"""Checks: what the four structural checks found in a dataset, by check, with the questions."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from domain.problems import Check
from domain.questions import Question, answer_text
from quality.service import (
    CheckReport,
    DatasetSummary,
    ProblemExample,
    examples,
    find_problems,
    list_datasets,
    question_with_problem,
    record_problems,
    report,
)
from ui import state
from ui.context import clock, reading, require_page, unit_of_work
from ui.parts import act, empty_state, notices, plain, screen, stat, table

_WHAT = {
    Check.SCHEMA: "A choice question has four options.",
    Check.TYPES: "Texts are texts: no list, object or missing value that was turned into one.",
    Check.FORMAT: "Options are distinct and without letters, the explanation is long enough, the stem gives "
    "neither options nor key.",
    Check.COMPLETENESS: "Explanation, difficulty, category, task and the boxes' labels are there.",
}
_AT_ONCE = 20


@screen
def main() -> None:
    """All in one fragment, so that no click can overtake what it follows."""
    person = require_page(Action.SEE_CHECKS)
    st.title("Checks")
    with reading() as db:
        datasets = list_datasets(db, by=person)
    if not datasets:
        empty_state(
            "No dataset yet",
            "Questions are checked when they are imported.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    chosen = _choose(datasets)
    with reading() as db:
        found = report(db, by=person, dataset=chosen.name)
    _overview(found)
    _again(chosen, person)
    if not found.with_problems:
        st.success("No check found anything.")
        return
    names = [check for check in Check if found.of(check)]
    for tab, check in zip(
        st.tabs([f"{check.title()} ({found.of(check):,})" for check in names]), names, strict=True
    ):
        with tab:
            _check(found, chosen, check, person)


def _choose(datasets: list[DatasetSummary]) -> DatasetSummary:
    names = [each.name for each in datasets]
    before = state.chosen("dataset")
    name = st.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key="dataset-to-check",  # allow fixed-widget-key: it is the question itself, nothing is asked about
    )
    state.set_chosen("dataset", name)
    return datasets[names.index(name)]


def _overview(found: CheckReport) -> None:
    columns = st.columns(5)
    with columns[0]:
        stat("Questions with a problem", f"{found.with_problems:,}", n=found.questions)
    for column, check in zip(columns[1:], Check, strict=True):
        with column:
            stat(check.title(), f"{found.of(check):,}", n=found.questions)


def _again(chosen: DatasetSummary, person: Person) -> None:
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    minimum = left.number_input(
        "Shortest explanation, in characters",
        min_value=0,
        value=chosen.minimum_explanation,
        key=f"minimum-{chosen.id}-{chosen.minimum_explanation}",
        help="Shorter ones are a problem of format.",
    )
    right.button(
        "Check again",
        key=f"check-{chosen.id}",
        on_click=act,
        args=(_check_again, chosen.name, int(minimum), person),
        kwargs={"place": "checks"},
        width="stretch",
    )
    notices("checks")


def _check_again(dataset: str, minimum: int, person: Person) -> str:
    with reading() as db:
        checked = find_problems(db, by=person, dataset=dataset, minimum_explanation=minimum)
    with unit_of_work() as db:
        record_problems(db, by=person, found=checked, now=clock())
    with reading() as db:
        found = report(db, by=person, dataset=dataset)
    return f"Checked {found.questions:,} questions; {found.with_problems:,} have a problem."


def _check(found: CheckReport, chosen: DatasetSummary, check: Check, person: Person) -> None:
    st.caption(_WHAT[check])
    fields = {each.field: each.questions for each in found.counts if each.check is check}
    everything = f"all ({found.of(check):,})"
    field = st.selectbox(
        "Field",
        [everything, *fields],
        format_func=lambda name: f"{name} ({fields[name]:,})" if name in fields else name,
        key=f"field-{chosen.id}-{check}",
    )
    of_field = None if field == everything else field
    total = fields.get(of_field, found.of(check)) if of_field else found.of(check)
    pages = max(1, -(-total // _AT_ONCE))
    page = 1
    if pages > 1:
        page = int(
            st.number_input(
                f"Page, of {pages:,}", min_value=1, max_value=pages, key=f"page-{chosen.id}-{check}-{field}"
            )
        )
    with reading() as db:
        shown = examples(
            db,
            by=person,
            dataset=chosen.name,
            check=check,
            field=of_field,
            first=(page - 1) * _AT_ONCE,
            count=_AT_ONCE,
        )
    table([_row(each) for each in shown])
    by_id = {each.question_id: each for each in shown}
    chosen_id = st.selectbox(
        "Show a question",
        list(by_id),
        index=None,
        placeholder="Choose its id",
        key=f"shown-{chosen.id}-{check}-{field}-{page}",
    )
    if chosen_id is not None:
        example = by_id[chosen_id]
        with reading() as db:
            question = question_with_problem(db, by=person, question_number=example.question_number)
        _question(question, example)


def _row(each: ProblemExample) -> dict[str, object]:
    return {"Question": each.question_id, "Field": each.problem.field, "Reason": each.problem.reason}


def _question(question: Question, example: ProblemExample) -> None:
    with st.container(border=True):
        st.caption(plain(f"{question.id} · {question.format} · exam {question.exam_id}"))
        st.warning(plain(f"{example.problem.field} {example.problem.reason}"))
        st.markdown(f"**{plain(question.stem)}**")
        for place, option in enumerate(question.options):
            right = isinstance(question.answer, tuple) and place in question.answer
            st.markdown(f"{'✓' if right else '·'} {plain(option)}")
        if not question.options:
            st.markdown(f"Key: {plain(answer_text(question.answer, question.options))}")
        st.caption(plain(question.explanation or "no explanation"))
        said = {
            "task": question.task,
            "category": question.category,
            "difficulty": question.difficulty,
            "content type": question.content_type,
        }
        st.caption(plain(" · ".join(f"{name}: {value or 'none'}" for name, value in said.items())))


main()
