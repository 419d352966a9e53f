"""Second opinions: which questions of a batch a second reviewer judges, by a rule fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.draw_hash import draw_hash
from domain.errors import InvalidValue


class SecondWay(StrEnum):
    """Who gets a second reviewer beside the random share."""

    SHARE = "share"  # nobody: the random share alone
    WHERE_FOUND = "where found"  # every question in which the first found something


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinions:
    """How second opinions of a batch are sought; ``share`` of all its questions is above 0 and up to 1."""

    way: SecondWay
    share: float
    seed: int

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InvalidValue("second share", f"must be above 0 and at most 1, not {self.share}")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to 2147483647, not {self.seed}")

    def random_share(self, ids: Mapping[int, str]) -> frozenset[int]:
        """The numbers of the questions of the random share; ``ids`` are those of the whole batch, by number.

        Those with the lowest hashes of seed and id, so no verdict and no order of the rows has a say. A
        larger share of the same seed holds the smaller one.
        """
        count = math.ceil(round(self.share * len(ids), 9))
        order = sorted(ids, key=lambda number: (draw_hash(f"{self.seed}:{ids[number]}"), ids[number]))
        return frozenset(order[:count])
