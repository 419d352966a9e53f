"""Prompt benches: blinded orders, scores with undo, permissions, and the report."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from domain.errors import (
    AlreadyThere,
    DomainError,
    InvalidValue,
    NotAllowed,
    NotFound,
    Refused,
    StaleRevision,
)
from domain.people import Role
from domain.prompt_bench import BenchScale
from language_models import service as models
from language_models.bench_order import order_cells, order_outputs
from language_models.bench_report import format_report_csv, format_scores_csv
from language_models.bench_sheet import BenchSheet, BenchTask
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.model_server import running_model_server
from tests.storage.test_model_runs import BY, add_endpoint, work
from tests.storage.worlds import NOW, make_world

VERSIONS = ("mcq@1", "mcq@2")


@pytest.fixture(scope="module")
def server():
    with running_model_server() as running:
        yield running


def make_bench(engine, server, *, reports=3, second="Second: ${report}", seed=7):
    """A bench of two versions, both answered, that ruth and remo score."""
    world = make_world(engine, questions=2 * reports + 2)
    with unit_of_work(engine) as db:
        for number, user in enumerate(("First: ${report}", second), start=1):
            content = f'name = "mcq"\nuser = "{user} ${{indication}}"\n'
            models.save_prompt(db, by=BY, content=content, note=f"Version {number}", now=NOW)
    add_endpoint(engine, server.url)
    with unit_of_work(engine) as db:
        bench = models.create_bench(
            db, by=BY, name="May", dataset="demo", endpoint="local", prompts=VERSIONS, reports=reports,
            seed=seed, now=NOW,
        )  # fmt: skip
        models.assign_experts(db, by=BY, bench="May", to=["ruth", "remo"], now=NOW)
    for version in bench.versions:
        work(engine, version.run)
    return world, bench


def open_output(engine, person, bench, cell=None):
    with read_only_session(engine) as db:
        return models.open_output(db, person=person, bench_id=bench.id, cell=cell)


def score(engine, person, bench, cell, value, *, revision=1, now=NOW):
    with unit_of_work(engine) as db:
        return models.score_output(
            db, person=person, bench_id=bench.id, cell=cell, revision=revision, score=value, now=now
        )


def score_all(engine, person, bench, value_of) -> list:
    """Give all scores in the expert's order; return the cells."""
    cells = []
    while isinstance(sheet := open_output(engine, person, bench), BenchSheet):
        cells.append(sheet.cell)
        now = NOW + timedelta(seconds=len(cells))
        score(engine, person, bench, sheet.cell, value_of(sheet.cell), now=now)
    return cells


def load_report(engine):
    with read_only_session(engine) as db:
        return models.load_bench_report(db, by=BY, name="May")


@pytest.mark.slow
def test_a_bench_asks_every_version_about_the_same_reports(engine, server):
    _, bench = make_bench(engine, server)
    with read_only_session(engine) as db:
        overview = models.load_bench(db, by=BY, name="May", now=NOW)
        requests = [
            [
                models.load_request(db, by=BY, name=version.run, custom_id=str(number)).body["messages"][-1]
                for number in (1, 2, 3)
            ]
            for version in bench.versions
        ]
    assert [run.ended for run in overview.runs] == [3, 3]
    assert (overview.total, overview.done) == (3 * 2 * 3, {})
    first, second = ([message["content"] for message in messages] for messages in requests)
    assert [content.replace("First", "Second") for content in first] == second
    assert "Cough for two weeks." in first[0]


@pytest.mark.slow
def test_each_expert_sees_all_outputs_once_in_their_own_order_without_the_version(engine, server):
    world, bench = make_bench(engine, server, reports=4)
    sheet = open_output(engine, world.people["ruth"], bench)
    assert [output.letter for output in sheet.outputs] == ["A", "B"]
    shown = repr(replace(sheet, cell=None, previous=None, next=None, next_unscored=None))
    assert "mcq" not in shown
    assert "version" not in shown
    orders = [score_all(engine, world.people[name], bench, lambda _: 3) for name in ("ruth", "remo")]
    assert set(orders[0]) == set(orders[1])
    assert len(orders[0]) == len(set(orders[0])) == 4 * 2 * 3
    assert orders[0] != orders[1]
    assert isinstance(open_output(engine, world.people["ruth"], bench), BenchTask)


def test_each_version_is_shown_first_equally_often_and_the_seed_determines_the_order():
    first = [order_outputs(seed=5, person_id=1, report=report, versions=2)[0] for report in range(1, 2001)]
    # 2,000 draws of a fair coin: 1,000 ± 3 standard deviations of 22.4
    assert 933 < first.count(1) < 1067
    arguments = {"person_id": 1, "reports": 9, "versions": 2}
    outputs = [(report, version) for report in range(1, 10) for version in (1, 2)]
    assert order_cells(seed=1, outputs=outputs, **arguments) == order_cells(
        seed=1, outputs=outputs, **arguments
    )
    assert order_cells(seed=1, outputs=outputs, **arguments) != order_cells(
        seed=2, outputs=outputs, **arguments
    )


