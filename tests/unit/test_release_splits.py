"""Public and private parts: linked exams are never on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidValue
from release.splits import (
    ExamLinks,
    Side,
    SplitPlan,
    assign_linked_sides,
    assign_sides,
    cluster_exams,
    find_leaks,
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


def test_the_sides_do_not_depend_on_the_order_of_exams():
    exams = [make_exam(f"e{i}", patient=f"p{i % 40}") for i in range(100)]
    assert assign_sides(cluster_exams(exams), PLAN) == assign_sides(cluster_exams(reversed(exams)), PLAN)


def test_further_exams_do_not_move_existing_ones():
    exams = [make_exam(f"e{i}", patient=f"p{i}") for i in range(200)]
    sides_before, sides_after = (
        assign_sides(cluster_exams(exams[:100]), PLAN),
        assign_sides(cluster_exams(exams), PLAN),
    )
    assert {name: sides_after[name] for name in sides_before} == sides_before


def test_about_the_planned_share_is_private():
    sides = assign_sides(cluster_exams(make_exam(f"e{i}") for i in range(10_000)), PLAN)
    assert 0.28 < sum(side is Side.PRIVATE for side in sides.values()) / 10_000 < 0.32


def test_another_seed_gives_another_split():
    cluster_by_exam = cluster_exams(make_exam(f"e{i}") for i in range(100))
    assert assign_sides(cluster_by_exam, PLAN) != assign_sides(
        cluster_by_exam, SplitPlan(private_share=0.3, seed=8)
    )


def test_leaks_of_a_patient_and_an_image_are_found():
    exams = [make_exam("a", "x", patient="P"), make_exam("b", "y", patient="p"), make_exam("c", "x")]
    side_by_exam = {"a": Side.PUBLIC, "b": Side.PRIVATE, "c": Side.PRIVATE}
    assert sorted(find_leaks(side_by_exam, exams)) == [
        "image x is public in exam a and private in exam c",
        "patient p is public in exam a and private in exam b",
    ]


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


@given(ties=EXAM_LINKS, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**31))
def test_a_split_never_leaks(ties, share, seed):
    assert (
        find_leaks(assign_sides(cluster_exams(ties), SplitPlan(private_share=share, seed=seed)), ties) == []
    )


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_an_invalid_private_share_is_refused(share):
    with pytest.raises(InvalidValue, match="above 0 and below 1"):
        SplitPlan(private_share=share, seed=1)


def test_files_with_the_same_pixels_link_their_exams():
    pixel_hash = {"png": "pixels", "dicom": "pixels"}
    links = [
        link_exam(exam, patient=None, images=images, pixel_hash=pixel_hash)
        for exam, images in (("a", ["png"]), ("b", ["dicom"]), ("c", ["unreadable"]))
    ]
    assert [link.images for link in links] == [("png", "pixels"), ("dicom", "pixels"), ("unreadable",)]
    for seed in range(20):
        sides = assign_linked_sides(links, SplitPlan(private_share=0.5, seed=seed))
        assert sides["a"] is sides["b"]
