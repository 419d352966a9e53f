"""The rule for second opinions of a batch: its extension by later requests, and its description."""

from __future__ import annotations

from domain.errors import Refused
from domain.second_opinions import SecondOpinions, SecondOpinionScope


def extend_rule(
    before: SecondOpinions | None, *, where_found: bool, share: float | None, seed: int | None
) -> SecondOpinions:
    """Return the rule for second opinions after a further request.

    Args:
        before: the current rule; None for the first request.
        where_found: whether to add the questions in which the first reviewer reported an error.
        share: the random share of all questions, above 0 and up to 1; None for the current share.
        seed: the seed of the random share; None for the current seed, or 0.

    Raises:
        Refused: there is no random share, the seed changes, the share becomes smaller, or questions with a
            reported error would no longer be included.
        InvalidValue: the share or the seed is outside its range.
    """
    if share is None and before is None:
        raise Refused(
            "Second opinions only on questions with a reported error would bias agreement: questions "
            "in which neither reviewer finds an error would be missing. Set a random share of the rest "
            "too, such as 0.1."
            if where_found
            else "Set the share of the questions that get a second reviewer, such as 0.2."
        )
    scope = SecondOpinionScope.SHARE_AND_ERRORS if where_found else SecondOpinionScope.RANDOM_SHARE
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
    if (
        before.scope is SecondOpinionScope.SHARE_AND_ERRORS
        and rule.scope is not SecondOpinionScope.SHARE_AND_ERRORS
    ):
        raise Refused(
            "Second opinions of this batch are also requested for questions with a reported error. "
            "This cannot be undone, because it determines that only the random share counts for "
            "agreement."
        )
    return rule


def describe_rule(rule: SecondOpinions | None) -> str:
    """Describe the rule for second opinions on the page Agreement."""
    if rule is None:
        return (
            "Second reviewers were assigned independently of the first verdict: all shared questions count."
        )
    share = f"a random share of {100 * rule.share:g} % of the batch (seed {rule.seed})"
    if rule.scope is SecondOpinionScope.RANDOM_SHARE:
        return f"Second opinions were requested for {share}, drawn independently of the first verdict."
    return f"Second opinions were requested for {share}, and for questions with a reported error."
