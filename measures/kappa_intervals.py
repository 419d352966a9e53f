"""Intervals of Cohen's kappa and Gwet's AC1 for pairs of raters: large-sample or posterior.

The large-sample interval (Fleiss, Cohen and Everitt) is used if both raters used each category at least
``MIN_LARGE_SAMPLE_COUNT`` times and disagree at least as often. With smaller counts, its coverage can be as
low as 80 % instead of 95 % (docs/coverage.md), and it does not exist if the raters never disagree. The
posterior interval is then used: cell shares are drawn from their posterior (:mod:`measures.posterior`), and
the limits are the quantiles of the resulting kappas, widened if necessary to contain the estimate. ``method``
states which interval was used.

With fewer than ``FEW_DISAGREEMENTS`` disagreements, the upper limit of AC1 is drawn without the disagreeing
question of the prior. For a rare disagreement, the limits are then close to those of Clopper and Pearson.
With that question, the interval of AC1 covers as little as .79: one disagreement in 20 questions would
exclude a true share of .8 %, which gives one or more in 15 of 100 samples.

If several questions belong to one exam, the large-sample standard error sums their influences by exam. In the
posterior they have the same random weight, and the prior is multiplied by the design effect.

Edge cases. If one rater is constant, kappa is 0 and has no interval. If both are constant, kappa is not
defined.

Sources: Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327; Rubin DB, Ann Stat 1981;9:130-134;
Clopper CJ, Pearson ES, Biometrika 1934;26:404-413.
``MIN_LARGE_SAMPLE_COUNT`` was chosen by simulation (``benchmarks/coverage.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.agreement import CONFIDENCE, SMALL_SAMPLE, contingency
from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.pair_sums import PairSums
from measures.pairs import ac1_influence, kappa_influence
from measures.posterior import draw_prior, draw_weights

LARGE_SAMPLE, POSTERIOR = "large-sample", "posterior"
#: Minimum number of disagreements, and of answers of both raters in each category, for the large-sample
#: interval.
MIN_LARGE_SAMPLE_COUNT = 50
#: With fewer disagreements, the upper limits of AC1 and of percent agreement are drawn without the prior's.
FEW_DISAGREEMENTS = 10
#: Maximum number of random weights that are held at once, and of all draws; there are at least _MIN_DRAWS.
_MAX_WEIGHTS, _MAX_DRAWN, _MIN_DRAWS = 4_000_000, 8_000_000, 1000
#: Number of pairs whose coefficients are drawn together.
_PAIRS_AT_ONCE = 2048


def kappa_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute Cohen's kappa of two raters; the type of interval depends on the counts of the table.

    All pages and reports use this kappa.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question: an answer format with categories of its own. The result
            is then the mean over the strata, weighted by their numbers of questions. None for one stratum.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        Kappa, -1 to 1, and the method of its interval. If one rater uses a single category, kappa is 0 and
        has no interval. If both do, or if there is no question, kappa is not defined.

    Source of the strata: Barlow W, Lai MY, Azen SP, Stat Med 1991;10:1465-1472.

    >>> first, second = np.repeat([0, 0, 1, 1], [60, 10, 15, 65]), np.repeat([0, 1, 0, 1], [60, 10, 15, 65])
    >>> round(kappa_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.667
    """
    [(kappa, _)] = agreement_of_pairs(
        np.stack([first, second], axis=1), [(0, 1)], weights=weights, clusters=clusters, strata=strata,
        confidence=confidence, draws=draws, seed=seed,
    )  # fmt: skip
    return kappa


