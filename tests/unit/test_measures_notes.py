"""Undefined values in ``measures.json`` are null, and the record's note states why, in every record."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from domain.errors import Refused
from measures.agreement import Weights
from measures.families import READERS_WITH_MODELS
from measures.records.settings import Settings
from tests.unit.measure_helpers import find_only, measure_answers


def draw_letters(seed, n, *, varied):
    """``n`` answers of one rater, mostly A unless ``varied``; some are missing or "cannot determine"."""
    return "".join(np.random.default_rng(seed).choice(list("ABC? " if varied else "AAAA "), size=n))


@pytest.mark.parametrize(("weights", "reference"), list(product(Weights, [True, False])))
@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("varied", [True, False])
@pytest.mark.slow
def test_every_null_has_a_note(weights, reference, n, varied):
    answers = {
        name: draw_letters(seed, n, varied=varied) for seed, name in enumerate(["r1", "r2", "m1", "m2"])
    }
    if reference:
        answers["ref"] = "A" * n
    settings = Settings(bootstrap=0, weights=weights, family=READERS_WITH_MODELS)
    try:
        tables = measure_answers(answers, settings, task=("xy" * n)[:n], exam=("eeffgg" * n)[:n]).to_records()
    except Refused:
        pytest.fail("measuring a valid table was refused")
    for name, records in tables.items():
        for record in records:
            undefined = [field for field, value in record.items() if value is None]
            assert not undefined or record["note"], (name, undefined, record)


def test_the_note_names_the_coefficients_that_it_explains():
    group = measure_answers(
        {"r1": "ABAB", "r2": "ABBB"}, Settings(bootstrap=0, weights=Weights.LINEAR)
    ).group[0]
    assert (group.alpha_low, group.cochran_q) == (None, None)
    assert "alpha: no interval: ordinal with linear weights" in group.note
    assert "cochran_q: not defined: no question with a reference answer was answered by all" in group.note


def test_cochrans_q_notes_that_no_question_divides_the_raters():
    group = measure_answers({"r1": "ABAB", "r2": "ABAB", "ref": "ABAA"}).group[0]
    assert (group.cochran_q, group.q_p) == (None, 1.0)
    assert group.note.endswith("no question was answered correctly by some raters and incorrectly by others")


def test_a_pair_notes_why_both_wrong_is_not_defined():
    records = measure_answers({"r1": "AB", "r2": "AB", "ref": "AB"}).agreement
    assert (
        "both_wrong: not defined: no question was answered incorrectly by both"
        in find_only(records, a="r1", b="r2").note
    )
    note = find_only(records, a="r1", b="ref").note
    assert "both_wrong: not defined: one of the two raters is the reference" in note


def test_a_pair_outside_the_family_has_a_note():
    answers = {"r1": "AB", "r2": "BB", "m1": "AA", "ref": "AB"}
    records = measure_answers(answers, Settings(bootstrap=0, family=READERS_WITH_MODELS)).paired
    assert find_only(records, a="r1", b="r2").note == "p_adjusted: outside the family"
    assert find_only(records, a="m1", b="r1").note == ""
