"""How a batch was rated: the four dimensions of expert review, and the yes-or-no questions of the sheet.

Counted in judgements: a question that two people judged counts twice, since each rated it. "Not judged" is in
no share and no mean, and stands beside them. Judgements of one exam go together in the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATINGS, VALUES
from domain.verdicts import FLAGS
from measures.means import Mean, mean_by_cluster
from measures.proportions import Proportion, wilson_by_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingLine:
    """One dimension: judgements that gave each of :data:`VALUES`, those that gave none, and the mean."""

    name: str
    counts: tuple[int, ...]
    not_judged: int
    mean: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLine:
    """One yes-or-no question: the share of yes of those that answered it, and how many did not."""

    name: str
    yes: Proportion
    not_judged: int


def rating_lines(ratings: NDArray[np.int8], exams: NDArray[np.int64]) -> tuple[RatingLine, ...]:
    """One line a dimension; ``ratings`` have a row a judgement, 0 where not judged."""
    return tuple(
        RatingLine(
            name=scale.name,
            counts=tuple(int((given == value).sum()) for value in VALUES),
            not_judged=int((given == 0).sum()),
            mean=mean_by_cluster(given[given > 0], exams[given > 0], least=VALUES[0], most=VALUES[-1]),
        )
        for scale, given in zip(RATINGS, ratings.T, strict=True)
    )


def flag_lines(flags: NDArray[np.int8], exams: NDArray[np.int64]) -> tuple[FlagLine, ...]:
    """One line a yes-or-no question; ``flags`` have a row a judgement, -1 where not judged."""
    return tuple(
        FlagLine(
            name=flag.name,
            yes=wilson_by_cluster(given[given >= 0] == 1, exams[given >= 0]),
            not_judged=int((given < 0).sum()),
        )
        for flag, given in zip(FLAGS, flags.T, strict=True)
    )


def mean_text(mean: Mean) -> str:
    """As "4.5 (4.2–4.8), n 25"; why there is none where it is not defined."""
    if mean.estimate is None:
        return "not defined: nobody rated it"
    reach = f" ({mean.low:.1f}–{mean.high:.1f})" if mean.low is not None and mean.high is not None else ""
    return f"{mean.estimate:.1f}{reach}, n {mean.n:,}" + (f"; {mean.note}" if mean.note else "")
