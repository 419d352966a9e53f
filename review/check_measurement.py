"""The agreement of a check with the verdicts of reviewers."""

from __future__ import annotations

from dataclasses import dataclass

from domain.checks import CHECKS, Check
from domain.verdicts import FLAGS, ErrorKind
from measures.subgroups import SubgroupRate


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckMeasurement:
    """How often a check and the reviewers agree on one kind of error, weighted to the sampled questions.

    ``kind`` is None for all kinds together that the check is meant for. It is None, too, for a check that is
    compared with a yes/no field of the verdicts, where "no" of most reviewers counts as the error. ``group``
    is the name of the part of the sample; "" for all. ``precision`` is the share of questions with the error
    among those that the check reports, ``recall`` the share that it reports among those with the error, and
    ``specificity`` the share that it does not report among those without. The check of a question must have
    run, so that the sample may be smaller than that of the estimates.
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
        label = next(item.label for item in FLAGS if item.id == verdict_field)
        return f"“{label}” answered with no"

    @property
    def is_measured(self) -> bool:
        """Whether any question was both judged and checked."""
        return self.recall.n + self.specificity.n > 0
