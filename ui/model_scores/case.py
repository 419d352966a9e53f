"""Model scores: one question with its radiographs, its key, and every model's answer, reason and boxes."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.people import Person
from domain.questions import format_answer
from evaluation import service as evaluations
from evaluation.service import CaseAnswer, ModelCase
from release.splits import Split
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.questions.card import show_stem_options_key
from ui.questions.radiographs import show_boxes_of_raters
from ui.widgets import escape_markdown


def show_case(person: Person, *, release_id: int, split: str, question_row_id: int) -> None:
    """Show the question. On a private split, each question that is opened is recorded once."""
    case = _open_case(person, release_id=release_id, split=split, question_row_id=question_row_id)
    question = case.item.question
    back_query = urlencode({"release": release_id, "split": split})
    st.markdown(f"[← Model scores](/model_scores?{back_query})")
    st.subheader(f"Question {escape_markdown(question.id)}")
    if case.evaluated_split.is_private:
        st.caption("This is the private split. Opening this question is recorded in the audit trail.")
    answers_with_boxes = [answer for answer in case.answers if answer.prediction and answer.prediction.boxes]
    displayed_raters = [answer.evaluation for answer in answers_with_boxes]
    if answers_with_boxes:
        displayed_raters = st.multiselect(
            "Boxes of", displayed_raters, default=displayed_raters[:1], key=f"case-boxes-{question_row_id}",
            help="The boxes of the key are always drawn.",
        )  # fmt: skip
    left, right = st.columns([3, 2])
    with left:
        boxes = {
            answer.evaluation: answer.prediction.boxes if answer.prediction else () for answer in case.answers
        }
        show_boxes_of_raters(
            case.item.exam.number,
            case.item.exam.radiographs,
            key=question.boxes,
            boxes=boxes,
            shown=displayed_raters,
        )
    with right:
        show_stem_options_key(question)
        if question.explanation:
            st.markdown(f"Explanation: {escape_markdown(question.explanation)}")
        labels = " · ".join(
            label
            for label in (question.task, question.category, question.format.value, question.difficulty)
            if label
        )
        st.caption(escape_markdown(labels))
    st.markdown("**Answers of the models**")
    for answer in case.answers:
        _show_answer(case, answer)


def _open_case(person: Person, *, release_id: int, split: str, question_row_id: int) -> ModelCase:
    key = f"case {release_id} {split} {question_row_id}"
    opened_case = state.get_selection(key)
    if split != Split.PRIVATE:
        with read_only_session() as db:
            return evaluations.open_case(
                db, by=person, release_id=release_id, split=split, question_row_id=question_row_id,
                now=clock(),
            )  # fmt: skip
    if isinstance(opened_case, ModelCase):  # a click on the open page is not recorded again
        return opened_case
    with unit_of_work() as db:
        case = evaluations.open_case(
            db, by=person, release_id=release_id, split=split, question_row_id=question_row_id, now=clock()
        )
    state.set_selection(key, case)
    return case


def _show_answer(case: ModelCase, answer: CaseAnswer) -> None:
    question, prediction = case.item.question, answer.prediction
    result_labels = {True: "✓ correct", False: "✗ wrong", None: "not scored"}
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(answer.evaluation)}** · {escape_markdown(answer.model)}")
        if not answer.was_asked:
            st.caption("The question was not asked.")
            return
        if prediction is None:
            st.caption("No reply; counts as wrong.")
            return
        text = "no answer extracted"
        if prediction.answer is not None:
            text = format_answer(prediction.answer, question.options)
        st.markdown(f"{escape_markdown(text)} ({result_labels[answer.is_correct]}; {prediction.rule})")
        if prediction.explanation:
            st.markdown(f"Reason: {escape_markdown(prediction.explanation)}")
        if prediction.raw:
            st.text(prediction.raw)
