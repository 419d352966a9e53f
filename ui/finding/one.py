"""One question with its whole history."""

from __future__ import annotations

import streamlit as st

from browsing.service import History, history, told
from domain.people import Person
from domain.questions import answer_text
from ui.context import reading
from ui.parts import plain


def show_question(person: Person, number: int) -> None:
    """Draw the question as imported, next to its history.

    Raises:
        NotFound: no question has that number.
    """
    with reading() as db:
        found = history(db, by=person, question_number=number)
    left, right = st.columns([1, 1], gap="large")
    with left:
        _question(found)
    with right:
        st.subheader("What happened to it")
        for event in found.events:
            what, details = told(event, found.question)
            by = f" · {plain(event.who)}" if event.who else ""
            first = what[:1].upper() + what[1:]
            lines = [f"**{plain(first)}**  ", f":small[{event.when:%Y-%m-%d %H:%M:%S} UTC{by}]"]
            st.markdown("\n".join([*lines, *(f"- {plain(each)}" for each in details)]))


def _question(found: History) -> None:
    question, exam = found.question, found.exam
    st.subheader(plain(question.id))
    told_of = [
        exam.indication,
        f"age {exam.age}" if exam.age else None,
        f"sex {exam.sex}" if exam.sex else None,
    ]
    st.caption(plain(" · ".join([f"exam {exam.id}", *(each for each in told_of if each)])))
    images = [each for each in exam.radiographs if each.sha256]
    if images:
        for column, each in zip(st.columns(len(images)), images, strict=True):
            column.markdown(f"![{plain(each.view)}](/radiographs/{found.exam_number}/{each.id}?longest=600)")
            column.caption(plain(each.view))
    st.markdown(f"**{plain(question.stem)}**")
    for place, option in enumerate(question.options):
        right = isinstance(question.answer, tuple) and place in question.answer
        st.markdown(f"{'✓' if right else '·'} {plain(option)}")
    if not question.options:
        st.markdown(f"Key: {plain(answer_text(question.answer, question.options))}")
    st.markdown(plain(question.explanation or "No explanation."))
    said = {
        "format": question.format,
        "task": question.task,
        "content type": question.content_type,
        "category": question.category,
        "difficulty": question.difficulty,
        "boxes": len(question.boxes) or None,
        "generator": question.source.generator,
        "prompt version": question.source.prompt_version,
    }
    st.caption(plain(" · ".join(f"{name}: {value}" for name, value in said.items() if value)))
    if found.report:
        with st.expander("Report"):
            st.text(found.report)
