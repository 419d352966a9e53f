"""Adjustment of p values."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from domain.protocols import Adjustment
from measures.multiplicity import adjust_by_group, adjust_p_values


@pytest.mark.parametrize(("adjustment", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjusted_p_values_equal_statsmodels(adjustment, method):
    p_values = np.random.default_rng(3).random(40) ** 3
    expected = multipletests(p_values, method=method)[1]
    assert adjust_p_values(list(p_values), Adjustment(adjustment)) == pytest.approx(list(expected), rel=1e-12)


def test_comparisons_outside_the_family_do_not_count():
    assert adjust_p_values([0.03, None, 0.02]) == [0.04, None, 0.04]
    assert adjust_p_values([None]) == [None]


def test_each_group_is_a_family():
    assert adjust_by_group([0.02, 0.03, 0.04], ["a", "b", "a"], Adjustment.HOLM) == [0.04, 0.03, 0.04]


def test_holm_equals_the_hand_calculation():
    # .01 x 3, then .02 x 2 = .04, then max(.04, .03 x 1)
    assert adjust_p_values([0.03, 0.01, None, 0.02]) == pytest.approx([0.04, 0.03, None, 0.04])
