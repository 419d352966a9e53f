"""Splits of a release: linked exams are never in two splits."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidValue
from release.leaks import ExamLinks, find_leaks, hash_report
from release.splits import (
    Split,
    SplitPlan,
    assign_linked_splits,
    assign_splits,
    cluster_exams,
    link_exam,
)

PLAN = SplitPlan(private_share=0.3, seed=7)


def make_exam(name: str, *images: str, patient: str | None = None) -> ExamLinks:
    return ExamLinks(exam=name, patient=patient, images=images)


def test_exams_of_one_patient_form_a_cluster_in_any_spelling():
    clusters = cluster_exams(
        [make_exam("a", patient="P 1"), make_exam("b", patient=" p 1 "), make_exam("c", patient="P 2")]
    )
    assert clusters == {"a": "a", "b": "a", "c": "c"}


def test_an_exam_without_a_patient_is_a_cluster_of_its_own():
    assert cluster_exams(
        [make_exam("a", patient=""), make_exam("b", patient=None), make_exam("c", patient=" ")]
    ) == {
        "a": "a",
        "b": "b",
        "c": "c",
    }


def test_a_shared_image_joins_the_exams_of_two_patients():
    clusters = cluster_exams(
        [
            make_exam("a", "x", patient="1"),
            make_exam("b", "x", "y", patient="2"),
            make_exam("c", patient="2"),
            make_exam("d", "z"),
        ]
    )
    assert clusters == {"a": "a", "b": "a", "c": "a", "d": "d"}


def test_a_chain_of_shared_images_is_one_cluster():
    chain = [make_exam(f"e{i:03d}", f"i{i}", f"i{i + 1}") for i in range(300)]
    assert set(cluster_exams(chain).values()) == {"e000"}


def test_the_splits_do_not_depend_on_the_order_of_exams():
    exams = [make_exam(f"e{i}", patient=f"p{i % 40}") for i in range(100)]
    assert assign_splits(cluster_exams(exams), PLAN) == assign_splits(cluster_exams(reversed(exams)), PLAN)


def test_further_exams_do_not_move_existing_ones():
    exams = [make_exam(f"e{i}", patient=f"p{i}") for i in range(200)]
    splits_before, splits_after = (
        assign_splits(cluster_exams(exams[:100]), PLAN),
        assign_splits(cluster_exams(exams), PLAN),
    )
    assert {name: splits_after[name] for name in splits_before} == splits_before


def test_about_the_planned_share_is_private():
    splits = assign_splits(cluster_exams(make_exam(f"e{i}") for i in range(10_000)), PLAN)
    assert 0.28 < sum(split is Split.PRIVATE for split in splits.values()) / 10_000 < 0.32


def test_another_seed_gives_another_split():
    cluster_by_exam = cluster_exams(make_exam(f"e{i}") for i in range(100))
    assert assign_splits(cluster_by_exam, PLAN) != assign_splits(
        cluster_by_exam, SplitPlan(private_share=0.3, seed=8)
    )


def pair_with_splits(split_by_exam, exams):
    return [(split_by_exam[exam.exam], exam) for exam in exams]


def test_leaks_of_a_patient_and_an_image_are_found():
    exams = [make_exam("a", "x", patient="P"), make_exam("b", "y", patient="p"), make_exam("c", "x")]
    split_by_exam = {"a": Split.TRAIN, "b": Split.PRIVATE, "c": Split.TEST}
    assert [str(leak) for leak in find_leaks(pair_with_splits(split_by_exam, exams))] == [
        "patient p is in train (exam a) and in private (exam b)",
        "image x is in train (exam a) and in test (exam c)",
    ]


def test_equal_reports_in_two_groups_are_found_in_any_layout():
    reports = ["Heart  normal.\nLungs clear.", "heart normal. lungs clear.", "Effusion.", ""]
    exams = [
        ExamLinks(exam=str(number), patient=None, images=(), report=hash_report(report))
        for number, report in enumerate(reports)
    ]
    [leak] = find_leaks(zip("abab", exams, strict=True))
    assert leak.exams == {"a": ("0",), "b": ("1",)}


EXAM_LINKS = st.lists(
    st.builds(
        ExamLinks,
        exam=st.uuids().map(str),
        patient=st.sampled_from([None, "", "A", "a ", "b", "c", "d"]),
        images=st.lists(st.sampled_from("uvwxyz"), max_size=3, unique=True).map(tuple),
    ),
    max_size=40,
    unique_by=lambda links: links.exam,
)


@given(links=EXAM_LINKS, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**31))
def test_a_split_never_leaks(links, share, seed):
    plan = SplitPlan(private_share=share / 2, valid_share=(1 - share) / 2, test_share=share / 4, seed=seed)
    assert find_leaks(pair_with_splits(assign_splits(cluster_exams(links), plan), links)) == []


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_an_invalid_private_share_is_refused(share):
    with pytest.raises(InvalidValue, match="below 1"):
        SplitPlan(private_share=share, seed=1)


def test_shares_that_leave_nothing_for_the_training_split_are_refused():
    with pytest.raises(InvalidValue, match=r"below 1 together, not 1\.1"):
        SplitPlan(private_share=0.5, valid_share=0.3, test_share=0.3, seed=1)


def test_the_planned_shares_are_met_and_the_private_split_does_not_depend_on_the_others():
    plan = SplitPlan(private_share=0.3, valid_share=0.1, test_share=0.2, seed=7)
    clusters = cluster_exams(make_exam(f"e{i}") for i in range(10_000))
    splits, private_only = assign_splits(clusters, plan), assign_splits(clusters, PLAN)
    counts = Counter(splits.values())
    assert {split: round(counts[split] / 10_000, 2) for split in plan.shares} == pytest.approx(
        {Split.TRAIN: 0.4, Split.VALID: 0.1, Split.TEST: 0.2, Split.PRIVATE: 0.3}, abs=0.02
    )
    assert {exam for exam, split in splits.items() if split is Split.PRIVATE} == {
        exam for exam, split in private_only.items() if split is Split.PRIVATE
    }


def test_files_with_the_same_pixels_link_their_exams():
    pixel_hash = {"png": "pixels", "dicom": "pixels"}
    links = [
        link_exam(exam, patient=None, images=images, pixel_hash=pixel_hash)
        for exam, images in (("a", ["png"]), ("b", ["dicom"]), ("c", ["unreadable"]))
    ]
    assert [link.images for link in links] == [("pixels",), ("pixels",), ("unreadable",)]
    for seed in range(20):
        splits = assign_linked_splits(links, SplitPlan(private_share=0.5, seed=seed))
        assert splits["a"] is splits["b"]