def ac1_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute Gwet's AC1 of two raters (AC2 with weights); the type of interval depends on the counts.

    Use instead of kappa if one category dominates: kappa is then low although raters agree.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights of the whole scale, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question: an answer format with categories of its own. The result
            is then the mean over the strata, weighted by their numbers of questions. None for one stratum.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        AC1, at most 1; 0 is chance level. It is not defined if there is no question.

    Source: Gwet KL, Br J Math Stat Psychol 2008;61:29-48.

    >>> first, second = np.repeat([0, 0, 1, 1], [20, 5, 10, 15]), np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    >>> round(ac1_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.406
    """
    [(_, ac1)] = agreement_of_pairs(
        np.stack([first, second], axis=1), [(0, 1)], weights=weights, clusters=clusters, strata=strata,
        confidence=confidence, draws=draws, seed=seed,
    )  # fmt: skip
    return ac1


def agreement_of_pairs(
    answers: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> list[tuple[Estimate, Estimate]]:
    """Compute kappa and AC1 of many pairs of raters, with one matrix of random weights for all.

    Args:
        answers: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        pairs: the columns of the two raters of each pair, which is compared on the questions both answered.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question; see :func:`kappa_interval`.
        confidence: the confidence level of the intervals.
        draws: the number of posterior draws; 0 to always use the large-sample interval. With more than 4,000
            questions there are fewer, at least 1,000.
        seed: the seed of the draws.

    Returns:
        Kappa and AC1 of each pair, as of :func:`kappa_interval` and :func:`ac1_interval`.
    """
    cluster_index, n_clusters = renumber_clusters(np.arange(len(answers)) if clusters is None else clusters)
    options = _Options(
        clusters=None if n_clusters == len(answers) else cluster_index,
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    estimates: list[tuple[Estimate, Estimate]] = []
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        drafts: list[_Draft] = []
        for pair in pairs[start : start + _PAIRS_AT_ONCE]:
            tables = _divide_into_tables(answers, pair, weights, strata)
            drafts += [_draft_kappa(tables, options), _draft_ac1(tables, options)]
        _set_posterior_limits(answers, strata, drafts, options, cluster_index, k=len(weights))
        finished = [draft.estimate for draft in drafts]
        estimates += list(zip(finished[::2], finished[1::2], strict=True))
    return estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The contingency table of a pair in a stratum, and the rows of its questions with the cell of each.

    ``categories`` (k,) are the categories of the table, ``margins`` the answers of each rater by category.
    """

    pair: tuple[int, int]
    stratum: int
    rows: NDArray[np.int64]
    categories: NDArray[np.int64]
    cells: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: NDArray[np.int64]
    margins: tuple[list[int], ...]
    weights: NDArray[np.float64]

    @property
    def agreements(self) -> int:
        """The number of questions with the same answer of both raters."""
        return int(np.trace(self.table))

    @property
    def disagreements(self) -> int:
        """The number of questions with different answers of the raters."""
        return len(self.rows) - self.agreements

    @property
    def used(self) -> list[int]:
        """The categories that a rater used."""
        return [category for category, counts in enumerate(zip(*self.margins, strict=True)) if any(counts)]

    @property
    def is_one_category(self) -> bool:
        """Whether both raters are constant."""
        return all(_count_nonzero(margin) == 1 for margin in self.margins)

    @property
    def has_constant_rater(self) -> bool:
        """Whether one of the raters is constant."""
        return any(_count_nonzero(margin) == 1 for margin in self.margins)

    def restrict_to_used(self) -> _Table:
        """Return the table without the categories that neither rater used."""
        used = self.used
        if len(used) == len(self.weights):
            return self
        position = np.zeros(len(self.weights), dtype=np.int64)
        position[used] = np.arange(len(used))
        return replace(
            self,
            categories=self.categories[used],
            cells=(position[self.cells[0]], position[self.cells[1]]),
            table=self.table[np.ix_(used, used)],
            margins=tuple([margin[category] for category in used] for margin in self.margins),
            weights=self.weights[np.ix_(used, used)],
        )

    @property
    def smallest_count(self) -> int:
        """The smallest number of disagreements, and of answers of a rater in a category."""
        used = self.used
        return min(self.disagreements, *(margin[category] for margin in self.margins for category in used))


def _count_nonzero(margin: list[int]) -> int:
    return len(margin) - margin.count(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options of an interval; ``clusters`` is None if each question has a cluster of its own."""

    clusters: NDArray[np.int64] | None
    confidence: float
    draws: int
    seed: int


@dataclass(slots=True, kw_only=True)
class _Draft:
    """An estimate; its limits are still to be drawn from ``tables`` with their design effect, if any.

    With ``has_few_disagreements``, the upper limit is the larger one of those with and without a disagreement
    in the prior. ``with_disagreement`` states whether the prior has one.
    """

    estimate: Estimate
    tables: tuple[_Table, ...] = ()
    effect: float = 1.0
    has_few_disagreements: bool = False
    with_disagreement: bool = True
    draw: Callable[[_TableDraws], NDArray[np.float64]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableDraws:
    """Draws of a table: weighted agreement (draws,), and both raters' category shares (k, draws)."""

    observed: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    weights: NDArray[np.float64]


def _divide_into_tables(
    answers: NDArray[np.int64],
    pair: tuple[int, int],
    weights: NDArray[np.float64],
    strata: NDArray[np.int64] | None,
) -> list[_Table]:
    """Return the table of each stratum; each of several strata has the categories that were used in it."""
    first, second = answers[:, pair[0]], answers[:, pair[1]]
    common = np.flatnonzero((first >= 0) & (second >= 0))
    numbers = np.zeros(len(common), dtype=np.int64) if strata is None else strata[common]
    distinct = np.flatnonzero(np.bincount(numbers))
    tables = []
    for number in distinct.tolist():
        rows = common[numbers == number]
        used, cells = np.arange(len(weights)), (first[rows], second[rows])
        if len(distinct) > 1:
            used = np.unique([first[rows], second[rows]])
            cells = (np.searchsorted(used, first[rows]), np.searchsorted(used, second[rows]))
        table = contingency(*cells, k=len(used))
        tables.append(
            _Table(
                pair=pair, stratum=number, rows=rows, categories=used, cells=cells, table=table,
                margins=(table.sum(axis=1).tolist(), table.sum(axis=0).tolist()),
                weights=weights if len(distinct) == 1 else weights[np.ix_(used, used)],
            )
        )  # fmt: skip
    return tables


def _draft_kappa(tables: list[_Table], options: _Options) -> _Draft:
    n = sum(len(part.rows) for part in tables)
    if n == 0:
        return _Draft(estimate=Estimate(n=0, note="not defined: no question was answered by both"))
    defined = [part for part in tables if not part.is_one_category]
    if not defined:
        reason = "one category" if n > 1 else "one question only"
        return _Draft(estimate=Estimate(n=n, note=f"not defined: {reason}"))
    if all(part.has_constant_rater for part in defined):
        return _Draft(estimate=Estimate(n=n, value=0.0, note="no interval: one rater uses a single category"))
    return _combine(
        [(part, *kappa_influence(part.table, part.weights)) for part in defined],
        smallest_count=min(part.smallest_count for part in defined),
        note=f"fewer than {SMALL_SAMPLE} questions" if n < SMALL_SAMPLE else "",
        left_out=len(tables) - len(defined),
        # a category that neither rater used has no share in the prior of kappa
        drawn_tables=tuple(part.restrict_to_used() for part in defined),
        draw=_compute_kappas,
        options=options,
    )


def _draft_ac1(tables: list[_Table], options: _Options) -> _Draft:
    if not tables:
        return _Draft(estimate=Estimate(n=0, note="not defined: no question was answered by both"))
    return _combine(
        [(part, *ac1_influence(part.table, part.weights)) for part in tables],
        smallest_count=min(
            MIN_LARGE_SAMPLE_COUNT if len(part.weights) == 1 else min(part.disagreements, part.agreements)
            for part in tables
        ),
        note="",
        left_out=0,
        drawn_tables=tuple(tables),
        draw=_compute_ac1,
        options=options,
    )


def _combine(
    parts: Sequence[tuple[_Table, float, NDArray[np.float64]]],
    *,
    smallest_count: int,
    note: str,
    left_out: int,
    drawn_tables: tuple[_Table, ...],
    draw: Callable[[_TableDraws], NDArray[np.float64]],
    options: _Options,
) -> _Draft:
    """Combine the strata's coefficients, weighted by their numbers of questions."""
    n = sum(len(table.rows) for table, _, _ in parts)
    value = sum(len(table.rows) * coefficient for table, coefficient, _ in parts) / n
    influences = np.concatenate([influence[table.cells] for table, _, influence in parts])
    rows = np.concatenate([table.rows for table, _, _ in parts])
    clusters = None if options.clusters is None else options.clusters[rows]
    se = _standard_error(influences, clusters)
    if left_out:
        note = "; ".join(filter(None, [note, f"{left_out} answer format with one category left out"]))
    if smallest_count >= MIN_LARGE_SAMPLE_COUNT or not options.draws:
        return _Draft(estimate=_large_sample_estimate(n, value, se, options.confidence, note))
    return _Draft(
        estimate=Estimate(n=n, value=value, se=0.0 if se < 1e-12 else se, method=POSTERIOR, note=note),
        tables=drawn_tables,
        effect=_design_effect(influences, se, clusters),
        has_few_disagreements=draw is _compute_ac1
        and sum(table.disagreements for table in drawn_tables) < FEW_DISAGREEMENTS,
        draw=draw,
    )


def _set_posterior_limits(
    answers: NDArray[np.int64],
    strata: NDArray[np.int64] | None,
    drafts: Sequence[_Draft],
    options: _Options,
    cluster_index: NDArray[np.int64],
    *,
    k: int,
) -> None:
    """Draw the coefficients of the estimates with a posterior interval, and set the limits."""
    drawn = [draft for draft in drafts if draft.tables]
    if not drawn:
        return
    upper = [replace(draft, with_disagreement=False) for draft in drawn if draft.has_few_disagreements]
    n = len(answers)
    n_clusters = int(cluster_index.max()) + 1
    draws = min(options.draws, max(_MIN_DRAWS, _MAX_DRAWN // n))
    step = max(1, _MAX_WEIGHTS // n)
    values = np.concatenate(
        [
            _draw_coefficients(
                answers, strata, [*drawn, *upper],
                draw_weights(n_clusters, min(step, draws - start), options.seed + start)[cluster_index],
                k=k, seed=options.seed + start,
            )
            for start in range(0, draws, step)
        ],
        axis=1,
    )  # fmt: skip
    limits = np.quantile(values, [0.5 - options.confidence / 2, 0.5 + options.confidence / 2], axis=1)
    has_few = [draft.has_few_disagreements for draft in drawn]
    limits[1, : len(drawn)][has_few] = np.maximum(limits[1, : len(drawn)][has_few], limits[1, len(drawn) :])
    for draft, low, high in zip(drawn, *limits[:, : len(drawn)].tolist(), strict=True):
        value = draft.estimate.value
        assert value is not None  # noqa: S101 - only defined coefficients are drawn
        draft.estimate = replace(
            draft.estimate,
            low=min(low, value),
            high=1.0 if value > 1 - 1e-12 else max(high, value),
        )


def _draw_coefficients(
    answers: NDArray[np.int64],
    strata: NDArray[np.int64] | None,
    drafts: Sequence[_Draft],
    question_weights: NDArray[np.float64],
    *,
    k: int,
    seed: int,
) -> NDArray[np.float64]:
    """Draw the coefficients, shape (drafts, draws)."""
    draws = question_weights.shape[1]
    values = np.zeros((len(drafts), draws))
    numbers = sorted({table.stratum for draft in drafts for table in draft.tables})
    for number in numbers:
        rows = np.arange(len(answers)) if strata is None else np.flatnonzero(strata == number)
        positions = np.zeros(len(answers), dtype=np.int64)
        positions[rows] = np.arange(len(rows))
        sums = PairSums(answers[rows], question_weights if strata is None else question_weights[rows], k=k)
        parts = [
            (index, table)
            for index, draft in enumerate(drafts)
            for table in draft.tables
            if table.stratum == number
        ]
        pairs = {table.pair: index for index, table in enumerate({t.pair: t for _, t in parts}.values())}
        agreements = np.zeros((len(rows), len(pairs)))
        for _, table in parts:
            agreements[positions[table.rows], pairs[table.pair]] = table.weights[table.cells]
        observed = sums.sum_agreements(agreements)
        for index, table in parts:
            draft = drafts[index]
            assert draft.draw is not None  # noqa: S101 - estimates with tables are drawn
            share = len(table.rows) / draft.estimate.n
            if len(table.weights) == 1:
                values[index] += share
                continue
            prior = draw_prior(
                table.weights, draws=draws, seed=seed, with_disagreement=draft.with_disagreement
            )
            (a, b), effect = table.pair, draft.effect
            first = sums.sum_answers(a, b, table.categories) + effect * prior.first
            second = sums.sum_answers(b, a, table.categories) + effect * prior.second
            total = first.sum(axis=0)
            values[index] += share * draft.draw(
                _TableDraws(
                    observed=(observed[pairs[table.pair]] + effect * prior.observed) / total,
                    first=first / total, second=second / total, weights=table.weights,
                )
            )  # fmt: skip
    return values


def _compute_kappas(drawn: _TableDraws) -> NDArray[np.float64]:
    is_nominal = np.count_nonzero(drawn.weights) == len(drawn.weights)
    expected = drawn.first if is_nominal else drawn.weights.T @ drawn.first
    chance = np.einsum("kd,kd->d", expected, drawn.second)
    kappas: NDArray[np.float64] = (drawn.observed - chance) / np.maximum(1.0 - chance, 1e-12)
    return kappas


def _compute_ac1(drawn: _TableDraws) -> NDArray[np.float64]:
    k = len(drawn.weights)
    overall = (drawn.first + drawn.second) / 2
    chance = float(drawn.weights.sum()) / (k * (k - 1)) * (1 - np.einsum("kd,kd->d", overall, overall))
    coefficients: NDArray[np.float64] = (drawn.observed - chance) / (1.0 - chance)
    return coefficients


def _large_sample_estimate(n: int, value: float, se: float, confidence: float, note: str) -> Estimate:
    if se < 1e-12:
        return Estimate(n=n, value=value, se=0.0, note="no interval: there is no disagreement")
    half_width = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Estimate(
        n=n,
        value=value,
        se=se,
        low=max(-1.0, value - half_width),
        high=min(1.0, value + half_width),
        method=LARGE_SAMPLE,
        note=note,
    )


def _standard_error(influences: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> float:
    """Compute the standard error from each question's influence; influences are summed by exam."""
    if clusters is None:
        return math.sqrt(float(np.sum(influences**2))) / len(influences)
    cluster_index, _ = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=influences)
    return math.sqrt(float(np.sum(sums**2))) / len(influences)


def _design_effect(influences: NDArray[np.float64], se: float, clusters: NDArray[np.int64] | None) -> float:
    """Divide the variance by exam by the variance of independent questions; the result is at least 1.

    Without a disagreement the effect cannot be estimated. The worst case is then assumed: an exam counts as
    one question.
    """
    if clusters is None:
        return 1.0
    independent_se = _standard_error(influences, None)
    return (
        max(1.0, (se / independent_se) ** 2)
        if independent_se > 1e-12
        else len(influences) / renumber_clusters(clusters)[1]
    )
