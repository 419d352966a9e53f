"""Decides from the votes of a jury whether a question has a problem.

A majority is more than half of the judges with a usable reply; "insufficient evidence" is a usable reply. A
majority of "no" on a criterion is a problem. A question passes if each criterion has a majority of "yes".
Otherwise, and with fewer than two usable replies, the question was not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from domain.checks import Check, Need, Problem
from domain.juries import MIN_FAMILIES, SAME_FAMILY, CriterionAnswer, JuryCriterion, Vote
from domain.vocabulary import Difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryOutcome:
    """What a jury decided on a question by one check.

    ``problems`` has one problem for each criterion with a majority of "no". ``missing_need`` states why
    nothing was decided. ``tier`` is the difficulty with a majority; None for other checks, and without a
    majority.
    """

    problems: tuple[Problem, ...] = ()
    missing_need: Need | None = None
    tier: Difficulty | None = None


def decide(
    check: Check, items: Sequence[JuryCriterion], votes: Iterable[Vote], *, stated: Difficulty | None = None
) -> JuryOutcome:
    """Decide from the votes on a question.

    Args:
        check: the check.
        items: the criteria of the check.
        votes: the votes; of several votes of a family, the last one with a usable reply counts.
        stated: the difficulty that the question states; used by the check of the difficulty only.
    """
    votes = list(votes)
    usable_votes = {vote.family: vote for vote in votes if len(vote.answers) == len(items)}
    if len(usable_votes) < MIN_FAMILIES:
        is_excluded = any(vote.failure == SAME_FAMILY for vote in votes)
        return JuryOutcome(missing_need=Need.OTHER_FAMILIES if is_excluded else Need.REPLIES)
    answers = [vote.answers for vote in usable_votes.values()]
    counts = [Counter(answered[index] for answered in answers) for index in range(len(items))]
    if check is Check.DIFFICULTY:
        return _decide_tier(counts[0], stated)
    problems = tuple(
        Problem(
            check=check,
            field=criterion.name,
            reason=f"{count[CriterionAnswer.NO]} of {_format_judge_count(answers)} answered no",
        )
        for criterion, count in zip(items, counts, strict=True)
        if _is_majority(count[CriterionAnswer.NO], answers)
    )
    if problems:
        return JuryOutcome(problems=problems)
    if all(_is_majority(count[CriterionAnswer.YES], answers) for count in counts):
        return JuryOutcome()
    return JuryOutcome(missing_need=Need.MAJORITY)


def _decide_tier(count: Counter[CriterionAnswer], stated: Difficulty | None) -> JuryOutcome:
    judge_count = count.total()
    [(answer, vote_count)] = count.most_common(1)
    if 2 * vote_count <= judge_count or answer is CriterionAnswer.INSUFFICIENT:
        return JuryOutcome(missing_need=Need.MAJORITY)
    tier = Difficulty(answer.value)
    if stated is None:
        return JuryOutcome(missing_need=Need.DIFFICULTY, tier=tier)
    if tier is stated:
        return JuryOutcome(tier=tier)
    reason = f"stated as {stated.value}, judged as {tier.value} by {vote_count} of {judge_count} judges"
    return JuryOutcome(
        problems=(Problem(check=Check.DIFFICULTY, field="difficulty", reason=reason),), tier=tier
    )


def _is_majority(votes: int, answers: Sequence[object]) -> bool:
    return 2 * votes > len(answers)


def _format_judge_count(answers: Sequence[object]) -> str:
    return f"{len(answers)} judges"
