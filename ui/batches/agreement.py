"""Tables of the agreement between reviewers: one aspect for every pair, and every aspect for one pair."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from domain.count_texts import count_text
from measures.agreement import SMALL_SAMPLE
from review.agreement import AgreementEstimate, Aspect, GroupAgreement, format_pair_names
from review.service import BatchAgreement
from ui.theme import secondary_text_colour
from ui.widgets import escape_markdown

_GROUP_LABELS = {
    "decision": "Decision and key",
    "key": "Decision and key",
    "rating": "Ratings",
    "flag": "Yes or no",
    "error": "Kinds of error",
}
_COLUMNS = ("Agreement", "Kappa", "AC1 or alternative")
_METHODS_NOTE = (
    "95 % intervals are clustered by exam. Agreement: the share of questions with the same value, with "
    "Wilson's interval (Gwet's for all reviewers together). Kappa: Cohen's for two reviewers, Conger's for "
    "all; ratings and tier use quadratic weights (AC1 is then AC2). Same key: compared as text, with "
    "Brennan-Prediger for each question's number of options instead of AC1. Grey: not defined, or fewer than "
    f"{SMALL_SAMPLE} questions."
)


def show_agreement_panel(agreement: BatchAgreement) -> None:
    """Draw both tables, and the agreement of the boxes."""
    names = format_pair_names(agreement.agreements, agreement.people)
    batch = agreement.batch.id
    st.subheader("Agreement by pair")
    aspect_names = [aspect.name for aspect in agreement.agreements[0].aspects]
    aspect_name = st.selectbox("Aspect", aspect_names, key=f"agreement-of-{batch}")
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
        pair_index = names.index(st.selectbox("Reviewers", names, key=f"agreement-between-{batch}"))
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
                show_aspect_table("Aspect", [(aspect.name, aspect) for aspect in group_aspects])
    st.caption(_METHODS_NOTE)


def show_aspect_table(first_column: str, rows: Sequence[tuple[str, Aspect]]) -> None:
    """Draw one row per aspect: agreement, kappa and AC1 with intervals and n; grey if n is small."""
    cells, styles = [], []
    grey_style = f"color: {secondary_text_colour()}"
    for name, aspect in rows:
        figures = (aspect.percent, aspect.kappa, aspect.third)
        third_label = "" if aspect.third_name == "AC1" else f"{aspect.third_name} "
        cells.append(
            {
                first_column: name,
                "Agreement": _format_figure(aspect.percent, percent=True),
                "Kappa": _format_figure(aspect.kappa),
                "AC1 or alternative": _format_figure(aspect.third, prefix=third_label),
                "Intervals": _interval_kinds((aspect.kappa, aspect.third)),
            }
        )
        styles.append(
            {
                first_column: "",
                **{
                    column: grey_style if figure.has_few_questions else ""
                    for column, figure in zip(_COLUMNS, figures, strict=True)
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
        column_config={first_column: st.column_config.Column(pinned=True)},
    )


def _format_figure(figure: AgreementEstimate, *, percent: bool = False, prefix: str = "") -> str:
    """Format the number, its interval and its own n; or the reason why it is not defined."""
    n = f"n = {figure.n:,}"
    if figure.estimate is None:
        return f"{prefix}{figure.note}, {n}"

    def format_number(value: float) -> str:
        return f"{100 * value:.0f} %" if percent else f"{value:.2f}"

    if figure.low is None or figure.high is None:
        return f"{prefix}{format_number(figure.estimate)}, {n} ({figure.note})"
    low, high = (f"{100 * bound:.0f}" if percent else f"{bound:.2f}" for bound in (figure.low, figure.high))
    return f"{prefix}{format_number(figure.estimate)} ({low} to {high}), {n}"


def _interval_kinds(figures: Sequence[AgreementEstimate]) -> str:
    return ", ".join(dict.fromkeys(figure.kind for figure in figures if figure.kind)) or "none"


def _show_box_agreement(pair: GroupAgreement) -> None:
    boxes = pair.box_overlap
    if boxes.score is None:
        st.caption(
            escape_markdown(f"{boxes.note.capitalize()}: neither reviewer has a box on a shared question.")
        )
        return
    score_interval = (
        boxes.note
        if boxes.low is None or boxes.high is None
        else f"{boxes.low:.2f} to {boxes.high:.2f}, bootstrap by exam"
    )
    rows = [
        ("larger number of boxes (V-score)", boxes.score, score_interval),
        ("first reviewer's boxes", boxes.per_truth, ""),
        ("matched pairs", boxes.per_match, ""),
    ]
    frame = pd.DataFrame(
        [
            {
                "Sum of overlaps divided by": name,
                "Mean overlap (IoU)": "not defined" if value is None else f"{value:.2f}",
                "95 % interval": interval or "not computed",
                "n": f"{boxes.n:,}" if interval else f"where defined, of {boxes.n:,}",
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
        "is as large as possible. A box that only one reviewer drew lowers the first value. The first "
        "reviewer is the one named first."
    )
