"""Dawid and Skene's model against their published example, and its intervals against simulated truth."""

from __future__ import annotations

import numpy as np
import pytest

from measures.dawid_skene import estimate_model_shares, explain_not_identified, fit_dawid_skene

#: Dawid and Skene, Table 1: the fitness for anaesthesia of 45 patients, 1 to 4, by five observers. The first
#: observer judged three times.
ANAESTHESIA = (  # noqa: SIM905 - the rows of a table
    "111,1,1,1,1 333,4,3,3,4 112,2,1,2,2 222,3,1,2,1 222,3,2,2,2 222,3,3,2,2 122,2,1,1,1 333,3,4,3,3 "
    "222,2,2,2,3 232,2,2,2,3 444,4,4,4,4 222,3,3,4,3 111,1,1,1,1 222,3,2,1,2 121,1,1,1,1 111,2,1,1,1 "
    "111,1,1,1,1 111,1,1,1,1 222,2,2,2,1 222,1,3,2,2 222,2,2,2,2 222,2,2,2,1 222,3,2,2,2 221,2,2,2,2 "
    "111,1,1,1,1 111,1,1,1,1 232,2,2,2,2 111,1,1,1,1 111,1,1,1,1 112,1,1,2,1 111,1,1,1,1 333,3,2,3,3 "
    "111,1,1,1,1 222,2,2,2,2 222,3,2,3,2 433,4,3,4,3 221,2,2,3,2 232,3,2,3,3 333,3,4,3,2 111,1,1,1,1 "
    "111,1,1,1,1 121,2,1,1,1 232,2,2,2,2 121,1,1,1,1 222,2,2,2,2"
).split()


def count_votes(votes, k):
    """Counts of shape (n, R, k) from one vote per rater, -1 for none."""
    return (np.asarray(votes)[:, :, None] == np.arange(k)).astype(np.int64)


def simulate(random, n, prevalence, confusion):
    truth = random.choice(len(prevalence), size=n, p=prevalence)
    chances = np.cumsum(np.asarray(confusion)[:, truth, :], axis=2)
    return truth, (random.random((len(confusion), n, 1)) > chances).sum(axis=2).T


def test_the_published_estimates_of_the_anaesthetists_are_reproduced():
    counts = np.zeros((45, 5, 4), dtype=np.int64)
    for patient, row in enumerate(ANAESTHESIA):
        for observer, marks in enumerate(row.split(",")):
            for mark in marks:
                counts[patient, observer, int(mark) - 1] += 1
    model = fit_dawid_skene(counts)
    assert model.prevalence.round(2).tolist() == [0.4, 0.42, 0.11, 0.07]
    assert model.confusion[0].round(2).tolist() == [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
    ]
    # crowd-kit 1.4.2 on the same data: its stopping rule is looser
    assert model.prevalence == pytest.approx([0.3997, 0.4224, 0.1112, 0.0667], abs=0.002)


def test_a_rater_who_states_the_opposite_is_recognised():
    random = np.random.default_rng(2)
    good, opposite = [[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]
    truth, votes = simulate(random, 600, [0.7, 0.3], [good, good, good, opposite])
    model = fit_dawid_skene(count_votes(votes, 2))
    assert model.confusion[3] == pytest.approx(np.array(opposite), abs=0.06)
    majority = (votes.sum(axis=1) > 2).astype(int)
    assert np.mean(model.posteriors.argmax(axis=1) == truth) > np.mean(majority == truth) + 0.02


def test_verdicts_requested_because_of_the_first_verdict_do_not_bias_the_estimates():
    random = np.random.default_rng(3)
    confusion = [[[0.9, 0.1], [0.2, 0.8]]] * 3
    _, votes = simulate(random, 4000, [0.8, 0.2], confusion)
    votes[:, 1:][votes[:, 0] == 0] = np.where(random.random((int((votes[:, 0] == 0).sum()), 1)) < 0.2,
                                              votes[:, 1:][votes[:, 0] == 0], -1)  # fmt: skip
    model = fit_dawid_skene(count_votes(votes, 2))
    assert model.prevalence == pytest.approx([0.8, 0.2], abs=0.03)
    assert model.confusion[1] == pytest.approx(np.array(confusion[1]), abs=0.04)


def test_fewer_than_20_questions_judged_by_three_raters_do_not_identify_the_model():
    votes = np.zeros((200, 3), dtype=np.int64)
    assert explain_not_identified(count_votes(votes, 2)) is None
    votes[19:, 2] = -1
    assert explain_not_identified(count_votes(votes, 2)) == (
        "not defined: 19 questions judged by three or more reviewers; at least 20 are needed"
    )


def test_a_rater_with_few_shared_questions_and_a_rare_category_have_no_estimates():
    random = np.random.default_rng(4)
    _, votes = simulate(random, 100, [0.98, 0.02], [[[0.95, 0.05], [0.1, 0.9]]] * 4)
    votes[10:, 3] = -1
    counts = count_votes(votes, 2)
    shares = estimate_model_shares(counts, fit_dawid_skene(counts), np.arange(100), seed=1).confusion
    assert [shares[3][0][0].estimate, shares[0][1][1].estimate] == [None, None]
    assert shares[0][0][0].low < shares[0][0][0].estimate < shares[0][0][0].high


def test_the_same_questions_twice_on_one_exam_do_not_narrow_the_interval():
    random = np.random.default_rng(5)
    _, votes = simulate(random, 80, [0.6, 0.4], [[[0.85, 0.15], [0.2, 0.8]]] * 3)
    once = count_votes(votes, 2)
    twice = np.repeat(once, 2, axis=0)
    widths = []
    for counts, exams in ((once, np.arange(80)), (twice, np.arange(160) // 2)):
        share = estimate_model_shares(counts, fit_dawid_skene(counts), exams, seed=1).confusion[0][0][0]
        widths.append(share.high - share.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


@pytest.mark.full
def test_the_intervals_of_the_confusion_matrix_cover_the_true_values():
    random, hits = np.random.default_rng(6), []
    confusion = np.array([[[0.95, 0.05], [0.15, 0.85]], [[0.9, 0.1], [0.2, 0.8]], [[0.97, 0.03], [0.3, 0.7]]])
    for _ in range(25):
        _, votes = simulate(random, 200, [0.75, 0.25], confusion)
        counts = count_votes(votes, 2)
        model_shares = estimate_model_shares(counts, fit_dawid_skene(counts), np.arange(200), seed=1)
        shares, healthy = model_shares.confusion, model_shares.prevalence[0]
        hits.append(healthy.low <= 0.75 <= healthy.high)
        hits += [
            shares[rater][true][true].low <= confusion[rater, true, true] <= shares[rater][true][true].high
            for rater in range(3)
            for true in range(2)
        ]
    assert np.mean(hits) >= 0.93
