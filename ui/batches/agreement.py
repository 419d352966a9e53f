"""Shows the agreement between reviewers: one aspect for every pair, and every aspect for one pair."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from domain.count_texts import count_text
from domain.verdicts import judgement_label
from measures.agreement import SMALL_SAMPLE
from review.agreement import AgreementEstimate, Aspect, GroupAgreement, format_pair_names
from review.service import BatchAgreement
from ui.tables import FIRST_COLUMN_WIDTH
from ui.theme import secondary_text_colour
from ui.widgets import escape_markdown

_GROUP_LABELS = {
    "decision": "Decision and key",
    "key": "Decision and key",
    "rating": "Ratings",
    "flag": "Yes or no",
    "error": "Kinds of error",
}
_COLUMNS = ("Agreement", "Kappa", "AC1, AC2 or other")
_METHODS_NOTE = (
    "95 % intervals are clustered by exam. Agreement: the share of questions with the same value, with "
    "Wilson's interval (Gwet's for all reviewers together). Kappa: Cohen's for two reviewers, Conger's for "
    "all; ratings and difficulty use quadratic weights (AC1 is then AC2). Same key: compared as text, with "
    "Brennan-Prediger for each question's number of options instead of AC1. Grey: not defined, or fewer than "
    f"{SMALL_SAMPLE} questions."
)


def show_agreement_panel(agreement: BatchAgreement) -> None:
    """Show the table of pairs, the table of aspects, and the agreement on boxes."""
    names = format_pair_names(agreement.agreements, agreement.people)
    batch_id = agreement.batch.id
    st.subheader("Agreement by pair")
    aspect_names = [aspect.name for aspect in agreement.agreements[0].aspects]
    aspect_name = st.selectbox(
        "Aspect", aspect_names, key=f"agreement-of-{batch_id}", format_func=judgement_label
    )
    show_aspect_table(
        "Reviewers",
        [
            (name, next(aspect for aspect in pair.aspects if aspect.name == aspect_name))
            for name, pair in zip(names, agreement.agreements, strict=True)
        ],
    )
    st.subheader("Agreement by aspect")
    pair_index = 0
    if len(names) > 1:
        pair_index = names.index(st.selectbox("Reviewers", names, key=f"agreement-between-{batch_id}"))
    else:
        st.markdown(
            escape_markdown(f"{names[0]}, {count_text(agreement.agreements[0].questions, 'question')}.")
        )
    groups = list(dict.fromkeys(_GROUP_LABELS.values()))
    for tab, group in zip(st.tabs([*groups, "Boxes"]), [*groups, None], strict=True):
        with tab:
            if group is None:
                _show_box_agreement(agreement.agreements[pair_index])
            else:
                group_aspects = [
                    aspect
                    for aspect in agreement.agreements[pair_index].aspects
                    if _GROUP_LABELS[aspect.group] == group
                ]
                show_aspect_table(
                    "Aspect", [(judgement_label(aspect.name), aspect) for aspect in group_aspects]
                )
    st.caption(_METHODS_NOTE)


def show_aspect_table(first_column: str, rows: Sequence[tuple[str, Aspect]]) -> None:
    """Show a table of agreement, kappa and AC1, each with its interval and n. Values with a small n are grey.

    Args:
        first_column: the heading of the first column.
        rows: the text of the first column and the aspect, for each row.
    """
    cells, styles = [], []
    grey_style = f"color: {secondary_text_colour()}"
    for name, aspect in rows:
        estimates = (aspect.percent, aspect.kappa, aspect.alternative)
        coefficient_prefix = "" if aspect.alternative_name == "AC1" else f"{aspect.alternative_name} "
        cells.append(
            {
                first_column: name,
                "Agreement": _format_estimate(aspect.percent, percent=True),
                "Kappa": _format_estimate(aspect.kappa),
                "AC1, AC2 or other": _format_estimate(aspect.alternative, prefix=coefficient_prefix),
                "Intervals": _format_interval_methods((aspect.kappa, aspect.alternative)),
            }
        )
        styles.append(
            {
                first_column: "",
                **{
                    column: grey_style if estimate.has_few_questions else ""
                    for column, estimate in zip(_COLUMNS, estimates, strict=True)
                },
                "Intervals": grey_style,
            }
        )
    frame, style = pd.DataFrame(cells), pd.DataFrame(styles)
    st.dataframe(
        frame.style.apply(lambda _frame: style, axis=None),
        hide_index=True,
        width="stretch",
        height="content",
        column_config={first_column: st.column_config.Column(pinned=True, width=FIRST_COLUMN_WIDTH)},
    )


def _format_estimate(result: AgreementEstimate, *, percent: bool = False, prefix: str = "") -> str:
    """Format an estimate with its interval and n; if it is not defined, format the reason instead."""
    n = f"n = {result.n:,}"
    if result.estimate is None:
        return f"{prefix}{result.note}, {n}"

    def format_number(value: float) -> str:
        return f"{100 * value:.0f}" if percent else f"{value:.2f}"

    estimate = format_number(result.estimate) + (" %" if percent else "")
    if result.low is None or result.high is None:
        return f"{prefix}{estimate}, {n} ({result.note})"
    return f"{prefix}{estimate} ({format_number(result.low)} to {format_number(result.high)}), {n}"


def _format_interval_methods(estimates: Sequence[AgreementEstimate]) -> str:
    return ", ".join(dict.fromkeys(estimate.kind for estimate in estimates if estimate.kind)) or "none"


def _show_box_agreement(agreement: GroupAgreement) -> None:
    """Show the mean overlap of the boxes of a pair or of all reviewers.

    Only a pair has a first reviewer. For all reviewers, a question counts once for each pair that judged it.
    """
    boxes = agreement.box_overlap
    is_pair = len(agreement.person_ids) == 2
    if boxes.score is None:
        st.caption("Not defined: no reviewer drew a box on a shared question.")
        return
    score_interval = (
        boxes.note
        if boxes.low is None or boxes.high is None
        else f"{boxes.low:.2f} to {boxes.high:.2f}, bootstrap by exam"
    )
    rows = [
        ("larger number of boxes (V-score)", boxes.score, score_interval),
        *([("first reviewer's boxes", boxes.per_truth, "")] if is_pair else []),
        ("matched pairs", boxes.per_match, ""),
    ]
    frame = pd.DataFrame(
        [
            {
                "Sum of overlaps divided by": name,
                "Mean overlap (IoU)": "not defined" if value is None else f"{value:.2f}",
                "95 % interval": interval or "not computed",
                "n" if is_pair else "n (questions by pair)": f"{boxes.n:,}"
                if interval
                else f"up to {boxes.n:,}",
            }
            for name, value, interval in rows
        ]
    )
    st.dataframe(
        frame.style.set_properties(color=secondary_text_colour()) if boxes.n < SMALL_SAMPLE else frame,
        hide_index=True,
        width="stretch",
        height="content",
    )
    st.caption(
        "Boxes with the same label on the same radiograph are matched one to one so that the sum of overlaps "
        "is as large as possible. A box that only one reviewer drew lowers the first value."
        + (" The first reviewer is the one named first in the pair." if is_pair else "")
    )
