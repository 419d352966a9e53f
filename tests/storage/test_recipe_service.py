"""The service for recipes on both databases: stopping, continuing, and permission."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from domain.errors import NotAllowed
from domain.language_models import RunStatus
from domain.people import Person, Role
from generation.recipes import RECIPES
from generation.service import GenerationPlan, left_out_path, run_recipe
from generation.sources import load_source
from language_models import service as models
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.model_server import running_model_server
from tests.storage.recipe_replies import answer
from tests.storage.test_model_runs import BY, add_endpoint
from tests.unit.generation_sources import write_openi

REPORTS = [
    {"uid": str(uid), "findings": f"The heart size is normal. There are {uid} wires.", "impression": ""}
    for uid in range(1, 4)
]


@pytest.fixture
def exams(tmp_path):
    return load_source("openi-csv", write_openi(tmp_path / "source", *REPORTS)).exams


def run(engine, exams, path, *, by=BY, **values):
    plan = GenerationPlan(name="p", recipe=RECIPES["gemex"], source="openi-csv", endpoint="local")
    return run_recipe(
        by=by,
        plan=plan,
        exams=exams,
        path=path,
        worker="w",
        clock=lambda: datetime.now(UTC),
        engine=engine,
        **values,
    )


@pytest.mark.slow
def test_a_recipe_that_is_stopped_and_paused_continues_when_run_again(engine, exams, tmp_path):
    path = tmp_path / "questions.jsonl"
    reported = []
    with running_model_server(answer=answer) as server:
        add_endpoint(engine, server.url)
        stopped = run(engine, exams, path, should_stop=lambda: True)
        assert (stopped.counts, path.exists()) == (None, False)
        with unit_of_work(engine) as db:
            models.pause_run(db, by=BY, name="p gemex-regions")
        result = run(engine, exams, path, report=lambda *values: reported.append(values))
        assert [progress.run.status for progress in result.runs] == [RunStatus.OPEN] * 2
        assert len(server.bodies) == 6
    assert (result.counts.questions, result.counts.complete, result.counts.exams) == (33, 3, 3)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 33
    assert left_out_path(path).read_text(encoding="utf-8") == ""
    assert ("Stage II: questions, requests", 3, 3) in reported
    assert ("Exams with questions", 3, 3) in reported


def test_the_audit_trail_names_recipe_and_source_of_each_run(engine, exams, tmp_path):
    with running_model_server(answer=answer) as server:
        add_endpoint(engine, server.url)
        run(engine, exams, tmp_path / "questions.jsonl")
    with read_only_session(engine) as db:
        texts = list(db.scalars(select(AuditRow.new).where(AuditRow.what == "generate questions")))
    assert [json.loads(text) for text in texts] == [
        {"recipe": "gemex", "source": "openi-csv", "dataset": None, "data use": None}
    ] * 2


def test_a_reader_may_not_run_a_recipe(engine, exams, tmp_path):
    reader = Person(id=99, name="rita", display_name="Rita", roles=frozenset({Role.READER}))
    with pytest.raises(NotAllowed):
        run(engine, exams, tmp_path / "questions.jsonl", by=reader)
