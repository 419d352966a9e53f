"""Many submissions gain nothing with the Ladder: a reduced form of benchmarks/leaderboard_attack.py."""

from __future__ import annotations

import pytest

from benchmarks.leaderboard_attack import ATTACKS, LadderBoard, OpenBoard, measure_gain


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
@pytest.mark.slow
def test_an_attack_gains_over_3_standard_errors_without_the_ladder_and_at_most_1_with_it(attack):
    settings = {"questions": 1000, "repetitions": 12}
    assert measure_gain(OpenBoard, attack, **settings).mean > 3
    assert measure_gain(LadderBoard, attack, **settings).mean <= 1
