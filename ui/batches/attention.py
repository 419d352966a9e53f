"""Shows the attention of reviewers: intra-reviewer agreement, planted faults found, and both over time."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from domain.verdicts import judgement_label
from measures.agreement import SMALL_SAMPLE
from measures.proportions import Proportion
from review.agreement import AgreementEstimate
from review.attention import DEFAULT_BLOCK
from review.service import BatchAttention, ReviewerAttention
from ui.batches.agreement import show_aspect_table
from ui.batches.drift import build_drift_chart
from ui.chart import show_chart
from ui.theme import secondary_text_colour
from ui.widgets import escape_markdown

#: This many columns fit into a narrow window. A table with more columns pins the first one.
_MAX_COLUMNS_UNPINNED = 4


def show_attention_panel(batch_attention: BatchAttention) -> None:
    """Show all tables. Shares and kappas have their n, and an interval if it is defined."""
    _show_overview(batch_attention)
    _show_faults(batch_attention)
    _show_intra_reviewer_agreement(batch_attention)
    _show_drift(batch_attention)


def _show_overview(batch_attention: BatchAttention) -> None:
    st.subheader("Results by reviewer")
    rows, small_n = [], []
    for reviewer in batch_attention.reviewers:
        agreement = reviewer.attention.agreement
        # The first aspect is the decision. The first entry of ``faults`` is for all kinds together.
        decision = agreement.aspects[0] if agreement else None
        all_faults = reviewer.attention.faults[0]
        rows.append(
            {
                "Reviewer": _format_reviewer_name(reviewer),
                "Same decision on repeat": _format_share(decision.percent)
                if decision
                else "no repeats judged",
                "Intra-reviewer kappa": _format_kappa(decision.kappa) if decision else "not defined",
                "Faults found": _format_share(all_faults.found),
                "Not accepted": _format_share(all_faults.not_accepted),
                "Verdicts between": ""
                if reviewer.attention.median_verdicts_between is None
                else f"{reviewer.attention.median_verdicts_between:.0f}",
                "Repeats judged": f"{reviewer.attention.pairs:,} of {reviewer.repeat_count:,}",
                "Faults judged": f"{all_faults.found.n:,} of {reviewer.planted_count:,}",
            }
        )
        small_n.append((reviewer.attention.pairs < SMALL_SAMPLE, all_faults.found.n < SMALL_SAMPLE))
    grey_style = f"color: {secondary_text_colour()}"
    styles = pd.DataFrame("", index=range(len(rows)), columns=list(rows[0]))
    for row_index, (few_repeats, few_faults) in enumerate(small_n):
        for column in ("Same decision on repeat", "Intra-reviewer kappa"):
            styles.loc[row_index, column] = grey_style if few_repeats else ""
        for column in ("Faults found", "Not accepted"):
            styles.loc[row_index, column] = grey_style if few_faults else ""
    _show_table(rows, styles)
    st.caption(
        "95 % intervals: for shares Wilson's, clustered by exam; for kappa see the column “Intervals” below. "
        "Later changes of a verdict do not count. "
        f"Grey in this table: fewer than {SMALL_SAMPLE} questions. Faults found: the reviewer reported the "
        "kind of error or corrected the field with the fault. Not accepted: revised, rejected or reported "
        "with any error. Verdicts between: the median number of the reviewer's verdicts between first "
        "showing and repeat."
    )


def _show_faults(batch_attention: BatchAttention) -> None:
    st.subheader("Planted faults by kind")
    rows = [
        {
            "Reviewer": _format_reviewer_name(reviewer),
            "Fault": "" if fault.fault is None else fault.fault.label,
            "Found": _format_share(fault.found),
            "Not accepted": _format_share(fault.not_accepted),
        }
        for reviewer in batch_attention.reviewers
        for fault in reviewer.attention.faults[1:]
    ]
    if not rows:
        st.caption("No planted questions judged yet.")
        return
    _show_table(rows)


def _show_intra_reviewer_agreement(batch_attention: BatchAttention) -> None:
    st.subheader("Intra-reviewer agreement by aspect")
    reviewers_by_name = {
        _format_reviewer_name(reviewer): reviewer
        for reviewer in batch_attention.reviewers
        if reviewer.attention.agreement
    }
    if not reviewers_by_name:
        st.caption("No repeats judged yet.")
        return
    name = st.selectbox("Reviewer", list(reviewers_by_name), key=f"attention-of-{batch_attention.batch.id}")
    agreement = reviewers_by_name[name].attention.agreement
    if agreement is None:  # never true: reviewers without agreement are excluded above; for the type checker
        return
    show_aspect_table("Aspect", [(judgement_label(aspect.name), aspect) for aspect in agreement.aspects])
    boxes = agreement.box_overlap
    if boxes.score is not None:
        interval = "" if boxes.low is None else f" ({boxes.low:.2f} to {boxes.high:.2f}, bootstrap by exam)"
        st.caption(f"Bounding boxes: mean overlap (V-score) {boxes.score:.2f}{interval}, n = {boxes.n:,}.")


def _show_drift(batch_attention: BatchAttention) -> None:
    st.subheader("Over time")
    rows = [
        {
            "Reviewer": _format_reviewer_name(reviewer),
            "Block": f"{block.first:,} to {block.last:,}",
            "Last verdict": f"{block.until:%Y-%m-%d}",
            "Same decision on repeat": _format_share(block.same),
            "Faults found": _format_share(block.found),
        }
        for reviewer in batch_attention.reviewers
        if reviewer.person is not None
        for block in reviewer.attention.blocks
    ]
    if not rows:
        st.caption("No hidden questions judged yet.")
        return
    points = [
        (_format_reviewer_name(reviewer), block.last, block.found)
        for reviewer in batch_attention.reviewers
        if reviewer.person is not None
        for block in reviewer.attention.blocks
    ]
    if any(share.estimate is not None for _, _, share in points):
        show_chart(
            build_drift_chart(
                points, title="Faults found (%)", counted="Hidden questions", block=DEFAULT_BLOCK
            )
        )
    _show_table(rows)
    st.caption(
        f"Blocks of {DEFAULT_BLOCK} hidden questions in the order of their verdicts; the last block may be "
        "shorter. Single blocks are imprecise: look for trends. The chart shows the faults found."
    )


def _show_table(rows: list[dict[str, str]], styles: pd.DataFrame | None = None) -> None:
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame if styles is None else frame.style.apply(lambda _frame: styles, axis=None),
        hide_index=True,
        width="stretch",
        height="content",
        # The first column stays visible when a narrow window is scrolled to the last columns.
        column_config={
            frame.columns[0]: st.column_config.Column(pinned=len(frame.columns) > _MAX_COLUMNS_UNPINNED)
        },
    )


def _format_reviewer_name(reviewer: ReviewerAttention) -> str:
    return "All reviewers" if reviewer.person is None else escape_markdown(reviewer.person)


def _format_share(share: Proportion | AgreementEstimate) -> str:
    if share.estimate is None:
        return f"not defined, n = {share.n:,}"
    if share.low is None or share.high is None:
        return f"{100 * share.estimate:.0f} %, n = {share.n:,}"
    limits = f"{100 * share.low:.0f} to {100 * share.high:.0f}"
    return f"{100 * share.estimate:.0f} % ({limits}), n = {share.n:,}"


def _format_kappa(kappa: AgreementEstimate) -> str:
    if kappa.estimate is None:
        return escape_markdown(kappa.note)
    if kappa.low is None or kappa.high is None:
        return f"{kappa.estimate:.2f}, n = {kappa.n:,}, no interval"
    return f"{kappa.estimate:.2f} ({kappa.low:.2f} to {kappa.high:.2f}), n = {kappa.n:,}"
