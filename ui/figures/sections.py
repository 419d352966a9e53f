"""The sections of a report. The page shows only the chosen section, to be fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from domain.protocols import canonical_json
from measures.results import to_records
from reader_study.report.tables import (
    ExcludedAnswers,
    FailedReplies,
    FaultyCase,
    MarkerAgreement,
    OpenAnswerCounts,
    RaterProfile,
)
from ui.figures.accuracy import show_accuracies, show_differences
from ui.figures.agreement import show_agreement
from ui.figures.answers import show_answers, show_times
from ui.figures.view import ReportView
from ui.studies.extraction_rates import build_extraction_row
from ui.tables import show_table


def show_lists(view: ReportView) -> None:
    """Show the raters, failed replies, reported questions, exclusions and protocol versions."""
    report = view.report
    view.draw_figure("flow")
    st.markdown("**Readers and models**")
    show_table([_build_rater_row(profile) for profile in view.filtered_report.tables.raters])
    st.markdown("**Replies without an answer**")
    show_table([_build_failed_row(replies) for replies in report.tables.failed], empty="No models.")
    if report.tables.extraction:
        st.markdown("**Errors of answer extraction**")
        show_table([build_extraction_row(rate) for rate in report.tables.extraction])
    if report.tables.open_answers:
        st.markdown("**Open answers**")
        show_table([_build_open_row(counts) for counts in view.filtered_report.tables.open_answers])
        show_table(
            [_build_marker_row(agreement) for agreement in report.tables.marker_agreement],
            empty="No second marker has marked an answer, so there is no agreement of markers.",
        )
    st.markdown("**Reported questions**")
    show_table(_build_labelled_rows(report.tables.faulty), empty="No reported questions.")
    st.markdown("**Exclusions**")
    show_table(_build_labelled_rows(report.tables.exclusions), empty="No exclusions.")
    st.markdown("**Protocol versions**")
    show_table(
        [
            {
                "Version": version.version,
                "Date": f"{version.written_at[:16].replace('T', ' ')} UTC",
                "Answers before": version.answers_before,
                "SHA-256": version.sha256,
                "Reason": version.why,
            }
            for version in report.facts.protocol_versions
        ]
    )
    st.code(canonical_json(report.facts.protocol), language="json", wrap_lines=True)
    view.show_table_links(
        "raters",
        "participation",
        "failed",
        "extraction",
        "open_answers",
        "marker_agreement",
        "open_answer_marks",
        "faulty",
        "exclusions",
    )


def _build_rater_row(profile: RaterProfile) -> dict[str, object]:
    notes = [
        note
        for note, applies in (
            ("contributed to the answer key", profile.set_reference),
            ("simulated", profile.simulated),
        )
        if applies
    ]
    return {
        "Rater": profile.rater,
        "Kind": profile.kind,
        "n": profile.n,
        "Level": profile.level or "",
        "Years of experience": "" if profile.years is None else f"{profile.years:g}",
        "Subspecialty": profile.subspecialty or "",
        "Note": ", ".join(notes),
    }


def _build_failed_row(replies: FailedReplies) -> dict[str, object]:
    return {
        "Model": replies.model,
        "Failed": f"{replies.failed:,} of {replies.n:,}",
        "Share (%)": "not defined: no predictions"
        if replies.share is None or replies.low is None or replies.high is None
        else f"{replies.share * 100:.1f} [{replies.low * 100:.1f}, {replies.high * 100:.1f}]",
        "Cases without a prediction": replies.not_predicted,
        "Answers by extraction rule": replies.rules,
    }


def _build_open_row(counts: OpenAnswerCounts) -> dict[str, object]:
    return {
        "Rater": counts.rater,
        "Score (%)": _format_interval(counts.estimate, counts.low, counts.high, factor=100, digits=1)
        or counts.note,
        "n": counts.n,
        "Equal to key": counts.equal_to_key,
        "Right": counts.right,
        "Partly right": counts.partly,
        "Wrong": counts.wrong,
        "No answer": counts.no_answer,
        "Not marked": counts.not_marked,
    }


def _build_marker_row(agreement: MarkerAgreement) -> dict[str, object]:
    return {
        "Agreement of markers": "Cohen's kappa" if agreement.weights == "none" else "Kappa, linear weights",
        "Kappa": _format_interval(agreement.kappa, agreement.low, agreement.high, factor=1, digits=2)
        or agreement.note,
        "Marked by both": f"{agreement.n:,} of {agreement.answers:,}",
        "Same mark": agreement.same,
        "First marker": f"{agreement.first_marked:,} of {agreement.answers:,}",
        "Second marker": f"{agreement.second_marked:,} of {agreement.answers:,}",
        "Note": agreement.note,
    }


def _format_interval(
    value: float | None, low: float | None, high: float | None, *, factor: int, digits: int
) -> str:
    """Return a value with its interval as text; "" if the value is not defined."""
    if value is None:
        return ""
    if low is None or high is None:
        return f"{value * factor:.{digits}f}"
    return f"{value * factor:.{digits}f} [{low * factor:.{digits}f}, {high * factor:.{digits}f}]"


def _build_labelled_rows(results: Sequence[FaultyCase | ExcludedAnswers]) -> list[dict[str, object]]:
    """Return one row per result, with readable column names. A missing value is an empty string."""
    return [
        {
            name.replace("_", " ").capitalize(): "" if value is None else value
            for name, value in record.items()
        }
        for record in to_records(results)
    ]


#: The sections, in the order of the page.
SECTIONS: dict[str, Callable[[ReportView], None]] = {
    "Accuracy": show_accuracies,
    "Differences": show_differences,
    "Agreement": show_agreement,
    "Time and order": show_times,
    "Answers": show_answers,
    "Lists and protocol": show_lists,
}
