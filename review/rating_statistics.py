"""Statistics of the ratings and yes-or-no fields of a batch.

The statistics count judgements: a question that two people judged counts twice. Shares and means exclude "not
judged", which is counted separately. Intervals are clustered by exam.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATING_VALUES, RATINGS
from domain.verdicts import FLAGS
from measures.means import Mean, mean_by_cluster
from measures.proportions import Proportion, wilson_by_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSummary:
    """The counts of one rating by :data:`RATING_VALUES`, the number not judged, and the mean."""

    name: str
    counts: tuple[int, ...]
    not_judged: int
    mean: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNoSummary:
    """One yes-or-no field: the share of "yes" among the judged, and the number not judged."""

    name: str
    yes: Proportion
    not_judged: int


def summarize_ratings(ratings: NDArray[np.int8], exams: NDArray[np.int64]) -> tuple[RatingSummary, ...]:
    """Return one line per rating.

    Args:
        ratings: the ratings, shape (judgements, ratings): 1 to 5, or 0 if not judged.
        exams: the exam id of each judgement.
    """
    return tuple(
        RatingSummary(
            name=rating.name,
            counts=tuple(int((values == value).sum()) for value in RATING_VALUES),
            not_judged=int((values == 0).sum()),
            mean=mean_by_cluster(
                values[values > 0], exams[values > 0], minimum=RATING_VALUES[0], maximum=RATING_VALUES[-1]
            ),
        )
        for rating, values in zip(RATINGS, ratings.T, strict=True)
    )


def summarize_yes_no_fields(flags: NDArray[np.int8], exams: NDArray[np.int64]) -> tuple[YesNoSummary, ...]:
    """Return one line per yes-or-no field.

    Args:
        flags: the values, shape (judgements, fields): 0 for no, 1 for yes, -1 if not judged.
        exams: the exam id of each judgement.
    """
    return tuple(
        YesNoSummary(
            name=flag.name,
            yes=wilson_by_cluster(values[values >= 0] == 1, exams[values >= 0]),
            not_judged=int((values < 0).sum()),
        )
        for flag, values in zip(FLAGS, flags.T, strict=True)
    )


def format_mean(mean: Mean) -> str:
    """Format a mean as "4.5 (4.2–4.8), n 25", or return why it is not defined."""
    if mean.estimate is None:
        return "not defined: no ratings"
    interval_text = (
        f" ({mean.low:.1f}–{mean.high:.1f})" if mean.low is not None and mean.high is not None else ""
    )
    return f"{mean.estimate:.1f}{interval_text}, n {mean.n:,}" + (f"; {mean.note}" if mean.note else "")
