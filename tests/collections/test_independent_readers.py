"""CheXpert's radiologists against eight models: readers who set the reference, and independent ones."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from cli import main
from tests.collections.folder import COLLECTIONS

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "examples" / "chexpert_readers.py"


@pytest.mark.full
def test_the_primary_comparison_uses_the_independent_readers(tmp_path):
    # The reference is the majority of five of the eight readers. Including these five makes p too small.
    ratings, out = tmp_path / "ratings.csv", tmp_path / "measures.json"
    script = runpy.run_path(str(SCRIPT))
    assert script["main"](COLLECTIONS / "readers-chexpert", ratings) == 0
    assert main(["measure", str(ratings), "--bootstrap", "0", "--out", str(out)]) == 0
    comparisons = [
        row
        for row in json.loads(out.read_text(encoding="utf-8"))["mrmc"]
        if row["task"] == "all" and row["random_readers"]
    ]
    by_set = {
        includes_helpers: [row for row in comparisons if row["includes_helpers"] is includes_helpers]
        for includes_helpers in (False, True)
    }
    assert {(row["readers"], row["cases"]) for row in by_set[True]} == {(8, 1290)}
    assert {(row["readers"], row["cases"]) for row in by_set[False]} == {(3, 1290)}
    for independent_row, full_row in zip(by_set[False], by_set[True], strict=True):
        assert independent_row["model"] == full_row["model"]
        assert independent_row["p"] > 10 * full_row["p"], independent_row["model"]
    # With Bonferroni, all eight models differ from the eight readers, but only two differ from the three.
    bonferroni = {
        includes_helpers: sorted(8 * row["p"] for row in rows) for includes_helpers, rows in by_set.items()
    }
    assert bonferroni[True][-1] == pytest.approx(0.0125, abs=5e-5)
    assert [p < 0.05 for p in bonferroni[False]] == [True] * 2 + [False] * 6
    # With Holm, which the protocol declares, all models differ from the three readers, too.
    assert max(row["p_adjusted"] for row in by_set[False]) == pytest.approx(0.0455, abs=5e-5)
