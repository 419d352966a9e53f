"""The input fields of a protocol, for a new study or a new version of an existing protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.protocols import (
    Adjustment,
    AgreementBasis,
    CannotDetermineRule,
    FailedReplyRule,
    HelperRule,
    Hypothesis,
    MissingAnswers,
    OpenAnswerRule,
    PartlyRightRule,
    Protocol,
    ReaderEffect,
)
from ui.widgets import escape_markdown

Rule = TypeVar(
    "Rule",
    HelperRule,
    MissingAnswers,
    Adjustment,
    OpenAnswerRule,
    PartlyRightRule,
    AgreementBasis,
    FailedReplyRule,
)
_LEVELS = (0.9, 0.95, 0.99)


def show_protocol_fields(
    form_key: str, current: Protocol, *, frozen: bool = False, models: Mapping[str, int] | None = None
) -> Protocol | None:
    """Show the fields and return the protocol; if it is not valid, show why and return None.

    Args:
        form_key: the key of the form, which begins the keys of its widgets.
        current: the initial values.
        frozen: whether the reading conditions can no longer be changed, because a reader has answered.
        models: the models that can be chosen, with their numbers of predictions; None if they are chosen
            elsewhere.
    """
    comparison = st.text_area(
        "Primary comparison", current.primary_comparison, key=f"{form_key}-comparison", height=68
    )
    hypotheses, effects, cannot_determine_rules = (
        list(Hypothesis),
        list(ReaderEffect),
        list(CannotDetermineRule),
    )
    left, right = st.columns(2)
    model = left.text_input(
        "Model of the primary comparison",
        current.model,
        key=f"{form_key}-model",
        placeholder="for example MedGemma",
    )
    hypothesis = right.selectbox(
        "Hypothesis",
        hypotheses,
        index=hypotheses.index(current.hypothesis),
        key=f"{form_key}-hypothesis",
        format_func=lambda hypothesis: hypothesis.capitalize(),
    )
    margin = left.number_input(
        "Non-inferiority margin (percentage points)",
        0.0,
        50.0,
        current.margin * 100,
        0.5,
        key=f"{form_key}-margin",
        help="Used for the hypothesis non-inferiority only.",
    )
    readers = right.selectbox(
        "Reader effect",
        effects,
        index=effects.index(current.readers),
        key=f"{form_key}-readers",
        format_func=lambda effect: effect.capitalize(),
    )
    cannot_determine = left.selectbox(
        "“Cannot determine” counts as",
        cannot_determine_rules,
        index=cannot_determine_rules.index(current.cannot_determine),
        key=f"{form_key}-cannot",
        format_func=lambda rule: rule.label.capitalize(),
    )
    levels = sorted({*_LEVELS, current.confidence})
    confidence = right.selectbox(
        "Confidence level",
        levels,
        index=levels.index(current.confidence),
        key=f"{form_key}-level",
        format_func=lambda level: f"{level:.0%}",
    )
    seed = left.number_input(
        "Seed of the analysis", 0, 2**31, abs(current.seed), key=f"{form_key}-analysis-seed"
    )
    family = right.text_input(
        "Family of comparisons",
        "; ".join(current.family),
        key=f"{form_key}-family",
        placeholder="for example readers : MedGemma",
        help="Pairs of raters separated by semicolons, or readers-models, or all. If empty, all pairs.",
    )
    minimum_cases = left.number_input(
        "Minimum cases per comparison",
        1,
        100_000,
        current.needed_cases,
        key=f"{form_key}-minimum",
        help="The report shows no estimates for comparisons with fewer cases.",
    )
    helper_rules, missing_rules, adjustments = list(HelperRule), list(MissingAnswers), list(Adjustment)
    adjustment = right.selectbox(
        "Adjustment of p values",
        adjustments,
        index=adjustments.index(current.used_adjustment),
        key=f"{form_key}-adjustment",
        format_func=lambda rule: rule.label,
    )
    helpers = left.selectbox(
        "Readers who set the key",
        helper_rules,
        index=helper_rules.index(current.used_helpers),
        key=f"{form_key}-helpers",
        format_func=lambda rule: rule.capitalize(),
        help="Their accuracy depends on the key that they helped to set. This choice is for the primary "
        "comparison. The report shows the results without and with them. Leave-one-reader-out scores each of "
        "them, and the model, by the majority of the others who set the key.",
    )
    missing_answers = right.selectbox(
        "Cases without a prediction of the model",
        missing_rules,
        index=missing_rules.index(current.used_missing_answers),
        key=f"{form_key}-missing",
        format_func=lambda rule: rule.label.capitalize(),
    )
    open_answer_rules, partly_rules = list(OpenAnswerRule), list(PartlyRightRule)
    open_answers = left.selectbox(
        "Free-text answers are scored by",
        open_answer_rules,
        index=open_answer_rules.index(current.used_open_answers),
        key=f"{form_key}-open",
        format_func={
            OpenAnswerRule.MARKED: "An expert's marks",
            OpenAnswerRule.EXACT_MATCH: "Exact match with the key",
        }.__getitem__,
        help="Exact match suits controlled vocabularies only: a correct paraphrase counts as wrong.",
    )
    partly_right = right.selectbox(
        "“Partly right” counts as",
        partly_rules,
        index=partly_rules.index(current.effective_partly_right_rule),
        key=f"{form_key}-partly",
        format_func=lambda rule: "Half a point" if rule is PartlyRightRule.HALF else rule.capitalize(),
        disabled=open_answers is OpenAnswerRule.EXACT_MATCH,
        help="Half a point is used in the table of open answers. In analyses of right and wrong answers, it "
        "counts as wrong.",
    )
    bases, failed_rules = list(AgreementBasis), list(FailedReplyRule)
    agreement_basis = left.selectbox(
        "Kappa is computed from",
        bases,
        index=bases.index(current.used_agreement_basis),
        key=f"{form_key}-basis",
        format_func={
            AgreementBasis.ANSWERS: "Answers",
            AgreementBasis.CORRECTNESS: "Correctness of the answers",
        }.__getitem__,
        help="Answers: raters agree if they give the same answer. Correctness: raters agree if both are "
        "correct or both are incorrect, also with different wrong answers.",
    )
    failed_replies = right.selectbox(
        "Model replies without an answer, in agreement",
        failed_rules,
        index=failed_rules.index(current.used_failed_replies),
        key=f"{form_key}-failed",
        format_func=lambda rule: rule.label.capitalize(),
        help="Replies of models without a recognised answer. In accuracy they count as wrong.",
    )
    chosen_models = current.models
    if models is not None:
        chosen_models = tuple(
            sorted(
                st.multiselect(
                    "Models in the study",
                    sorted(models),
                    key=f"{form_key}-models",
                    format_func=lambda name: f"{name} ({count_text(models[name], 'prediction')})",
                    placeholder="None; models can be added later",
                    help="The cases are drawn when the study is created. The study then shows how many of "
                    "them each model has answered.",
                )
            )
        )
    exclusions = st.text_area("Exclusions", current.exclusions, key=f"{form_key}-exclusions", height=68)
    left, right = st.columns(2)
    allow_going_back = left.checkbox(
        "Allow going back", current.going_back, key=f"{form_key}-back", disabled=frozen
    )
    shuffle_options = right.checkbox(
        "Shuffle answer options", current.shuffle_options, key=f"{form_key}-shuffle", disabled=frozen
    )
    ask_confidence = left.checkbox(
        "Ask for confidence", current.ask_confidence, key=f"{form_key}-sure", disabled=frozen
    )
    show_own_result = right.checkbox(
        "Show own result",
        current.show_own_result,
        key=f"{form_key}-own",
        disabled=frozen,
        help="Readers see their own accuracy after their last case.",
    )
    guideline = st.text_area(
        "Guideline (Markdown), shown before the first case",
        current.guideline,
        key=f"{form_key}-guideline",
        height=110,
        disabled=frozen,
    )
    try:
        return replace(
            current,
            primary_comparison=comparison,
            model=model.strip(),
            hypothesis=hypothesis,
            margin=round(margin / 100, 6),
            readers=readers,
            cannot_determine=cannot_determine,
            confidence=confidence,
            seed=int(seed),
            models=chosen_models,
            minimum_cases=current.minimum_cases
            if minimum_cases == current.needed_cases
            else int(minimum_cases),
            adjustment=_keep_if_default(current.adjustment, adjustment, current.used_adjustment),
            helpers=_keep_if_default(current.helpers, helpers, current.used_helpers),
            missing_answers=_keep_if_default(
                current.missing_answers, missing_answers, current.used_missing_answers
            ),
            open_answers=_keep_if_default(current.open_answers, open_answers, current.used_open_answers),
            partly_right=_keep_if_default(
                current.partly_right, partly_right, current.effective_partly_right_rule
            ),
            agreement_basis=_keep_if_default(
                current.agreement_basis, agreement_basis, current.used_agreement_basis
            ),
            failed_replies=_keep_if_default(
                current.failed_replies, failed_replies, current.used_failed_replies
            ),
            family=tuple(part.strip() for part in family.split(";") if part.strip()),
            exclusions=exclusions.strip(),
            going_back=allow_going_back,
            shuffle_options=shuffle_options,
            ask_confidence=ask_confidence,
            show_own_result=show_own_result,
            guideline=guideline,
        )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None


def _keep_if_default(stored: Rule | None, chosen: Rule, used: Rule) -> Rule | None:
    """Return the stored value if the chosen value is already in use; an older protocol may store None."""
    return stored if chosen == used else chosen
