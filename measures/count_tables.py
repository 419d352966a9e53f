"""Measures of published tables: paired 2 x 2 tables, diagnostic tables, and p values of comparisons.

Use these functions if a paper prints a table without the cases. For numbers of correct answers, use
:mod:`measures.counts`; with the cases, :mod:`measures.all_measures`.

Sources: McNemar Q, Psychometrika 1947;12:153-157; Edwards AL, Psychometrika 1948;13:185-187 (correction);
those of :mod:`measures.paired`, :mod:`measures.proportions` and :mod:`measures.multiplicity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from domain.errors import InvalidValue
from domain.protocols import Adjustment
from measures.multiplicity import adjust_by_group
from measures.paired import mcnemar, newcombe_paired, tango
from measures.proportions import CONFIDENCE, clopper_pearson, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTable:
    """The numbers of questions that both raters, only ``a``, only ``b`` and neither answered correctly.

    Raises:
        InvalidValue: there is no question.
    """

    a: str
    b: str
    both: int
    a_only: int
    b_only: int
    neither: int

    def __post_init__(self) -> None:
        if not self.both + self.a_only + self.b_only + self.neither:
            raise InvalidValue("both", "the four counts are 0; there is no question")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTableResult:
    """Accuracy of ``a`` minus accuracy of ``b``, with Tango's and Newcombe's interval and McNemar's tests.

    The exact test and the mid-p test are preferred. ``chi2`` is McNemar's statistic with one degree of
    freedom, ``chi2_corrected`` has Edwards' continuity correction. Both are None without a discordant
    question.
    """

    a: str
    b: str
    n: int
    difference: float
    low: float
    high: float
    newcombe_low: float
    newcombe_high: float
    p_exact: float
    p_mid: float
    chi2: float | None
    p_chi2: float | None
    chi2_corrected: float | None
    p_chi2_corrected: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticTable:
    """Numbers of true positive, false positive, false negative and true negative answers of a rater."""

    rater: str
    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareResult:
    """A share with Wilson's interval and with the exact interval (Clopper-Pearson); None if ``n`` is 0."""

    rater: str
    measure: str
    count: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    exact_low: float | None
    exact_high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonP:
    """A p value of a comparison in a family.

    Raises:
        InvalidValue: the p value is not 0 to 1.
    """

    comparison: str
    p: float
    family: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise InvalidValue("p", f"must be 0 to 1, not {self.p}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedP:
    """A p value and its adjusted values within its family."""

    comparison: str
    family: str
    p: float
    p_holm: float | None
    p_bh: float | None


def measure_paired_table(table: PairedTable, *, confidence: float = CONFIDENCE) -> PairedTableResult:
    """Compare two raters on the same questions by the counts of a 2 x 2 table.

    Args:
        table: the counts.
        confidence: the confidence level of the intervals.

    >>> result = measure_paired_table(PairedTable(a="a", b="b", both=794, a_only=150, b_only=86, neither=570))
    >>> (round(result.chi2, 3), round(result.difference, 3))
    (17.356, 0.04)
    """
    n = table.both + table.a_only + table.b_only + table.neither
    low, high = tango(table.a_only, table.b_only, n, confidence=confidence)
    newcombe_low, newcombe_high = newcombe_paired(
        table.both, table.a_only, table.b_only, table.neither, confidence=confidence
    )
    p_exact, p_mid = mcnemar(table.a_only, table.b_only)
    discordant, excess = table.a_only + table.b_only, abs(table.a_only - table.b_only)
    chi2 = excess**2 / discordant if discordant else None
    corrected = max(0, excess - 1) ** 2 / discordant if discordant else None
    return PairedTableResult(
        a=table.a,
        b=table.b,
        n=n,
        difference=(table.a_only - table.b_only) / n,
        low=low,
        high=high,
        newcombe_low=newcombe_low,
        newcombe_high=newcombe_high,
        p_exact=p_exact,
        p_mid=p_mid,
        chi2=chi2,
        p_chi2=None if chi2 is None else float(scipy.special.chdtrc(1, chi2)),
        chi2_corrected=corrected,
        p_chi2_corrected=None if corrected is None else float(scipy.special.chdtrc(1, corrected)),
    )


def measure_diagnostic_table(
    table: DiagnosticTable, *, confidence: float = CONFIDENCE
) -> tuple[ShareResult, ...]:
    """Compute sensitivity, specificity, predictive values and accuracy.

    Args:
        table: the counts.
        confidence: the confidence level of the intervals.

    >>> table = DiagnosticTable(rater="r", tp=45, fp=10, fn=5, tn=40)
    >>> [(result.measure, result.estimate) for result in measure_diagnostic_table(table)][:2]
    [('sensitivity', 0.9), ('specificity', 0.8)]
    """
    total = table.tp + table.fp + table.fn + table.tn
    return tuple(
        measure_share(table.rater, measure, count, n, confidence=confidence)
        for measure, count, n in (
            ("sensitivity", table.tp, table.tp + table.fn),
            ("specificity", table.tn, table.tn + table.fp),
            ("ppv", table.tp, table.tp + table.fp),
            ("npv", table.tn, table.tn + table.fn),
            ("accuracy", table.tp + table.tn, total),
        )
    )


def measure_share(
    rater: str, measure: str, count: int, n: int, *, confidence: float = CONFIDENCE
) -> ShareResult:
    """Compute a share with Wilson's and with the exact interval.

    Args:
        rater: the name of the rater, which is part of the result.
        measure: the name of the share.
        count: the number of hits, 0 to n.
        n: the number of questions.
        confidence: the confidence level of the intervals.
    """
    share = wilson(count, n, confidence=confidence)
    exact = clopper_pearson(count, n, confidence=confidence)
    return ShareResult(
        rater=rater,
        measure=measure,
        count=count,
        n=n,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        exact_low=exact.low,
        exact_high=exact.high,
        note=share.note,
    )


def adjust_comparisons(comparisons: Sequence[ComparisonP]) -> tuple[AdjustedP, ...]:
    """Adjust the p values of each family by Holm's and by Benjamini and Hochberg's method.

    Args:
        comparisons: the p values.
    """
    p_values = [comparison.p for comparison in comparisons]
    families = [comparison.family for comparison in comparisons]
    holm, bh = (adjust_by_group(p_values, families, adjustment) for adjustment in Adjustment)
    return tuple(
        AdjustedP(
            comparison=comparison.comparison,
            family=comparison.family,
            p=comparison.p,
            p_holm=p_holm,
            p_bh=p_bh,
        )
        for comparison, p_holm, p_bh in zip(comparisons, holm, bh, strict=True)
    )
