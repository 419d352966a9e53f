"""The problems of one check: by field, page by page, and one question in full."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from domain.problems import Check
from domain.questions import Question
from quality.service import CheckReport, DatasetSummary, ProblemExample, examples, question_with_problem
from ui.context import reading
from ui.parts import plain
from ui.questions.card import stem_options_key
from ui.tables import table

_WHAT = {
    Check.SCHEMA: "A choice question has four options.",
    Check.TYPES: "Texts are texts: no list, object or missing value that was turned into one.",
    Check.FORMAT: "Options are distinct and without letters, the explanation is long enough, the stem gives "
    "neither options nor key.",
    Check.COMPLETENESS: "Explanation, difficulty, category, task and the boxes' labels are there.",
}
_AT_ONCE = 20


def of_check(found: CheckReport, chosen: DatasetSummary, check: Check, person: Person) -> None:
    """Draw the choice of a field, a page of its problems, and one question in full."""
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
        stem_options_key(question)
        st.caption(plain(question.explanation or "no explanation"))
        said = {
            "task": question.task,
            "category": question.category,
            "difficulty": question.difficulty,
            "content type": question.content_type,
        }
        st.caption(plain(" · ".join(f"{name}: {value or 'none'}" for name, value in said.items())))
