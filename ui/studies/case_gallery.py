"""Shows the cases of a closed study on which readers and models differ most, with all answers."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Person
from reader_study import service as studies
from reader_study.report.tables import CaseDifference
from reader_study.service import ComparedAnswer, ComparedCase, StudySummary, load_report_digest
from ui.context import current_workspace, read_only_session
from ui.questions.card import show_stem_options_key
from ui.questions.radiographs import show_boxes_of_raters
from ui.tables import show_table
from ui.widgets import escape_markdown

_RESULT_LABELS = {True: "correct", False: "wrong", None: "not scored"}


def show_case_gallery(person: Person, summary: StudySummary) -> None:
    """Show the choice of a case and the case, or state why single cases are not shown."""
    study = summary.study
    try:
        with read_only_session() as db:
            studies.check_may_compare(db, by=person, study=study.name)
            digest = load_report_digest(db, by=person, study=study.name)
        report = studies.load_stored_report(by=person, workspace=current_workspace(), digest=digest)
    except DomainError as error:
        st.info(escape_markdown(str(error)))
        return
    if report is None:
        st.info("The cases are ranked in the report. Create it in “Report” first.")
        return
    differences_by_case = {row.case: row for row in report.tables.case_differences}
    if not differences_by_case:
        st.info("There is no case on which some raters were correct and others wrong.")
        return
    if report.facts.simulated or any(rater.simulated for rater in report.tables.raters):
        st.warning("Some or all of these raters are simulated.", icon=":material/science:")
    number = st.selectbox(
        "Case",
        list(differences_by_case),
        key=f"gallery-{study.id}-{digest[:12]}",
        format_func=lambda case: _describe_case(differences_by_case[case]),
        help="The cases on which the shares of correct answers of readers and models differ most come first. "
        "Without readers or without models, the most evenly divided cases come first.",
    )
    try:
        with read_only_session() as db:
            case = studies.load_compared_case(
                db, by=person, study=study.name, number=number or next(iter(differences_by_case))
            )
    except DomainError as error:
        st.info(escape_markdown(str(error)))
        return
    _show_case(case)


def _describe_case(row: CaseDifference) -> str:
    parts = [
        f"{name} {correct} of {n} correct"
        for name, correct, n in (
            ("readers", row.readers_correct, row.readers),
            ("models", row.models_correct, row.models),
        )
        if n
    ]
    return f"Case {row.case}: {', '.join(parts)}"


def _show_case(case: ComparedCase) -> None:
    question, number = case.case.question, case.case.blind_case.id
    boxes = {_format_rater(answer): answer.boxes for answer in case.answers if answer.boxes}
    shown_raters = list(boxes)
    left, right = st.columns([3, 2])
    with left:
        if boxes:
            shown_raters = st.multiselect(
                "Boxes of", list(boxes), default=shown_raters[:1], key=f"gallery-boxes-{number}",
                help="The boxes of the key are always drawn.",
            )  # fmt: skip
        show_boxes_of_raters(
            case.case.blind_case.exam_row_id,
            case.exam.radiographs,
            key=question.boxes,
            boxes=boxes,
            shown=shown_raters,
        )
    with right:
        show_stem_options_key(question)
        if question.explanation:
            st.markdown(f"Explanation: {escape_markdown(question.explanation)}")
        labels = (question.task, question.category, question.format.value, question.difficulty)
        names = [f"Question {question.id}", *(str(label) for label in labels if label)]
        st.caption(escape_markdown(" · ".join(names)))
        st.markdown("**Answers**")
        show_table([_build_row(answer) for answer in case.answers])


def _format_rater(answer: ComparedAnswer) -> str:
    return f"{answer.rater} ({answer.arm})" if answer.arm else answer.rater


def _build_row(answer: ComparedAnswer) -> dict[str, object]:
    return {
        "Rater": _format_rater(answer),
        "Result": _RESULT_LABELS[answer.is_correct],
        "Answer": answer.text or "none",
        "Kind": answer.kind,
        "Confidence": "" if answer.confidence is None else answer.confidence,
        "Seconds": "" if answer.seconds is None else f"{answer.seconds:.1f}",
        "Boxes": len(answer.boxes) or "",
        "Note": answer.note,
    }
