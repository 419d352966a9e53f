"""What a whole set of measures is computed with."""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import InvalidValue
from measures.agreement import CONFIDENCE, Weights

#: Every pair of raters, or each reader with each model; or pairs by name, "a:b,c:d".
EVERY_PAIR, READERS_WITH_MODELS = "all", "readers-models"
VERSION = "overread.measures/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``family`` is what Holm's adjustment counts within a task; ``bootstrap`` the resamples, 0 for none."""

    reference: str | None = None
    weights: Weights = Weights.NONE
    seed: int = 0
    bootstrap: int = 2000
    confidence: float = CONFIDENCE
    family: str = EVERY_PAIR

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise InvalidValue("confidence", f"{self.confidence} must be at least 0.5 and below 1, as 0.95")
        if self.seed < 0:
            raise InvalidValue("seed", f"{self.seed} must be 0 or more")
        if self.bootstrap < 0 or 0 < self.bootstrap < 100:
            raise InvalidValue("bootstrap", f"{self.bootstrap} must be 0 (none) or 100 and more")

    def family_of(self, names: tuple[str, ...]) -> frozenset[frozenset[str]] | None:
        """The pairs that are named one by one; None where the family is a rule.

        Raises:
            InvalidValue: no rule of that name, or a rater who is not there.
        """
        if self.family in (EVERY_PAIR, READERS_WITH_MODELS):
            return None
        pairs = set()
        for pair in self.family.split(","):
            ends = [name.strip() for name in pair.split(":")]
            if len(ends) != 2 or ends[0] == ends[1] or not set(ends) <= set(names):
                raise InvalidValue(
                    "family",
                    f"{pair!r}: say {EVERY_PAIR}, {READERS_WITH_MODELS}, or pairs of raters as A:B,C:D; "
                    f"there are {', '.join(names)}",
                )
            pairs.add(frozenset(ends))
        return frozenset(pairs)
