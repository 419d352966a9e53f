"""Shows a question with its history and its comments."""

from __future__ import annotations

import streamlit as st

from browsing.service import History, describe_event, load_history
from domain.exams import format_age
from domain.people import Person
from ui.comments.threads import show_question_threads
from ui.context import read_only_session
from ui.questions.card import show_stem_options_key
from ui.search.provenance import show_provenance, show_report
from ui.widgets import escape_markdown


def show_question(person: Person, question_id: int) -> None:
    """Show the question as imported, next to its history and comments.

    Raises:
        NotFound: no question has that id.
    """
    with read_only_session() as db:
        question_history = load_history(db, by=person, question_row_id=question_id)
    left, right = st.columns([1, 1], gap="large")
    with left:
        _show_question(question_history)
    with right:
        st.subheader("History")
        for event in question_history.events:
            title, details = describe_event(event, question_history.question)
            by_text = f" · {escape_markdown(event.person_name)}" if event.person_name else ""
            capitalised = title[:1].upper() + title[1:]
            lines = [
                f"**{escape_markdown(capitalised)}**  ",
                f":small[{event.occurred_at:%Y-%m-%d %H:%M:%S} UTC{by_text}]",
            ]
            lines += [f"- {escape_markdown(detail)}" for detail in details]
            if (
                event.kind == "released"
                and question_history.provenance
                and event.details["side"] != "private"
            ):
                address = f"/files/releases/{event.details['release']}/provenance.jsonl"
                lines.append(f"- [origins of the release]({address})")
            st.markdown("\n".join(lines))
        show_question_threads(person, question_id)


def _show_question(question_history: History) -> None:
    question, exam = question_history.question, question_history.exam
    st.subheader(escape_markdown(question.id))
    exam_facts = [
        f"indication: {exam.indication}" if exam.indication else None,
        f"age {format_age(exam.age)}" if exam.age else None,
        f"sex {exam.sex}" if exam.sex else None,
    ]
    st.caption(escape_markdown(" · ".join([f"exam {exam.id}", *(fact for fact in exam_facts if fact)])))
    images = [radiograph for radiograph in exam.radiographs if radiograph.sha256]
    if images:
        for column, radiograph in zip(st.columns(len(images)), images, strict=True):
            column.markdown(
                f"![{escape_markdown(radiograph.view)}](/radiographs/{question_history.exam_row_id}/{radiograph.id}?longest=600)"
            )
            column.caption(escape_markdown(radiograph.view))
    show_stem_options_key(question)
    st.markdown(
        f"Explanation: {escape_markdown(question.explanation)}" if question.explanation else "No explanation."
    )
    properties = {
        "format": question.format.label,
        "task": question.task,
        "content type": question.content_type,
        "category": question.category,
        "difficulty": question.difficulty,
        "boxes": len(question.boxes) or None,
        "generator": question.source.generator,
        "prompt version": question.source.prompt_version,
    }
    st.caption(escape_markdown(" · ".join(f"{name}: {value}" for name, value in properties.items() if value)))
    if question_history.provenance:
        show_provenance(question_history.provenance, question.source)
    if question_history.report:
        with st.expander("Report"):
            show_report(question_history.report, question_history.provenance)
