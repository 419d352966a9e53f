"""Agreement of two or more raters on the same questions: six coefficients with standard errors.

Conventions. ``ratings`` has shape (questions, raters) and contains category indices 0 to k - 1, or -1 where a
rater did not answer. Percent agreement is the mean share of agreeing pairs of raters (weighted by
``weights``) over the questions with two or more answers. Each coefficient is (observed - chance) / (1 -
chance); the coefficients differ in the estimate of chance. Krippendorff's alpha also has a correction for
small samples. ``k`` is the length of the scale, even if some categories were never chosen.

The standard errors are Gwet's. They are computed from each question's influence on the coefficient, with the
raters fixed. With ``clusters``, the influences are first summed by exam. The interval is Student's, limited
to -1 and 1, if at least ``MIN_LARGE_SAMPLE_COUNT`` questions are in each category and as many have a
disagreement (:mod:`measures.kappa_intervals`). With smaller counts, its coverage can be 10 to 90 % instead of
95 %; the posterior interval is then used (:mod:`measures.group_posterior`), as for a pair of raters. If fewer
than ``FEW_DISAGREEMENTS`` questions have a disagreement, the upper limits of percent agreement, AC1 and
Brennan-Prediger are also drawn without the disagreeing question of the prior, and the larger limit counts.

Edge cases. If all answers are in one category, only percent agreement, AC1 and Brennan-Prediger are defined.
If no question has two answers, no coefficient is defined. A question with one answer counts for chance
(except in Krippendorff's alpha), but not for agreement.

Sources: Gwet KL, Handbook of Inter-Rater Reliability, 4th ed., 2014; Gwet KL, Br J Math Stat Psychol
2008;61:29-48; Fleiss JL, Psychol Bull 1971;76:378-382; Conger AJ, Psychol Bull 1980;88:322-328; Brennan RL,
Prediger DJ, Educ Psychol Meas 1981;41:687-699; Krippendorff K, Computing Krippendorff's alpha-reliability,
2011.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import NDArray

from domain.count_texts import count_text
from measures.agreement import SMALL_SAMPLE
from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.group_posterior import GroupDraws, RatedQuestions, draw_group_posterior
from measures.kappa_intervals import FEW_DISAGREEMENTS, MIN_LARGE_SAMPLE_COUNT, POSTERIOR
from measures.posterior import MAX_DENSE_CATEGORIES
from measures.proportions import CONFIDENCE

#: Maximum number of random weights of a posterior. With more questions there are fewer draws, at least 400.
MAX_RANDOM_WEIGHTS = 8_000_000
Ratings = NDArray[np.int64]
Matrix = NDArray[np.float64]


class Coefficient(StrEnum):
    """A coefficient; its name stands for an estimate of agreement by chance. PERCENT subtracts no chance."""

    PERCENT = "percent"
    FLEISS = "fleiss"
    CONGER = "conger"
    ALPHA = "alpha"
    AC1 = "ac1"
    BRENNAN_PREDIGER = "brennan_prediger"


#: Coefficients that are determined by the share of disagreements where one category dominates.
_BY_DISAGREEMENT = (Coefficient.PERCENT, Coefficient.AC1, Coefficient.BRENNAN_PREDIGER)


def agreement_coefficient(
    ratings: Ratings,
    coefficient: Coefficient,
    *,
    weights: Matrix,
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    ordinal: bool = False,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute a coefficient of agreement of two or more raters; the type of interval depends on the counts.

    Prefer AC1 if one category dominates: the other coefficients are then low although raters agree. Prefer
    Krippendorff's alpha if many answers are missing, and Conger's kappa if the raters differ in how often
    they use the categories. With :func:`ordinal_weights`, alpha is ordinal.

    Args:
        ratings: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        coefficient: the coefficient to compute.
        weights: the agreement weights, shape (k, k), 1 on the diagonal;
            :func:`measures.agreement.agreement_weights`.
        clusters: the exam number of each question, shape (questions,); None if all are independent.
        strata: the stratum number of each question, shape (questions,); None for one stratum. A stratum is an
            answer format with its own categories. The result is the mean of the strata's coefficients,
            weighted by their numbers of questions.
        ordinal: whether ``weights`` are those of :func:`ordinal_weights`; each draw then has its own weights.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        The coefficient, at most 1; 0 is chance level. It is not defined if no question has two answers, or if
        there is a single category (except percent agreement, AC1 and Brennan-Prediger).

    Source of the strata: Barlow W, Lai MY, Azen SP, Stat Med 1991;10:1465-1472.

    >>> ratings = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1]])
    >>> round(agreement_coefficient(ratings, Coefficient.FLEISS, weights=np.eye(2)).value, 3)
    0.657
    """
    parts = [
        _compute_stratum_coefficient(stratum, coefficient)
        for stratum in _divide_into_strata(ratings, weights, strata)
    ]
    defined = [part for part in parts if part.value is not None and part.n]
    if not defined:
        note = next((part.note for part in parts if part.n), "not defined: no question has two answers")
        return Estimate(n=sum(part.n for part in parts), note=note)
    n, n_included = sum(part.n for part in defined), sum(len(part.rows) for part in defined)
    value = sum(part.n * (part.value or 0.0) for part in defined) / n
    left_out = len(parts) - len(defined)
    left_out_text = count_text(left_out, "stratum", "strata")
    reason = "with a single category or without a question with two answers"
    notes = [f"left out: {left_out_text} {reason}"] if left_out else []
    if n < SMALL_SAMPLE:
        notes.append(f"fewer than {SMALL_SAMPLE} questions")
    note = "; ".join(notes)
    if n_included < 2:
        return Estimate(n=n, value=value, note="no interval: one question only")
    rows = np.concatenate([part.rows for part in defined])
    cluster_index, n_clusters = renumber_clusters(
        np.arange(n_included) if clusters is None else np.asarray(clusters)[rows]
    )
    if n_clusters < 2:
        return Estimate(n=n, value=value, note="no interval: one exam only")
    influence = np.concatenate(
        [part.influence * (part.n / n) * (n_included / len(part.rows)) for part in defined]
    )
    sum_of_squares = float(np.sum(np.bincount(cluster_index, weights=influence) ** 2))
    se = math.sqrt(sum_of_squares * n_clusters / (n_clusters - 1)) / n_included
    se = 0.0 if se < 1e-12 else se
    can_draw = all(2 <= len(part.categories) <= MAX_DENSE_CATEGORIES for part in defined)
    has_small_counts = min(part.smallest_count for part in defined) < MIN_LARGE_SAMPLE_COUNT
    if draws and can_draw and (ordinal or has_small_counts):
        draws = min(draws, max(400, MAX_RANDOM_WEIGHTS // n_included))
        drawn = _draw_coefficients(
            defined, coefficient, cluster_index, draws=draws, seed=seed, ordinal=ordinal
        )
        low, high = np.quantile(drawn, [0.5 - confidence / 2, 0.5 + confidence / 2])
        if (
            coefficient in _BY_DISAGREEMENT
            and sum(part.disagreements for part in defined) < FEW_DISAGREEMENTS
        ):
            drawn = _draw_coefficients(
                defined, coefficient, cluster_index, draws=draws, seed=seed, ordinal=ordinal,
                with_disagreement=False,
            )  # fmt: skip
            high = max(high, np.quantile(drawn, 0.5 + confidence / 2))
        return Estimate(
            n=n, value=value, se=se, low=min(float(low), value),
            high=1.0 if value > 1 - 1e-12 else max(float(high), value), method=POSTERIOR, note=note,
        )  # fmt: skip
    if ordinal or se == 0:
        reason = (
            "ordinal with linear weights, which needs draws" if ordinal else "the questions do not differ"
        )
        return Estimate(n=n, value=value, se=se, note=f"no interval: {reason}")
    degrees = (sum(part.n_answered for part in defined) if clusters is None else n_clusters) - 1
    half_width = float(scipy.special.stdtrit(degrees, 0.5 + confidence / 2)) * se
    return Estimate(
        n=n, value=value, se=se, low=max(-1.0, value - half_width), high=min(1.0, value + half_width),
        method="Gwet's", note=note,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stratum:
    """The row indices of a stratum's questions, their ratings 0 to k - 1 or -1, and the agreement weights."""

    rows: NDArray[np.int64]
    ratings: Ratings
    weights: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class _StratumCoefficient:
    """The coefficient in one stratum, from the questions ``rows`` with their ``ratings``.

    ``n`` questions have two or more answers, ``n_answered`` have one or more. ``influence`` is in the order
    of ``rows``. ``disagreements`` is the number of questions with a disagreement, ``smallest_count`` the
    smaller one of ``disagreements`` and the number of questions in the least used category. The posterior is
    drawn for ``categories``.
    """

    rows: NDArray[np.int64]
    ratings: Ratings
    weights: Matrix
    n: int
    n_answered: int
    value: float | None = None
    influence: Matrix = field(default_factory=lambda: np.zeros(0))
    disagreements: int = 0
    smallest_count: float = 0.0
    categories: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    note: str = ""


def _divide_into_strata(
    ratings: Ratings, weights: Matrix, strata: NDArray[np.int64] | None
) -> Iterator[_Stratum]:
    """Yield the strata; if there are several, each has only the categories that were used in it."""
    numbers = np.zeros(len(ratings), dtype=np.int64) if strata is None else strata
    distinct = np.unique(numbers)
    for number in distinct:
        rows = np.flatnonzero(numbers == number)
        stratum_ratings = ratings[rows]
        if len(distinct) == 1:
            yield _Stratum(rows=rows, ratings=stratum_ratings, weights=weights)
            continue
        used = np.unique(stratum_ratings[stratum_ratings >= 0])
        yield _Stratum(
            rows=rows,
            ratings=_recode(stratum_ratings, used, len(weights)),
            weights=weights[np.ix_(used, used)],
        )


def _recode(ratings: Ratings, categories: NDArray[np.int64], k: int) -> Ratings:
    """Replace the categories by their indices in ``categories``; -1 stays."""
    codes = np.full(k + 1, -1, dtype=np.int64)
    codes[categories] = np.arange(len(categories))
    return codes[ratings]


def _compute_stratum_coefficient(stratum: _Stratum, coefficient: Coefficient) -> _StratumCoefficient:
    weights, k = stratum.weights, len(stratum.weights)
    counts = _count_answers(stratum.ratings, k)
    answer_counts = counts.sum(axis=1)
    is_included = answer_counts >= (2 if coefficient is Coefficient.ALPHA else 1)
    # The degrees of freedom of all of Gwet's coefficients depend on this number.
    n_answered = int((answer_counts >= 1).sum())
    ratings, counts, answer_counts = (
        stratum.ratings[is_included],
        counts[is_included],
        answer_counts[is_included],
    )
    has_pairs = answer_counts >= 2
    n, n_pairable = len(answer_counts), int(has_pairs.sum())
    part = _StratumCoefficient(
        rows=stratum.rows[is_included], ratings=ratings, weights=weights, n=n_pairable, n_answered=n_answered
    )
    if n_pairable == 0:
        return part
    agreeing_pairs = np.sum(counts * (counts @ weights - 1.0), axis=1)
    pairs = np.where(has_pairs, answer_counts * (answer_counts - 1.0), 1.0)
    observed = np.where(has_pairs, agreeing_pairs / pairs, 0.0)
    mean_answers = float(answer_counts.mean())
    if coefficient is Coefficient.ALPHA:
        # Questions are weighted by their number of answers. The correction is for small samples, where an
        # answer is paired with itself too often.
        correction = 1.0 / (n * mean_answers)
        weighted_agreement = agreeing_pairs / (mean_answers * (answer_counts - 1.0))
        mean_observed = (1 - correction) * float(weighted_agreement.mean()) + correction
        chance, chance_influence = _compute_krippendorff_chance(counts, weights, mean_answers, answer_counts)
        observed_influence = (
            weighted_agreement - weighted_agreement.mean() * (answer_counts - mean_answers) / mean_answers
        )
        uncorrected = float(weighted_agreement.mean())
    else:
        mean_observed = uncorrected = float(observed[has_pairs].mean())
        chance, chance_influence = _compute_chance(ratings, counts, answer_counts, weights, coefficient)
        # As in Gwet, a question with one answer contributes no agreement; the other questions have the weight
        # n / n_pairable.
        observed_influence = np.where(has_pairs, observed - chance, 0.0) * (n / n_pairable) + chance
    if 1.0 - chance < 1e-12:
        return replace(part, note="not defined: one category")
    totals = counts.sum(axis=0)
    used = np.flatnonzero(totals)
    disagreements = int((counts.max(axis=1) < answer_counts).sum())
    return replace(
        part,
        disagreements=disagreements,
        value=(mean_observed - chance) / (1.0 - chance),
        influence=(observed_influence - uncorrected - (1.0 - uncorrected) / (1.0 - chance) * chance_influence)
        / (1.0 - chance),
        smallest_count=min(float(totals[used].min()) / mean_answers, disagreements),
        # If a single category was used, the draws also have one that was not used.
        categories=used if len(used) > 1 else np.unique([*used, *np.arange(min(2, k))])[:2],
    )


def _draw_coefficients(
    parts: Sequence[_StratumCoefficient],
    coefficient: Coefficient,
    clusters: NDArray[np.int64],
    *,
    draws: int,
    seed: int,
    ordinal: bool,
    with_disagreement: bool = True,
) -> Matrix:
    """Draw the mean of the strata's coefficients from their posterior, shape (draws,)."""
    n = sum(part.n for part in parts)
    strata = [_to_rated_questions(part, coefficient) for part in parts]
    return np.concatenate(
        [
            np.sum(
                [
                    part.n / n * _compute_coefficients(drawn, part, coefficient, ordinal=ordinal)
                    for part, drawn in zip(parts, stratum_draws, strict=True)
                ],
                axis=0,
            )
            for stratum_draws in draw_group_posterior(
                strata, clusters=clusters, draws=draws, seed=seed, with_disagreement=with_disagreement
            )
        ]
    )


def _to_rated_questions(part: _StratumCoefficient, coefficient: Coefficient) -> RatedQuestions:
    is_answered = part.ratings >= 0
    answer_counts = is_answered.sum(axis=1)
    # Alpha weights questions by their number of answers.
    is_weighted_by_answers = coefficient is Coefficient.ALPHA
    return RatedQuestions(
        ratings=_recode(part.ratings, part.categories, len(part.weights))[:, is_answered.any(axis=0)],
        k=len(part.categories),
        weights=answer_counts / answer_counts.mean()
        if is_weighted_by_answers
        else np.ones(len(answer_counts)),
    )


def _compute_coefficients(
    drawn: GroupDraws, part: _StratumCoefficient, coefficient: Coefficient, *, ordinal: bool
) -> Matrix:
    weights = part.weights[np.ix_(part.categories, part.categories)]
    if ordinal:
        middles = np.cumsum(drawn.overall, axis=1) - drawn.overall / 2
        squares = (middles[:, :, None] - middles[:, None, :]) ** 2
        weights = 1 - squares / np.maximum(squares.max(axis=(1, 2), keepdims=True), 1e-12)
    observed: Matrix = np.sum(drawn.pairs * weights, axis=(1, 2))
    if coefficient is Coefficient.PERCENT:
        return observed
    k = len(part.weights)
    if coefficient is Coefficient.BRENNAN_PREDIGER:
        chance: Matrix | float = float(part.weights.sum()) / k**2
    elif coefficient is Coefficient.AC1:
        scale = float(part.weights.sum()) / (k * (k - 1))
        chance = scale * np.sum(drawn.overall * (1 - drawn.overall), axis=1)
    elif coefficient is Coefficient.CONGER:
        n_raters = drawn.raters.shape[1]
        total, products = drawn.raters.sum(axis=1), (drawn.raters @ weights) * drawn.raters
        between_raters = np.sum((total @ weights) * total, axis=1) - products.sum(axis=(1, 2))
        chance = between_raters / (n_raters * (n_raters - 1))
    else:
        products = drawn.overall[:, :, None] * drawn.overall[:, None, :]
        chance = np.sum(products * weights, axis=(1, 2))
    if coefficient is Coefficient.ALPHA:
        correction = 1.0 / int((part.ratings >= 0).sum())
        observed = (1 - correction) * observed + correction
    result: Matrix = (observed - chance) / np.maximum(1.0 - chance, 1e-12)
    return result


def ordinal_weights(ratings: Ratings, *, k: int) -> Matrix:
    """Compute the weights of ordered categories for Krippendorff's ordinal alpha from the answers.

    The distance of two categories is the number of answers between them, plus half of the answers in each of
    the two. It is not the number of steps on the scale. An interval that is computed with these weights
    treats them as fixed. Use :func:`measures.agreement.agreement_weights` for weights that do not depend on
    the answers.

    Args:
        ratings: indices 0 to k - 1 of the ordered categories, -1 where missing, shape (questions, raters).
            Questions with fewer than two answers are left out.
        k: the number of categories.

    Returns:
        1 minus the squared distance, divided by the largest squared distance; shape (k, k).

    Source: Krippendorff K, Computing Krippendorff's alpha-reliability, University of Pennsylvania, 2011.

    >>> ratings = np.array([[0, 0, -1], [1, 1, 2], [2, 2, 2], [0, 1, 1]])
    >>> weights = ordinal_weights(ratings, k=3)
    >>> round(agreement_coefficient(ratings, Coefficient.ALPHA, weights=weights).value, 3)
    0.738
    """
    counts = _count_answers(ratings, k)
    totals = counts[counts.sum(axis=1) >= 2].sum(axis=0)
    middles = np.cumsum(totals) - totals / 2
    squared_distances = np.subtract.outer(middles, middles) ** 2
    weights: Matrix = 1 - squared_distances / (squared_distances.max() or 1.0)
    return weights


def fleiss_z(ratings: Ratings, *, k: int) -> float | None:
    """Divide Fleiss' kappa by its standard error under chance agreement.

    Args:
        ratings: category indices 0 to k - 1 without missing answers, shape (questions, raters), one question
            or more.
        k: the number of categories.

    Returns:
        The statistic, which is normally distributed under chance agreement; None for a single category or a
        single rater.

    Source: Fleiss JL, Nee JCM, Landis JR, Psychol Bull 1979;86:974-977.
    """
    counts = _count_answers(ratings, k)
    n, n_raters = len(counts), int(counts[0].sum())
    shares = counts.mean(axis=0) / n_raters
    products = shares * (1 - shares)
    total = float(products.sum())
    if total == 0 or n_raters < 2:
        return None
    kappa = agreement_coefficient(ratings, Coefficient.FLEISS, weights=np.eye(k), draws=0).value
    variance_term = total**2 - float(np.sum(products * (1 - 2 * shares)))
    if kappa is None or variance_term <= 0:
        return None
    return kappa / math.sqrt(2 * variance_term / (n * n_raters * (n_raters - 1))) * total


def fleiss_by_category(ratings: Ratings, *, k: int) -> list[float | None]:
    """Compute Fleiss' kappa of each category against all others.

    Args:
        ratings: category indices 0 to k - 1, -1 where missing, shape (questions, raters). Questions with
            fewer than two answers are left out.
        k: the number of categories.

    Returns:
        One kappa per category, at most 1; None if all answers or no answers are in the category.

    Source: Fleiss JL, Psychol Bull 1971;76:378-382.

    >>> fleiss_by_category(np.array([[0, 0], [1, 1], [2, 2], [0, 1]]), k=3)[2]
    1.0
    """
    counts = _count_answers(ratings, k)
    counts = counts[counts.sum(axis=1) >= 2]
    answer_counts = counts.sum(axis=1)
    kappas: list[float | None] = []
    for category in range(k):
        share = float(counts[:, category].sum() / answer_counts.sum()) if answer_counts.size else 0.0
        if share in (0.0, 1.0):
            kappas.append(None)
            continue
        disagreement = float(
            np.sum(counts[:, category] * (answer_counts - counts[:, category]) / (answer_counts - 1))
        )
        kappas.append(1 - disagreement / (float(answer_counts.sum()) * share * (1 - share)))
    return kappas


def _count_answers(ratings: Ratings, k: int) -> Matrix:
    """Count, for each question, the raters who chose each category, shape (questions, k)."""
    n_questions, n_raters = ratings.shape
    is_answered = ratings >= 0
    cells = np.repeat(np.arange(n_questions), n_raters)[is_answered.ravel()] * k + ratings[is_answered]
    return np.bincount(cells, minlength=n_questions * k).reshape(n_questions, k).astype(np.float64)


def _compute_chance(
    ratings: Ratings, counts: Matrix, answer_counts: Matrix, weights: Matrix, coefficient: Coefficient
) -> tuple[float, Matrix]:
    """Compute the chance agreement, and each question's influence on it (mean 0)."""
    k = len(weights)
    if coefficient is Coefficient.PERCENT:
        return 0.0, np.zeros(len(counts))
    if coefficient is Coefficient.BRENNAN_PREDIGER:
        return float(weights.sum()) / k**2, np.zeros(len(counts))
    if coefficient is Coefficient.CONGER:
        return _compute_conger_chance(ratings, weights)
    shares = counts / answer_counts[:, None]
    overall = shares.mean(axis=0)
    if coefficient is Coefficient.AC1:
        scale = float(weights.sum()) / (k * (k - 1)) if k > 1 else 0.0
        chance = scale * float(np.sum(overall * (1 - overall)))
        # One question's influence on sum p (1 - p) is (share - p)(1 - 2 p), which equals -2 (share - p) p.
        return chance, scale * 2 * (shares @ (1 - overall) - float(np.sum(overall * (1 - overall))))
    mean_weight = (weights @ overall + weights.T @ overall) / 2
    chance = float(overall @ weights @ overall)
    return chance, 2 * (shares @ mean_weight - chance)


def _compute_conger_chance(ratings: Ratings, weights: Matrix) -> tuple[float, Matrix]:
    """Compute the chance agreement of two different raters, each with their own category shares."""
    k = len(weights)
    is_answered = ratings >= 0
    used = is_answered.any(axis=0)
    ratings, is_answered = ratings[:, used], is_answered[:, used]
    n, n_raters = ratings.shape
    if n_raters < 2:
        return 0.0, np.zeros(n)
    shares = np.stack(
        [np.bincount(column[column >= 0], minlength=k) / (column >= 0).sum() for column in ratings.T]
    )
    total_shares = shares.sum(axis=0)
    ordered_pairs = n_raters * (n_raters - 1)
    within_rater = np.einsum("gk,kl,gl->g", shares, weights, shares)
    chance = (float(total_shares @ weights @ total_shares) - float(within_rater.sum())) / ordered_pairs
    # the expected agreement of each category of a rater with all other raters
    expected_with_others = (total_shares - shares) @ weights
    influence = np.zeros(n)
    for rater in range(n_raters):
        rows = is_answered[:, rater]
        deviation = expected_with_others[rater, ratings[rows, rater]] - float(
            shares[rater] @ expected_with_others[rater]
        )
        influence[rows] += 2 / ordered_pairs * deviation * (n / rows.sum())
    return chance, influence


def _compute_krippendorff_chance(
    counts: Matrix, weights: Matrix, mean_answers: float, answer_counts: Matrix
) -> tuple[float, Matrix]:
    overall = counts.mean(axis=0) / mean_answers
    mean_weight = (weights @ overall + weights.T @ overall) / 2
    chance = float(overall @ weights @ overall)
    influence = (
        counts @ mean_weight / mean_answers - chance * (answer_counts - mean_answers) / mean_answers - chance
    )
    return chance, 2 * influence
