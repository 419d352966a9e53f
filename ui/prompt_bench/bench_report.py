"""The report of a prompt bench: paired differences, means, and the agreement of the experts."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import Refused
from domain.prompt_bench import BenchScale
from language_models import service as models
from language_models.bench_report import BenchReport, VersionDifference
from language_models.bench_sheet import BenchOverview
from measures.means import Mean
from ui.context import current_person, read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_report(overview: BenchOverview) -> None:
    """Show the results so far, with links to the files."""
    st.subheader("Report")
    name = overview.bench.name
    try:
        with read_only_session() as db:
            report = models.load_bench_report(db, by=current_person(), name=name)
    except Refused as error:
        st.info(escape_markdown(str(error)))
        return
    score_count = sum(overview.done.values())
    if not score_count:
        st.caption("No scores yet.")
        return
    expected_count = overview.total * len(overview.experts)
    if score_count < expected_count:
        st.caption(f"Preliminary: {score_count:,} of {expected_count:,} scores are given.")
    for difference in report.differences:
        st.markdown(escape_markdown(describe_difference(difference)))
    _show_tables(report)
    query = urlencode({"bench": name})
    st.markdown(
        f"[Results as CSV](/files/prompt-bench/report.csv?{query}) · "
        f"[Scores as CSV](/files/prompt-bench/scores.csv?{query})"
    )


def describe_difference(difference: VersionDifference) -> str:
    """Describe a paired difference in one sentence."""
    mean, scale = difference.mean, difference.scale.label
    comparison_label = f"{scale.capitalize()}, {difference.later} minus {difference.earlier}"
    if mean.estimate is None:
        return f"{comparison_label}: no expert has scored both versions of a report."
    basis_text = f"{count_text(mean.n, 'pair')} of {count_text(difference.reports, 'report')}"
    interval = (
        mean.note if mean.low is None or mean.high is None
        else f"95 % interval {mean.low:+.2f} to {mean.high:+.2f}"
    )  # fmt: skip
    return f"{comparison_label}: {mean.estimate:+.2f} points ({interval}; {basis_text})."


def _show_tables(report: BenchReport) -> None:
    st.markdown("**Mean scores (1 to 5)**")
    versions = list(dict.fromkeys(mean.version for mean in report.means))
    rows = []
    for version in versions:
        means_by_scale = {row.scale: row for row in report.means if row.version == version}
        rows.append(
            {
                "Version": version,
                **{
                    scale.label.capitalize(): _format_mean(means_by_scale[scale].mean) for scale in BenchScale
                },
                "Scores": sum(row.mean.n for row in means_by_scale.values()),
                "Without usable reply": report.unusable.get(version, 0),
            }
        )
    show_table(rows)
    st.caption(
        "With 95 % intervals. All intervals are Student's, clustered by report. They hold for these experts "
        "and are not adjusted for the number of comparisons."
    )
    if report.agreement:
        st.markdown("**Agreement of the experts**")
        show_table(
            [
                {
                    "Scale": row.scale.label,
                    "Experts": f"{row.first} and {row.second}",
                    "Weighted kappa": "–" if row.kappa.value is None else f"{row.kappa.value:.2f}",
                    "95 % interval": (
                        "" if row.kappa.low is None or row.kappa.high is None
                        else f"{row.kappa.low:.2f} to {row.kappa.high:.2f}"
                    ),
                    "Outputs": row.kappa.n,
                    "Note": row.kappa.note,
                }
                for row in report.agreement
            ]
        )  # fmt: skip
        st.caption("Kappa with quadratic weights, over the outputs that both experts scored.")


def _format_mean(mean: Mean) -> str:
    if mean.estimate is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.estimate:.2f} ({mean.note})"
    return f"{mean.estimate:.2f} ({mean.low:.2f} to {mean.high:.2f})"
