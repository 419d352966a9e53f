"""The fields of a protocol, for a new study and for a new version of an existing protocol."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.errors import DomainError
from domain.protocols import CannotDetermineAs, Hypothesis, Protocol, ReadersAre
from ui.parts import plain

_LEVELS = (0.9, 0.95, 0.99)


def protocol_fields(form: str, before: Protocol, *, frozen: bool = False) -> Protocol | None:
    """Draw the fields and return the protocol; if it is not valid, show why and return None.

    ``before`` gives the initial values. ``frozen`` means that the first answer is in: the reading conditions
    can no longer be changed.
    """
    comparison = st.text_area(
        "Primary comparison", before.primary_comparison, key=f"{form}-comparison", height=68
    )
    hypotheses, effects, treatments = list(Hypothesis), list(ReadersAre), list(CannotDetermineAs)
    left, right = st.columns(2)
    model = left.text_input(
        "Model", before.model, key=f"{form}-model", placeholder="as its predictions are called"
    )
    hypothesis = right.selectbox(
        "To show",
        hypotheses,
        index=hypotheses.index(before.hypothesis),
        key=f"{form}-hypothesis",
        format_func=lambda each: each.capitalize(),
    )
    margin = left.number_input("Margin, points", 0.0, 50.0, before.margin * 100, 0.5, key=f"{form}-margin")
    readers = right.selectbox(
        "Readers are",
        effects,
        index=effects.index(before.readers),
        key=f"{form}-readers",
        format_func=str,
    )
    cannot = left.selectbox(
        "“Cannot determine” counts as",
        treatments,
        index=treatments.index(before.cannot_determine),
        key=f"{form}-cannot",
        format_func=str,
    )
    levels = sorted({*_LEVELS, before.confidence})
    confidence = right.selectbox(
        "Level of intervals",
        levels,
        index=levels.index(before.confidence),
        key=f"{form}-level",
        format_func=lambda each: f"{each:.0%}",
    )
    seed = left.number_input("Seed of the analysis", 0, 2**31, abs(before.seed), key=f"{form}-analysis-seed")
    family = right.text_input(
        "Comparisons that share one error rate (Holm)",
        "; ".join(before.family),
        key=f"{form}-family",
        placeholder="readers : MedGemma",
        help="Pairs of raters, separated by ; — or readers-models, or all. Empty: every pair counts.",
    )
    exclusions = st.text_area("What will be left out", before.exclusions, key=f"{form}-exclusions", height=68)
    left, right = st.columns(2)
    going_back = left.checkbox(
        "Going back is allowed", before.going_back, key=f"{form}-back", disabled=frozen
    )
    shuffle = right.checkbox(
        "Options in shuffled order", before.shuffle_options, key=f"{form}-shuffle", disabled=frozen
    )
    sure = left.checkbox("Ask how sure", before.ask_confidence, key=f"{form}-sure", disabled=frozen)
    own = right.checkbox(
        "Own result at the end",
        before.show_own_result,
        key=f"{form}-own",
        disabled=frozen,
        help="Each reader sees their own accuracy when through.",
    )
    guideline = st.text_area(
        "Guideline, read before the first case (Markdown)",
        before.guideline,
        key=f"{form}-guideline",
        height=110,
        disabled=frozen,
    )
    try:
        return replace(
            before,
            primary_comparison=comparison,
            model=model.strip(),
            hypothesis=hypothesis,
            margin=round(margin / 100, 6),
            readers=readers,
            cannot_determine=cannot,
            confidence=confidence,
            seed=int(seed),
            family=tuple(part.strip() for part in family.split(";") if part.strip()),
            exclusions=exclusions.strip(),
            going_back=going_back,
            shuffle_options=shuffle,
            ask_confidence=sure,
            show_own_result=own,
            guideline=guideline,
        )
    except DomainError as error:
        st.error(plain(str(error)))
        return None
