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
from tests.storage.judgements import accept, give, reject, saved, state
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def test_a_verdict_comes_back_as_it_was_given(world):
    verdict = accept(
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
    give(world, verdict)
    assert saved(world) == verdict


def test_the_same_verdict_sent_twice_is_saved_once_and_comes_back_unchanged(world):
    first = give(world, accept(world, question=1))
    later = accept(world, question=1, given_at=NOW + timedelta(hours=1), seconds=99.0)
    assert give(world, later) == first


def test_other_content_under_the_same_revision_names_both_verdicts_and_when(world):
    give(world, accept(world, question=1))
    with pytest.raises(StaleRevision, match=r"accept, 2026-03-02 09:01:00 UTC.*reject, 2026-03-02 11:00:00"):
        give(world, reject(world, question=1, given_at=NOW + timedelta(hours=2)))
    assert saved(world).decision is Decision.ACCEPT


def test_a_verdict_is_superseded_by_the_next_revision_and_the_question_stays_done(world):
    give(world, accept(world, question=1))
    give(world, reject(world, question=1, revision=2))
    assert saved(world).decision is Decision.REJECT
    assert state(world) is AssignmentState.DONE


def test_a_revision_that_leaves_one_out_is_refused(world):
    give(world, accept(world, question=1))
    with pytest.raises(StaleRevision, match="revision 1 of your verdict"):
        give(world, accept(world, question=1, revision=3))


def test_a_later_revision_without_a_first_one_is_refused(world):
    with pytest.raises(StaleRevision, match="no verdict of yours is saved"):
        give(world, accept(world, question=1, revision=2))


def test_an_old_revision_sent_again_gives_back_the_old_one_and_changes_nothing(world):
    first = give(world, accept(world, question=1))
    give(world, reject(world, question=1, revision=2))
    assert give(world, accept(world, question=1)) == first
    assert saved(world).revision == 2


def test_two_people_judge_one_question_each_with_revisions_of_their_own(world):
    give(world, accept(world, question=1))
    give(world, reject(world, question=1, person="remo"), person="remo")
    assert (saved(world).decision, saved(world, person="remo").decision) == (
        Decision.ACCEPT,
        Decision.REJECT,
    )


def test_nobody_judges_in_somebody_elses_name(world):
    with pytest.raises(NotAllowed, match="another person's name"):
        give(world, accept(world, question=1, person="remo"), person="ruth")


@pytest.mark.parametrize("name", ["cora", "rea", "ada", "rolf"])
def test_only_reviewers_with_a_live_account_judge(world, name):
    with pytest.raises(NotAllowed, match="may not judge questions"):
        give(world, accept(world, question=1, person=name), person=name)


def test_a_verdict_of_another_tab_is_never_lost_silently(world):
    """Two tabs opened the same question; the second save gets a message, and its content is not saved."""
    give(world, accept(world, question=1, comment="tab one"))
    with pytest.raises(StaleRevision, match="Open the question again"):
        give(world, accept(world, question=1, comment="tab two"))
    second = replace(accept(world, question=1, comment="tab two"), revision=2)
    assert give(world, second).opinion.comment == "tab two"
