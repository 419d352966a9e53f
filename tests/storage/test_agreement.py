"""Agreement of a batch from a real database: which verdicts count, and who may see it."""

from __future__ import annotations

import pytest

import commands.agreement as command
from domain.errors import NotAllowed
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import NOW, World, make_world


def agreement(world: World, by: str = "cora") -> review.BatchAgreement:
    with read_only_session(world.engine) as db:
        return review.compute_batch_agreement(db, by=world.people[by], batch="first")


def seek(world: World) -> review.SecondOpinionSummary:
    with unit_of_work(world.engine) as db:
        return review.request_second_opinions(
            db, by=world.people["cora"], batch="first", to=["remo"], where_found=True, share=0.25, seed=7,
            now=NOW,
        )  # fmt: skip


def test_shared_questions_count_where_second_opinions_were_not_sought_by_answer(engine):
    world = make_world(engine, assigned_to=("ruth", "remo"))
    give(world, accept(world, question=1))
    give(world, reject(world, question=1, person="remo"), "remo")
    give(world, accept(world, question=2))
    found = agreement(world)
    assert (found.shared, found.counted, found.exclusion_note) == (1, 1, "")
    assert found.agreements[0].aspects[0].percent.estimate == 0
    assert "Ruth" in "\n".join(command.format_text(found))


def test_where_sought_by_answer_only_the_random_share_counts(engine):
    world = make_world(engine, assigned_to=("ruth",))
    for number in world.questions:
        give(world, reject(world, question=number))
    assert sum(seek(world).assigned.values()) == 12
    for number in world.questions:
        give(world, accept(world, question=number, person="remo"), "remo")
    found = agreement(world)
    assert (found.shared, found.counted) == (12, 3)
    assert found.agreements[0].questions == 3
    assert "9 questions" in found.exclusion_note
    assert "would bias agreement" in found.exclusion_note


def test_drift_is_of_all_verdicts(engine):
    world = make_world(engine, assigned_to=("ruth",))
    for number in world.questions:
        give(world, accept(world, question=number))
    found = agreement(world)
    ((person, (block,)),) = found.drift.items()
    assert (person, block.accepted.count, block.last) == (world.people["ruth"].id, 12, 12)
    assert found.agreements == ()


def test_reviewers_never_see_it(engine):
    world = make_world(engine)
    with pytest.raises(NotAllowed):
        agreement(world, by="ruth")
