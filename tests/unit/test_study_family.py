"""P values are adjusted within the family that the protocol declares, and the report states the family."""

from __future__ import annotations

import pytest

from domain.protocols import Adjustment
from measures.families import adjust_mrmc, adjust_paired
from measures.results import MrmcComparison, PairedDifference
from reader_study.report.family import resolve_family

KINDS_BY_RATER = {"anna": "reader", "ben": "reader", "m": "model", "n : 2": "model"}


def resolve_pairs(*declared: str) -> set[frozenset[str]]:
    return set(resolve_family(declared, KINDS_BY_RATER).pairs)


def make_pair(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(
    ("entry", "expected_pairs"),
    [
        ("anna : m", {make_pair("anna", "m")}),
        ("anna:ben", {make_pair("anna", "ben")}),
        ("ben : n : 2", {make_pair("ben", "n : 2")}),
        ("readers : m", {make_pair("anna", "m"), make_pair("ben", "m")}),
        ("m : models", {make_pair("m", "n : 2")}),
        ("readers : readers", {make_pair("anna", "ben")}),
        (
            "readers-models",
            {
                make_pair("anna", "m"),
                make_pair("ben", "m"),
                make_pair("anna", "n : 2"),
                make_pair("ben", "n : 2"),
            },
        ),
    ],
)
def test_an_entry_is_resolved_to_pairs_of_raters(entry, expected_pairs):
    assert resolve_pairs(entry) == expected_pairs


def test_entries_are_combined_without_duplicate_pairs():
    assert resolve_pairs("anna : m", "m : anna", "ben : m") == {make_pair("anna", "m"), make_pair("ben", "m")}


def test_a_reader_name_stands_for_both_arms():
    kinds = {"anna (with)": "reader", "anna (without)": "reader", "m": "model"}
    resolved_pairs = resolve_family(["anna : m"], kinds).pairs
    assert resolved_pairs == {make_pair("anna (with)", "m"), make_pair("anna (without)", "m")}


def test_an_exact_name_takes_precedence_over_a_longer_name():
    kinds = {"m": "model", "m (v2)": "model", "anna": "reader"}
    assert resolve_family(["anna : m"], kinds).pairs == {make_pair("anna", "m")}


@pytest.mark.parametrize("declared", [(), ("all",), ("the two of us",), ("anna : nobody",)])
def test_without_a_usable_declaration_the_family_is_all_pairs(declared):
    assert len(resolve_family(declared, KINDS_BY_RATER).pairs) == 6


def test_the_family_is_described_with_unknown_entries():
    assert (
        "defines no family of comparisons, so p values are adjusted (Holm) for all 6 pairs"
        in resolve_family((), KINDS_BY_RATER).description
    )
    family_text = resolve_family(("anna : m", "zoe : m"), KINDS_BY_RATER).description
    assert "declares, 1 pair: anna : m." in family_text
    assert "Entries without raters of this study: 'zoe : m'" in family_text


def make_difference(task: str, a: str, b: str, p: float | None) -> PairedDifference:
    return PairedDifference(
        a=a, b=b, task=task, n=9, both=0, a_only=0, b_only=0, neither=9, difference=0.0, low=0.0,
        high=0.0, p_exact=p, p_mid=p, p_adjusted=1.0, note="",
    )  # fmt: skip


def test_holm_adjustment_overall_and_by_task():
    paired = [
        make_difference("all", "anna", "m", 0.02),
        make_difference("all", "ben", "m", 0.04),
        make_difference("all", "anna", "ben", 0.001),
        make_difference("presence", "anna", "m", 0.03),
        make_difference("presence", "ben", "m", None),
        make_difference("location", "anna", "m", 0.01),
    ]
    pairs = resolve_family(("readers : m",), KINDS_BY_RATER).pairs
    adjusted = adjust_paired(paired, pairs, Adjustment.HOLM)
    # Rows over all tasks: 2 p values in the family, so .02 * 2 and .04 * 1. The pair outside the family is
    # not adjusted. Rows by task form a second family: .01 * 2 and .03 * 1.
    assert [difference.p_adjusted for difference in adjusted] == [0.04, 0.04, None, 0.03, None, 0.02]
    assert adjusted[2].note == "p_adjusted: outside the family"
    assert paired[0].p_adjusted == 1.0


def test_the_models_of_a_family_are_adjusted_together():
    def compare(model: str, p: float, *, random_readers: bool = True, task: str = "all") -> MrmcComparison:
        return MrmcComparison(
            model=model, task=task, readers=3, cases=9, difference=0.0, p=p, random_readers=random_readers
        )

    rows = [
        compare("m", 0.02),
        compare("n : 2", 0.04),
        compare("m", 0.01, random_readers=False),
        compare("m", 0.03, task="presence"),
    ]
    all_pairs = resolve_family((), KINDS_BY_RATER).pairs
    adjusted = adjust_mrmc(rows, all_pairs, kinds=KINDS_BY_RATER, adjustment=Adjustment.HOLM)
    assert [row.p_adjusted for row in adjusted] == [0.04, 0.04, 0.01, 0.03]
    only_m = resolve_family(("readers : m",), KINDS_BY_RATER).pairs
    adjusted = adjust_mrmc(rows, only_m, kinds=KINDS_BY_RATER, adjustment=Adjustment.HOLM)
    assert [row.p_adjusted for row in adjusted] == [0.02, None, 0.01, 0.03]
