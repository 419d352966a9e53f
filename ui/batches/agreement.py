"""Tables of the agreement between reviewers: one aspect for every pair, and every aspect for one pair."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from measures.agreement import FEW
from review.agreement import Aspect, Between, Figure, names_of_pairs
from review.service import BatchAgreement
from ui.ground import grey
from ui.parts import plain

_GROUPS = {
    "decision": "Decision and key",
    "key": "Decision and key",
    "rating": "Ratings",
    "flag": "Yes or no",
    "error": "Kinds of error",
}
_COLUMNS = ("Agreement", "Kappa", "AC1 or other")
_HOW = (
    "95 % intervals, clustered by exam: of agreement Wilson's (of all together Gwet's), of kappa and AC1 as "
    f"named. Grey: fewer than {FEW} questions, or not defined. Agreement: the share of questions with one "
    "value. Kappa: Cohen's for two, Conger's for all; of ratings and tier with quadratic weights (AC1 is AC2 "
    "then). The same key: compared as text; Brennan-Prediger with each question's own number of options is "
    "in the place of AC1."
)


def agreement_panel(found: BatchAgreement) -> None:
    """Draw both tables, and the agreement of the boxes."""
    names = names_of_pairs(found.between, found.people)
    batch = found.batch.id
    st.subheader("Pair by pair")
    aspects = [each.name for each in found.between[0].aspects]
    chosen = st.selectbox("Of", aspects, key=f"agreement-of-{batch}")
    aspect_table(
        "Reviewers",
        [
            (name, next(each for each in one.aspects if each.name == chosen))
            for name, one in zip(names, found.between, strict=True)
        ],
    )
    st.subheader("Aspect by aspect")
    at = 0
    if len(names) > 1:
        at = names.index(st.selectbox("Between", names, key=f"agreement-between-{batch}"))
    else:
        st.markdown(plain(f"Between {names[0]}, {found.between[0].questions:,} questions."))
    groups = list(dict.fromkeys(_GROUPS.values()))
    for tab, group in zip(st.tabs([*groups, "Boxes"]), [*groups, None], strict=True):
        with tab:
            if group is None:
                _boxes(found.between[at])
            else:
                shown = [each for each in found.between[at].aspects if _GROUPS[each.group] == group]
                aspect_table("Aspect", [(each.name, each) for each in shown])
    st.caption(_HOW)


def aspect_table(first: str, rows: Sequence[tuple[str, Aspect]]) -> None:
    """Draw one row per aspect: agreement, kappa and AC1 with intervals and n; grey if n is small."""
    cells, styles = [], []
    quiet = f"color: {grey()}"
    for name, each in rows:
        figures = (each.percent, each.kappa, each.third)
        third = "" if each.third_name == "AC1" else f"{each.third_name} "
        cells.append(
            {
                first: name,
                "Agreement": _said(each.percent, percent=True),
                "Kappa": _said(each.kappa),
                "AC1 or other": _said(each.third, before=third),
                "Intervals": _kinds((each.kappa, each.third)),
            }
        )
        styles.append(
            {
                first: "",
                **{
                    column: quiet if figure.few else ""
                    for column, figure in zip(_COLUMNS, figures, strict=True)
                },
                "Intervals": quiet,
            }
        )
    frame, style = pd.DataFrame(cells), pd.DataFrame(styles)
    st.dataframe(
        frame.style.apply(lambda _frame: style, axis=None),
        hide_index=True,
        width="stretch",
        height="content",
        column_config={first: st.column_config.Column(pinned=True)},
    )


def _said(figure: Figure, *, percent: bool = False, before: str = "") -> str:
    """Format the number, its interval and its own n; or the reason why it is not defined."""
    n = f"n = {figure.n:,}"
    if figure.estimate is None:
        return f"{before}{figure.note}, {n}"

    def number(value: float) -> str:
        return f"{100 * value:.0f} %" if percent else f"{value:.2f}"

    if figure.low is None or figure.high is None:
        return f"{before}{number(figure.estimate)}, {n} ({figure.note})"
    low, high = (f"{100 * each:.0f}" if percent else f"{each:.2f}" for each in (figure.low, figure.high))
    return f"{before}{number(figure.estimate)} ({low} to {high}), {n}"


def _kinds(figures: Sequence[Figure]) -> str:
    return ", ".join(dict.fromkeys(each.kind for each in figures if each.kind)) or "none"


def _boxes(one: Between) -> None:
    boxes = one.boxes
    if boxes.score is None:
        st.caption(plain(f"{boxes.note.capitalize()}: neither reviewer left a box on a shared question."))
        return
    reach = (
        boxes.note
        if boxes.low is None or boxes.high is None
        else f"{boxes.low:.2f} to {boxes.high:.2f}, bootstrap by exam"
    )
    rows = [
        ("the larger number of boxes (V-score)", boxes.score, reach),
        ("the first reviewer's boxes", boxes.per_truth, ""),
        ("matched pairs", boxes.per_match, ""),
    ]
    frame = pd.DataFrame(
        [
            {
                "Sum of overlaps over": name,
                "Mean overlap (IoU)": "not defined" if value is None else f"{value:.2f}",
                "95 % interval": interval or "none is computed",
                "n": f"{boxes.n:,}" if interval else f"those of the {boxes.n:,} where it is defined",
            }
            for name, value, interval in rows
        ]
    )
    st.dataframe(
        frame.style.set_properties(color=grey()) if boxes.n < FEW else frame,
        hide_index=True,
        width="stretch",
        height="content",
    )
    st.caption(
        "Boxes of one label on one radiograph are matched one to one so that their overlaps add up to the "
        "most. A box that only one of them drew lowers the first number. The first reviewer is the first "
        "named."
    )
