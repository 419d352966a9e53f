"""The page Agreement: each number with its n, text where a value is undefined, and closed to reviewers."""

from dataclasses import replace

import pytest

from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.people import Role
from domain.verdicts import Decision, ErrorKind
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import make_world

PAGE = "pages/agreement.py"


@pytest.fixture
def open_agreement_page(sign_in_as, run_page):
    """The page as the coordinator cora sees it."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(PAGE)
        assert not page.exception
        return page

    return run


def test_without_a_batch_the_page_says_so(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No batch yet" in get_text(open_page(PAGE))


def test_a_reviewer_does_not_get_the_page(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(PAGE))


def test_without_a_shared_question_the_page_says_so(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora", Role.COORDINATOR)
    assert "No questions with two reviewers yet" in get_text(open_page(PAGE))


def test_each_value_is_shown_with_its_n(workspace, open_agreement_page):
    world = make_world(workspace, assigned_to=["ruth", "remo"])
    for question in (1, 2, 3):
        save_verdict(world, make_acceptance(world, question=question))
        save_verdict(world, make_acceptance(world, question=question, person="remo"), "remo")
    save_verdict(world, make_rejection(world, question=4))
    save_verdict(world, make_acceptance(world, question=4, person="remo"), "remo")
    (decision_row,) = open_agreement_page().dataframe[0].value.to_dict("records")
    assert decision_row["Agreement"].startswith("75 % (")
    assert all("n = 4" in decision_row[column] for column in ("Agreement", "Kappa", "AC1, AC2 or other"))


@pytest.mark.parametrize(
    ("reviewers", "column", "has_first_reviewer"),
    [(("ruth", "remo"), "n", True), (("ruth", "remo", "rolf"), "n (questions by pair)", False)],
)
@pytest.mark.slow
def test_overlap_per_box_of_the_first_reviewer_is_shown_for_two_reviewers_only(
    workspace, open_agreement_page, reviewers, column, has_first_reviewer
):
    world = make_world(workspace, assigned_to=reviewers)
    world.people["rolf"] = replace(world.people["rolf"], disabled_at=None)
    box = LabelledBox(radiograph="pa", label="Nodule", box=Box(x_min=100, y_min=100, x_max=200, y_max=200))
    for name in reviewers:
        verdict = make_acceptance(
            world, question=1, person=name, decision=Decision.REVISE, correction=Correction(boxes=(box,)),
            errors=frozenset({ErrorKind.BOX_WRONG}),
        )  # fmt: skip
        save_verdict(world, verdict, name)
    page = open_agreement_page()
    (table,) = [frame.value for frame in page.dataframe if "Mean overlap (IoU)" in frame.value.columns]
    assert ("first reviewer's boxes" in list(table["Sum of overlaps divided by"])) is has_first_reviewer
    assert table[column].iloc[0] == str(len(reviewers) * (len(reviewers) - 1) // 2)


def test_without_boxes_the_mean_overlap_is_not_defined(workspace, open_agreement_page):
    world = make_world(workspace, assigned_to=["ruth", "remo"])
    for name in ("ruth", "remo"):
        verdict = make_acceptance(
            world, question=1, person=name, decision=Decision.REVISE, correction=Correction(boxes=()),
            errors=frozenset({ErrorKind.BOX_WRONG}),
        )  # fmt: skip
        save_verdict(world, verdict, name)
    expected = "Not defined: no reviewer drew a box on a shared question."
    assert expected in [caption.value for caption in open_agreement_page().caption]
