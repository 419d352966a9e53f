"""Juries: how the judges answered each item, and the votes on one question."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.language_models import TEST_MODEL_NOTE
from domain.people import Person
from quality.service import JuryResults, VoteDetails, load_question_votes
from ui.context import read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_results(results: Sequence[JuryResults]) -> None:
    """Show a table for each check with votes."""
    for result in results:
        note = f" · test model: {TEST_MODEL_NOTE}" if result.is_test else ""
        st.markdown(f"**{result.check.label}**")
        st.caption(escape_markdown(f"{result.prompt} · n = {result.judged:,}{note}"))
        for reason in result.override_reasons:
            st.caption(escape_markdown(f"Models could judge their own family: {reason}"))
        show_table(
            [
                {
                    "Item": count.item.name,
                    "Criterion": count.item.criterion,
                    "Family": count.family,
                    **{answer.label: number for answer, number in count.answers.items()},
                }
                for count in result.counts
            ],
            empty="No usable vote.",
        )
        for (family, reason), number in result.failures.items():
            st.caption(escape_markdown(f"{family}: {number:,} without a vote: {reason}."))


def show_question_votes(question_row_id: int, person: Person) -> None:
    """Show the votes on a question with their reasons; nothing if there are none."""
    with read_only_session() as db:
        details = load_question_votes(db, by=person, question_row_id=question_row_id)
    if details:
        st.markdown("**Votes**")
        show_table([row for detail in details for row in _build_rows(detail)])


def _build_rows(detail: VoteDetails) -> list[dict[str, object]]:
    judge: dict[str, object] = {
        "Check": detail.judge.check.label,
        "Family": detail.judge.family,
        "Criteria": detail.judge.prompt,
    }
    if not detail.vote.answers:
        return [judge | {"Item": "", "Answer": "no vote", "Reason": detail.vote.failure}]
    reasons = detail.reasons or ("",) * len(detail.items)
    return [
        judge | {"Item": item.name, "Answer": answer.label, "Reason": reason}
        for item, answer, reason in zip(detail.items, detail.vote.answers, reasons, strict=True)
    ]
