"""The sections of a report on the page.

Each draws only its own figures, so that changing a section is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from domain.protocols import canonical_json
from measures.results import to_records
from reader_study.report.tables import ExcludedAnswers, FailedReplies, FaultyCase, RaterProfile
from ui.figures.accuracies import show_accuracies, show_differences
from ui.figures.agreements import show_agreement
from ui.figures.answering import show_answers, show_times
from ui.figures.view import View
from ui.tables import table


def show_lists(view: View) -> None:
    report = view.report
    st.markdown("**Readers and models**")
    table([_rater(each) for each in view.chosen.tables.raters])
    st.markdown("**Replies without an answer**")
    table([_failed(each) for each in report.tables.failed], empty="No model.")
    st.markdown("**Reported as faulty**")
    table(_named(report.tables.faulty), empty="No question was reported.")
    st.markdown("**Left out of the analysis**")
    table(_named(report.tables.exclusions), empty="Nothing was left out.")
    st.markdown("**Protocol, every version**")
    table(
        [
            {
                "Version": each.version,
                "Written": f"{each.written_at[:16].replace('T', ' ')} UTC",
                "Answers before": each.answers_before,
                "SHA-256": each.sha256,
                "Why": each.why,
            }
            for each in report.facts.protocol_versions
        ]
    )
    st.code(canonical_json(report.facts.protocol), language="json", wrap_lines=True)
    view.tables("raters", "failed", "faulty", "exclusions")


def _rater(each: RaterProfile) -> dict[str, object]:
    marks = [
        word
        for word, holds in (
            ("helped to set the key", each.set_reference),
            ("simulated", each.simulated),
        )
        if holds
    ]
    return {
        "Rater": each.rater,
        "Kind": each.kind,
        "n": each.n,
        "Level": each.level or "",
        "Years": "" if each.years is None else f"{each.years:g}",
        "Subspecialty": each.subspecialty or "",
        "": ", ".join(marks),
    }


def _failed(each: FailedReplies) -> dict[str, object]:
    return {
        "Model": each.model,
        "Failed": f"{each.failed:,} of {each.n:,}",
        "Share, %": "not defined: no prediction"
        if each.share is None or each.low is None or each.high is None
        else f"{each.share * 100:.1f} [{each.low * 100:.1f}, {each.high * 100:.1f}]",
        "Cases without a prediction": each.not_predicted,
    }


def _named(found: Sequence[FaultyCase | ExcludedAnswers]) -> list[dict[str, object]]:
    """Return table rows with readable column names; a missing value is an empty string."""
    return [
        {name.replace("_", " ").capitalize(): "" if value is None else value for name, value in each.items()}
        for each in to_records(found)
    ]


#: The sections, in the order of the page.
SECTIONS: dict[str, Callable[[View], None]] = {
    "Accuracy": show_accuracies,
    "Differences": show_differences,
    "Agreement": show_agreement,
    "Time and order": show_times,
    "Answers": show_answers,
    "Lists and protocol": show_lists,
}
