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


def made(question: Question, fault: PlantedFault, report: str = REPORT, seed: int = 0) -> Question | None:
    return plant_fault(question, fault, other_texts=report, seed=seed)


@given(number=st.integers(1, 2**40), secret=st.integers(0, 2**62 - 1))
def test_a_veiled_number_means_the_question_that_it_stands_for(number, secret):
    veil = IdMask(secret=secret)
    assert 1 <= veil.mask(number) <= 2**40
    assert veil.unmask(veil.mask(number)) == number


def test_neighbours_lie_far_apart_and_another_secret_shows_other_numbers():
    shown = [IdMask(secret=5).mask(number) for number in range(1, 1001)]
    assert len(set(shown)) == 1000
    ups = sum(later > before for before, later in pairwise(shown))
    assert 400 < ups < 600  # a random draw would contain half of them
    assert IdMask(secret=6).mask(1) != shown[0]


def test_without_a_secret_every_number_is_its_own():
    assert [IdMask(secret=None).mask(7), IdMask(secret=None).unmask(7)] == [7, 7]


@pytest.mark.parametrize("shown", [0, -1, 2**40 + 1, 2**62])
def test_what_no_number_can_be_means_no_question(shown):
    assert IdMask(secret=5).unmask(shown) == 0


def test_each_fault_changes_what_it_says_and_nothing_else():
    swapped = made(SINGLE, PlantedFault.KEY_SWAPPED)
    assert swapped.answer in {(1,), (2,)}
    assert made(CLOSED, PlantedFault.KEY_SWAPPED).answer == "no"
    second = made(SINGLE, PlantedFault.SECOND_CORRECT_OPTION)
    assert second.answer == (0,)
    assert [each for each in second.options if each not in SINGLE.options] == ["Lung base on the left"]
    prior = made(CLOSED, PlantedFault.PRIOR_COMPARISON)
    assert prior.stem == "Compared with the previous radiograph, is there a nodule?"
    turned = made(SINGLE, PlantedFault.WRONG_SIDE)
    assert (turned.answer, turned.explanation) == ((1,), "The right costophrenic angle is blunted.")
    more = made(CLOSED, PlantedFault.ABSENT_FINDING)
    assert more.explanation.startswith(f"{CLOSED.explanation} There is also ")


def test_a_finding_that_the_report_names_is_not_said_to_be_absent():
    told = {made(CLOSED, PlantedFault.ABSENT_FINDING, seed=seed).explanation for seed in range(40)}
    assert len(told) > 1
    assert not any("pneumothorax" in each or "fracture" in each for each in told)


def test_a_question_that_does_not_allow_a_fault_gets_none():
    assert made(CLOSED, PlantedFault.WRONG_SIDE) is None  # it states no side
    assert made(CLOSED, PlantedFault.SECOND_CORRECT_OPTION) is None  # it has no options
    assert (
        made(CLOSED, PlantedFault.ABSENT_FINDING, report="") is None
    )  # an absent finding has no known location


@pytest.mark.parametrize("fault", PlantedFault)
def test_the_same_seed_makes_the_same_fault(fault):
    assert made(SINGLE, fault, seed=9) == made(SINGLE, fault, seed=9)


def said(decision: Decision, *errors: ErrorKind, **correction) -> Verdict:
    return Verdict(
        batch_id=1, question_id=1, person_id=1, revision=1, decision=decision, seconds=1, seconds_looking=1,
        seconds_away=0, given_at=datetime(2026, 3, 2, tzinfo=UTC),
        opinion=Opinion(errors=frozenset(errors), correction=Correction(**correction)),
    )  # fmt: skip


def test_found_is_named_or_mended_and_anything_else_is_not():
    key = PlantedFault.KEY_SWAPPED
    assert classify_detection(key, said(Decision.REJECT, ErrorKind.WRONG_KEY)) is FaultDetection.FOUND
    assert classify_detection(key, said(Decision.REVISE, answer=(0,))) is FaultDetection.FOUND
    assert classify_detection(key, said(Decision.REJECT, ErrorKind.WORDING)) is FaultDetection.OTHER_REASON
    assert classify_detection(key, said(Decision.REVISE, stem="Otherwise?")) is FaultDetection.OTHER_REASON
    assert classify_detection(key, said(Decision.ACCEPT)) is FaultDetection.MISSED


@pytest.mark.parametrize(
    "wrong",
    [{"repeats": 0.6}, {"distance": 0}, {"planted": -1}, {"repeats": 0, "planted": 0}, {"seed": -1},
     {"planted": 1, "faults": ()}],
)  # fmt: skip
def test_a_plan_that_cannot_be_is_refused(wrong):
    with pytest.raises(InvalidValue):
        HiddenPlan(**wrong)
