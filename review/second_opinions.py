"""The rule for second opinions of a batch: its extension by later requests, and its description."""

from __future__ import annotations

from domain.errors import Refused
from domain.second_opinions import SecondOpinions, SecondOpinionScope


def extend_rule(
    before: SecondOpinions | None, *, scope: SecondOpinionScope, share: float | None, seed: int | None
) -> SecondOpinions:
    """Return the rule for second opinions after a further request.

    Args:
        before: the current rule; None for the first request.
        scope: the questions to add to the random share.
        share: the random share of all questions, above 0 and up to 1; None for the current share.
        seed: the seed of the random share; None for the current seed, or 0.

    Raises:
        Refused: there is no random share, the seed changes, the share becomes smaller, questions with a
            reported error would no longer be included, or the share becomes larger after questions were
            chosen by information.
        InvalidValue: the share or the seed is outside its range.
    """
    if share is None and before is None:
        raise Refused(
            "Set the share of the questions that get a second reviewer, such as 0.2."
            if scope is SecondOpinionScope.RANDOM_SHARE
            else "Second opinions only on questions with particular first verdicts would bias agreement: "
            "questions in which neither reviewer finds an error would be missing. Set a random share of the "
            "rest too, such as 0.1."
        )
    if before is None:
        return SecondOpinions(scope=scope, share=share or 0.0, seed=seed or 0)
    rule = SecondOpinions(
        scope=scope,
        share=before.share if share is None else share,
        seed=before.seed if seed is None else seed,
    )
    if rule.seed != before.seed:
        raise Refused(
            f"The random share of this batch was drawn with seed {before.seed}. Another seed would mix "
            f"two draws; leave the seed out, or use {before.seed}."
        )
    if rule.share < before.share:
        raise Refused(
            f"The random share of this batch is already {before.share:g}. It can be increased, but not "
            f"reduced to {rule.share:g}."
        )
    _check_scope(before, rule)
    return rule


def _check_scope(before: SecondOpinions, rule: SecondOpinions) -> None:
    """Refuse a rule that would change which questions count for agreement."""
    if before.scope is SecondOpinionScope.SHARE_AND_ERRORS and rule.scope is SecondOpinionScope.RANDOM_SHARE:
        raise Refused(
            "Second opinions of this batch are also requested for questions with a reported error. "
            "This cannot be undone, because it determines that only the random share counts for "
            "agreement."
        )
    if before.scope is not SecondOpinionScope.SHARE_AND_INFORMATION:
        return
    if rule.scope is not SecondOpinionScope.SHARE_AND_INFORMATION:
        raise Refused(
            "Further opinions of this batch are chosen by expected information. This cannot be undone, "
            "because it determines that only the random share counts for agreement. Choose by expected "
            "information."
        )
    if rule.share > before.share:
        raise Refused(
            "The random share cannot be increased after opinions were chosen by expected information: some "
            "of its questions would have reviewers because of their verdicts. Leave the share at "
            f"{before.share:g}."
        )


def describe_rule(rule: SecondOpinions | None) -> str:
    """Describe the rule for second opinions on the page Agreement."""
    if rule is None:
        return (
            "Second reviewers were assigned independently of the first verdict: all shared questions count."
        )
    share = f"a random share of {100 * rule.share:g} % of the batch (seed {rule.seed})"
    if rule.scope is SecondOpinionScope.RANDOM_SHARE:
        return f"Second opinions were requested for {share}, drawn independently of the first verdict."
    return f"Second opinions were requested for {share}, and for {describe_targets(rule.scope)}."


def describe_targets(scope: SecondOpinionScope) -> str:
    """Describe the questions that get a second reviewer because of their verdicts."""
    if scope is SecondOpinionScope.SHARE_AND_INFORMATION:
        return "questions in which a further verdict brings the most information"
    return "questions with a reported error"
