"""The settings with which all measures of a table are computed."""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import InvalidValue
from measures.agreement import CONFIDENCE, Weights

#: The rules for a family: every pair of raters, or each reader with each model.
EVERY_PAIR, READERS_WITH_MODELS = "all", "readers-models"
VERSION = "overread.measures/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a set of measures.

    ``reference`` is the rater whose answers are the truth; None for the rater of kind "reference".
    ``bootstrap`` is the number of resamples and posterior draws: 0 for none, otherwise 100 or more.
    ``family`` is the set of comparisons that Holm's adjustment covers within a task: a rule, or pairs of
    names such as "a:b,c:d".

    Raises:
        InvalidValue: the confidence is below 0.5 or not below 1, the seed is negative, or there are too few
            resamples.
    """

    reference: str | None = None
    weights: Weights = Weights.NONE
    seed: int = 0
    bootstrap: int = 2000
    confidence: float = CONFIDENCE
    family: str = EVERY_PAIR

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise InvalidValue(
                "confidence", f"{self.confidence} must be at least 0.5 and below 1, for example 0.95"
            )
        if self.seed < 0:
            raise InvalidValue("seed", f"{self.seed} must be 0 or more")
        if self.bootstrap < 0 or 0 < self.bootstrap < 100:
            raise InvalidValue("bootstrap", f"{self.bootstrap} must be 0 (none), or 100 or more")

    def parse_family(self, names: tuple[str, ...]) -> frozenset[frozenset[str]] | None:
        """Parse the pairs of a family that consists of names.

        Args:
            names: all raters of the table.

        Returns:
            The pairs as sets of two names; None if the family is a rule.

        Raises:
            InvalidValue: the family is neither a rule nor pairs of two different raters of the table.
        """
        if self.family in (EVERY_PAIR, READERS_WITH_MODELS):
            return None
        pairs = set()
        for pair in self.family.split(","):
            pair_names = [name.strip() for name in pair.split(":")]
            if len(pair_names) != 2 or pair_names[0] == pair_names[1] or not set(pair_names) <= set(names):
                raise InvalidValue(
                    "family",
                    f"{pair!r} must be {EVERY_PAIR}, {READERS_WITH_MODELS}, or pairs of raters such as "
                    f"A:B,C:D. The raters are {', '.join(names)}",
                )
            pairs.add(frozenset(pair_names))
        return frozenset(pairs)