@pytest.mark.slow
def test_a_score_is_undone_and_corrected_and_every_revision_is_kept(engine, server):
    world, bench = make_bench(engine, server)
    ruth = world.people["ruth"]
    sheet = open_output(engine, ruth, bench)
    score(engine, ruth, bench, sheet.cell, 2)
    assert open_output(engine, ruth, bench).task.last == sheet.cell
    score(engine, ruth, bench, sheet.cell, None, revision=2)
    again = open_output(engine, ruth, bench)
    assert (again.cell, again.score, again.revision, again.task.done) == (sheet.cell, None, 2, 0)
    score(engine, ruth, bench, sheet.cell, 4, revision=3)
    score(engine, ruth, bench, sheet.cell, 4, revision=3)  # the repeated request, as after a lost reply
    with read_only_session(engine) as db:
        rows = db.execute(text("SELECT revision, score FROM bench_score ORDER BY revision")).all()
        [row] = models.list_bench_scores(db, by=BY, name="May")
        entries = db.execute(
            text("SELECT count(*) FROM audit_entry WHERE what = 'score output'")
        ).scalar_one()
    assert [tuple(stored) for stored in rows] == [(1, 2), (2, None), (3, 4)]
    assert (row.score, row.expert, row.letter, entries) == (4, "ruth", sheet.letter, 3)
    for change in ("UPDATE bench_score SET score = 5", "DELETE FROM bench_score"):
        with pytest.raises((DBAPIError, DomainError)), unit_of_work(engine) as db:
            db.execute(text(change))


@pytest.mark.full
def test_a_second_tab_with_an_old_score_changes_nothing(engine, server):
    world, bench = make_bench(engine, server)
    ruth = world.people["ruth"]
    cell = open_output(engine, ruth, bench).cell
    score(engine, ruth, bench, cell, 2)
    with pytest.raises(StaleRevision, match="scored meanwhile, in another tab"):
        score(engine, ruth, bench, cell, 5)


def test_only_experts_of_the_bench_score_it_and_see_its_radiographs(engine, server):
    world, bench = make_bench(engine, server)
    ruth = world.people["ruth"]
    sheet = open_output(engine, ruth, bench)
    non_expert = replace(world.people["rolf"], disabled_at=None)
    with pytest.raises(NotFound, match="does not score prompt bench"):
        open_output(engine, non_expert, bench)
    with pytest.raises(NotFound, match="does not score prompt bench"):
        score(engine, non_expert, bench, sheet.cell, 3)
    with pytest.raises(InvalidValue, match="must be 1 to 5"):
        score(engine, ruth, bench, sheet.cell, 6)
    with pytest.raises(NotFound, match="no such output"):
        score(engine, ruth, bench, replace(sheet.cell, report=99), 3)
    exams = {"exam_row_id": sheet.exam_row_id, "radiograph_key": "pa"}
    with read_only_session(engine) as db:
        assert models.find_bench_image(db, person=ruth, **exams) is not None
        with pytest.raises(NotAllowed, match="scores no outputs about exam"):
            models.find_bench_image(db, person=non_expert, **exams)
        with pytest.raises(NotFound):
            models.find_bench_image(db, person=ruth, **exams | {"radiograph_key": "oblique"})


@pytest.mark.full
def test_an_expert_with_scores_stays_and_nobody_without_the_role_is_added(engine, server):
    world, bench = make_bench(engine, server)
    score(engine, world.people["ruth"], bench, open_output(engine, world.people["ruth"], bench).cell, 2)
    with pytest.raises(Refused, match="ruth has scored outputs of May already"), unit_of_work(engine) as db:
        models.assign_experts(db, by=BY, bench="May", to=["remo"], now=NOW)
    with pytest.raises(Refused, match="cora may not score outputs"), unit_of_work(engine) as db:
        models.assign_experts(db, by=BY, bench="May", to=["ruth", "cora"], now=NOW)
    with unit_of_work(engine) as db:
        experts = models.assign_experts(db, by=BY, bench="May", to=["ruth"], now=NOW)
    assert [expert.name for expert in experts] == ["ruth"]


@pytest.mark.full
def test_an_expert_reads_the_report_only_after_the_last_score(engine, server):
    world, bench = make_bench(engine, server, reports=1)
    ruth = world.people["ruth"]
    with_both_roles = replace(ruth, roles=ruth.roles | {Role.COORDINATOR})
    for service in (models.load_bench_report, models.list_bench_scores):
        with (
            pytest.raises(Refused, match="opens when you have given all scores"),
            read_only_session(engine) as db,
        ):
            service(db, by=with_both_roles, name="May")
    score_all(engine, ruth, bench, lambda _: 3)
    with read_only_session(engine) as db:
        assert models.load_bench_report(db, by=with_both_roles, name="May").means[0].mean.estimate == 3


