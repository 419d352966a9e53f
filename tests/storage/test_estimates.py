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
from tests.golden.release_world import make_judged_world, write_test_release
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, assign_all, make_batch, make_world


def estimate_demo(world: World, batches=None):
    with read_only_session(world.engine) as db:
        return estimate_dataset(db, by=command_line_person(), dataset="demo", batches=batches)


def find_error_estimate(result, name: ErrorKind):
    return next(estimate for estimate in result.estimates.errors if estimate.name == name.value)


def adjudicate(world: World, question: int, decision: Decision, **fields: Any) -> None:
    with unit_of_work(world.engine) as db:
        add_adjudication(
            db,
            adjudication=Adjudication(
                batch_id=world.batch.id,
                question_row_id=question,
                revision=1,
                person_id=world.people["ada"].id,
                decision=decision,
                reason="Both were heard.",
                given_at=NOW + timedelta(days=1),
                **fields,
            ),
        )


def test_judged_questions_represent_their_strata(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    for question in range(1, 13):
        save_verdict(
            world,
            make_rejection(world, question=question)
            if question <= 3
            else make_acceptance(world, question=question),
        )
    result = estimate_demo(world)
    several_correct = find_error_estimate(result, ErrorKind.SEVERAL_CORRECT)
    assert (
        several_correct.count,
        several_correct.rate.reviewed,
        several_correct.covered,
        several_correct.dataset_size,
    ) == (3, 12, 120, 120)
    assert several_correct.rate.estimate == pytest.approx(0.25)
    assert several_correct.rate.low < 0.25 < several_correct.rate.high
    assert result.estimates.key_errors.count == 3


def test_batch_without_verdicts_has_no_rate(engine: Engine) -> None:
    estimates = estimate_demo(make_world(engine)).estimates
    assert (estimates.reviewed, estimates.covered, estimates.dataset_size) == (0, 0, 120)
    assert {estimate.rate.estimate for estimate in estimates.all_estimates} == {None}


def test_adjudication_overrides_the_verdicts(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth", "remo"))
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, person="remo"), "remo")
    assert estimate_demo(world).estimates.key_errors.count == 1
    adjudicate(world, 1, Decision.ACCEPT)
    estimates = estimate_demo(world).estimates
    assert (estimates.key_errors.count, estimates.outcomes[0].count) == (0, 1)


def test_key_corrected_by_the_adjudicator_counts_as_key_error(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth", "remo"))
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, person="remo", kind=ErrorKind.WORDING), "remo")
    adjudicate(world, 1, Decision.REVISE, correction=Correction(answer=(2,)))
    assert estimate_demo(world).estimates.key_errors.count == 1


def test_batch_for_image_alignment_only_does_not_count(engine: Engine) -> None:
    world = make_world(engine, settings=BatchSettings(parts=FormScope.IMAGE_ALIGNMENT), assigned_to=("ruth",))
    with read_only_session(engine) as db:
        assert list_estimable_batches(db, by=command_line_person()) == {}
    with pytest.raises(Refused, match="only image alignment was judged"):
        estimate_demo(world)


def test_question_in_two_batches_counts_once(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    with unit_of_work(engine) as db:
        second_batch = make_batch(
            db, dataset_id=world.dataset_id, name="second", questions=world.questions[:6]
        )
        assign_all(db, batch=second_batch, questions=world.questions[:6], person=world.people["ruth"])
    for question in (1, 2, 3):
        save_verdict(world, make_acceptance(world, question=question))
    world_of_second = replace(world, batch=second_batch)
    save_verdict(
        world_of_second, make_rejection(world_of_second, question=1, given_at=NOW + timedelta(days=2))
    )
    result = estimate_demo(world)
    assert result.estimates.reviewed == 3
    assert result.estimates.key_errors.count == 1, "the later verdict counts"


def test_estimates_by_group_have_examples(engine: Engine) -> None:
    world = make_world(engine, assigned_to=("ruth",))
    for question in range(1, 7):
        save_verdict(world, make_rejection(world, question=question, kind=ErrorKind.COMPARISON))
    with read_only_session(engine) as db:
        by = command_line_person()
        tasks = estimate_groups(db, by=by, dataset="demo", group="task", examples=True)
        batches = estimate_groups(db, by=by, dataset="demo", group="batch")
        assert [
            group.name for group in estimate_groups(db, by=by, dataset="demo", group="prompt_version")
        ] == ["not stated"]
        with pytest.raises(NotFound, match="no group"):
            estimate_groups(db, by=by, dataset="demo", group="weather")
    assert sum(group.estimates.reviewed for group in tasks) == 6
    assert tasks[0].examples[ErrorKind.COMPARISON][0].stem.startswith("Which finding")
    assert [group.name for group in batches] == ["first"]


def test_data_card_contains_the_dataset_estimates(sqlite_engine: Engine, tmp_path) -> None:
    write_test_release(make_judged_world(sqlite_engine), tmp_path / "release")
    card = (tmp_path / "release" / "datacard.md").read_text()
    assert "8 questions, drawn at random and judged, stand for 120 of the dataset's 120" in card
    assert "| key error | 33.3 | " in card


def test_release_over_its_error_limit_is_refused_with_the_figure(sqlite_engine: Engine, tmp_path) -> None:
    world = make_judged_world(sqlite_engine)
    with pytest.raises(Refused, match=r"Key errors: 33.3 % .* upper limit below 5 %"):
        write_test_release(world, tmp_path / "release", key_errors_under=0.05)
    assert not (tmp_path / "release").exists()


def test_command_prints_every_figure_as_csv(sqlite_engine: Engine, monkeypatch, capsys, tmp_path) -> None:
    world = make_world(sqlite_engine, assigned_to=("ruth",))
    save_verdict(world, make_rejection(world, question=1))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    assert main(["estimate", "demo"]) == 0
    assert "key error" in capsys.readouterr().out
    assert main(["estimate", "demo", "--by", "task", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"whole", "task"} == {row["group"] for row in rows}
    assert rows[0]["reviewed"] == "1"


def test_command_without_verdicts_states_the_next_step(sqlite_engine, tmp_path, monkeypatch, capsys):
    make_world(sqlite_engine)
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    assert main(["estimate", "demo"]) == 0
    assert capsys.readouterr().out == (
        "No verdicts yet. demo has 120 questions; the sample in first has not been reviewed. To assign it, "
        "see: cli.py assign --help\n"
    )
