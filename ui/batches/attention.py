"""Tables of attention: intra-reviewer agreement, planted faults found, and both over time."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from measures.agreement import FEW
from measures.proportions import Proportion
from review.attention import BLOCK
from review.service import BatchAttention, ReviewerAttention
from ui.batches.agreement import aspect_table
from ui.ground import grey
from ui.parts import plain

#: The number of columns that fit into a narrow window.
_NARROW = 4


def attention_panel(found: BatchAttention) -> None:
    """Draw all tables; every number has its n and interval."""
    _overview(found)
    _faults(found)
    _oneself(found)
    _drift(found)


def _overview(found: BatchAttention) -> None:
    st.subheader("Each reviewer")
    rows, few = [], []
    for each in found.reviewers:
        between = each.attention.between
        decision = between.aspects[0] if between else None
        every = each.attention.faults[0]
        rows.append(
            {
                "Reviewer": _name(each),
                "Same decision again": _share(decision.percent) if decision else "no repeat judged twice",
                "Kappa with oneself": _kappa(decision) if decision else "not defined",
                "Faults found": _share(every.found),
                "Not accepted": _share(every.not_accepted),
                "Judged in between": "" if each.attention.gap is None else f"{each.attention.gap:.0f}",
                "Repeats": f"{each.attention.pairs:,} of {each.repeats_hidden:,} judged twice",
                "Planted": f"{every.found.n:,} of {each.planted_hidden:,} judged",
            }
        )
        few.append((each.attention.pairs < FEW, every.found.n < FEW))
    quiet = f"color: {grey()}"
    styles = pd.DataFrame("", index=range(len(rows)), columns=list(rows[0]))
    for at, (repeats, faults) in enumerate(few):
        for column in ("Same decision again", "Kappa with oneself"):
            styles.loc[at, column] = quiet if repeats else ""
        for column in ("Faults found", "Not accepted"):
            styles.loc[at, column] = quiet if faults else ""
    _frame(rows, styles)
    st.caption(
        "95 % intervals: Wilson's by exam of shares, of kappa as named below. Of what was said first, both "
        f"times. Grey: fewer than {FEW} questions. Found: the kind of error is named, or its field "
        "corrected; not accepted: revised, rejected or some error named, whatever the reason. Judged in "
        "between: the median number of the reviewer's own verdicts between first and second."
    )


def _faults(found: BatchAttention) -> None:
    st.subheader("Planted faults found, by kind")
    rows = [
        {
            "Reviewer": _name(each),
            "Fault": str(line.fault),
            "Found": _share(line.found),
            "Not accepted": _share(line.not_accepted),
        }
        for each in found.reviewers
        for line in each.attention.faults[1:]
    ]
    if not rows:
        st.caption("No planted question is judged yet.")
        return
    _frame(rows)


def _oneself(found: BatchAttention) -> None:
    st.subheader("Agreement with oneself, aspect by aspect")
    shown = {_name(each): each for each in found.reviewers if each.attention.between}
    if not shown:
        st.caption("No question is judged twice by the same reviewer yet.")
        return
    name = st.selectbox("Reviewer", list(shown), key=f"attention-of-{found.batch.id}")
    between = shown[name].attention.between
    if between is None:  # for the type checker: reviewers without one are excluded above
        return
    aspect_table("Aspect", [(each.name, each) for each in between.aspects])
    boxes = between.boxes
    if boxes.score is not None:
        reach = "" if boxes.low is None else f" ({boxes.low:.2f} to {boxes.high:.2f}, bootstrap by exam)"
        st.caption(f"Boxes drawn again: mean overlap (V-score) {boxes.score:.2f}{reach}, n = {boxes.n:,}.")


def _drift(found: BatchAttention) -> None:
    st.subheader("Over time")
    rows = [
        {
            "Reviewer": _name(each),
            "Hidden questions": f"{block.first:,} to {block.last:,}",
            "Until": f"{block.until:%Y-%m-%d}",
            "Same decision again": _share(block.same),
            "Faults found": _share(block.found),
        }
        for each in found.reviewers
        if each.person is not None
        for block in each.attention.blocks
    ]
    if not rows:
        st.caption("Nothing hidden is judged yet.")
        return
    _frame(rows)
    st.caption(
        f"Blocks of {BLOCK} hidden questions in the order of their verdicts; the last may be short. So few "
        "say little one by one: look for a trend."
    )


def _frame(rows: list[dict[str, str]], styles: pd.DataFrame | None = None) -> None:
    frame = pd.DataFrame(rows)
    st.dataframe(
        frame if styles is None else frame.style.apply(lambda _frame: styles, axis=None),
        hide_index=True,
        width="stretch",
        height="content",
        # The first column stays in sight when a narrow window is scrolled to the last columns.
        column_config={frame.columns[0]: st.column_config.Column(pinned=len(frame.columns) > _NARROW)},
    )


def _name(each: ReviewerAttention) -> str:
    return "all together" if each.person is None else plain(each.person)


def _share(share: object) -> str:
    estimate, low, high = (getattr(share, name) for name in ("estimate", "low", "high"))
    n = share.n if isinstance(share, Proportion) else getattr(share, "n", 0)
    if estimate is None:
        return f"not defined, n = {n:,}"
    return f"{100 * estimate:.0f} % ({100 * low:.0f} to {100 * high:.0f}), n = {n:,}"


def _kappa(aspect: object) -> str:
    kappa = getattr(aspect, "kappa", None)
    if kappa is None or kappa.estimate is None:
        return "not defined" if kappa is None else plain(kappa.note)
    if kappa.low is None or kappa.high is None:
        return f"{kappa.estimate:.2f}"
    return f"{kappa.estimate:.2f} ({kappa.low:.2f} to {kappa.high:.2f}), n = {kappa.n:,}"