@pytest.mark.slow
def test_outputs_without_a_usable_reply_are_counted_and_not_scored(engine, server):
    world, bench = make_bench(engine, server, second="behave: refusal ${report}")
    cells = score_all(engine, world.people["ruth"], bench, lambda _: 4)
    assert {cell.version for cell in cells} == {1}
    report = load_report(engine)
    assert report.unusable == {"mcq@1": 0, "mcq@2": 3}
    assert {row.mean.n for row in report.differences} == {0}
    assert "without usable reply,,mcq@2,,3" in format_report_csv(report)


@pytest.mark.slow
def test_the_report_has_paired_differences_clustered_by_report_and_agreement(engine, server):
    world, bench = make_bench(engine, server, reports=4)
    # Question quality of version 2 minus version 1, per report: ruth 1, 1, 0, 2; remo 2, 1, 0, 1.
    quality = {
        "ruth": {1: (3, 4), 2: (2, 3), 3: (4, 4), 4: (1, 3)},
        "remo": {1: (3, 5), 2: (2, 3), 3: (4, 4), 4: (2, 3)},
    }

    def value_of(name):
        return lambda cell: (
            quality[name][cell.report][cell.version - 1] if cell.scale is BenchScale.QUALITY else 3
        )

    for name in quality:
        score_all(engine, world.people[name], bench, value_of(name))
    report = load_report(engine)
    difference = report.differences[0]
    assert (difference.scale, difference.earlier, difference.later) == (BenchScale.QUALITY, *VERSIONS)
    assert (difference.mean.n, difference.reports) == (8, 4)
    # Sums by report: 3, 2, 0, 3. Mean 8 / 8 = 1. With sums of deviations 1, 0, -2, 1 the standard error is
    # sqrt(4 / 3 x 6) / 8 = 0.35355, and t with 3 degrees of freedom is 3.18245.
    assert difference.mean.estimate == 1
    assert (difference.mean.low, difference.mean.high) == pytest.approx(
        (1 - 3.18245 * 0.35355, 1 + 3.18245 * 0.35355), abs=1e-4
    )
    agreement = report.agreement[0]
    assert (agreement.first, agreement.second, agreement.kappa.n) == ("remo", "ruth", 8)
    # Quadratic weights: 1 - mean squared difference / mean squared difference expected by chance. In two of
    # eight outputs, ruth and remo differ by 1 (4 and 5, 1 and 2): 2 / 8.
    ruth = np.array([3, 4, 2, 3, 4, 4, 1, 3])
    remo = np.array([3, 5, 2, 3, 4, 4, 2, 3])
    expected = np.mean((ruth[:, None] - remo[None, :]) ** 2)
    assert agreement.kappa.value == pytest.approx(1 - 0.25 / expected)
    accuracy = report.means[2]
    assert (accuracy.scale, accuracy.mean.n, accuracy.mean.estimate) == (BenchScale.ACCURACY, 8, 3)
    assert "paired difference,question_quality,mcq@2,mcq@1,8,4,1.0," in format_report_csv(report)
    with read_only_session(engine) as db:
        scores = format_scores_csv(models.list_bench_scores(db, by=BY, name="May"))
    assert len(scores.splitlines()) == 1 + 2 * 4 * 2 * 3


@pytest.mark.full
def test_a_bench_with_invalid_settings_is_refused_with_the_reason(sqlite_engine, server):
    make_bench(sqlite_engine, server)
    fields: dict[str, Any] = {
        "name": "June",
        "dataset": "demo",
        "endpoint": "local",
        "prompts": VERSIONS,
        "reports": 3,
    }

    def create(**values):
        with unit_of_work(sqlite_engine) as db:
            models.create_bench(db, by=BY, seed=1, now=NOW, **fields | values)

    with unit_of_work(sqlite_engine) as db:
        models.save_prompt(db, by=BY, content='name = "graph"\nuser = "${graph}"\n', note="x", now=NOW)
    for values, error, reason in (
        ({"name": "May"}, AlreadyThere, "already a prompt bench May"),
        ({"name": " "}, InvalidValue, "name: must have 1 to 60 characters"),
        ({"prompts": VERSIONS[:1]}, InvalidValue, "versions: must be 2 to 6 different versions"),
        ({"prompts": ("mcq@1", "mcq@1")}, InvalidValue, "versions: must be 2 to 6 different versions"),
        ({"prompts": ("mcq@1", "graph@1")}, InvalidValue, "graph@1: uses the variable graph"),
        ({"reports": 0}, InvalidValue, "reports: must be 1 to 4: dataset demo has 4 exams"),
        ({"reports": 5}, InvalidValue, "reports: must be 1 to 4"),
        ({"endpoint": "none"}, NotFound, "none"),
    ):
        with pytest.raises(error, match=reason):
            create(**values)
    with read_only_session(sqlite_engine) as db:
        assert [bench.name for bench in models.list_benches(db, by=BY)] == ["May"]
        assert len(models.list_runs(db, by=BY, now=NOW)) == 2
