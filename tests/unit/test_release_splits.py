"""Public and private parts: linked exams are never on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidValue
from release.splits import ExamLinks, Side, SplitPlan, assign_sides, cluster_exams, find_leaks

PLAN = SplitPlan(private_share=0.3, seed=7)


def exam(name: str, *images: str, patient: str | None = None) -> ExamLinks:
    return ExamLinks(exam=name, patient=patient, images=images)


def test_exams_of_one_patient_hang_together_however_the_name_is_written():
    found = cluster_exams([exam("a", patient="P 1"), exam("b", patient=" p 1 "), exam("c", patient="P 2")])
    assert found == {"a": "a", "b": "a", "c": "c"}


def test_an_exam_without_a_patient_hangs_together_with_none():
    assert cluster_exams([exam("a", patient=""), exam("b", patient=None), exam("c", patient=" ")]) == {
        "a": "a", "b": "b", "c": "c",
    }  # fmt: skip


def test_one_image_under_two_patients_ties_both_patients_together():
    found = cluster_exams(
        [
            exam("a", "x", patient="1"),
            exam("b", "x", "y", patient="2"),
            exam("c", patient="2"),
            exam("d", "z"),
        ]
    )
    assert found == {"a": "a", "b": "a", "c": "a", "d": "d"}


def test_a_chain_of_ties_is_one_cluster():
    chain = [exam(f"e{i:03d}", f"i{i}", f"i{i + 1}") for i in range(300)]
    assert set(cluster_exams(chain).values()) == {"e000"}


def test_the_sides_are_the_same_again_and_for_any_order():
    ties = [exam(f"e{i}", patient=f"p{i % 40}") for i in range(100)]
    assert assign_sides(cluster_exams(ties), PLAN) == assign_sides(cluster_exams(reversed(ties)), PLAN)


def test_more_exams_leave_everybody_where_they_are():
    ties = [exam(f"e{i}", patient=f"p{i}") for i in range(200)]
    few, all_ = assign_sides(cluster_exams(ties[:100]), PLAN), assign_sides(cluster_exams(ties), PLAN)
    assert {name: all_[name] for name in few} == few


def test_about_the_asked_share_is_private():
    found = assign_sides(cluster_exams(exam(f"e{i}") for i in range(10_000)), PLAN)
    assert 0.28 < sum(side is Side.PRIVATE for side in found.values()) / 10_000 < 0.32


def test_another_seed_is_another_split():
    cluster_of = cluster_exams(exam(f"e{i}") for i in range(100))
    assert assign_sides(cluster_of, PLAN) != assign_sides(cluster_of, SplitPlan(private_share=0.3, seed=8))


def test_a_planted_leak_of_a_patient_and_of_an_image_is_named():
    ties = [exam("a", "x", patient="P"), exam("b", "y", patient="p"), exam("c", "x")]
    side_of = {"a": Side.PUBLIC, "b": Side.PRIVATE, "c": Side.PRIVATE}
    assert sorted(find_leaks(side_of, ties)) == [
        "image x is public in exam a and private in exam c",
        "patient p is public in exam a and private in exam b",
    ]


TIES = st.lists(
    st.builds(
        ExamLinks,
        exam=st.uuids().map(str),
        patient=st.sampled_from([None, "", "A", "a ", "b", "c", "d"]),
        images=st.lists(st.sampled_from("uvwxyz"), max_size=3, unique=True).map(tuple),
    ),
    max_size=40,
    unique_by=lambda each: each.exam,
)


@given(ties=TIES, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**31))
def test_no_split_ever_leaks(ties, share, seed):
    assert (
        find_leaks(assign_sides(cluster_exams(ties), SplitPlan(private_share=share, seed=seed)), ties) == []
    )


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InvalidValue, match="above 0 and below 1"):
        SplitPlan(private_share=share, seed=1)
