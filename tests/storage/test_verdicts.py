"""Verdicts: append-only, saved once, in order. On both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from domain.batches import AssignmentState
from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.errors import NotAllowed, StaleRevision
from domain.verdicts import Decision, ErrorKind
from tests.storage.judgements import (
    load_assignment_state,
    load_verdict,
    make_acceptance,
    make_rejection,
    save_verdict,
)
from tests.storage.worlds import NOW, World, make_world

pytestmark = pytest.mark.database


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def test_verdict_is_loaded_as_it_was_saved(world):
    verdict = make_acceptance(
        world,
        question=1,
        decision=Decision.REVISE,
        errors=frozenset({ErrorKind.WRONG_KEY, ErrorKind.BOX_WRONG}),
        correction=Correction(
            answer=(2,),
            boxes=(
                LabelledBox(
                    radiograph="pa", label="pneumothorax", box=Box(x_min=1.5, y_min=2, x_max=30, y_max=40)
                ),
            ),
        ),
        image_centric=False,
        clinically_relevant=True,
        clinical_reasoning="A pleural line, no lung markings beyond it.",
        comment="Key and box are of another radiograph.",
        why="first look",
    )
    save_verdict(world, verdict)
    assert load_verdict(world) == verdict


def test_same_verdict_sent_twice_is_saved_once(world):
    first = save_verdict(world, make_acceptance(world, question=1))
    later = make_acceptance(world, question=1, given_at=NOW + timedelta(hours=1), seconds=99.0)
    assert save_verdict(world, later) == first


def test_the_error_for_a_conflicting_verdict_states_both_verdicts_with_times(world):
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(StaleRevision, match=r"accept, 2026-03-02 09:01:00 UTC.*reject, 2026-03-02 11:00:00"):
        save_verdict(world, make_rejection(world, question=1, given_at=NOW + timedelta(hours=2)))
    assert load_verdict(world).decision is Decision.ACCEPT


def test_next_revision_supersedes_the_verdict(world):
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, revision=2))
    assert load_verdict(world).decision is Decision.REJECT
    assert load_assignment_state(world) is AssignmentState.DONE


def test_skipped_revision_number_is_refused(world):
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(StaleRevision, match="revision 1 of your verdict"):
        save_verdict(world, make_acceptance(world, question=1, revision=3))


def test_second_revision_without_a_first_is_refused(world):
    with pytest.raises(StaleRevision, match="no verdict of yours is saved"):
        save_verdict(world, make_acceptance(world, question=1, revision=2))


def test_repeated_old_revision_changes_nothing(world):
    first = save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, revision=2))
    assert save_verdict(world, make_acceptance(world, question=1)) == first
    assert load_verdict(world).revision == 2


def test_two_reviewers_have_separate_revisions(world):
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, person="remo"), person="remo")
    assert (load_verdict(world).decision, load_verdict(world, person="remo").decision) == (
        Decision.ACCEPT,
        Decision.REJECT,
    )


def test_verdict_in_the_name_of_another_person_is_refused(world):
    with pytest.raises(NotAllowed, match="another person's name"):
        save_verdict(world, make_acceptance(world, question=1, person="remo"), person="ruth")


@pytest.mark.parametrize("name", ["cora", "rea", "ada", "rolf"])
def test_only_reviewers_with_an_active_account_may_judge(world, name):
    with pytest.raises(NotAllowed, match="may not judge questions"):
        save_verdict(world, make_acceptance(world, question=1, person=name), person=name)


def test_conflicting_verdict_of_another_tab_is_refused_with_a_message(world):
    """Two tabs opened the same question; the second save gets a message, and its content is not saved."""
    save_verdict(world, make_acceptance(world, question=1, comment="tab one"))
    with pytest.raises(StaleRevision, match="Open the question again"):
        save_verdict(world, make_acceptance(world, question=1, comment="tab two"))
    second = replace(make_acceptance(world, question=1, comment="tab two"), revision=2)
    assert save_verdict(world, second).opinion.comment == "tab two"
