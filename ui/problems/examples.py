"""Shows the problems of one check by field, and one question in full."""

from __future__ import annotations

import streamlit as st

from domain.checks import CHECKS, Check, CheckResult
from domain.people import Person
from domain.questions import Question
from quality.service import (
    CheckReport,
    DatasetSummary,
    ProblemExample,
    list_examples,
    list_results,
    load_question_with_problem,
)
from ui.context import read_only_session
from ui.juries.results import show_question_votes
from ui.questions.card import show_stem_options_key
from ui.tables import show_table
from ui.widgets import escape_markdown

_PAGE_SIZE = 20


def show_check(check_report: CheckReport, dataset: DatasetSummary, check: Check, person: Person) -> None:
    """Show the choice of a field, a page of its problems, and one question in full."""
    st.caption(f"Requirement: {CHECKS[check].description}")
    fields = {count.field: count.questions for count in check_report.counts if count.check is check}
    all_label = f"all ({check_report.count_of(check):,})"
    field = st.selectbox(
        "Field",
        [all_label, *fields],
        format_func=lambda name: f"{name} ({fields[name]:,})" if name in fields else name,
        key=f"field-{dataset.id}-{check}",
    )
    field_filter = None if field == all_label else field
    total = check_report.count_of(check) if field_filter is None else fields[field_filter]
    page_count = max(1, -(-total // _PAGE_SIZE))
    page = 1
    if page_count > 1:
        page = int(
            st.number_input(
                f"Page (of {page_count:,})",
                min_value=1,
                max_value=page_count,
                key=f"page-{dataset.id}-{check}-{field}",
            )
        )
    with read_only_session() as db:
        page_examples = list_examples(
            db,
            by=person,
            dataset=dataset.name,
            check=check,
            field=field_filter,
            offset=(page - 1) * _PAGE_SIZE,
            limit=_PAGE_SIZE,
        )
    show_table([_build_example_row(example) for example in page_examples])
    examples_by_id = {example.question_id: example for example in page_examples}
    chosen_id = st.selectbox(
        "View question",
        list(examples_by_id),
        index=None,
        placeholder="Choose a question id",
        key=f"shown-{dataset.id}-{check}-{field}-{page}",
    )
    if chosen_id is not None:
        example = examples_by_id[chosen_id]
        with read_only_session() as db:
            question = load_question_with_problem(db, by=person, question_row_id=example.question_row_id)
            results = list_results(db, by=person, question_row_id=example.question_row_id)
        _show_question(question, example, results)
        show_question_votes(example.question_row_id, person)


def _build_example_row(example: ProblemExample) -> dict[str, object]:
    return {"Question": example.question_id, "Field": example.problem.field, "Reason": example.problem.reason}


def _show_question(question: Question, example: ProblemExample, results: list[CheckResult]) -> None:
    with st.container(border=True):
        st.caption(escape_markdown(f"{question.id} · {question.format.label} · exam {question.exam_id}"))
        st.warning(escape_markdown(f"{example.problem.field} {example.problem.reason}"))
        show_stem_options_key(question)
        st.caption(escape_markdown(question.explanation or "no explanation"))
        properties = {
            "task": question.task,
            "category": question.category,
            "difficulty": question.difficulty,
            "content type": question.content_type,
        }
        st.caption(
            escape_markdown(" · ".join(f"{name}: {value or 'none'}" for name, value in properties.items()))
        )
        st.caption(escape_markdown(" · ".join(_describe_result(result) for result in results)))


def _describe_result(result: CheckResult) -> str:
    label = result.check.label
    if result.missing_need is not None:
        return f"{label}: not checked ({result.missing_need.label})"
    return f"{label}: {'passed' if result.passed else 'problem'}"
