"""Runs of requests to language models: every fault has its outcome, nothing is lost or paid twice."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text

from accounts.service import command_line_person
from domain.errors import AlreadyThere, DomainError, InvalidValue, NotNow, Refused
from domain.language_models import Budget, DataUse, Endpoint, FailureKind, RequestStatus, RunStatus
from language_models import http_driver
from language_models import service as models
from language_models.client import ModelClient
from language_models.requests import ModelRequest
from language_models.service.work_queue import RunQueue
from storage.rows.language_models import ModelCallRow, ModelRequestRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.storage.model_server import (
    COMPLETION_TOKENS,
    MODEL,
    PROMPT_TOKENS,
    make_body,
    running_model_server,
)
from tests.storage.worlds import NOW, make_world

BY = command_line_person()


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def server():
    with running_model_server() as running:
        yield running


@pytest.fixture
def fresh_server():
    with running_model_server() as running:
        yield running


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(http_driver, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(http_driver, "STORE_PAUSES", (0, 0))


def add_endpoint(engine, url: str, **values) -> Endpoint:
    fields: dict[str, Any] = {
        "name": "local",
        "url": url,
        "model": MODEL,
        "data_use": DataUse.LOCAL,
        "timeout_seconds": 20,
    }
    with unit_of_work(engine) as db:
        return models.save_endpoint(db, by=BY, endpoint=Endpoint(**fields | values), now=NOW)


def create_run(engine, endpoint, texts, *, name="run", dataset=None, budget=None, **body):
    requests = [
        ModelRequest(custom_id=f"r{number}", body=make_body(message, **body))
        for number, message in enumerate(texts)
    ]
    with unit_of_work(engine) as db:
        return models.create_run(
            db,
            by=BY,
            name=name,
            stage="test",
            endpoint=endpoint,
            dataset=dataset,
            requests=requests,
            budget=budget,
            now=NOW,
        )


def work(engine, name="run", **values):
    return models.work_on_run(by=BY, name=name, worker="w", clock=clock, engine=engine, **values)


def replay(engine, name="run") -> list:
    with read_only_session(engine) as db:
        return list(models.iterate_reply_texts(db, by=BY, name=name))


def read_calls(engine) -> list[ModelCallRow]:
    with read_only_session(engine) as db:
        return list(db.execute(select(ModelCallRow).order_by(ModelCallRow.id)).scalars())


def totals_of_ledger(engine) -> tuple:
    with read_only_session(engine) as db:
        return tuple(
            db.execute(
                select(
                    func.count(),
                    func.sum(ModelCallRow.prompt_tokens),
                    func.sum(ModelCallRow.completion_tokens),
                    func.sum(ModelCallRow.cost_nanos),
                )
            ).one()
        )


@pytest.mark.slow
def test_a_run_answers_every_request_and_the_ledger_has_each_call(engine, server):
    endpoint = add_endpoint(engine, server.url)
    create_run(engine, endpoint, [f"run answers {number}" for number in range(40)])
    progress = work(engine)
    assert (progress.by_status, progress.is_finished) == ({RequestStatus.DONE: 40}, True)
    assert replay(engine) == [(f"r{number}", '{"answer": "yes"}', "") for number in range(40)]
    assert totals_of_ledger(engine) == (40, 40 * PROMPT_TOKENS, 40 * COMPLETION_TOKENS, 0)
    assert (progress.run.calls, progress.run.prompt_tokens) == (40, 40 * PROMPT_TOKENS)


#: By behaviour of the server: the failure of the request, and the attempts of each of its ledger rows.
OUTCOMES = {
    "ok": (None, [1]),
    "fenced": (None, [1]),
    "limited 2": (None, [3]),
    "broken 1": (None, [2]),
    "gateway 1": (None, [2]),
    "unavailable 2": (None, [3]),
    "cut 1": (None, [2]),
    "half_json 1": (None, [2]),
    "truncated 1": (None, [1, 1]),
    "wrong_schema 2": (None, [1, 1, 1]),
    "truncated": (FailureKind.INVALID_JSON, [1, 1, 1]),
    "wrong_schema": (FailureKind.WRONG_SCHEMA, [1, 1, 1]),
    "empty": (FailureKind.EMPTY, [1, 1, 1]),
    "refusal": (FailureKind.REFUSAL, [1]),
    "filtered_reply": (FailureKind.CONTENT_FILTER, [1]),
    "content_filter": (FailureKind.CONTENT_FILTER, [1]),
    "context": (FailureKind.CONTEXT_SIZE, [1]),
    "length": (FailureKind.LENGTH, [1]),
    "other_model": (FailureKind.WRONG_MODEL, [1]),
    "bad_request": (FailureKind.BAD_REQUEST, [1]),
    "redirect": (FailureKind.BAD_REQUEST, [1]),
    "unavailable": (FailureKind.SERVER_ERROR, [6]),
    "cut": (FailureKind.CONNECTION, [6]),
}


@pytest.mark.slow
def test_every_fault_has_its_outcome_and_its_tokens_are_counted(engine, fresh_server):
    endpoint = add_endpoint(engine, fresh_server.url)
    create_run(engine, endpoint, [f"behave: {behaviour}" for behaviour in OUTCOMES])
    work(engine)
    with read_only_session(engine) as db:
        requests = db.execute(select(ModelRequestRow).order_by(ModelRequestRow.position)).scalars().all()
    attempts: dict[int, list[int]] = {}
    for call in read_calls(engine):
        attempts.setdefault(call.position, []).append(call.attempts)
    outcomes = {
        behaviour: (request.failure and FailureKind(request.failure), attempts[request.position])
        for behaviour, request in zip(OUTCOMES, requests, strict=True)
    }
    assert outcomes == OUTCOMES
    with read_only_session(engine) as db:
        run = models.load_run(db, by=BY, name="run")
    assert (run.calls, run.prompt_tokens, run.completion_tokens, run.cost_nanos) == totals_of_ledger(engine)
    assert run.status is RunStatus.OPEN


@pytest.mark.slow
def test_tokens_of_replies_that_fail_validation_are_part_of_the_cost(sqlite_engine, fresh_server):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url, price_input=1, price_output=2)
    create_run(sqlite_engine, endpoint, ["behave: wrong_schema"])
    run = work(sqlite_engine).run
    # 3 calls of 20 tokens at $1 and 10 tokens at $2 per million: 3 x 40 micro-dollars
    assert (run.calls, run.cost_nanos) == (3, 120_000)


def test_a_successful_call_is_reused_and_a_failed_call_is_not(sqlite_engine, fresh_server):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url)
    create_run(sqlite_engine, endpoint, ["plain", "behave: refusal"], name="first")
    work(sqlite_engine, "first")
    create_run(sqlite_engine, endpoint, ["plain", "behave: refusal"], name="second")
    progress = work(sqlite_engine, "second")
    assert fresh_server.seen == {"plain": 1, "behave: refusal": 2}
    assert (progress.reused, progress.run.calls) == (1, 1)


def test_the_correction_shows_the_model_its_reply_and_the_error(sqlite_engine, fresh_server):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, fresh_server.url), ["behave: wrong_schema 1"])
    work(sqlite_engine)
    _, reply, correction = fresh_server.bodies[1]["messages"]
    assert reply == {"role": "assistant", "content": '{"reply": "yes"}'}
    assert "'answer' is a required property" in correction["content"]


def test_the_correction_shows_the_reply_also_after_a_call_without_one(sqlite_engine, fresh_server):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url)
    create_run(sqlite_engine, endpoint, ["behave: wrong_schema 1, then behave: unauthorised 1"])
    assert work(sqlite_engine).run.status is RunStatus.PAUSED
    with unit_of_work(sqlite_engine) as db:
        models.resume_run(db, by=BY, name="run", now=NOW)
    assert work(sqlite_engine).failures == {}
    messages = [body["messages"][1:] for body in fresh_server.bodies]
    assert messages[2] == messages[1]
    assert messages[1][0] == {"role": "assistant", "content": '{"reply": "yes"}'}


@pytest.mark.full
def test_a_slow_reply_times_out_and_is_tried_twice(sqlite_engine, fresh_server):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url, timeout_seconds=1)
    create_run(sqlite_engine, endpoint, ["behave: slow"])
    assert work(sqlite_engine).failures == {FailureKind.TIMEOUT: 1}
    assert fresh_server.seen["behave: slow"] == 2


@pytest.mark.parametrize("behaviour", ["unauthorised", "quota", "unknown_model"])
def test_an_error_common_to_all_calls_pauses_the_run_and_fails_no_request(
    sqlite_engine, fresh_server, behaviour
):
    create_run(
        sqlite_engine,
        add_endpoint(sqlite_engine, fresh_server.url, max_parallel=1),
        [f"behave: {behaviour}"] * 5,
    )
    progress = work(sqlite_engine)
    assert progress.run.status is RunStatus.PAUSED
    assert progress.by_status == {RequestStatus.WAITING: 5}
    assert "Status 4" in progress.run.reason


def test_a_server_that_is_down_pauses_the_run(sqlite_engine, monkeypatch):
    monkeypatch.setattr(http_driver, "MAX_ATTEMPTS", 2)
    endpoint = add_endpoint(sqlite_engine, "http://127.0.0.1:9/v1", max_parallel=2)
    create_run(sqlite_engine, endpoint, [f"down {number}" for number in range(50)])
    progress = work(sqlite_engine)
    assert progress.run.status is RunStatus.PAUSED
    assert "connection" in progress.run.reason
    assert progress.count(RequestStatus.WAITING) > 30
    with pytest.raises(Refused, match="Run run is paused"):
        work(sqlite_engine)


def test_a_run_continues_at_the_new_address_of_its_endpoint(sqlite_engine, fresh_server, monkeypatch):
    monkeypatch.setattr(http_driver, "MAX_ATTEMPTS", 2)
    down = add_endpoint(sqlite_engine, "http://127.0.0.1:9/v1", max_parallel=2)
    create_run(sqlite_engine, down, ["a", "b"])
    work(sqlite_engine)
    moved = add_endpoint(sqlite_engine, fresh_server.url)
    with unit_of_work(sqlite_engine) as db:
        run = models.resume_run(db, by=BY, name="run", retry_failed=True, now=NOW)
    assert run.endpoint == moved
    assert work(sqlite_engine).by_status == {RequestStatus.DONE: 2}


def test_a_run_keeps_its_endpoint_if_the_new_endpoint_has_another_model(sqlite_engine, fresh_server):
    before = add_endpoint(sqlite_engine, fresh_server.url)
    create_run(sqlite_engine, before, ["a"])
    add_endpoint(sqlite_engine, fresh_server.url, model="another")
    with unit_of_work(sqlite_engine) as db:
        assert models.resume_run(db, by=BY, name="run", now=NOW).endpoint.id == before.id


def test_one_call_answers_two_equal_requests(engine, fresh_server):
    create_run(engine, add_endpoint(engine, fresh_server.url), ["same", "same", "other"])
    assert work(engine).by_status == {RequestStatus.DONE: 3}
    assert fresh_server.seen == {"same": 1, "other": 1}
    assert [output for _, output, _ in replay(engine)] == ['{"answer": "yes"}'] * 3


def test_creating_a_run_again_resumes_it_and_is_refused_with_other_requests(sqlite_engine, fresh_server):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url)
    create_run(sqlite_engine, endpoint, ["a", "b", "c"])
    work(sqlite_engine, most=2)
    _, is_new = create_run(sqlite_engine, endpoint, ["a", "b", "c"])
    work(sqlite_engine)
    assert (is_new, set(fresh_server.seen.values())) == (False, {1})
    with pytest.raises(AlreadyThere, match="Run run exists with other requests"):
        create_run(sqlite_engine, endpoint, ["a", "b", "d"])


def test_a_custom_id_that_occurs_twice_is_refused(sqlite_engine, server):
    endpoint = add_endpoint(sqlite_engine, server.url)
    requests = [ModelRequest(custom_id="same", body=make_body("x"))] * 2
    with pytest.raises(InvalidValue, match="same occurs twice"), unit_of_work(sqlite_engine) as db:
        models.create_run(
            db, by=BY, name="run", stage="test", endpoint=endpoint, dataset=None, requests=requests, now=NOW
        )


def test_no_request_is_sent_to_a_forbidden_endpoint(sqlite_engine, fresh_server):
    make_world(sqlite_engine)
    remote = add_endpoint(sqlite_engine, fresh_server.url)
    # A remote endpoint needs https, and this server has none. So the stored endpoint is made remote.
    with unit_of_work(sqlite_engine) as db:
        db.execute(text("UPDATE model_endpoint SET data_use = 'remote'"))
    with pytest.raises(Refused, match="dataset demo permits local endpoints only"):
        create_run(sqlite_engine, replace(remote, data_use=DataUse.REMOTE), ["secret report"], dataset="demo")
    assert fresh_server.connections == 0


def test_a_policy_that_changes_during_a_run_stops_it_before_the_next_call(sqlite_engine, fresh_server):
    make_world(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        models.set_data_use(db, by=BY, dataset="demo", data_use=DataUse.REMOTE, now=NOW)
    endpoint = add_endpoint(sqlite_engine, fresh_server.url)
    with unit_of_work(sqlite_engine) as db:
        db.execute(text("UPDATE model_endpoint SET data_use = 'remote'"))
    create_run(sqlite_engine, endpoint, ["one", "two", "three"], dataset="demo")
    work(sqlite_engine, most=1)
    with unit_of_work(sqlite_engine) as db:
        models.set_data_use(db, by=BY, dataset="demo", data_use=DataUse.ZERO_RETENTION, now=NOW)
    with pytest.raises(Refused, match="zero retention only"):
        work(sqlite_engine)
    assert sum(fresh_server.seen.values()) == 1


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (Budget(max_calls=3), 3),
        # A call reserves 50 tokens of reply and the bytes of its prompt: 7 of text, 16 for the message and
        # 110 of the schema, in all 183. It uses 30. Calls are made while at most 300 - 183 = 117 are spent.
        (Budget(max_tokens=300), 4),
        (Budget(max_cost_nanos=300_000), 4),
    ],
)
@pytest.mark.slow
def test_a_budget_pauses_the_run_before_it_is_exceeded(engine, fresh_server, budget, calls):
    endpoint = add_endpoint(engine, fresh_server.url, price_input=1, price_output=1, max_parallel=1)
    create_run(engine, endpoint, [f"money {number}" for number in range(9)], budget=budget)
    progress = work(engine)
    tokens = progress.run.prompt_tokens + progress.run.completion_tokens
    assert (progress.run.status, progress.run.calls) == (RunStatus.PAUSED, calls)
    assert tokens <= (budget.max_tokens or tokens)
    assert progress.run.cost_nanos <= (budget.max_cost_nanos or progress.run.cost_nanos)
    assert "budget is reached" in progress.run.reason
    with unit_of_work(engine) as db:
        models.resume_run(db, by=BY, name="run", budget=Budget(), now=NOW)
    assert work(engine).is_finished


def test_a_budget_of_tokens_needs_a_reply_token_limit(sqlite_engine, server):
    endpoint = add_endpoint(sqlite_engine, server.url)
    requests = [ModelRequest(custom_id="a", body={"messages": [{"role": "user", "content": "x"}]})]
    with pytest.raises(InvalidValue, match="a: max_tokens: is needed"), unit_of_work(sqlite_engine) as db:
        models.create_run(
            db, by=BY, name="run", stage="test", endpoint=endpoint, dataset=None, requests=requests,
            budget=Budget(max_tokens=100), now=NOW,
        )  # fmt: skip


@pytest.mark.slow
def test_requests_of_a_killed_process_are_called_after_their_lease(engine, fresh_server):
    endpoint = add_endpoint(engine, fresh_server.url)
    create_run(engine, endpoint, ["left", "free"])
    with unit_of_work(engine) as db:
        lease_end = clock() + timedelta(seconds=1)
        db.execute(
            text(
                "UPDATE model_request SET status = 'in progress', worker = 'killed', lease_until = :end "
                "WHERE position = 0"
            ),
            {
                "end": lease_end
                if engine.dialect.name != "sqlite"
                else lease_end.strftime("%Y-%m-%d %H:%M:%S.%f")
            },
        )
    assert work(engine).by_status == {RequestStatus.DONE: 2}
    assert fresh_server.seen == {"left": 1, "free": 1}


@pytest.mark.full
def test_a_pause_stops_the_work_and_resuming_continues_it(sqlite_engine):
    with running_model_server(delay=0.05) as slow:
        create_run(
            sqlite_engine, add_endpoint(sqlite_engine, slow.url), [f"pause {number}" for number in range(200)]
        )

        def pause_soon(calls: int) -> None:
            if calls >= 10:
                with unit_of_work(sqlite_engine) as db:
                    models.pause_run(db, by=BY, name="run")

        progress = work(sqlite_engine, report=pause_soon)
        assert progress.run.status is RunStatus.PAUSED
        assert 10 <= progress.ended < 200
        assert progress.count(RequestStatus.LEASED) == 0
        with unit_of_work(sqlite_engine) as db:
            models.resume_run(db, by=BY, name="run", now=NOW)
        assert work(sqlite_engine).is_finished
        assert set(slow.seen.values()) == {1}


@pytest.mark.full
def test_a_stop_stores_finished_calls_and_returns_the_rest_to_waiting(sqlite_engine):
    with running_model_server(delay=0.05) as slow:
        create_run(
            sqlite_engine, add_endpoint(sqlite_engine, slow.url), [f"stop {number}" for number in range(100)]
        )
        reported_counts: list[int] = []
        progress = work(
            sqlite_engine,
            report=reported_counts.append,
            should_stop=lambda: bool(reported_counts) and reported_counts[-1] >= 10,
        )
        assert progress.by_status[RequestStatus.DONE] == sum(slow.replies.values())
        assert set(progress.by_status) == {RequestStatus.DONE, RequestStatus.WAITING}


class FailingQueue(RunQueue):
    """A queue that fails to store calls ``failures`` times, as if the database were locked."""

    failures = 0

    def exchange(self, *, finished, **values):
        if finished and self.failures:
            self.failures -= 1
            raise NotNow("the database was locked for too long")
        return super().exchange(finished=finished, **values)


def drive_with_failures(engine, failures):
    with read_only_session(engine) as db:
        run = models.load_run(db, by=BY, name="run")
    queue = FailingQueue(
        run, worker="w", workspace=current_workspace(), engine=engine, lease=timedelta(seconds=60)
    )
    queue.failures = failures

    async def drive():
        async with ModelClient(run.endpoint) as client:
            await http_driver.HttpDriver(queue, client, clock=clock).run()

    try:
        asyncio.run(drive())
    finally:
        queue.close()


def test_calls_that_a_locked_database_refused_are_stored_at_a_later_attempt(sqlite_engine, fresh_server):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, fresh_server.url), ["plain"])
    with pytest.raises(NotNow):
        drive_with_failures(sqlite_engine, failures=9)
    assert read_calls(sqlite_engine) == []
    with unit_of_work(sqlite_engine) as db:
        db.execute(text("UPDATE model_request SET status = 'waiting', worker = NULL, lease_until = NULL"))
    drive_with_failures(sqlite_engine, failures=2)
    assert [call.failure for call in read_calls(sqlite_engine)] == [None]
    assert fresh_server.seen == {"plain": 2}  # one call for each run of the driver


def test_a_replay_with_the_endpoint_off_is_identical(sqlite_engine):
    with running_model_server() as running:
        create_run(
            sqlite_engine,
            add_endpoint(sqlite_engine, running.url),
            ["one", "behave: fenced", "behave: refusal"],
        )
        work(sqlite_engine)
    first = replay(sqlite_engine)
    assert first == replay(sqlite_engine)
    assert first == [
        ("r0", '{"answer": "yes"}', ""), ("r1", '{"answer": "yes"}', ""), ("r2", None, "refusal")
    ]  # fmt: skip


def test_a_call_in_the_ledger_cannot_be_changed(engine, server):
    create_run(engine, add_endpoint(engine, server.url), ["kept"])
    work(engine)
    for statement in ("UPDATE model_call SET cost_nanos = 0", "DELETE FROM model_call"):
        with pytest.raises(Exception, match="append-only"), unit_of_work(engine) as db:
            db.execute(text(statement))


PLANTED = "sk-planted-0123456789abcdef"


def test_a_key_is_in_no_table_no_log_and_no_error(engine, fresh_server, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OVERREAD_MODEL_KEY_PLANTED", PLANTED)
    endpoint = add_endpoint(engine, fresh_server.url, key_name="planted")
    create_run(engine, endpoint, ["behave: echo_key", "behave: unauthorised"])
    progress = work(engine)
    call = models.make_test_call(endpoint, now=NOW)
    with unit_of_work(engine) as db:
        models.record_test_call(db, by=BY, call=call)
        tables = [row[0] for row in db.execute(text(
            "SELECT name FROM sqlite_schema WHERE type = 'table'" if engine.dialect.name == "sqlite"
            else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ))]  # fmt: skip
        content = "".join(str(db.execute(text(f'SELECT * FROM "{table}"')).all()) for table in tables)
    assert fresh_server.headers[0]["authorization"] == f"Bearer {PLANTED}"
    assert "[key]" in content
    for shown in (content, caplog.text, repr(progress), repr(replay(engine)), repr(call), repr(endpoint)):
        assert PLANTED not in shown


def test_keys_and_headers_of_the_environment_are_not_sent(sqlite_engine, fresh_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
    monkeypatch.setenv("OPENAI_ORG_ID", PLANTED)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Custom: {PLANTED}")
    create_run(sqlite_engine, add_endpoint(sqlite_engine, fresh_server.url), ["plain"])
    work(sqlite_engine)
    assert PLANTED not in repr(fresh_server.headers)
    assert "authorization" not in fresh_server.headers[0]


def test_the_error_for_a_missing_key_names_its_variable_and_a_file_can_hold_the_key(
    sqlite_engine, fresh_server, tmp_path, monkeypatch
):
    endpoint = add_endpoint(sqlite_engine, fresh_server.url, key_name="hospital")
    create_run(sqlite_engine, endpoint, ["plain"])
    with pytest.raises(InvalidValue, match="OVERREAD_MODEL_KEY_HOSPITAL"):
        work(sqlite_engine)
    file = tmp_path / "keys.toml"
    file.write_text(f'hospital = "{PLANTED}"\n', encoding="utf-8")
    monkeypatch.setenv("OVERREAD_MODEL_KEYS_FILE", str(file))
    assert work(sqlite_engine).is_finished
    assert fresh_server.headers[0]["authorization"] == f"Bearer {PLANTED}"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"url": "ftp://x/v1"}, "URL: must be of the form"),
        ({"url": "https://user:pw@host/v1"}, "URL: must not contain a user"),
        ({"url": "https://api.openai.com/v1"}, "can't be declared local"),
        ({"url": "http://models.example.org/v1", "data_use": DataUse.REMOTE}, "must begin with https"),
        ({"key_name": PLANTED}, "not the key itself"),
        ({"price_input": 1}, "needs both prices"),
        ({"max_parallel": 0}, "parallel calls: must be 1 to 1,000"),
    ],
)
def test_an_endpoint_is_refused_with_the_field_that_is_wrong(sqlite_engine, fields, problem):
    with pytest.raises(InvalidValue, match=problem):
        add_endpoint(sqlite_engine, **{"url": "http://127.0.0.1/v1"} | fields)


def test_changing_an_endpoint_does_not_change_existing_runs(engine, server):
    endpoint = add_endpoint(engine, server.url)
    create_run(engine, endpoint, ["kept"])
    add_endpoint(engine, "http://127.0.0.1:9/v1")
    with read_only_session(engine) as db:
        assert models.load_endpoint(db, by=BY, name="local").url == "http://127.0.0.1:9/v1"
        assert models.load_run(db, by=BY, name="run").endpoint.url == server.url


def test_an_endpoint_check_is_in_the_ledger_and_shown_as_its_health(sqlite_engine, server):
    endpoint = add_endpoint(sqlite_engine, server.url)
    call = models.make_test_call(endpoint, now=NOW)
    with unit_of_work(sqlite_engine) as db:
        models.record_test_call(db, by=BY, call=call)
    with read_only_session(sqlite_engine) as db:
        [state] = models.list_endpoints(db, by=BY)
    assert (state.latest.failure, state.latest.run_id, state.latest.model) == (None, None, MODEL)


def test_a_cancelled_run_stays_cancelled(sqlite_engine, server):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, server.url), ["x"])
    with unit_of_work(sqlite_engine) as db:
        models.cancel_run(db, by=BY, name="run", now=NOW)
    with pytest.raises(Refused, match="was cancelled"), unit_of_work(sqlite_engine) as db:
        models.resume_run(db, by=BY, name="run", now=NOW)
    with pytest.raises(DomainError, match="Run run is cancelled"):
        work(sqlite_engine)


def test_failed_requests_are_called_again_on_demand(sqlite_engine, fresh_server):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, fresh_server.url), ["behave: refusal 1", "fine"])
    assert work(sqlite_engine).failures == {FailureKind.REFUSAL: 1}
    with unit_of_work(sqlite_engine) as db:
        models.resume_run(db, by=BY, name="run", retry_failed=True, now=NOW)
    assert work(sqlite_engine).by_status == {RequestStatus.DONE: 2}


def test_request_bodies_with_unsupported_fields_are_refused():
    for field, value in (("stream", True), ("n", 2), ("model", "x"), ("messages", [])):
        with pytest.raises(InvalidValue, match=field):
            ModelRequest(custom_id="a", body=make_body("x") | {field: value})
    image = {"type": "image_url", "image_url": {"url": "https://example.org/patient.png"}}
    with pytest.raises(InvalidValue, match="must name a radiograph of the workspace"):
        ModelRequest(custom_id="a", body={"messages": [{"role": "user", "content": [image]}]})
    loose = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": loose}}
    with pytest.raises(InvalidValue, match="a is missing in required"):
        ModelRequest(custom_id="a", body=make_body("x") | {"response_format": wanted})


def test_the_ledger_key_changes_with_everything_that_determines_the_reply():
    request = ModelRequest(custom_id="a", body=make_body("x"))
    other = ModelRequest(custom_id="a", body=make_body("x") | {"temperature": 0})
    base = {"stage": "test", "model": "m", "prompt_sha256": None}
    keys = Counter(
        [
            request.compute_key(**base),
            request.compute_key(**base | {"model": "n"}),
            request.compute_key(**base | {"stage": "other"}),
            request.compute_key(**base | {"prompt_sha256": "p"}),
            other.compute_key(**base),
        ]
    )
    assert set(keys.values()) == {1}
    reordered = ModelRequest(
        custom_id="b", body=json.loads(json.dumps(dict(reversed(make_body("x").items()))))
    )
    assert reordered.compute_key(**base) == request.compute_key(**base)
