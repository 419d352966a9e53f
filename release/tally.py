"""Counts the released questions, and the excluded questions by reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from domain.errors import Refused
from domain.gold import Excluded, ExclusionReason, GoldItem, JudgedQuestion
from domain.verdicts import Decision
from domain.vocabulary import Difficulty
from release.splits import SplitPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The counts of a release or of a preview.

    ``excluded`` has the number of questions by reason. ``strata`` has the numbers of drawn, judged and
    released questions, by name of the stratum.
    """

    released: int = 0
    accepted: int = 0
    revised: int = 0
    corrections: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    unjudged: int = 0
    strata: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """The number of judged questions."""
        return self.released + sum(self.excluded.values())

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values for the manifest."""
        return {
            "released": self.released,
            "accepted": self.accepted,
            "revised": self.revised,
            "corrections": self.corrections,
            "left_out": dict(self.excluded),
            "not_judged": self.unjudged,
            "strata": {name: dict(counts) for name, counts in self.strata.items()},
        }


class TallyCounter:
    """Counts outcomes one by one."""

    def __init__(self) -> None:
        """Start with all counts at 0."""
        self._counts: Counter[str] = Counter()
        self._excluded: Counter[ExclusionReason] = Counter()
        self._strata: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, outcome: GoldItem | Excluded) -> None:
        """Count one question."""
        stratum = self._strata[outcome.judged.stratum]
        stratum["judged"] += 1
        if isinstance(outcome, Excluded):
            self._excluded[outcome.reason] += 1
            return
        stratum["released"] += 1
        self._counts["released"] += 1
        self._counts["revised" if outcome.decision is Decision.REVISE else "accepted"] += 1
        if outcome.changes:
            self._counts["corrections"] += len(outcome.changes) * count_correctors(outcome)

    def add_uncorrected(self, outcome: ExclusionReason | Decision, *, stratum: str, questions: int) -> None:
        """Count questions of a stratum that have no corrections.

        ``outcome`` is an exclusion reason or ACCEPT.
        """
        self._strata[stratum]["judged"] += questions
        if isinstance(outcome, ExclusionReason):
            self._excluded[outcome] += questions
            return
        self._strata[stratum]["released"] += questions
        self._counts["released"] += questions
        self._counts["accepted"] += questions

    def build_tally(self, *, unjudged: int, drawn_by_stratum: Mapping[str, int]) -> Tally:
        """Return the counts so far. ``drawn_by_stratum`` has the numbers of drawn questions by stratum."""
        return Tally(
            released=self._counts["released"],
            accepted=self._counts["accepted"],
            revised=self._counts["revised"],
            corrections=self._counts["corrections"],
            excluded={
                reason.value: self._excluded[reason] for reason in ExclusionReason if self._excluded[reason]
            },
            unjudged=unjudged,
            strata={
                name: {
                    "drawn": drawn_by_stratum.get(name, 0),
                    "judged": self._strata.get(name, Counter())["judged"],
                    "released": self._strata.get(name, Counter())["released"],
                }
                for name in sorted({*drawn_by_stratum, *self._strata}, key=_get_tier_sort_key)
            },
        )


def _get_tier_sort_key(stratum: str) -> tuple[int, str]:
    """Return the sort key of a stratum: easy, medium, hard, then strata without a difficulty."""
    tier = stratum.split(" / ", maxsplit=1)[0]
    tiers = [difficulty.value for difficulty in Difficulty]
    return (tiers.index(tier) if tier in tiers else len(tiers), stratum)


def count_correctors(gold: GoldItem) -> int:
    """Return the number of people who made the corrections of a released question; 1 for an adjudicator."""
    if gold.judged.adjudication is not None:
        return 1
    return sum(has_correction(judgement.decision) for judgement in gold.judged.judgements)


def has_correction(decision: Decision) -> bool:
    """Whether a verdict with this decision has a correction."""
    return decision is Decision.REVISE


def find_latest_judgement_time(judged: JudgedQuestion) -> datetime:
    """Return the time of the latest judgement or of the adjudication, whichever is later."""
    latest_at = judged.judgements[0].given_at
    for judgement in judged.judgements[1:]:
        latest_at = max(latest_at, judgement.given_at)
    if judged.adjudication is not None:
        latest_at = max(latest_at, judged.adjudication.given_at)
    return latest_at


def check_not_empty(
    dataset: str, tally: Tally, splits: Mapping[str, Mapping[str, int]] | None, split: SplitPlan | None
) -> None:
    """Check that there are questions to release, in each split.

    Args:
        dataset: the name of the dataset, used in error messages.
        tally: the counts of the release.
        splits: the counts by split; None without splits.
        split: the shares and the seed; None without splits.

    Raises:
        Refused: there is no question to release; the message has the reasons.
    """
    if not tally.judged:
        raise Refused(f"No question of {dataset!r} has been judged in these batches. Review questions first.")
    if not tally.released:
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in tally.excluded.items())
        raise Refused(f"No question of {dataset!r} can be released: {reasons}.")
    empty_splits = [name for name, counts in (splits or {}).items() if not counts["questions"]]
    if empty_splits and split is not None:
        shares = ", ".join(f"{name} {share:.3g}" for name, share in split.shares.items())
        raise Refused(
            f"The split {empty_splits[0]} would have no questions with the shares {shares} and seed "
            f"{split.seed}, because exams that share a patient or an image stay together. Choose another "
            "share or seed."
        )
