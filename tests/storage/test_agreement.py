"""Agreement of a batch from a real database: which verdicts count, and who may see it."""

from __future__ import annotations

import pytest

import commands.agreement as command
from domain.errors import NotAllowed
from domain.second_opinions import SecondOpinionScope
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, make_world


def compute_agreement(world: World, by: str = "cora") -> review.BatchAgreement:
    with read_only_session(world.engine) as db:
        return review.compute_batch_agreement(db, by=world.people[by], batch="first")


def request_second_opinions(world: World) -> review.SecondOpinionSummary:
    with unit_of_work(world.engine) as db:
        return review.request_second_opinions(
            db, by=world.people["cora"], batch="first", to=["remo"],
            scope=SecondOpinionScope.SHARE_AND_ERRORS, share=0.25, seed=7,
            now=NOW,
        )  # fmt: skip


def test_all_shared_questions_count_without_targeted_second_opinions(engine):
    world = make_world(engine, assigned_to=("ruth", "remo"))
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, person="remo"), "remo")
    save_verdict(world, make_acceptance(world, question=2))
    result = compute_agreement(world)
    assert (result.shared, result.counted, result.exclusion_note) == (1, 1, "")
    assert result.agreements[0].aspects[0].percent.estimate == 0
    assert "Ruth" in "\n".join(command.format_text(result))


def test_only_the_random_share_counts_with_targeted_second_opinions(engine):
    world = make_world(engine, assigned_to=("ruth",))
    for number in world.questions:
        save_verdict(world, make_rejection(world, question=number))
    assert sum(request_second_opinions(world).assigned.values()) == 12
    for number in world.questions:
        save_verdict(world, make_acceptance(world, question=number, person="remo"), "remo")
    result = compute_agreement(world)
    assert (result.shared, result.counted) == (12, 3)
    assert command.to_plain(result)["sought"] == {"way": "where found", "share": 0.25, "seed": 7}
    assert result.agreements[0].questions == 3
    assert "9 questions" in result.exclusion_note
    assert "would bias agreement" in result.exclusion_note


def test_drift_covers_all_verdicts(engine):
    world = make_world(engine, assigned_to=("ruth",))
    for number in world.questions:
        save_verdict(world, make_acceptance(world, question=number))
    result = compute_agreement(world)
    ((person, (block,)),) = result.drift.items()
    assert (person, block.accepted.count, block.last) == (world.people["ruth"].id, 12, 12)
    assert result.agreements == ()


def test_reviewers_may_not_see_agreement(engine):
    world = make_world(engine)
    with pytest.raises(NotAllowed):
        compute_agreement(world, by="ruth")
