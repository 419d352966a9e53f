"""The agreement of a check with the verdicts of reviewers."""

from __future__ import annotations

from dataclasses import dataclass

from domain.checks import CHECKS, Check
from domain.verdicts import FLAGS, ErrorKind
from measures.subgroups import SubgroupRate


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckMeasurement:
    """How often a check and the reviewers agree on one kind of error, weighted to the sampled questions.

    ``kind`` is None if all kinds of error of the check are counted together. It is also None if the check is
    compared with a yes/no field of the verdicts; the answer "no" of most reviewers then counts as the error.
    ``group`` is the name of the part of the sample; "" for the whole sample. ``precision`` is the share of
    questions with the error among the reported questions. ``recall`` is the share of reported questions among
    the questions with the error, and ``specificity`` the share of not reported questions among the questions
    without it. Only questions for which the check has run count, so the sample may be smaller than the sample
    of the estimates.
    """

    check: Check
    kind: ErrorKind | None
    group: str
    precision: SubgroupRate
    recall: SubgroupRate
    specificity: SubgroupRate

    @property
    def target(self) -> str:
        """What the check is compared with, as a few words."""
        if self.kind is not None:
            return self.kind.label
        verdict_field = CHECKS[self.check].verdict_field
        if verdict_field is None:
            return "all its kinds of error"
        label = next(flag.label for flag in FLAGS if flag.id == verdict_field)
        return f"“{label}” answered with no"

    @property
    def is_measured(self) -> bool:
        """Whether any question was both judged and checked."""
        return self.recall.n + self.specificity.n > 0
