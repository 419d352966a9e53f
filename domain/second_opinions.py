"""Second opinions: the rule that assigns a second reviewer to questions of a batch.

After the first request, the seed cannot change and the share cannot become smaller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.draw_hash import compute_draw_hash
from domain.errors import InvalidValue


class SecondOpinionScope(StrEnum):
    """The questions that get a second reviewer in addition to the random share."""

    RANDOM_SHARE = "share"  # no further questions
    SHARE_AND_ERRORS = "where found"  # all questions with an error reported by the first reviewer
    SHARE_AND_INFORMATION = "by information"  # those in which a verdict brings the most information


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinions:
    """The rule of a batch. A ``share`` of all its questions, above 0 and up to 1, is chosen at random.

    Raises:
        InvalidValue: the share or the seed is outside its range.
    """

    scope: SecondOpinionScope
    share: float
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InvalidValue("second share", f"must be above 0 and at most 1, not {self.share}")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to 2147483647, not {self.seed}")

    def draw_random_share(self, question_ids: Mapping[int, str]) -> frozenset[int]:
        """Choose the random share of a batch.

        The questions with the lowest hashes of seed and id are chosen, so the choice does not depend on
        verdicts or the order of rows. A larger share with the same seed contains the smaller one.

        Args:
            question_ids: the file id of each question of the batch, by its database id.

        Returns:
            The database ids of the chosen questions; their count is rounded up.
        """
        count = math.ceil(round(self.share * len(question_ids), 9))
        order = sorted(
            question_ids,
            key=lambda row_id: (
                compute_draw_hash(f"{self.seed}:{question_ids[row_id]}"),
                question_ids[row_id],
            ),
        )
        return frozenset(order[:count])
