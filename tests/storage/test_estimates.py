"""Dataset estimates from verdicts and adjudications in a real database."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from accounts.service import command_line_person
from cli import main
from domain.adjudications import Adjudication
from domain.batches import BatchSettings, FormScope
from domain.corrections import Correction
from domain.errors import NotFound, Refused
from domain.verdicts import Decision, ErrorKind
from review.service import estimate_dataset, estimate_groups, list_estimable_batches
from storage.review.adjudications import add_adjudication
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.release_world import judged_world, write
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import NOW, World, assign_all, make_batch, make_world


def whole(world: World, batches=None):
    with read_only_session(world.engine) as db:
        return estimate_dataset(db, by=command_line_person(), dataset="demo", batches=batches)


def kind(found, name: ErrorKind):
    return next(each for each in found.estimates.errors if each.name == name.value)


def settle(world: World, question: int, decision: Decision, **more: Any) -> None:
    with unit_of_work(world.engine) as db:
        add_adjudication(
            db,
            adjudication=Adjudication(
                batch_id=world.batch.id,
                question_id=question,
                revision=1,
                person_id=world.people["ada"].id,
                decision=decision,
                reason="Both were heard.",
                given_at=NOW + timedelta(days=1),
                **more,
            ),
        )


def test_judged_questions_stand_for_the_strata_they_were_drawn_from(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    for question in range(1, 13):
        give(world, reject(world, question=question) if question <= 3 else accept(world, question=question))
    found = whole(world)
    several = kind(found, ErrorKind.SEVERAL_CORRECT)
    assert (several.count, several.rate.reviewed, several.covered, several.dataset_size) == (3, 12, 120, 120)
    assert several.rate.estimate == pytest.approx(0.25)
    assert several.rate.low < 0.25 < several.rate.high
    assert found.estimates.key_errors.count == 3


def test_a_drawn_batch_without_a_verdict_has_no_rate_yet(engine: Engine) -> None:
    found = whole(make_world(engine)).estimates
    assert (found.reviewed, found.covered, found.dataset_size) == (0, 0, 120)
    assert {each.rate.estimate for each in found.all_estimates} == {None}


def test_an_adjudication_stands_above_the_verdicts(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth", "remo"))
    give(world, accept(world, question=1))
    give(world, reject(world, question=1, person="remo"), "remo")
    assert whole(world).estimates.key_errors.count == 1
    settle(world, 1, Decision.ACCEPT)
    found = whole(world).estimates
    assert (found.key_errors.count, found.outcomes[0].count) == (0, 1)


def test_an_adjudicator_who_mends_the_key_has_found_a_key_error(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth", "remo"))
    give(world, accept(world, question=1))
    give(world, reject(world, question=1, person="remo", kind=ErrorKind.WORDING), "remo")
    settle(world, 1, Decision.REVISE, correction=Correction(answer=(2,)))
    assert whole(world).estimates.key_errors.count == 1


def test_a_batch_of_image_alignment_alone_does_not_count(engine: Engine) -> None:
    world = make_world(engine, settings=BatchSettings(parts=FormScope.IMAGE_ALIGNMENT), assigned_to=("ruth",))
    with read_only_session(engine) as db:
        assert list_estimable_batches(db, by=command_line_person()) == {}
    with pytest.raises(Refused, match="only image alignment was judged"):
        whole(world)


def test_two_batches_of_the_same_questions_count_each_question_once(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    with unit_of_work(engine) as db:
        second = make_batch(db, dataset_id=world.dataset_id, name="second", questions=world.questions[:6])
        assign_all(db, batch=second, questions=world.questions[:6], person=world.people["ruth"])
    for question in (1, 2, 3):
        give(world, accept(world, question=question))
    again = replace(world, batch=second)
    give(again, reject(again, question=1, given_at=NOW + timedelta(days=2)))
    found = whole(world)
    assert found.estimates.reviewed == 3
    assert found.estimates.key_errors.count == 1, "the later verdict counts"


def test_rates_by_prompt_version_and_batch_stand_side_by_side_with_examples(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    for question in range(1, 7):
        give(world, reject(world, question=question, kind=ErrorKind.COMPARISON))
    with read_only_session(engine) as db:
        by = command_line_person()
        tasks = estimate_groups(db, by=by, dataset="demo", group="task", examples=True)
        batches = estimate_groups(db, by=by, dataset="demo", group="batch")
        assert [each.name for each in estimate_groups(db, by=by, dataset="demo", group="prompt_version")] == [
            "not stated"
        ]
        with pytest.raises(NotFound, match="no group"):
            estimate_groups(db, by=by, dataset="demo", group="weather")
    assert sum(each.estimates.reviewed for each in tasks) == 6
    assert tasks[0].examples[ErrorKind.COMPARISON][0].stem.startswith("Which finding")
    assert [each.name for each in batches] == ["first"]


def test_the_data_card_says_what_the_sample_says(sqlite_engine: Engine, tmp_path) -> None:
    write(judged_world(sqlite_engine), tmp_path / "release")
    card = (tmp_path / "release" / "datacard.md").read_text()
    assert "8 questions, drawn at random and judged, stand for 120 of the dataset's 120" in card
    assert "| key error | 33.3 | " in card


def test_a_release_that_does_not_meet_its_rule_is_refused_with_the_figure(
    sqlite_engine: Engine, tmp_path
) -> None:
    world = judged_world(sqlite_engine)
    with pytest.raises(Refused, match=r"Key errors are 33.3 % .* upper limit under 5 %"):
        write(world, tmp_path / "release", key_errors_under=0.05)
    assert not (tmp_path / "release").exists()


def test_the_command_prints_every_figure_as_csv(sqlite_engine: Engine, monkeypatch, capsys, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=("ruth",))
    give(world, reject(world, question=1))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    assert main(["estimate", "demo"]) == 0
    assert "key error" in capsys.readouterr().out
    assert main(["estimate", "demo", "--by", "task", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"whole", "task"} == {row["group"] for row in rows}
    assert rows[0]["reviewed"] == "1"


def test_the_command_without_a_verdict_says_what_to_do(sqlite_engine, tmp_path, monkeypatch, capsys):
    make_world(sqlite_engine)
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    assert main(["estimate", "demo"]) == 0
    assert capsys.readouterr().out == (
        "Nothing is judged yet. 120 questions are in demo; the sample in first waits for its reviewers: "
        "cli.py assign --help\n"
    )
