"""Checks against verdicts in a real database: precision, recall and specificity on the sampled questions."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from accounts.service import command_line_person
from cli import main
from domain.checks import CHECKS, Check, Problem
from domain.errors import NotAllowed, NotFound
from domain.people import Person, Role
from domain.verdicts import ErrorKind
from quality.service import run_checks, switch_check
from review.service import format_data_card_measurements, measure_checks
from storage.quality.problems import replace_problems
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, make_world

BY = command_line_person()


@pytest.fixture
def world(engine):
    """All 12 questions, which represent 120, are judged; the first 3 have several right answers."""
    return make_judged_world(engine)


def make_judged_world(engine):
    world = make_world(engine, assigned_to=("ruth",))
    for question in range(1, 13):
        make_verdict = make_rejection if question <= 3 else make_acceptance
        save_verdict(world, make_verdict(world, question=question))
    return world


def store_problems(world, numbers):
    run_checks(
        by=BY, dataset="demo", clock=lambda: NOW, read_session=lambda: read_only_session(world.engine),
        transaction=lambda: unit_of_work(world.engine),
    )  # fmt: skip
    problem = Problem(check=Check.SEVERAL_CORRECT, field="options", reason="is right as well")
    with unit_of_work(world.engine) as db:
        replace_problems(
            db, dataset_id=1, check=Check.SEVERAL_CORRECT,
            problems=[(number, problem) for number in numbers],
        )  # fmt: skip


def measure(world, check=Check.SEVERAL_CORRECT, kind=ErrorKind.SEVERAL_CORRECT, group=None):
    with read_only_session(world.engine) as db:
        measurements = measure_checks(db, by=BY, dataset="demo", group=group)
    return [
        measurement for measurement in measurements if measurement.check is check and measurement.kind is kind
    ]


def test_a_check_is_compared_with_the_verdicts(world):
    """Reported: 1 and 2 (faulty), 4 (sound). Precision 2/3, recall 2/3, specificity 8/9."""
    store_problems(world, [1, 2, 4])
    (measurement,) = measure(world)
    assert (measurement.precision.hits, measurement.precision.n) == (2, 3)
    assert (measurement.recall.hits, measurement.recall.n) == (2, 3)
    assert (measurement.specificity.hits, measurement.specificity.n) == (8, 9)
    assert measurement.recall.estimate == pytest.approx(2 / 3)
    assert measurement.recall.low < 2 / 3 < measurement.recall.high


def test_questions_that_were_not_checked_do_not_count(world):
    """Without reports, the check that needs them checks no question."""
    with unit_of_work(world.engine) as db:
        db.execute(text("UPDATE exam SET report = NULL"))
    store_problems(world, [])
    (measurement,) = measure(world, Check.NOT_IN_REPORT, None)
    assert not measurement.is_measured


def write_card(world, batches=None):
    with read_only_session(world.engine) as db:
        return format_data_card_measurements(db, by=BY, dataset="demo", batches=batches)


def test_the_data_card_states_the_accuracy_of_each_check_that_has_run(world):
    """Precision 2/3, recall 2/3, specificity 8/9, as above; no check by a jury has run."""
    store_problems(world, [1, 2, 4])
    (row,) = [line for line in write_card(world, ["first"]) if line.startswith("| Several correct answers |")]
    version = CHECKS[Check.SEVERAL_CORRECT].version
    assert row.startswith(f"| Several correct answers | {version} | all its kinds of error | 66.7 % (")
    assert row.count("n = 3)") == 2
    assert "88.9 % (" in row
    assert not any(Check.DIFFICULTY.label in line for line in write_card(world))


def test_the_data_card_states_that_a_check_is_not_measured(world):
    with unit_of_work(world.engine) as db:
        db.execute(text("UPDATE exam SET report = NULL"))
    store_problems(world, [])
    (row,) = [line for line in write_card(world) if line.startswith("| Not in the report |")]
    assert row.count("not measured yet") == 3


def test_the_data_card_lists_no_check_before_any_has_run_or_if_all_are_off(world):
    assert write_card(world) == ()
    store_problems(world, [1])
    with unit_of_work(world.engine) as db:
        for check in CHECKS:
            switch_check(db, by=BY, dataset="demo", check=check, is_on=False, now=NOW)
    assert write_card(world) == ()


def test_a_check_that_has_not_run_is_not_measured(world):
    (measurement,) = measure(world)
    assert not measurement.is_measured


def test_without_verdicts_nothing_is_measured(engine):
    world = make_world(engine)
    store_problems(world, [1])
    assert not any(measurement.is_measured for measurement in measure(world))


def test_a_measurement_by_batch_has_the_name_of_the_batch(world):
    store_problems(world, [1])
    (measurement,) = measure(world, group="batch")
    assert (measurement.group, measurement.recall.n) == (world.batch.name, 3)


def test_each_check_is_listed_with_each_kind_of_error_that_it_detects(world):
    with read_only_session(world.engine) as db:
        listed_pairs = [
            (measurement.check, measurement.kind) for measurement in measure_checks(db, by=BY, dataset="demo")
        ]
    expected = [
        (check, None)
        for check, declaration in CHECKS.items()
        if declaration.error_kinds or declaration.verdict_field
    ]
    assert [pair for pair in listed_pairs if pair[1] is None] == expected
    assert len(listed_pairs) == len(expected) + sum(
        len(declaration.error_kinds) for declaration in CHECKS.values()
    )


def test_an_unknown_group_or_person_is_refused(world):
    with read_only_session(world.engine) as db:
        with pytest.raises(NotFound, match="no group 'x'"):
            measure_checks(db, by=BY, dataset="demo", group="x")
        reader = Person(id=1, name="r", display_name="R", roles=frozenset({Role.READER}))
        with pytest.raises(NotAllowed):
            measure_checks(db, by=reader, dataset="demo")


def test_the_command_prints_the_figures(sqlite_engine, tmp_path, monkeypatch, capsys):
    world = make_judged_world(sqlite_engine)
    store_problems(world, [1, 2, 4])
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(world.engine.url))
    assert main(["check", "demo", "--measured"]) == 0
    output = capsys.readouterr().out
    assert "several right answers, more than one correct answer: precision " in output
    # This check reported no question.
    assert "stem gives the answer away: precision not measured yet" in output
