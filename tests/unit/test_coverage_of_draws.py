"""The coverage of intervals from draws by risk: the short form of benchmarks/coverage_draws.py."""

from __future__ import annotations

import pytest

from benchmarks.coverage_draws import simulate_draws

pytestmark = pytest.mark.full


def test_both_intervals_cover_in_every_design():
    cells = [
        *simulate_draws(
            120,
            seed=4,
            designs=("uniform", "by risk", "misleading risk", "by patient"),
            strata=(3, 36),
            judged=(120,),
        ),
        *simulate_draws(30, seed=4, designs=("at every look",), rates=(0.03,), strata=(3,)),
    ]
    assert [cell for cell in cells if not cell.is_covered()] == []
