"""The preview of an import."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.exams import Exam
from domain.people import Person
from domain.questions import Question
from intake.service import FORMATS, Look, look_at
from ui.imports.beginning import begin
from ui.imports.deliveries import Delivery, images_of
from ui.imports.handing_in import another
from ui.parts import plain
from ui.questions.card import stem_options_key
from ui.tables import table


def look_through(delivery: Delivery, person: Person) -> None:
    """Draw the preview: format, missing images, records that would be refused, first questions."""
    st.subheader(plain(delivery.name))
    form = f"look-{delivery.id}"
    asked = st.selectbox(
        "Format", ["auto", *FORMATS], key=f"{form}-format", help="auto: recognised by itself"
    )
    try:
        look = look_at(
            by=person,
            path=delivery.path,
            file_format=asked,
            images=images_of(delivery),
            file_name=delivery.name,
        )
    except DomainError as error:
        st.error(plain(str(error)))
        another(delivery)
        return
    about = "" if look.counted else "about "
    st.markdown(f"**{plain(look.file_format)}** with {about}{look.records:,} records.")
    _pictures(look, delivery)
    if look.refusals:
        st.warning(f"Records that would be refused: {len(look.refusals):,} of the first {look.looked_at:,}.")
        table(
            [
                {"Record": each.record, "Field": each.field, "Reason": each.reason}
                for each in look.refusals[:20]
            ]
        )
    for column, (question, exam) in zip(st.columns(3), look.first, strict=False):
        with column:
            _question(question, exam)
    begin(delivery, look, asked, person, form)


def _pictures(look: Look, delivery: Delivery) -> None:
    if not delivery.has_images:
        st.warning("Without images: reviewers would see the questions alone.")
    elif look.missing:
        st.warning(f"Images that are not there: {len(look.missing):,} of the first {look.images:,}.")
        table([{"Missing image": each} for each in look.missing[:10]])
    else:
        st.markdown(f"The images of the first {look.looked_at:,} records are all there ({look.images:,}).")


def _question(question: Question, exam: Exam) -> None:
    with st.container(border=True):
        st.caption(
            plain(f"{question.id} · {question.format} · exam {exam.id} · images: {len(exam.radiographs)}")
        )
        stem_options_key(question)
        if question.explanation:
            st.caption(plain(question.explanation))
