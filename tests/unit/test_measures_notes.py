"""Undefined values in ``measures.json`` are null, and the record's note states why, in every record."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from domain.errors import Refused
from measures.agreement import Weights
from measures.records.settings import READERS_WITH_MODELS, Settings
from tests.unit.measuring import measured, only


def letters(seed, n, *, many):
    """``n`` answers of one rater; some are missing or "cannot determine"."""
    return "".join(np.random.default_rng(seed).choice(list("ABC? " if many else "AAAA "), size=n))


@pytest.mark.parametrize(("weights", "reference"), list(product(Weights, [True, False])))
@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("many", [True, False])
def test_no_number_is_null_without_a_reason(weights, reference, n, many):
    answers = {name: letters(seed, n, many=many) for seed, name in enumerate(["r1", "r2", "m1", "m2"])}
    if reference:
        answers["ref"] = "A" * n
    settings = Settings(bootstrap=0, weights=weights, family=READERS_WITH_MODELS)
    try:
        found = measured(answers, settings, task=("xy" * n)[:n], exam=("eeffgg" * n)[:n]).to_records()
    except Refused:
        pytest.fail("the table is one that can be measured")
    for name, records in found.items():
        for record in records:
            undefined = [field for field, value in record.items() if value is None]
            assert not undefined or record["note"], (name, undefined, record)


def test_the_reason_names_the_coefficients_that_it_is_of():
    found = measured({"r1": "ABAB", "r2": "ABBB"}, Settings(bootstrap=0, weights=Weights.LINEAR)).group[0]
    assert (found.alpha_low, found.cochran_q) == (None, None)
    assert "alpha: no interval: ordinal with linear weights" in found.note
    assert "cochran_q: not defined: no question with a truth that all answered" in found.note


def test_where_nothing_divides_the_raters_cochrans_q_says_so():
    found = measured({"r1": "ABAB", "r2": "ABAB", "ref": "ABAA"}).group[0]
    assert (found.cochran_q, found.q_p) == (None, 1.0)
    assert found.note.endswith("cochran_q: not defined: no question divides the raters")


def test_a_pair_says_why_it_has_no_share_of_the_same_wrong_answer():
    records = measured({"r1": "AB", "r2": "AB", "ref": "AB"}).agreement
    assert "both_wrong: not defined: both had no question wrong" in only(records, a="r1", b="r2").note
    assert "both_wrong: not defined: one of the two is the truth" in only(records, a="r1", b="ref").note


def test_a_pair_outside_the_family_says_so():
    answers = {"r1": "AB", "r2": "BB", "m1": "AA", "ref": "AB"}
    records = measured(answers, Settings(bootstrap=0, family=READERS_WITH_MODELS)).paired
    assert only(records, a="r1", b="r2").note == "p_holm: outside the family"
    assert only(records, a="m1", b="r1").note == ""
