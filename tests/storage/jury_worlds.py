"""A dataset with a jury whose models answer over HTTP, for the tests of juries."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import text

from accounts.service import command_line_person
from domain.checks import Check
from quality.service import (
    JurySettings,
    list_results,
    load_check_report,
    plan_jury,
    work_on_jury,
)
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.import_worlds import NOW, make_record, to_json_lines
from tests.storage.test_model_runs import add_endpoint

BY = command_line_person()
DEPTH = Check.COGNITIVE_DEPTH


def add_questions(importer, server, *stems, first=1, families=("qwen", "gpt"), **fields):
    """Import a question per stem, and add the endpoints of these families."""
    importer(
        to_json_lines(
            *(make_record(number, stem=stem, **fields) for number, stem in enumerate(stems, start=first))
        )
    )
    for family in families:
        add_endpoint(importer.engine, server.url, name=family, model=family)


def plan(importer, *, endpoints=("qwen", "gpt"), checks=(DEPTH,), budget=None, by=BY, **settings):
    with unit_of_work(importer.engine) as db:
        return plan_jury(
            db,
            by=by,
            settings=JurySettings(dataset="d", endpoints=endpoints, checks=checks, **settings),
            budget=budget,
            now=NOW,
        )


def work(importer, jury, **options):
    return work_on_jury(
        by=BY,
        jury_id=jury.id,
        worker="w",
        clock=lambda: datetime.now(UTC),
        engine=importer.engine,
        **options,
    )


def run_jury(importer, **settings):
    return work(importer, plan(importer, **settings))


def read(importer, function, **arguments):
    with read_only_session(importer.engine) as db:
        return function(db, by=BY, **arguments)


def line_of(importer, check=DEPTH):
    report = read(importer, load_check_report, dataset="d")
    return next(line for line in report.lines if line.check is check)


def result_of(importer, number, check=DEPTH):
    results = read(importer, list_results, question_row_id=number)
    return next(result for result in results if result.check is check)


def execute(importer, statement):
    with unit_of_work(importer.engine) as db:
        db.execute(text(statement))
