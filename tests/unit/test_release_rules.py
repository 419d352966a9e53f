"""Names in a release, and the refusal of an empty release."""

import pytest

from domain.errors import InvalidValue, Refused
from release.names import ReviewerNaming, name_reviewers, validate_name
from release.splits import SplitPlan
from release.tally import Tally, check_not_empty

REVIEWERS = {7: ("rosa", "Rosa L."), 3: ("remo", "Remo B.")}


@pytest.mark.parametrize(
    ("naming", "names"),
    [
        (ReviewerNaming.ACCOUNT, {7: "rosa", 3: "remo"}),
        (ReviewerNaming.DISPLAY, {7: "Rosa L.", 3: "Remo B."}),
        (ReviewerNaming.PSEUDONYM, {7: "reviewer-1", 3: "reviewer-2"}),
    ],
)
def test_reviewers_have_the_chosen_names(naming, names):
    assert name_reviewers(REVIEWERS, naming) == names


@pytest.mark.parametrize("name", ["", ".v1", "v 1", "a/b", "v" * 65])
def test_a_name_that_is_no_folder_name_is_refused(name):
    with pytest.raises(InvalidValue, match="must have 1 to 64 characters"):
        validate_name(name)


def test_spaces_around_a_name_are_removed():
    assert validate_name(" v1 ") == "v1"


def test_an_empty_release_is_refused_with_the_reasons():
    with pytest.raises(Refused, match="No question of 'chest' has been judged"):
        check_not_empty("chest", Tally(), None, None)
    with pytest.raises(Refused, match=r"can be released: rejected \(2\)\."):
        check_not_empty("chest", Tally(excluded={"rejected": 2}), None, None)


def test_an_empty_split_is_refused():
    split = SplitPlan(private_share=0.1, seed=4)
    sides = {"public": {"questions": 3}, "private": {"questions": 0}}
    with pytest.raises(
        Refused, match=r"split private would have no questions with the shares public 0\.9, private 0\.1"
    ):
        check_not_empty("chest", Tally(released=3), sides, split)
    sides["private"] = {"questions": 1}
    check_not_empty("chest", Tally(released=4), sides, split)
