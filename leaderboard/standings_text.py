"""The rows and sentences of a leaderboard, for page, command and site."""

from __future__ import annotations

from typing import Any

from domain.count_texts import count_text
from domain.leaderboards import (
    RESERVED_TEAM_NAME,
    DisclosedScore,
    Leaderboard,
    ModelAccess,
    QuotaUse,
    Reference,
    ReferenceKind,
)
from leaderboard.scoring import MAX_REFUSALS
from leaderboard.standings import RankedTeam, Standings
from measures.ranking import ALPHA, CONFIDENCE, RESAMPLES

_KIND_LABELS = {
    ReferenceKind.CHANCE: "Chance",
    ReferenceKind.TEXT_ONLY: "Text only",
    ReferenceKind.READERS: "Readers",
}
MAP_NOTE = "Whether the team of the row is significantly better or worse than the team of the column."
REPEATED_NOTE = (
    "The team had submitted this file before; nothing was charged. The details of the first submission stay."
)
API_NOTE = "API: the provider of the model has received the private questions and images."


def list_standing_rows(standings: Standings) -> list[dict[str, Any]]:
    """Return the rows of the table: teams by rank, then the reference rows."""
    rows = [_build_team_row(row) for row in standings.rows]
    return rows + [_build_reference_row(reference) for reference in standings.references]


def list_difference_rows(standings: Standings) -> list[dict[str, Any]]:
    """Return the rows of the table of all pairs of teams."""
    return [
        {
            "Better": pair.better,
            "Worse": pair.worse,
            "Difference": f"{pair.difference:+.2%}",
            "95 % interval": format_interval(pair.low, pair.high, sign="+"),
            "p (Holm)": "" if pair.p_adjusted is None else format_p(pair.p_adjusted),
            "Significant": "yes" if pair.is_significant else "no",
        }
        for pair in standings.differences
    ]


def build_significance_map(standings: Standings) -> list[dict[str, str]]:
    """Return a square table: how the team of the row compares with the team of the column."""
    significant = {(pair.better, pair.worse) for pair in standings.differences if pair.is_significant}
    names = [row.team for row in standings.rows]
    return [{RESERVED_TEAM_NAME: a} | {b: _describe_pair(a, b, significant) for b in names} for a in names]


def describe_leaderboard(board: Leaderboard) -> str:
    """Describe the scored questions of the leaderboard in one sentence."""
    version = f", version {board.version} of the leaderboard" if board.version > 1 else ""
    return (
        f"Private split of {board.dataset} {board.release}: {count_text(board.questions, 'scored question')} "
        f"of {count_text(board.clusters, 'patient')}{version}."
    )


def describe_limits(board: Leaderboard) -> str:
    """Return the quotas and the rule of the Ladder."""
    quotas = board.quotas
    limits = (
        f"Each team may submit {quotas.per_day:,} per day, {quotas.per_month:,} per month and "
        f"{quotas.total:,} in total (UTC)."
    )
    if not board.uses_ladder:
        return limits
    return (
        f"{limits} Ladder: the score of a team changes only if a submission is significantly better "
        f"(one-sided level 0.05 / {quotas.total:,})."
    )


def describe_method(standings: Standings) -> str:
    """Return how rank intervals, groups and p values are computed."""
    return (
        "Open questions are not scored. Intervals of accuracies are clustered by patient. Rank intervals "
        f"({100 * CONFIDENCE:.0f} %): paired bootstrap of patients, {RESAMPLES:,} resamples, seed "
        f"{standings.leaderboard.seed}. "
        f"No team of a group is significantly worse than the first team of the group (Holm, {ALPHA:g})."
    )


def describe_problem_count(count: int) -> str:
    """Return the number of invalid lines of a file, and whether lines after them were not read.

    >>> describe_problem_count(1), describe_problem_count(MAX_REFUSALS)
    ('1 problem', '100 problems, further lines were not read')
    """
    text = count_text(count, "problem")
    return f"{text}, further lines were not read" if count >= MAX_REFUSALS else text


def describe_remaining(remaining: QuotaUse) -> str:
    """Return what is left of the quotas."""
    return (
        f"{count_text(remaining.smallest, 'submission')} possible now: {remaining.day:,} left today, "
        f"{remaining.month:,} this month, {remaining.total:,} in total."
    )


def describe_score(score: DisclosedScore | None) -> str:
    """Return an accuracy with its interval and n; for None, that the Ladder kept the former score."""
    if score is None:
        return "score unchanged"
    interval = format_interval(score.low, score.high)
    return f"{score.estimate:.2%}" + (f" ({interval})" if interval else "") + f", n = {score.n:,}"


def format_interval(low: float | None, high: float | None, *, sign: str = "") -> str:
    """Return the limits of an interval as percentages; empty without one."""
    return "" if low is None or high is None else f"{low:{sign}.2%} to {high:{sign}.2%}"


def format_p(p: float) -> str:
    """Return a p value with two significant digits.

    >>> [format_p(p) for p in (0.0312, 0.00001, 1.0)]
    ['0.031', '< 0.001', '1']
    """
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _build_team_row(row: RankedTeam) -> dict[str, Any]:
    score, details = row.score, row.submission.details
    return {
        "Rank": str(row.rank),
        "Team": row.team,
        "Method": details.method,
        "Accuracy": f"{score.estimate:.2%}",
        "95 % interval": format_interval(score.low, score.high),
        "n": score.n,
        "Rank interval": f"{row.rank_low} to {row.rank_high}",
        "Group": str(row.group),
        "Model": "API" if details.access is ModelAccess.API else "own",
        "Submitted": f"{row.submission.submitted_at:%Y-%m-%d}",
    }


def _build_reference_row(reference: Reference) -> dict[str, Any]:
    return {
        "Rank": "–",
        "Team": _KIND_LABELS[reference.kind],
        "Method": reference.name + (f" ({reference.note})" if reference.note else ""),
        "Accuracy": f"{reference.estimate:.2%}",
        "95 % interval": format_interval(reference.low, reference.high),
        "n": reference.n,
        "Rank interval": "",
        "Group": "",
        "Model": "",
        "Submitted": "",
    }


def _describe_pair(a: str, b: str, significant: set[tuple[str, str]]) -> str:
    if a == b:
        return ""
    return "better" if (a, b) in significant else "worse" if (b, a) in significant else "not distinguished"
