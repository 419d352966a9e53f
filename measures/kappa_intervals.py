"""Intervals of Cohen's kappa and Gwet's AC1 for pairs of raters: large-sample or posterior.

The large-sample interval (Fleiss, Cohen and Everitt) is used if both raters used each category at least
``MIN_LARGE_SAMPLE_COUNT`` times and disagree at least as often. With smaller counts, its coverage can be as
low as 80 % instead of 95 % (docs/coverage.md), and it does not exist if the raters never disagree. The
posterior interval is then used: cell shares are drawn from their posterior (:mod:`measures.posterior`), and
the limits are the quantiles of the resulting kappas, widened if necessary to contain the estimate. ``method``
states which interval was used.

With fewer than ``FEW_DISAGREEMENTS`` disagreements, the upper limit of AC1 is also drawn without the
disagreeing question of the prior, and the larger limit counts. For a rare disagreement, the limits are then
close to those of Clopper and Pearson. The limit with that question alone would have a coverage as low as .79:
one disagreement in 20 questions would exclude a true share of .8 %, although with this share 15 of 100
samples have one or more disagreements.

If several questions belong to one exam, the large-sample standard error sums their influences by exam. In the
posterior, the questions of an exam have the same random weight, and the prior is multiplied by the design
effect.

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
from operator import attrgetter
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from measures.agreement import CONFIDENCE, SMALL_SAMPLE, contingency
from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.pair_draws import PairDraws, TableDraws, ac1_of_draws, kappas_of_draws
from measures.pair_sums import PairSums
from measures.pairs import ac1_influence, kappa_influence
from measures.posterior import draw_weights

LARGE_SAMPLE, POSTERIOR = "large-sample", "posterior"
#: Minimum number of disagreements, and of answers of both raters in each category, for the large-sample
#: interval.
MIN_LARGE_SAMPLE_COUNT = 50
#: With fewer disagreements, the upper limits of AC1 and of percent agreement are also drawn without a
#: disagreement in the prior.
FEW_DISAGREEMENTS = 10
#: Maximum number of random weights that are held at once, and in total; minimum number of draws.
_MAX_WEIGHTS, _MAX_DRAWN, _MIN_DRAWS = 4_000_000, 8_000_000, 1000
#: Maximum number of cells of tables whose influences are computed together.
_MAX_CELLS = 200_000
#: Number of pairs whose agreements are summed together, and of estimates that are drawn together.
_PAIRS_AT_ONCE, _ESTIMATES_IN_CACHE = 2048, 256
#: Maximum number of cells of the tables of pairs that are held at once.
_MAX_PAIR_CELLS = 20_000_000
#: Maximum number of pairs that are held at once, times questions: a pair has some values for each question.
_MAX_PAIR_QUESTIONS = 1_000_000


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
        strata: the stratum number of each question; None for one stratum. A stratum is an answer format with
            its own categories; the result is the mean over the strata, weighted by numbers of questions.
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
        strata: the stratum number of each question; see :func:`kappa_interval`.
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
        pairs: the columns of the two raters of each pair; they are compared on the questions both answered.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question; see :func:`kappa_interval`.
        confidence: the confidence level of the intervals.
        draws: the number of posterior draws; 0 to always use the large-sample interval. With more than 4,000
            questions there are fewer, at least 1,000.
        seed: the seed of the draws.

    Returns:
        Kappa and AC1 of each pair, equal to those of :func:`kappa_interval` and :func:`ac1_interval`.
    """
    cluster_index, n_clusters = renumber_clusters(np.arange(len(answers)) if clusters is None else clusters)
    options = _Options(
        clusters=None if n_clusters == len(answers) else cluster_index,
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    columns = np.ascontiguousarray(answers.T)
    posterior = _Posterior(answers, strata, cluster_index, options, k=len(weights))
    estimates: list[tuple[Estimate, Estimate]] = []
    for start in range(0, len(pairs), posterior.pairs_at_once):
        tables = [
            _divide_into_tables(columns, pair, weights, strata)
            for pair in pairs[start : start + posterior.pairs_at_once]
        ]
        kappas = _compute_influences(
            kappa_influence,
            [table for pair_tables in tables for table in pair_tables if not table.is_one_category],
        )
        ac1s = _compute_influences(ac1_influence, [table for pair_tables in tables for table in pair_tables])
        drafts: list[_Draft] = []
        for pair_tables in tables:
            drafts += [_draft_kappa(pair_tables, kappas, options), _draft_ac1(pair_tables, ac1s, options)]
        posterior.set_limits(drafts)
        finished = [draft.estimate for draft in drafts]
        estimates += list(zip(finished[::2], finished[1::2], strict=True))
    return estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The contingency table of a pair in a stratum, and the rows of its questions with the cell of each.

    ``categories`` (k,) are the categories of the table, ``margins`` the answers of each rater by category,
    ``used`` the positions of the categories that a rater used, and ``agreements`` is the number of questions
    with the same answer of both raters.
    """

    pair: tuple[int, int]
    stratum: int
    rows: NDArray[np.int64]
    categories: NDArray[np.int64]
    cells: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: NDArray[np.int64]
    margins: tuple[list[int], list[int]]
    used: list[int]
    agreements: int
    weights: NDArray[np.float64]

    @property
    def disagreements(self) -> int:
        """The number of questions with different answers of the raters."""
        return len(self.rows) - self.agreements

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
        used, (first, second) = self.used, self.margins
        if len(used) == len(self.weights):
            return self
        position = np.zeros(len(self.weights), dtype=np.int64)
        position[used] = np.arange(len(used))
        return replace(
            self,
            categories=self.categories[used],
            cells=(position[self.cells[0]], position[self.cells[1]]),
            table=self.table[np.ix_(used, used)],
            margins=([first[category] for category in used], [second[category] for category in used]),
            used=list(range(len(used))),
            weights=self.weights[np.ix_(used, used)],
        )

    @property
    def smallest_count(self) -> int:
        """The smallest number of disagreements, and of answers of a rater in a category."""
        counts = (margin[category] for margin in self.margins for category in self.used)
        return min(self.disagreements, *counts)


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
    draw: Callable[[TableDraws], NDArray[np.float64]] | None = None


#: Coefficient and influence of each cell, by pair and stratum.
_Influences = dict[tuple[tuple[int, int], int], tuple[float, NDArray[np.float64]]]


def _divide_into_tables(
    columns: NDArray[np.int64],
    pair: tuple[int, int],
    weights: NDArray[np.float64],
    strata: NDArray[np.int64] | None,
) -> list[_Table]:
    """Return the table of each stratum; if there are several, each has only the categories used in it.

    Args:
        columns: the answers, shape (raters, questions).
        pair: the two raters.
        weights: the agreement weights.
        strata: the stratum number of each question, or None.
    """
    first, second = columns[pair[0]], columns[pair[1]]
    common = np.flatnonzero((first >= 0) & (second >= 0))
    numbers = None if strata is None else strata[common]
    if numbers is None:
        distinct = [0] if common.size else []
    else:
        distinct = np.flatnonzero(np.bincount(numbers)).tolist()
    tables = []
    for number in distinct:
        rows = common if numbers is None else common[numbers == number]
        categories, cells = np.arange(len(weights)), (first[rows], second[rows])
        if len(distinct) > 1:
            categories = np.unique([first[rows], second[rows]])
            cells = (np.searchsorted(categories, first[rows]), np.searchsorted(categories, second[rows]))
        table = contingency(*cells, k=len(categories))
        margins = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
        tables.append(
            _Table(
                pair=pair, stratum=number, rows=rows, categories=categories, cells=cells, table=table,
                margins=margins,
                used=[index for index, counts in enumerate(zip(*margins, strict=True)) if any(counts)],
                agreements=int(np.count_nonzero(cells[0] == cells[1])),
                weights=weights if len(distinct) == 1 else weights[np.ix_(categories, categories)],
            )
        )  # fmt: skip
    return tables


def _compute_influences(
    compute: Callable[
        [NDArray[np.int64], NDArray[np.float64]],
        tuple[NDArray[np.float64] | np.float64, NDArray[np.float64]],
    ],
    tables: Sequence[_Table],
) -> _Influences:
    """Compute a coefficient of many tables; those with the same weights are computed together."""
    groups: dict[bytes, list[_Table]] = {}
    for table in tables:
        groups.setdefault(table.weights.tobytes(), []).append(table)
    influences: _Influences = {}
    for group in groups.values():
        weights = group[0].weights
        step = max(1, _MAX_CELLS // weights.size)
        for start in range(0, len(group), step):
            batch = group[start : start + step]
            values, influence = compute(np.stack([table.table for table in batch]), weights)
            influences |= {
                (table.pair, table.stratum): (value, cell_influences)
                for table, value, cell_influences in zip(
                    batch, np.asarray(values).tolist(), influence, strict=True
                )
            }
    return influences


def _draft_kappa(tables: list[_Table], influences: _Influences, options: _Options) -> _Draft:
    n = sum(len(table.rows) for table in tables)
    if n == 0:
        return _Draft(estimate=Estimate(n=0, note="not defined: no question was answered by both"))
    defined = [table for table in tables if not table.is_one_category]
    if not defined:
        reason = "one category" if n > 1 else "one question only"
        return _Draft(estimate=Estimate(n=n, note=f"not defined: {reason}"))
    if all(table.has_constant_rater for table in defined):
        return _Draft(estimate=Estimate(n=n, value=0.0, note="no interval: one rater uses a single category"))
    return _combine(
        [(table, *influences[table.pair, table.stratum]) for table in defined],
        smallest_count=min(table.smallest_count for table in defined),
        note=f"fewer than {SMALL_SAMPLE} questions" if n < SMALL_SAMPLE else "",
        left_out=len(tables) - len(defined),
        # a category that neither rater used has no share in the prior of kappa
        drawn_tables=tuple(table.restrict_to_used() for table in defined),
        draw=kappas_of_draws,
        options=options,
    )


def _draft_ac1(tables: list[_Table], influences: _Influences, options: _Options) -> _Draft:
    if not tables:
        return _Draft(estimate=Estimate(n=0, note="not defined: no question was answered by both"))
    return _combine(
        [(table, *influences[table.pair, table.stratum]) for table in tables],
        smallest_count=min(
            MIN_LARGE_SAMPLE_COUNT if len(table.weights) == 1 else min(table.disagreements, table.agreements)
            for table in tables
        ),
        note="",
        left_out=0,
        drawn_tables=tuple(tables),
        draw=ac1_of_draws,
        options=options,
    )


def _combine(
    table_coefficients: Sequence[tuple[_Table, float, NDArray[np.float64]]],
    *,
    smallest_count: int,
    note: str,
    left_out: int,
    drawn_tables: tuple[_Table, ...],
    draw: Callable[[TableDraws], NDArray[np.float64]],
    options: _Options,
) -> _Draft:
    """Combine the strata's coefficients, weighted by their numbers of questions."""
    n = sum(len(table.rows) for table, _, _ in table_coefficients)
    value = sum(len(table.rows) * coefficient for table, coefficient, _ in table_coefficients) / n
    influences_by_table = [influence[table.cells] for table, _, influence in table_coefficients]
    influences = (
        influences_by_table[0] if len(influences_by_table) == 1 else np.concatenate(influences_by_table)
    )
    clusters = (
        None
        if options.clusters is None
        else options.clusters[np.concatenate([table.rows for table, _, _ in table_coefficients])]
    )
    se = _compute_standard_error(influences, clusters)
    if left_out:
        formats = count_text(left_out, "answer format")
        note = "; ".join(filter(None, [note, f"left out: {formats} with a single category"]))
    if smallest_count >= MIN_LARGE_SAMPLE_COUNT or not options.draws:
        return _Draft(estimate=_build_large_sample_estimate(n, value, se, options.confidence, note))
    return _Draft(
        estimate=Estimate(n=n, value=value, se=0.0 if se < 1e-12 else se, method=POSTERIOR, note=note),
        tables=drawn_tables,
        effect=_compute_design_effect(influences, se, clusters),
        has_few_disagreements=draw is ac1_of_draws
        and sum(table.disagreements for table in drawn_tables) < FEW_DISAGREEMENTS,
        draw=draw,
    )


class _Posterior:
    """Draws the coefficients of pairs of raters, and sets the limits of their intervals.

    Args:
        answers: category indices, shape (questions, raters).
        strata: the stratum number of each question, or None.
        cluster_index: the cluster of each question, from 0.
        options: the options of the intervals.
        k: the number of categories.
    """

    def __init__(
        self,
        answers: NDArray[np.int64],
        strata: NDArray[np.int64] | None,
        cluster_index: NDArray[np.int64],
        options: _Options,
        *,
        k: int,
    ) -> None:
        self._answers = answers
        self._strata = strata
        self._cluster_index = cluster_index
        self._n_clusters = int(cluster_index.max(initial=-1)) + 1
        self._options = options
        self._k = k
        n = max(1, len(answers))
        self._draws = min(options.draws, max(_MIN_DRAWS, _MAX_DRAWN // n))
        self._step = max(1, _MAX_WEIGHTS // n)
        self._kept: dict[int, PairDraws] = {}

    @property
    def pairs_at_once(self) -> int:
        """Number of pairs whose agreements are summed together."""
        by_questions = _MAX_PAIR_QUESTIONS // max(1, len(self._answers))
        return max(1, min(_PAIRS_AT_ONCE, _MAX_PAIR_CELLS // max(1, self._k**2), by_questions))

    def set_limits(self, drafts: Sequence[_Draft]) -> None:
        """Draw the coefficients of the estimates with a posterior interval, and set the limits."""
        posterior_drafts = [draft for draft in drafts if draft.tables]
        if not posterior_drafts:
            return
        drafts_without_disagreement = [
            replace(draft, with_disagreement=False)
            for draft in posterior_drafts
            if draft.has_few_disagreements
        ]
        limits = self._compute_limits([*posterior_drafts, *drafts_without_disagreement])
        has_few_disagreements = [draft.has_few_disagreements for draft in posterior_drafts]
        limits[1, : len(posterior_drafts)][has_few_disagreements] = np.maximum(
            limits[1, : len(posterior_drafts)][has_few_disagreements], limits[1, len(posterior_drafts) :]
        )
        for draft, low, high in zip(
            posterior_drafts, *limits[:, : len(posterior_drafts)].tolist(), strict=True
        ):
            value = draft.estimate.value
            assert value is not None  # noqa: S101 - only defined coefficients are drawn
            draft.estimate = Estimate(
                n=draft.estimate.n,
                value=value,
                se=draft.estimate.se,
                low=min(low, value),
                high=1.0 if value > 1 - 1e-12 else max(high, value),
                method=draft.estimate.method,
                note=draft.estimate.note,
            )

    def _compute_limits(self, drafts: Sequence[_Draft]) -> NDArray[np.float64]:
        """Compute the limits of the drawn coefficients, shape (2, drafts)."""
        tail = 0.5 - self._options.confidence / 2
        starts = range(0, self._draws, self._step)
        # If all draws share one matrix of weights, estimates are drawn in groups that fit into the cache.
        group_size = _ESTIMATES_IN_CACHE if len(starts) == 1 else len(drafts)
        values = [np.zeros((0, self._draws)) for _ in range(0, len(drafts), group_size)]
        limits = np.empty((2, len(drafts)))
        for start in starts:
            strata = self._draw_strata(drafts, start)
            for index in range(len(values)):
                group = drafts[index * group_size : (index + 1) * group_size]
                if not start:
                    values[index] = np.zeros((len(group), self._draws))
                block = values[index][:, start : start + self._step]
                for draft, coefficients in zip(group, block, strict=True):
                    _add_coefficients(coefficients, draft, strata)
                if start == starts[-1]:
                    values[index].sort(axis=1)  # with sorting, the quantiles take half the time
                    limits[:, index * group_size : (index + 1) * group_size] = np.quantile(
                        values[index], [tail, 0.5 + self._options.confidence / 2], axis=1,
                        overwrite_input=True,
                    )  # fmt: skip
                    values[index] = np.zeros((0, self._draws))
        return limits

    def _draw_strata(self, drafts: Sequence[_Draft], start: int) -> dict[int, _StratumDraws]:
        """Return the draws of each stratum, with the summed agreement of its pairs."""
        tables: dict[int, dict[tuple[int, int], _Table]] = {}
        for draft in drafts:
            for table in draft.tables:
                tables.setdefault(table.stratum, {})[table.pair] = table
        strata = {}
        for number in sorted(tables):
            rows, stratum_tables = self._find_rows(number), list(tables[number].values())
            positions = np.zeros(len(self._answers), dtype=np.int64)
            positions[rows] = np.arange(len(rows))
            agreements = np.zeros((len(stratum_tables), len(rows)))
            for index, table in enumerate(stratum_tables):
                agreements[index, positions[table.rows]] = table.weights[table.cells]
            pair_draws = self._draw_pairs(number, rows, start)
            summed = pair_draws.sum_agreements(agreements)
            strata[number] = _StratumDraws(
                pair_draws=pair_draws,
                agreement={table.pair: row for table, row in zip(stratum_tables, summed, strict=True)},
            )
        return strata

    def _find_rows(self, stratum: int) -> NDArray[np.int64]:
        if self._strata is None:
            return np.arange(len(self._answers))
        return np.flatnonzero(self._strata == stratum)

    def _draw_pairs(self, stratum: int, rows: NDArray[np.int64], start: int) -> PairDraws:
        """Return the draws of a stratum; kept if all draws share one matrix of weights."""
        if stratum in self._kept:
            return self._kept[stratum]
        seed, draws = self._options.seed + start, min(self._step, self._draws - start)
        weights = draw_weights(self._n_clusters, draws, seed)[self._cluster_index]
        sums = PairSums(self._answers[rows], weights if self._strata is None else weights[rows], k=self._k)
        pair_draws = PairDraws(sums, draws=draws, seed=seed)
        if self._draws <= self._step:
            self._kept[stratum] = pair_draws
        return pair_draws


@dataclass(frozen=True, slots=True, kw_only=True)
class _StratumDraws:
    """The draws of a stratum, and the summed agreement (draws,) of each pair."""

    pair_draws: PairDraws
    agreement: dict[tuple[int, int], NDArray[np.float64]]


def _add_coefficients(
    coefficients: NDArray[np.float64], draft: _Draft, strata: dict[int, _StratumDraws]
) -> None:
    """Add the drawn coefficients of the tables, weighted by their questions, to ``coefficients`` (draws,)."""
    assert draft.draw is not None  # noqa: S101 - estimates with tables are drawn
    for table in sorted(draft.tables, key=attrgetter("stratum")):
        share = len(table.rows) / draft.estimate.n
        if len(table.weights) == 1:
            coefficients += share
            continue
        stratum = strata[table.stratum]
        coefficients += share * draft.draw(
            stratum.pair_draws.draw_table(
                table.pair, table.categories, table.weights, stratum.agreement[table.pair],
                effect=draft.effect, with_disagreement=draft.with_disagreement,
            )
        )  # fmt: skip


def _build_large_sample_estimate(n: int, value: float, se: float, confidence: float, note: str) -> Estimate:
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


def _compute_standard_error(influences: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> float:
    """Compute the standard error from each question's influence; with clusters, they are summed by exam."""
    if clusters is None:
        return math.sqrt(float((influences**2).sum())) / len(influences)
    cluster_index, _ = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=influences)
    return math.sqrt(float(np.sum(sums**2))) / len(influences)


def _compute_design_effect(
    influences: NDArray[np.float64], se: float, clusters: NDArray[np.int64] | None
) -> float:
    """Divide the variance by exam by the variance of independent questions; the result is at least 1.

    Without a disagreement the effect cannot be estimated. The worst case is then assumed: an exam counts as
    one question.
    """
    if clusters is None:
        return 1.0
    independent_se = _compute_standard_error(influences, None)
    return (
        max(1.0, (se / independent_se) ** 2)
        if independent_se > 1e-12
        else len(influences) / renumber_clusters(clusters)[1]
    )
