"""Holm's adjustment in a study's report counts the declared family of the protocol, and names it."""

from __future__ import annotations

import pytest

from measures.results import PairedDifference
from reader_study.report.family import adjust_p_values, resolve_family

KINDS = {"anna": "reader", "ben": "reader", "m": "model", "n : 2": "model"}


def pairs(*declared: str) -> set[frozenset[str]]:
    return set(resolve_family(declared, KINDS).pairs)


def two(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ("anna : m", {two("anna", "m")}),
        ("anna:ben", {two("anna", "ben")}),
        ("ben : n : 2", {two("ben", "n : 2")}),
        ("readers : m", {two("anna", "m"), two("ben", "m")}),
        ("m : models", {two("m", "n : 2")}),
        ("readers : readers", {two("anna", "ben")}),
        (
            "readers-models",
            {two("anna", "m"), two("ben", "m"), two("anna", "n : 2"), two("ben", "n : 2")},
        ),
    ],
)
def test_an_entry_means_pairs_of_raters(entry, meant):
    assert pairs(entry) == meant


def test_entries_add_up_and_a_pair_counts_once():
    assert pairs("anna : m", "m : anna", "ben : m") == {two("anna", "m"), two("ben", "m")}


def test_a_reader_of_two_arms_is_meant_with_each():
    kinds = {"anna (told)": "reader", "anna (untold)": "reader", "m": "model"}
    found = resolve_family(["anna : m"], kinds).pairs
    assert found == {two("anna (told)", "m"), two("anna (untold)", "m")}


def test_a_name_is_meant_before_what_only_begins_with_it():
    kinds = {"m": "model", "m (v2)": "model", "anna": "reader"}
    assert resolve_family(["anna : m"], kinds).pairs == {two("anna", "m")}


@pytest.mark.parametrize("declared", [(), ("all",), ("the two of us",), ("anna : nobody",)])
def test_nothing_becomes_more_certain_by_not_being_declared(declared):
    assert len(resolve_family(declared, KINDS).pairs) == 6


def test_it_is_said_what_is_counted_and_what_was_not_understood():
    assert "declares no family: p (Holm) counts all 6 pairs" in resolve_family((), KINDS).description
    words = resolve_family(("anna : m", "zoe : m"), KINDS).description
    assert "declares, 1 pair within a task: anna : m." in words
    assert "no raters of this study with 'zoe : m'" in words


def test_holm_by_hand_within_each_task():
    def record(task: str, a: str, b: str, p: float | None) -> PairedDifference:
        return PairedDifference(
            a=a, b=b, task=task, n=9, both=0, a_only=0, b_only=0, neither=9, difference=0.0, low=0.0,
            high=0.0, p_exact=p, p_mid=p, p_holm=1.0, note="",
        )  # fmt: skip

    paired = [
        record("all", "anna", "m", 0.02),
        record("all", "ben", "m", 0.04),
        record("all", "anna", "ben", 0.001),
        record("presence", "anna", "m", 0.03),
        record("presence", "ben", "m", None),
    ]
    found = adjust_p_values(paired, resolve_family(("readers : m",), KINDS))
    # two in the family: the smaller p times 2, the other times 1; outside it none; alone unchanged
    assert [each.p_holm for each in found] == [0.04, 0.04, None, 0.03, None]
    assert paired[0].p_holm == 1.0
