"""The results of a batch: kinds of error, decisions, and the reviewers' tiers against the machine's."""

from __future__ import annotations

import streamlit as st

from domain.ratings import VALUES
from measures.agreement import Kappa
from review.progress import Progress, Rate, interval, percent
from review.rated import mean_text
from ui.batches.charts import rate_intervals, tier_map
from ui.chart import chart
from ui.layout import beside
from ui.parts import plain
from ui.tables import table


def findings(found: Progress) -> None:
    """Draw the summary "of 120 reviewed: …", every kind of error with its interval, and the decisions."""
    st.subheader("What was found")
    if not found.reviewed:
        st.caption("Not defined yet: no question has a verdict.")
        return
    sheet, drawn = beside(2, 3, name="found")
    with sheet:
        title, *kinds = found.sheet
        with st.container(border=True):
            st.markdown(f"**{plain(title)}**")
            for kind in kinds:
                st.markdown(plain(kind))
            st.caption("Questions, kind of error, share and 95 % interval.")
        _skipped(found)
        for note in found.notes:
            st.caption(plain(note))
    with drawn:
        chart(rate_intervals(found.errors))
    errors, decisions = beside(3, 2, name="kinds")
    with errors:
        st.markdown("**Kinds of error**")
        table([{**_row("Kind of error", rate), **_bounds(rate)} for rate in found.errors])
    with decisions:
        st.markdown("**Decisions**")
        table([_row("Decision", rate) for rate in found.decisions])
    if any(rate.if_skipped for rate in found.errors):
        st.caption(
            "“If skipped”: the share were none, or all, of the skipped questions so. "
            "Intervals are Wilson's, 95 %."
        )
    else:
        st.caption("Intervals are Wilson's, 95 %.")


def ratings(found: Progress) -> None:
    """Draw the counts of each value of the four ratings, and of the yes/no fields."""
    if not found.reviewed:
        return
    st.subheader("How it was rated")
    st.markdown("**Ratings, 1 (worst) to 5 (best)**")
    table(
        [
            {
                "Rating": line.name,
                **{str(value): n for value, n in zip(VALUES, line.counts, strict=True)},
                "Not judged": line.not_judged,
                "Mean, 95 % interval": mean_text(line.mean),
            }
            for line in found.ratings
        ]
    )
    st.markdown("**Yes or no**")
    table(
        [
            {
                "Asked": line.name,
                "Yes": line.yes.count,
                "n": line.yes.n,
                "Share": percent(line.yes.estimate),
                "95 % interval": interval(line.yes.low, line.yes.high),
                "Not judged": line.not_judged,
            }
            for line in found.flags
        ]
    )
    st.caption(
        "Counted in judgements, unweighted; “not judged” is in no share and no mean. Intervals are Student's "
        "and Wilson's, by exam. What each value means stands in the batch's anchors."
    )


def tier_agreement(found: Progress) -> None:
    """Draw machine tier against expert tier, with weighted kappa."""
    tiers = found.tier_table
    st.subheader("Machine tier against expert tier")
    if not tiers.n:
        st.caption("Not defined yet: no judgement has both a machine's and an expert's tier.")
        return
    left, right = beside(2, 3, name="tiers")
    with left:
        chart(tier_map(tiers))
    with right:
        table([_kappa_row(kappa) for kappa in (tiers.linear, tiers.quadratic)])
        agreed = sum(tiers.counts[place][place] for place in range(len(tiers.tiers)))
        st.caption(
            f"Same tier in {agreed:,} of {tiers.n:,} judgements ({percent(agreed / tiers.n)}). "
            + (f"{tiers.without:,} judgements lack one of the two tiers. " if tiers.without else "")
            + plain(tiers.note)
        )


def _skipped(found: Progress) -> None:
    share = found.skipped
    if share.count:
        st.caption(
            f"Skipped and not judged by anybody: {share.count:,} of {share.n:,} questions "
            f"({percent(share.estimate)}, {interval(share.low, share.high)})."
        )


def _row(what: str, rate: Rate) -> dict[str, object]:
    share = rate.share
    return {
        what: rate.name,
        "Questions": share.count,
        "n": share.n,
        "Share": percent(share.estimate),
        "95 % interval": interval(share.low, share.high),
    }


def _bounds(rate: Rate) -> dict[str, object]:
    return {} if rate.if_skipped is None else {"If skipped": interval(*rate.if_skipped)}


def _kappa_row(kappa: Kappa) -> dict[str, object]:
    undefined = kappa.estimate is None
    note: dict[str, object] = {"Note": kappa.note} if kappa.note else {}
    return {
        "Kappa": f"{kappa.weights.value} weights",
        "Estimate": "not defined" if undefined else f"{kappa.estimate:.2f}",
        "95 % interval": "none" if kappa.low is None else f"{kappa.low:.2f} to {kappa.high:.2f}",
        "SE": "none" if kappa.se is None else f"{kappa.se:.3f}",
        "n": kappa.n,
        **note,
    }
