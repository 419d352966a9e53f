"""Assignments: assigning, reassigning, withdrawing, closing and settings, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from domain.batches import AssignmentState, BatchSettings, BatchState, FormScope, Mode
from domain.errors import InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.ratings import Ratings
from review import service as review
from storage.review.assignments import iterate_assignments
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, close_batch, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, questions=12, per_exam=2)


def assign(world: World, *to, by="cora", **options):
    with unit_of_work(world.engine) as db:
        return review.assign(db, by=world.people[by], batch="first", to=to, now=NOW, **options)


def reassign(world: World, from_, *to):
    with unit_of_work(world.engine) as db:
        return review.reassign(db, by=world.people["cora"], batch="first", from_=from_, to=to, now=NOW)


def list_assigned(world: World, *states):
    """{name: question numbers} of the assignments in those states (all but withdrawn by default)."""
    names_by_id = {person.id: name for name, person in world.people.items()}
    wanted_states = states or (AssignmentState.OPEN, AssignmentState.DONE, AssignmentState.SKIPPED)
    assigned: dict[str, list[int]] = {}
    with read_only_session(world.engine) as db:
        for question, person, state in iterate_assignments(db, batch_id=world.batch.id):
            if state in wanted_states:
                assigned.setdefault(names_by_id[person], []).append(question)
    return assigned


# ---------------------------------------------------------------------------------------------- assigning
def test_a_batch_is_split_by_exam_and_evenly(world):
    summary = assign(world, "ruth", "remo")
    assert summary.assigned == {"remo": 6, "ruth": 6}
    assert list_assigned(world) == {"remo": [1, 2, 5, 6, 9, 10], "ruth": [3, 4, 7, 8, 11, 12]}


def test_order_of_reviewer_names_does_not_matter(engine):
    world = make_world(engine, questions=12)
    assign(world, "ruth", "remo")
    assert list_assigned(world)["remo"][:2] == [1, 2]


def test_assigning_again_changes_nothing(world):
    assign(world, "ruth")
    summary = assign(world, "ruth", "remo")
    assert (summary.total, list_assigned(world)) == (0, {"ruth": list(range(1, 13))})
    assert "Every question already has at least 1 reviewer" in summary.notes[0]


def test_a_second_reviewer_can_be_added_later(world):
    assign(world, "ruth")
    assert assign(world, "remo", overlap=2).assigned == {"remo": 12}
    assert list_assigned(world) == {"ruth": list(range(1, 13)), "remo": list(range(1, 13))}


def test_reviewers_swap_halves_for_an_overlap_of_two(world):
    assign(world, "ruth", "remo")
    assert assign(world, "ruth", "remo", overlap=2).assigned == {"remo": 6, "ruth": 6}
    assert list_assigned(world) == {"ruth": list(range(1, 13)), "remo": list(range(1, 13))}


def test_partly_possible_overlap_is_assigned_with_a_note(world):
    assign(world, "ruth", "remo")
    summary = assign(world, "ruth", overlap=2)
    assert summary.assigned == {"ruth": 6}
    assert "6 questions still have fewer than 2 reviewers" in summary.notes[0]


def test_impossible_overlap_is_refused(world):
    assign(world, "ruth")
    with pytest.raises(Refused, match=r"further reviewer \(12 questions\) are already assigned to ruth"):
        assign(world, "ruth", overlap=2)


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("rea", Refused, "rea is not a reviewer"),
        ("rolf", Refused, "account of rolf is disabled"),
        ("nobody", NotFound, "nobody"),
    ],
)
def test_only_reviewers_with_an_active_account_get_questions(world, name, error, reason):
    with pytest.raises(error, match=reason):
        assign(world, "ruth", name)
    assert list_assigned(world) == {}


def test_the_error_for_an_unknown_batch_lists_the_batches(world):
    with (
        pytest.raises(NotFound, match=r"no batch 'second'.*first"),
        unit_of_work(world.engine) as db,
    ):
        review.assign(db, by=world.people["cora"], batch="second", to=["ruth"], now=NOW)


@pytest.mark.parametrize(("to", "overlap"), [((), 1), (("ruth",), 0)])
def test_assigning_without_reviewers_or_overlap_is_refused(world, to, overlap):
    with pytest.raises(InvalidValue):
        assign(world, *to, overlap=overlap)


@pytest.mark.parametrize("by", ["ruth", "rea", "ada"])
def test_only_coordinators_assign(world, by):
    with pytest.raises(NotAllowed):
        assign(world, "ruth", by=by)


def test_preview_equals_the_later_assignment(world):
    with read_only_session(world.engine) as db:
        preview = review.preview_assign(db, by=world.people["cora"], batch="first", to=["ruth", "remo"])
    assert list_assigned(world) == {}
    assert assign(world, "ruth", "remo").assigned == preview.assigned


# ------------------------------------------------------------------------------ reassigning and withdrawing
def test_reassigning_moves_open_questions_only(world):
    assign(world, "ruth")
    save_verdict(world, make_acceptance(world, question=1))
    assert reassign(world, "ruth", "remo").assigned == {"remo": 11}
    assert list_assigned(world) == {"ruth": [1], "remo": list(range(2, 13))}


def test_questions_of_a_disabled_account_can_be_reassigned(engine):
    world = make_world(engine, assigned_to=["rolf"])
    assert reassign(world, "rolf", "ruth").total == 12


def test_reassigning_to_a_reviewer_of_all_questions_is_refused(engine):
    world = make_world(engine, assigned_to=["ruth", "remo"])
    with pytest.raises(Refused, match="already assigned to remo"):
        reassign(world, "ruth", "remo")


def test_reassigning_without_open_questions_is_refused(world):
    with pytest.raises(Refused, match="ruth has no open questions in batch first"):
        reassign(world, "ruth", "remo")


def test_reassigning_to_the_same_reviewer_is_refused(engine):
    world = make_world(engine, assigned_to=["ruth"])
    with pytest.raises(InvalidValue, match="their own questions"):
        reassign(world, "ruth", "ruth", "remo")


def test_withdrawn_questions_can_be_assigned_again(world):
    assign(world, "ruth")
    with unit_of_work(world.engine) as db:
        assert review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW) == 12
    assert list_assigned(world) == {}
    assert assign(world, "ruth").total == 12
    assert list_assigned(world) == {"ruth": list(range(1, 13))}


# ------------------------------------------------------------------------------------ closing and settings
def test_closed_batch_is_assignable_only_after_reopening(world):
    close_batch(world.engine, world.batch)
    with pytest.raises(Refused, match="is closed"):
        assign(world, "ruth")
    with unit_of_work(world.engine) as db:
        reopened = review.reopen_batch(db, by=world.people["cora"], batch="first", now=NOW)
    assert (reopened.state, reopened.revision) == (BatchState.OPEN, 3)
    assert assign(world, "ruth").total == 12


def test_closing_twice_changes_nothing(world):
    with unit_of_work(world.engine) as db:
        first = review.close_batch(db, by=world.people["cora"], batch="first", now=NOW)
        assert review.close_batch(db, by=world.people["cora"], batch="first", now=NOW) == first


def change_settings(world: World, settings, revision=1):
    with unit_of_work(world.engine) as db:
        return review.change_settings(
            db, by=world.people["cora"], batch="first", settings=settings, revision=revision, now=NOW
        )


def test_changed_settings_are_saved_as_the_next_revision(world):
    changed_batch = change_settings(world, BatchSettings(mode=Mode.ANSWER_FIRST, guideline="Look twice."))
    assert (changed_batch.revision, changed_batch.settings.guideline) == (2, "Look twice.")
    with read_only_session(world.engine) as db:
        assert load_batch(db, name="first") == changed_batch


def test_stale_settings_are_refused_with_a_message_that_shows_both_versions(world):
    change_settings(world, BatchSettings(guideline="Look twice.", show_report=True))
    with pytest.raises(StaleRevision, match=r"Cora changed batch first on 2026-03-02 09:00:00 UTC") as caught:
        change_settings(world, BatchSettings(guideline="Look once."))
    assert "Report shown (saved), not shown (yours)" in str(caught.value)
    assert "“Look twice.” (saved), “Look once.” (yours)" in str(caught.value)


def test_one_key_accept_is_off_until_it_is_set(world):
    assert not BatchSettings().one_key_accept
    changed_batch = change_settings(world, BatchSettings(one_key_accept=True))
    with read_only_session(world.engine) as db:
        assert load_batch(db, name="first").settings == changed_batch.settings
    with pytest.raises(StaleRevision, match=r"One-key accept on \(saved\), off \(yours\)"):
        change_settings(world, BatchSettings(guideline="Look once."))


def test_the_same_settings_again_change_nothing(world):
    change_settings(world, BatchSettings(guideline="Look twice."))
    assert change_settings(world, BatchSettings(guideline="Look twice.")).revision == 2


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ({"mode": Mode.ANSWER_FIRST}, "Mode"),
        ({"parts": FormScope.KEY}, "Fields requested"),
        ({"show_report": True}, "Report"),
        ({"one_key_accept": True}, "One-key accept"),
    ],
)
def test_settings_of_the_form_are_fixed_by_the_first_verdict(engine, setting, word):
    world = make_world(engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(Refused, match=f"{word} cannot be changed: review has begun"):
        change_settings(world, BatchSettings(**setting))


def test_guideline_and_anchors_can_change_after_a_verdict(engine):
    world = make_world(engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    anchors = dict(BatchSettings().anchors)
    anchors["image_alignment"] = ("a", "b", "c", "d", "e")
    changed_batch = change_settings(world, replace(BatchSettings(), guideline="Look twice.", anchors=anchors))
    assert changed_batch.settings.anchors["image_alignment"] == ("a", "b", "c", "d", "e")


def test_empty_anchor_is_refused(world):
    anchors = {**BatchSettings().anchors, "image_alignment": ("a", "b", " ", "d", "e")}
    with pytest.raises(InvalidValue, match="image alignment: the description of 3 is empty"):
        change_settings(world, BatchSettings(anchors=anchors))


def test_report_cannot_be_shown_without_image_alignment(world):
    with pytest.raises(Refused, match="after image alignment is rated"):
        change_settings(world, BatchSettings(parts=FormScope.KEY, show_report=True))


# ------------------------------------------------------------------------------------------------ progress
def test_progress_counts_questions_and_verdicts(engine):
    world = make_world(engine, assigned_to=["ruth", "remo"])
    save_verdict(world, make_acceptance(world, question=1, seconds_looking=10.0))
    save_verdict(world, make_acceptance(world, question=1, revision=2, seconds_looking=99.0))
    save_verdict(world, make_acceptance(world, question=2, person="remo"), person="remo")
    with read_only_session(engine) as db:
        progress = review.load_progress(db, by=world.people["cora"], batch="first", now=NOW)
        (overview,) = review.list_batch_overviews(db, by=world.people["cora"])
    assert (
        progress.batch_line.questions,
        progress.batch_line.requested,
        progress.batch_line.done,
        progress.batch_line.left,
    ) == (12, 24, 2, 22)
    assert [(line.name, line.done, line.seconds_median) for line in progress.lines_by_reviewer] == [
        ("Remo", 1, 30.0),
        ("Ruth", 1, 10.0),
    ]
    assert progress.tier_table.n == 2
    assert (overview.questions, overview.requested, overview.done) == (12, 24, 2)


def test_progress_uses_the_latest_rating_of_each_question(engine):
    world = make_world(engine, assigned_to=["ruth"])
    later_ratings = Ratings(
        clinical_quality=1, explanation_clarity=2, factual_correctness=3, image_alignment=4
    )
    save_verdict(world, make_acceptance(world, question=1))
    later_verdict = make_acceptance(
        world, question=1, revision=2, ratings=later_ratings, image_centric=True, domain_specific=False
    )
    save_verdict(world, later_verdict)
    with read_only_session(engine) as db:
        progress = review.load_progress(db, by=world.people["cora"], batch="first", now=NOW)
    assert [(line.name, line.mean.estimate) for line in progress.ratings] == [
        ("clinical quality", 1.0), ("explanation clarity", 2.0),
        ("factual correctness", 3.0), ("image alignment", 4.0),
    ]  # fmt: skip
    flags = {line.name: (line.yes.count, line.not_judged) for line in progress.yes_no_fields}
    assert (flags["image centric"], flags["domain specific"]) == ((1, 0), (0, 0))


def test_only_coordinators_see_progress(world):
    with pytest.raises(NotAllowed), read_only_session(world.engine) as db:
        review.load_progress(db, by=world.people["ruth"], batch="first", now=NOW)
