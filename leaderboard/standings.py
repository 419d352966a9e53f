"""What a leaderboard shows: ranked teams, reference rows and the significance map. Aggregates only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.leaderboards import (
    DisclosedScore,
    Leaderboard,
    Reference,
    Submission,
    Team,
)
from measures.ranking import PairDifference, Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTeam:
    """A row of the leaderboard: a team with the submission that counts for it."""

    team: str
    submission: Submission
    score: DisclosedScore
    rank: int
    rank_low: int
    rank_high: int
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamDifference:
    """The accuracy of ``better`` minus that of ``worse``, with the p value adjusted by Holm's method."""

    better: str
    worse: str
    difference: float
    low: float | None
    high: float | None
    p_adjusted: float | None
    is_significant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """A leaderboard with its rows by rank, its reference rows, and all pairs of teams."""

    leaderboard: Leaderboard
    rows: tuple[RankedTeam, ...]
    references: tuple[Reference, ...]
    differences: tuple[TeamDifference, ...]


def choose_submission(
    submissions: Sequence[Submission],
    scores: Mapping[int, DisclosedScore],
    *,
    selected_ids: Sequence[int],
    uses_ladder: bool,
) -> Submission | None:
    """Return the submission of a team that counts for the leaderboard.

    Only submissions with a disclosed score can count. The latest selection of the team counts; a selection
    makes a submission public. Without a selection a public submission counts: with the Ladder the last one,
    otherwise the one with the highest score (the earliest of equal ones).

    Args:
        submissions: the submissions of one team.
        scores: the disclosed scores by the id of the submission.
        selected_ids: the ids of the submissions that the team has selected, the latest selection first.
        uses_ladder: whether the leaderboard uses the Ladder.
    """
    disclosed = {submission.id: submission for submission in submissions if submission.id in scores}
    for selected_id in selected_ids:
        if selected_id in disclosed:
            return disclosed[selected_id]
    eligible = [submission for submission in disclosed.values() if submission.details.is_public]
    if not eligible:
        return None
    if uses_ladder:
        return max(eligible, key=lambda submission: submission.id)
    return max(eligible, key=lambda submission: (scores[submission.id].correct, -submission.id))


def build_standings(
    leaderboard: Leaderboard,
    *,
    teams: Sequence[Team],
    chosen: Sequence[Submission],
    scores: Mapping[int, DisclosedScore],
    ranking: Ranking,
    references: Sequence[Reference],
) -> Standings:
    """Combine the submissions that count with their ranking.

    Args:
        leaderboard: the leaderboard.
        teams: all its teams.
        chosen: the submissions in the order of the systems of ``ranking``.
        scores: the disclosed scores by the id of the submission.
        ranking: the ranking of these submissions.
        references: the reference rows.
    """
    names = {team.id: team.name for team in teams}
    team_names = [names[submission.team_id] for submission in chosen]
    return Standings(
        leaderboard=leaderboard,
        rows=tuple(
            RankedTeam(
                team=team_names[system.index],
                submission=chosen[system.index],
                score=scores[chosen[system.index].id],
                rank=system.rank,
                rank_low=system.rank_low,
                rank_high=system.rank_high,
                group=system.group,
            )
            for system in ranking.systems
        ),
        references=tuple(references),
        differences=tuple(_name_difference(pair, team_names) for pair in ranking.pairs),
    )


def _name_difference(pair: PairDifference, names: Sequence[str]) -> TeamDifference:
    return TeamDifference(
        better=names[pair.a],
        worse=names[pair.b],
        difference=pair.difference,
        low=pair.low,
        high=pair.high,
        p_adjusted=pair.p_adjusted,
        is_significant=pair.is_significant,
    )
