"""A balanced selection has the chosen share of healthy exams, and divides the others evenly over findings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.batches import ExamBalance, SamplingPlan
from domain.errors import InvalidValue, Refused
from sampling.balance import ExamFindings, allocate_evenly, select_balanced_exams
from storage.sampling.batches import plan_from_dict, plan_to_dict


def make_exams(*groups: tuple[int, set[str]]) -> list[ExamFindings]:
    """Exams with these findings; an empty set stands for healthy."""
    states = [findings for count, findings in groups for _ in range(count)]
    return [
        ExamFindings(number=number, exam=f"e{number}", findings=frozenset(findings), is_healthy=not findings)
        for number, findings in enumerate(states, start=1)
    ]


EXAMS = make_exams((900, set()), (500, {"effusion"}), (60, {"edema", "effusion"}), (20, {"nodule"}))


def test_300_exams_with_the_share_of_gemex_have_37_healthy_ones():
    """300 x 12.48 % = 37.44. The other 263: nodule has 20, edema only 60, effusion the remaining 183."""
    selection = select_balanced_exams(EXAMS, ExamBalance(exams=300, healthy_share=0.1248), seed=7)
    assert (len(selection.numbers), selection.healthy) == (300, 37)
    assert selection.by_finding == (("effusion", 183), ("edema", 60), ("nodule", 20))


def test_an_exam_with_several_findings_counts_for_the_rarest():
    selection = select_balanced_exams(EXAMS, ExamBalance(exams=30, healthy_share=0), seed=7)
    assert selection.by_finding == (("edema", 10), ("effusion", 10), ("nodule", 10))
    assert sum(1401 <= number <= 1460 for number in selection.numbers) == 10


def test_the_selection_depends_on_the_seed_and_not_on_the_order():
    balance = ExamBalance(exams=100, healthy_share=0.5)
    first = select_balanced_exams(EXAMS, balance, seed=7)
    assert select_balanced_exams(EXAMS[::-1], balance, seed=7) == first
    assert select_balanced_exams(EXAMS, balance, seed=8).numbers != first.numbers


def test_too_few_healthy_exams_are_refused_with_the_numbers():
    with pytest.raises(Refused, match="needs 8 healthy exams and 2 with findings, but the reports state 3"):
        select_balanced_exams(
            make_exams((3, set()), (9, {"nodule"})), ExamBalance(exams=10, healthy_share=0.8), seed=1
        )
    with pytest.raises(Refused, match="0 with findings"):
        select_balanced_exams(make_exams((3, set())), ExamBalance(exams=2, healthy_share=0.5), seed=1)


@pytest.mark.parametrize(
    ("exams", "share"), [(0, 0.5), (10_001, 0.5), (5, -0.1), (5, 1.1), (5, float("nan"))]
)
def test_values_outside_their_range_are_refused(exams, share):
    with pytest.raises(InvalidValue):
        ExamBalance(exams=exams, healthy_share=share)


def test_a_plan_with_a_balance_is_stored_and_loaded():
    plan = SamplingPlan(seed=1, per_1000=1000, balance=ExamBalance(exams=5, healthy_share=0.2))
    assert plan_from_dict(plan_to_dict(plan)).balance == plan.balance
    assert "balance" not in plan_to_dict(SamplingPlan(seed=1))


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=8), st.integers(0, 300))
def test_an_even_allocation_uses_all_and_differs_by_at_most_one_unless_exhausted(sizes, n):
    counts = allocate_evenly(n, sizes=sizes)
    assert sum(counts.values()) == min(n, sum(sizes.values()))
    open_counts = [count for name, count in counts.items() if count < sizes[name]]
    assert max(counts.values(), default=0) - min(open_counts, default=10**6) <= 1
