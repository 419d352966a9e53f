"""The settings with which all measures of a table are computed."""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import InvalidValue
from domain.protocols import Adjustment, AgreementBasis, MissingAnswers
from measures.agreement import CONFIDENCE, Weights
from measures.families import EVERY_PAIR

VERSION = "overread.measures/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a set of measures.

    ``reference`` is the rater whose answers are the truth; None for the rater of kind "reference".
    ``bootstrap`` is the number of resamples and posterior draws: 0 for none, otherwise 100 or more.
    ``family`` is the set of comparisons within which p values are adjusted by ``adjustment``: entries of
    :mod:`measures.families`, separated by commas, such as "a:b,c:d". ``missing_answers`` states how
    to count questions that a model did not answer. ``positive`` is the answer for which sensitivity,
    specificity and AUC are computed. If a row has a score and no answer, a score of at least ``threshold``
    counts as ``positive``. With ``jackknife`` the covariance of AUCs is the jackknife's, not DeLong's.
    ``agreement_basis`` states the categories of agreement, and ``missing_in_agreement`` is an answer that
    agreement treats as missing, such as the placeholder for a reply without a recognised answer. With
    ``leave_one_out``, each reader who helped to set the reference is also scored by a reference made without
    that reader (:mod:`measures.records.leave_one_out`).

    Raises:
        InvalidValue: the confidence is below 0.5 or not below 1, the seed is negative, there are too few
            resamples, weights are set for agreement of correctness, or ``threshold`` is set
            without ``positive``.
    """

    reference: str | None = None
    weights: Weights = Weights.NONE
    seed: int = 0
    bootstrap: int = 2000
    confidence: float = CONFIDENCE
    family: str = EVERY_PAIR
    adjustment: Adjustment = Adjustment.HOLM
    missing_answers: MissingAnswers = MissingAnswers.COMMON
    positive: str | None = None
    threshold: float | None = None
    jackknife: bool = False
    agreement_basis: AgreementBasis = AgreementBasis.ANSWERS
    missing_in_agreement: str | None = None
    leave_one_out: bool = False

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise InvalidValue(
                "confidence", f"must be at least 0.5 and below 1 (for example 0.95), not {self.confidence}"
            )
        if self.seed < 0:
            raise InvalidValue("seed", f"must be 0 or more, not {self.seed}")
        if self.bootstrap < 0 or 0 < self.bootstrap < 100:
            raise InvalidValue("bootstrap", f"must be 0 (none) or at least 100, not {self.bootstrap}")
        if self.agreement_basis is AgreementBasis.CORRECTNESS and self.weights is not Weights.NONE:
            raise InvalidValue("weights", "need ordered answers; correct and incorrect have no order")
        if self.threshold is not None and self.positive is None:
            raise InvalidValue("threshold", "needs the positive answer")
