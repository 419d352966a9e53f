"""Shows the decisions of a batch by consensus, and how often each reviewer states which decision."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from domain.count_texts import count_text
from domain.verdicts import Decision, judgement_label
from review.consensus import ASSUMPTIONS, Consensus, format_share
from ui.tables import show_table


def show_consensus_panel(consensus: Consensus, people: Mapping[int, str]) -> None:
    """Show the shares of the decisions by majority, model and adjudication, and the confusion matrices."""
    st.subheader("Consensus")
    ties = f" {count_text(consensus.ties, 'question')} without a majority." if consensus.ties else ""
    st.caption(
        f"The decisions on {count_text(consensus.questions, 'judged question')} of the batch, with 95 % "
        f"intervals clustered by exam; a question with one verdict has its decision.{ties}"
    )
    show_table(
        [
            {
                "Decision": judgement_label(decision.value).capitalize(),
                "By majority": format_share(consensus.majority[decision]),
                "Dawid and Skene": format_share(consensus.model.get(decision)),
            }
            for decision in Decision
        ]
    )
    if consensus.adjudicated:
        st.caption(
            f"{count_text(consensus.adjudicated, 'question')} adjudicated. Same decision by majority: "
            f"{format_share(consensus.majority_agrees)}, n = {consensus.majority_agrees.n:,}; by Dawid and "
            f"Skene: {format_share(consensus.model_agrees)}, n = {consensus.model_agrees.n:,}."
        )
    if consensus.note:
        st.caption(f"The model of Dawid and Skene is {consensus.note}. {ASSUMPTIONS}")
        return
    st.caption(
        f"Most probable decision differs from the majority: {count_text(consensus.changed, 'question')}. "
        f"{ASSUMPTIONS}"
    )
    st.markdown("**Reviewers by true decision**")
    show_table(
        [
            {
                "Reviewer": people.get(person, ""),
                "True decision": true.value.capitalize(),
                "n": f"{next(iter(stated.values())).n:.1f}",
                **{f"States {decision.value}": format_share(stated[decision]) for decision in Decision},
            }
            for person, rows in consensus.confusion.items()
            for true, stated in rows.items()
        ]
    )
    st.caption(
        "n: the expected number of the reviewer's questions with this true decision. Intervals are "
        "Wilson's at the effective number of questions (bootstrap by exam). Not defined: fewer than 20 "
        "questions shared with two other reviewers, or n below 5."
    )
