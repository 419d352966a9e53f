"""What most raters say, and when nobody can tell."""

from __future__ import annotations

from itertools import permutations

from measures.consensus import majority


def test_the_most_frequent_answer_is_the_consensus():
    found = majority(["A", "B", "A", ""])
    assert (found.answer, found.votes, found.n) == ("A", 2, 3)


def test_a_tie_is_no_consensus_in_any_order():
    for order in permutations(["A", "A", "B", "B", "C"]):
        found = majority(order)
        assert (found.answer, found.note) == (None, "no consensus: a tie")


def test_the_strict_majority_is_more_than_half():
    answers = ["A", "A", "B", "C"]
    assert majority(answers).answer == "A"
    assert majority(answers, strict=True).note == "no consensus: no more than half agree"


def test_without_an_answer_there_is_none():
    assert majority(["", ""]).note == "no consensus: nobody answered"
