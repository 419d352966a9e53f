"""Draws coefficients of agreement of two or more raters from their posterior.

The questions are weighted at random (Rubin's Bayesian bootstrap), all questions of an exam or patient alike.
The prior has the weight of two questions, as for a pair of raters (:mod:`measures.posterior`): all raters
agree in one of them, spread over the categories; in the other they divide as evenly as possible between two
categories, spread over the pairs of categories. For two raters and two categories without clusters, this is
the posterior of the 2 x 2 table.

Sources: Rubin DB, Ann Stat 1981;9:130-134; Gelman A et al., Bayesian Data Analysis, 3rd ed., 2013, ch. 3. The
coverage is simulated in ``benchmarks/coverage_agreement.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters

Matrix = NDArray[np.float64]
#: Maximum number of random weights that are held at once.
_CHUNK = 2_000_000
#: The last draws, with and without a disagreement in the prior: all coefficients of a group are computed from
#: the same draws.
_kept: dict[object, Sequence[Sequence[GroupDraws]]] = {}
_MAX_KEPT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedQuestions:
    """The questions of a stratum with ``k`` categories, 2 or more.

    ``ratings`` (questions, raters) are category indices 0 to k - 1, -1 where missing; each question has an
    answer, at least one question has two, and each rater gave one. ``weights`` (questions,) are multiplied by
    the random weights; their mean is 1, and they are equal for questions with the same answers.
    """

    ratings: NDArray[np.int64]
    k: int
    weights: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDraws:
    """Shares in a block of draws.

    ``pairs`` (draws, k, k) are the shares of the ordered pairs of answers to a question, ``overall`` (draws,
    k) the means over questions of the shares of the answers, and ``raters`` (draws, raters, k) the shares of
    each rater's answers.
    """

    pairs: Matrix
    overall: Matrix
    raters: Matrix


def draw_group_posterior(
    strata: Sequence[RatedQuestions],
    *,
    clusters: NDArray[np.int64],
    draws: int,
    seed: int,
    with_disagreement: bool = True,
) -> Sequence[Sequence[GroupDraws]]:
    """Draw the shares of answers and of pairs of answers from their posterior.

    Args:
        strata: the questions of each stratum.
        clusters: the exam or patient number of each question, those of the first stratum first.
        draws: the number of draws.
        seed: the seed of the draws.
        with_disagreement: False to omit the disagreeing question of the prior; the random numbers stay equal.

    Returns:
        Blocks of draws; a block has the draws of each stratum, in the order of the strata. Questions of
        different strata with the same cluster have the same random weight.
    """
    key = (
        tuple((stratum.ratings.shape, stratum.ratings.tobytes(), stratum.k) for stratum in strata),
        tuple(stratum.weights.tobytes() for stratum in strata), np.asarray(clusters).tobytes(), draws, seed,
        with_disagreement,
    )  # fmt: skip
    blocks = _kept.get(key)
    if blocks is None:
        blocks = list(
            _iterate_draws(
                strata, clusters=clusters, draws=draws, seed=seed, with_disagreement=with_disagreement
            )
        )
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        _kept[key] = blocks
    return blocks


def _iterate_draws(
    strata: Sequence[RatedQuestions],
    *,
    clusters: NDArray[np.int64],
    draws: int,
    seed: int,
    with_disagreement: bool,
) -> Iterator[list[GroupDraws]]:
    random = np.random.default_rng(seed)
    strata, counts, cluster_index = _merge_equal_questions(strata, clusters)
    features = [_compute_features(stratum) for stratum in strata]
    ends = np.cumsum([len(stratum.ratings) for stratum in strata]).tolist()
    step = max(1, _CHUNK // len(cluster_index))
    for start in range(0, draws, step):
        n_draws = min(step, draws - start)
        question_draws = random.standard_gamma(counts, (n_draws, len(counts)))[:, cluster_index]
        yield [
            feature.combine(
                np.concatenate(
                    [
                        question_draws[:, first:end] * stratum.weights,
                        random.standard_gamma(1 / stratum.k, (n_draws, 2 * stratum.k))
                        * np.repeat([1.0, 1.0 if with_disagreement else 0.0], stratum.k),
                    ],
                    axis=1,
                )
            )
            for stratum, feature, first, end in zip(strata, features, [0, *ends], ends, strict=False)
        ]


def _merge_equal_questions(
    strata: Sequence[RatedQuestions], clusters: NDArray[np.int64]
) -> tuple[Sequence[RatedQuestions], Matrix, NDArray[np.int64]]:
    """Merge questions with the same answers if no two questions share a cluster.

    Returns:
        The strata, the number of merged questions of each random weight, and the index of the random weight
        of each question. The sum of m exponential weights has a gamma distribution with shape m.
    """
    cluster_index, n_clusters = renumber_clusters(clusters)
    if n_clusters < len(cluster_index):
        return strata, np.ones(n_clusters), cluster_index
    merged, counts = [], []
    for stratum in strata:
        _, rows, repeats = np.unique(stratum.ratings, axis=0, return_index=True, return_counts=True)
        merged.append(replace(stratum, ratings=stratum.ratings[rows], weights=stratum.weights[rows]))
        counts.append(repeats)
    repeats = np.concatenate(counts)
    return merged, repeats.astype(np.float64), np.arange(len(repeats))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Features:
    """The shares of each question and of the questions of the prior; see :class:`GroupDraws`."""

    pairs: Matrix
    overall: Matrix
    by_rater: Matrix
    has_pairs: NDArray[np.bool_]
    k: int

    def combine(self, weights: Matrix) -> GroupDraws:
        """Compute the weighted means of the shares; ``weights`` has shape (draws, questions)."""
        draws, pair_weights = len(weights), weights[:, self.has_pairs]
        rater_shares = (weights @ self.by_rater).reshape(draws, -1, self.k)
        return GroupDraws(
            pairs=(pair_weights @ self.pairs[self.has_pairs]).reshape(draws, self.k, self.k)
            / pair_weights.sum(axis=1)[:, None, None],
            overall=weights @ self.overall / weights.sum(axis=1)[:, None],
            raters=rater_shares / rater_shares.sum(axis=2, keepdims=True),
        )


def _compute_features(stratum: RatedQuestions) -> _Features:
    ratings, k = stratum.ratings, stratum.k
    n, n_raters = ratings.shape
    indicator = np.eye(k + 1, k)[ratings].reshape(n, n_raters, k)  # the row of a missing answer is 0
    counts = indicator.sum(axis=1)
    answer_counts = counts.sum(axis=1)
    has_pairs = answer_counts >= 2
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(k), np.arange(k)] -= counts
    pairs /= np.where(has_pairs, answer_counts * (answer_counts - 1), 1.0)[:, None, None]
    prior_pairs, prior_overall = _build_prior_patterns(
        k, max(2, round(float(answer_counts[has_pairs].mean())))
    )
    return _Features(
        pairs=np.concatenate([pairs.reshape(n, -1), prior_pairs.reshape(2 * k, -1)]),
        overall=np.concatenate([counts / answer_counts[:, None], prior_overall]),
        by_rater=np.concatenate([indicator.reshape(n, -1), np.tile(prior_overall, n_raters)]),
        has_pairs=np.concatenate([has_pairs, np.ones(2 * k, dtype=bool)]),
        k=k,
    )


def _build_prior_patterns(k: int, n_raters: int) -> tuple[Matrix, Matrix]:
    """Return shares of pairs (2 k, k, k) and of answers (2 k, k): agreement, then division, by category.

    In a division, the larger half chooses one category; the smaller half is spread over the others.
    """
    larger, smaller = (n_raters + 1) // 2, n_raters // 2
    diagonal, spread = np.eye(k), (1 - np.eye(k)) / (k - 1)
    agreement = diagonal[:, :, None] * diagonal[:, None, :]
    division = larger * (larger - 1) * agreement + smaller * (smaller - 1) * spread[:, :, None] * np.eye(k)
    between = larger * smaller * diagonal[:, :, None] * spread[:, None, :]
    division = (division + between + between.transpose(0, 2, 1)) / (n_raters * (n_raters - 1))
    overall = (larger * diagonal + smaller * spread) / n_raters
    return np.concatenate([agreement, division]), np.concatenate([diagonal, overall])
