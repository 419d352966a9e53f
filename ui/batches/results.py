"""Shows the results of a batch: kinds of error, decisions, ratings, and stated difficulty against rating."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.ratings import RATING_VALUES
from domain.verdicts import ErrorKind, judgement_label
from measures.estimate import Estimate
from review.progress import Progress, Rate, format_interval, format_percent
from review.rating_statistics import format_mean
from ui.batches.charts import build_rate_chart, build_tier_heat_map
from ui.chart import show_chart
from ui.layout import responsive_columns
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_results(progress: Progress) -> None:
    """Show a summary, every kind of error with its interval, and the decisions."""
    st.subheader("Errors and decisions")
    if not progress.reviewed:
        st.caption("Not defined yet: no question has a verdict.")
        return
    error_rates = [replace(rate, name=ErrorKind(rate.name).label) for rate in progress.errors]
    summary_column, chart_column = responsive_columns(2, 3, name="found")
    with summary_column:
        title, *kind_lines = progress.summary_lines
        with st.container(border=True):
            st.markdown(f"**{escape_markdown(title)}**")
            for line in kind_lines:
                st.markdown(escape_markdown(line))
            st.caption("Questions, kind of error, share and 95 % interval.")
        _show_skipped(progress)
        for note in progress.notes:
            st.caption(escape_markdown(note))
    with chart_column:
        show_chart(build_rate_chart(error_rates))
    errors_column, decisions_column = responsive_columns(3, 2, name="kinds")
    with errors_column:
        st.markdown("**Kinds of error**")
        show_table(
            [
                {**_build_rate_row("Kind of error", rate), **_format_skipped_bounds(rate)}
                for rate in error_rates
            ]
        )
    with decisions_column:
        st.markdown("**Decisions**")
        show_table([_build_rate_row("Decision", rate) for rate in progress.decisions])
    if any(rate.if_skipped for rate in progress.errors):
        st.caption(
            "“If skipped”: the share if none, or all, of the skipped questions counted. "
            "Intervals are Wilson's, 95 %."
        )
    else:
        st.caption("Intervals are Wilson's, 95 %.")


def show_ratings(progress: Progress) -> None:
    """Show the distributions of the four ratings and of the yes/no fields."""
    if not progress.reviewed:
        return
    st.subheader("Ratings")
    st.markdown("**From 1 (worst) to 5 (best)**")
    show_table(
        [
            {
                "Rating": line.name,
                **{str(value): n for value, n in zip(RATING_VALUES, line.counts, strict=True)},
                "Not judged": line.not_judged,
                "Mean, 95 % interval": format_mean(line.mean),
            }
            for line in progress.ratings
        ]
    )
    st.markdown("**Yes/no fields**")
    show_table(
        [
            {
                "Field": judgement_label(line.name),
                "Yes": line.yes.count,
                "n": line.yes.n,
                "Share": format_percent(line.yes.estimate),
                "95 % interval": format_interval(line.yes.low, line.yes.high),
                "Not judged": line.not_judged,
            }
            for line in progress.yes_no_fields
        ]
    )
    st.caption(
        "Counts are judgements, unweighted; “not judged” is excluded from shares and means. Intervals "
        "are Student's and Wilson's, clustered by exam. The batch's anchors define each value."
    )


def show_tier_agreement(progress: Progress) -> None:
    """Show the table of stated difficulty by reviewers' rating, with weighted kappa."""
    tiers = progress.tier_table
    st.subheader("Stated difficulty and reviewers' rating")
    if not tiers.n:
        st.caption("Not defined yet: no judged question has both a stated difficulty and a rating.")
        return
    left, right = responsive_columns(2, 3, name="tiers")
    with left:
        show_chart(build_tier_heat_map(tiers))
    with right:
        show_table([_build_kappa_row("linear", tiers.linear), _build_kappa_row("quadratic", tiers.quadratic)])
        same_tier_count = sum(tiers.counts[i][i] for i in range(len(tiers.tiers)))
        st.caption(
            f"Same difficulty in {same_tier_count:,} of {tiers.n:,} judgements "
            f"({format_percent(same_tier_count / tiers.n)}). "
            + (f"{tiers.missing_tier:,} judgements lack one of the two. " if tiers.missing_tier else "")
            + escape_markdown(tiers.note)
        )


def _show_skipped(progress: Progress) -> None:
    share = progress.skipped
    if share.count:
        st.caption(
            f"Skipped and not judged by any reviewer: {share.count:,} of {share.n:,} questions "
            f"({format_percent(share.estimate)}, {format_interval(share.low, share.high)})."
        )


def _build_rate_row(first_column: str, rate: Rate) -> dict[str, object]:
    share = rate.share
    return {
        first_column: judgement_label(rate.name),
        "Questions": share.count,
        "n": share.n,
        "Share": format_percent(share.estimate),
        "95 % interval": format_interval(share.low, share.high),
    }


def _format_skipped_bounds(rate: Rate) -> dict[str, object]:
    return {} if rate.if_skipped is None else {"If skipped": format_interval(*rate.if_skipped)}


def _build_kappa_row(weights: str, kappa: Estimate) -> dict[str, object]:
    note: dict[str, object] = {"Note": kappa.note} if kappa.note else {}
    return {
        "Kappa": f"{weights} weights",
        "Estimate": "not defined" if kappa.value is None else f"{kappa.value:.2f}",
        "95 % interval": "none" if kappa.low is None else f"{kappa.low:.2f} to {kappa.high:.2f}",
        "SE": "none" if kappa.se is None else f"{kappa.se:.3f}",
        "n": kappa.n,
        **note,
    }
