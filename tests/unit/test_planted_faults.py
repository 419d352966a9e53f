"""The masking of numbers, the planted faults, and when a planted fault counts as found."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.hidden import HiddenPlan, PlantedFault
from domain.questions import Question
from domain.verdicts import Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import AnswerFormat
from review.faults import FaultDetection, classify_detection, plant_fault
from review.id_mask import IdMask

SINGLE = Question(
    id="q1", exam_id="e1", format=AnswerFormat.SINGLE, stem="Where is the effusion?",
    options=("Left lung base", "Right lung base", "Right apex"), answer=(0,),
    explanation="The left costophrenic angle is blunted.",
)  # fmt: skip
CLOSED = Question(
    id="q2", exam_id="e1", format=AnswerFormat.CLOSED, stem="Is there a nodule?", answer="yes",
    explanation="A nodule projects over the fourth rib.",
)  # fmt: skip
REPORT = "Small effusion on the left. No pneumothorax. Old rib fracture."


def make_faulty_question(
    question: Question, fault: PlantedFault, report: str = REPORT, seed: int = 0
) -> Question | None:
    return plant_fault(question, fault, other_texts=report, seed=seed)


@given(number=st.integers(1, 2**40), secret=st.integers(0, 2**62 - 1))
def test_a_masked_number_maps_back_to_its_question(number, secret):
    mask = IdMask(secret=secret)
    assert 1 <= mask.mask(number) <= 2**40
    assert mask.unmask(mask.mask(number)) == number


def test_masked_numbers_are_scattered_and_depend_on_the_secret():
    masked = [IdMask(secret=5).mask(number) for number in range(1, 1001)]
    assert len(set(masked)) == 1000
    increases = sum(later > before for before, later in pairwise(masked))
    assert 400 < increases < 600  # in a random order, about half of the steps go up
    assert IdMask(secret=6).mask(1) != masked[0]


def test_without_a_secret_numbers_are_not_masked():
    assert [IdMask(secret=None).mask(7), IdMask(secret=None).unmask(7)] == [7, 7]


@pytest.mark.parametrize("shown", [0, -1, 2**40 + 1, 2**62])
def test_an_impossible_masked_number_maps_to_no_question(shown):
    assert IdMask(secret=5).unmask(shown) == 0


def test_each_fault_changes_only_its_own_field():
    swapped = make_faulty_question(SINGLE, PlantedFault.KEY_SWAPPED)
    assert swapped.answer in {(1,), (2,)}
    assert make_faulty_question(CLOSED, PlantedFault.KEY_SWAPPED).answer == "no"
    second_right = make_faulty_question(SINGLE, PlantedFault.SECOND_CORRECT_OPTION)
    assert second_right.answer == (0,)
    assert [option for option in second_right.options if option not in SINGLE.options] == [
        "Lung base on the left"
    ]
    with_prior = make_faulty_question(CLOSED, PlantedFault.PRIOR_COMPARISON)
    assert with_prior.stem == "Compared with the previous radiograph, is there a nodule?"
    wrong_side = make_faulty_question(SINGLE, PlantedFault.WRONG_SIDE)
    assert (wrong_side.answer, wrong_side.explanation) == ((1,), "The right costophrenic angle is blunted.")
    absent_finding = make_faulty_question(CLOSED, PlantedFault.ABSENT_FINDING)
    assert absent_finding.explanation.startswith(f"{CLOSED.explanation} There is also ")


def test_a_reported_finding_is_never_added_as_absent():
    explanations = {
        make_faulty_question(CLOSED, PlantedFault.ABSENT_FINDING, seed=seed).explanation for seed in range(40)
    }
    assert len(explanations) > 1
    assert not any("pneumothorax" in explanation or "fracture" in explanation for explanation in explanations)


def test_an_unsuitable_question_gets_no_fault():
    assert make_faulty_question(CLOSED, PlantedFault.WRONG_SIDE) is None  # it states no side
    assert make_faulty_question(CLOSED, PlantedFault.SECOND_CORRECT_OPTION) is None  # it has no options
    assert (
        make_faulty_question(CLOSED, PlantedFault.ABSENT_FINDING, report="") is None
    )  # without a report, no finding is known to be absent


@pytest.mark.parametrize("fault", PlantedFault)
def test_the_same_seed_makes_the_same_fault(fault):
    assert make_faulty_question(SINGLE, fault, seed=9) == make_faulty_question(SINGLE, fault, seed=9)


def make_verdict(decision: Decision, *errors: ErrorKind, **correction) -> Verdict:
    return Verdict(
        batch_id=1, question_row_id=1, person_id=1, revision=1, decision=decision, seconds=1,
        seconds_looking=1, seconds_away=0, given_at=datetime(2026, 3, 2, tzinfo=UTC),
        opinion=Opinion(errors=frozenset(errors), correction=Correction(**correction)),
    )  # fmt: skip


def test_a_fault_is_found_only_if_it_is_named_or_corrected():
    key = PlantedFault.KEY_SWAPPED
    assert classify_detection(key, make_verdict(Decision.REJECT, ErrorKind.WRONG_KEY)) is FaultDetection.FOUND
    assert classify_detection(key, make_verdict(Decision.REVISE, answer=(0,))) is FaultDetection.FOUND
    assert (
        classify_detection(key, make_verdict(Decision.REJECT, ErrorKind.WORDING))
        is FaultDetection.OTHER_REASON
    )
    assert (
        classify_detection(key, make_verdict(Decision.REVISE, stem="Otherwise?"))
        is FaultDetection.OTHER_REASON
    )
    assert classify_detection(key, make_verdict(Decision.ACCEPT)) is FaultDetection.MISSED


@pytest.mark.parametrize(
    "changes",
    [
        {"repeat_share": 0.6},
        {"min_distance": 0},
        {"planted_count": -1},
        {"repeat_share": 0, "planted_count": 0},
        {"seed": -1},
        {"planted_count": 1, "faults": ()},
    ],
)
def test_an_invalid_hidden_plan_is_refused(changes):
    with pytest.raises(InvalidValue):
        HiddenPlan(**changes)
