"""Runs in processes of their own: killed, sharing the work, and with a real local model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from domain.language_models import FailureKind, RequestStatus
from language_models import service as models
from language_models.requests import ModelRequest
from storage.rows.language_models import ModelCallRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.local_model import CONTEXT, LOCAL_MODEL, running_local_model
from tests.storage.model_server import SCHEMA, ModelServer, running_model_server
from tests.storage.test_model_runs import (
    BY,
    add_endpoint,
    create_run,
    read_calls,
    replay,
    totals_of_ledger,
    work,
)
from tests.storage.worlds import NOW

ROOT = Path(__file__).resolve().parents[2]
#: Concurrent calls of each process: at most so many are in progress when it is killed.
PARALLEL = 8


def make_environment(engine, home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "OVERREAD_HOME": str(home),
        "OVERREAD_DATABASE_URL": engine.url.render_as_string(hide_password=False),
    }


def start_resume(engine, home: Path, *, lease: int = 2) -> subprocess.Popen:
    environment = make_environment(engine, home)
    return subprocess.Popen(
        [sys.executable, "cli.py", "run", "resume", "run", "--lease", str(lease)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_replies(server: ModelServer, count: int, process: subprocess.Popen) -> None:
    while sum(server.replies.values()) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def make_texts(count: int) -> list[str]:
    """Return messages: of 20, three meet a fault first and one gets no usable reply."""
    faults = {
        3: "behave: unavailable 1",
        7: "behave: cut 1",
        13: "behave: refusal",
        17: "behave: wrong_schema 1",
    }
    return [f"{number} {faults.get(number % 20, '')}".strip() for number in range(count)]


@pytest.mark.parametrize(
    ("requests", "kills"),
    [
        pytest.param(400, 3, marks=pytest.mark.full),
        pytest.param(1000, 5, marks=pytest.mark.soak),
    ],
)
def test_a_killed_run_loses_nothing_and_repeats_no_stored_call(sqlite_engine, tmp_path, requests, kills):
    with running_model_server(delay=0.05) as server:
        create_run(
            sqlite_engine,
            add_endpoint(sqlite_engine, server.url, max_parallel=PARALLEL),
            make_texts(requests),
        )
        for number in range(kills):
            process = start_resume(sqlite_engine, tmp_path)
            wait_for_replies(server, (number + 1) * requests // (kills + 2), process)
            stored_before = {call.key for call in read_calls(sqlite_engine) if call.failure is None}
            process.kill()
            process.communicate()
            sent_before = Counter(server.seen)
            texts_before = read_texts(sqlite_engine, stored_before)
        process = start_resume(sqlite_engine, tmp_path)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert f"{requests:,} of {requests:,} requests ended" in output
        assert {text: server.seen[text] - sent_before[text] for text in texts_before} == dict.fromkeys(
            texts_before, 0
        )
        # After each kill, calls in progress and answered calls that are not stored yet can be repeated.
        repeated = sum(server.replies.values()) - len(server.replies)
        assert repeated <= kills * 2 * PARALLEL
    check_ledger(sqlite_engine, requests)
    assert replay(sqlite_engine) == replay(sqlite_engine)


def read_texts(engine, keys: set[str]) -> set[str]:
    with read_only_session(engine) as db:
        requests = models.list_requests(db, by=BY, name="run", status=RequestStatus.DONE, limit=10_000)
        details = [
            models.load_request(db, by=BY, name="run", custom_id=request.custom_id)
            for request in requests[:50]
        ]
    return {
        detail.body["messages"][0]["content"]
        for detail in details
        if {call.key for call in detail.calls if call.failure is None} & keys
    }


def check_ledger(engine, requests: int) -> None:
    """Check: each request has its outcome and at most one successful call; the totals equal the ledger."""
    with read_only_session(engine) as db:
        run = models.load_run(db, by=BY, name="run")
        progress = models.load_progress(db, by=BY, name="run", now=NOW)
        successes = db.execute(
            select(func.count(), func.count(ModelCallRow.key.distinct())).where(
                ModelCallRow.failure.is_(None)
            )
        ).one()
    assert progress.failures == ({FailureKind.REFUSAL: requests // 20} if requests >= 20 else {})
    assert progress.ended == requests
    assert tuple(successes) == (requests - requests // 20,) * 2
    assert (run.calls, run.prompt_tokens, run.completion_tokens, run.cost_nanos) == totals_of_ledger(engine)


@pytest.mark.full
def test_calls_in_progress_are_stored_if_the_service_manager_stops_the_run(sqlite_engine, tmp_path):
    with running_model_server(delay=0.05) as server:
        create_run(sqlite_engine, add_endpoint(sqlite_engine, server.url), [f"{n}" for n in range(300)])
        process = start_resume(sqlite_engine, tmp_path)
        wait_for_replies(server, 20, process)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate()
        assert process.returncode == 1
        assert "of 300 requests ended" in output
        assert len(read_calls(sqlite_engine)) == sum(server.replies.values())


@pytest.mark.full
def test_two_processes_share_a_run_and_no_request_is_done_twice(postgres_engine, tmp_path):
    with running_model_server(delay=0.02) as server:
        create_run(postgres_engine, add_endpoint(postgres_engine, server.url), [f"{n}" for n in range(600)])
        processes = [start_resume(postgres_engine, tmp_path / name, lease=30) for name in ("a", "b")]
        outputs = [process.communicate() for process in processes]
        assert [process.returncode for process in processes] == [0, 0], outputs
        assert set(server.replies.values()) == {1}
        assert server.connections > PARALLEL
    with read_only_session(postgres_engine) as db:
        assert models.load_progress(db, by=BY, name="run", now=NOW).by_status == {RequestStatus.DONE: 600}
        assert models.load_run(db, by=BY, name="run").calls == 600


@pytest.fixture(scope="module")
def local_model(tmp_path_factory):
    with running_local_model(tmp_path_factory.mktemp("model")) as url:
        yield url


#: The requests of the test below, by the last two digits: 20 % go to the real model, 10 % meet a fault first,
#: 5 % fail validation twice before a usable reply, 5 % get no usable reply, 60 % get a scripted reply.
REAL = 'Is the heart enlarged? Reply {"answer": "yes"} or {"answer": "no"} and nothing else.'
MIX = {
    **dict.fromkeys(range(0, 100, 5), REAL),
    **dict.fromkeys((1, 41, 81), "behave: unavailable 1"),
    **dict.fromkeys((6, 46, 86), "behave: cut 1"),
    **dict.fromkeys((11, 51), "behave: limited 1"),
    **dict.fromkeys((16, 56), "behave: half_json 1"),
    **dict.fromkeys((21, 61), "behave: wrong_schema 2"),
    **dict.fromkeys((26, 66, 96), "behave: truncated 2"),
    **dict.fromkeys((31, 71), "behave: refusal"),
    **dict.fromkeys((36, 76), "behave: wrong_schema"),
    91: "behave: content_filter",
}
#: A grammar with two possible replies, so that the real model ends its reply by itself.
YES_OR_NO = SCHEMA | {"properties": {"answer": {"type": "string", "enum": ["yes", "no"]}}}


@pytest.mark.parametrize(
    ("requests", "kills"),
    [
        pytest.param(40, 2, marks=pytest.mark.full),
        pytest.param(1000, 5, marks=pytest.mark.soak),
    ],
)
def test_a_killed_run_with_real_and_faulty_replies_repeats_no_stored_call(
    sqlite_engine, tmp_path, local_model, requests, kills
):
    """The code path is tested; the quality of the replies is not measured."""

    async def forward(body):
        if REAL not in body["messages"][0]["content"]:
            return None
        async with httpx.AsyncClient(timeout=300) as client:
            return (await client.post(f"{local_model}/chat/completions", json=body)).text

    with running_model_server(delay=0.02) as server:
        server.forward, server.keeps_requests = forward, False
        endpoint = add_endpoint(
            sqlite_engine, server.url, reported_model=LOCAL_MODEL, max_parallel=PARALLEL, timeout_seconds=300,
            price_input=1, price_output=2,
        )  # fmt: skip
        create_mixed_run(sqlite_engine, endpoint, requests)
        seen_when_stored: dict[str, int] = {}
        for number in range(kills):
            process = start_resume(sqlite_engine, tmp_path)
            wait_for_replies(server, (number + 1) * requests // (kills + 2), process)
            stored = {make_mixed_text(position) for position in read_answered_positions(sqlite_engine)}
            process.kill()
            process.communicate()
            seen_when_stored = {text: server.seen[text] for text in stored} | seen_when_stored
        process = start_resume(sqlite_engine, tmp_path)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert f"{requests:,} of {requests:,} requests ended" in output
        # No call that was stored before a kill was made again.
        assert {text: server.seen[text] for text in seen_when_stored} == seen_when_stored
        # After each kill, calls in progress and answered calls that are not stored yet can be repeated.
        repeated = sum(server.replies.values()) - len(server.replies)
        assert repeated <= kills * 2 * PARALLEL
    check_mixed_ledger(sqlite_engine, requests)
    # The endpoint is off now.
    files = [tmp_path / f"replies-{number}.jsonl" for number in range(2)]
    for file in files:
        replayed = subprocess.run(
            [sys.executable, "cli.py", "run", "replay", "run", "--to", str(file)],
            cwd=ROOT, env=make_environment(sqlite_engine, tmp_path), check=False, capture_output=True,
        )  # fmt: skip
        assert b"have no usable reply" in replayed.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_bytes().splitlines()) == requests


def make_mixed_text(number: int) -> str:
    return f"{number} {MIX.get(number % 100, '')}".strip()


def create_mixed_run(engine, endpoint, count: int) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "t", "strict": True, "schema": YES_OR_NO}}
    requests = [
        ModelRequest(
            custom_id=f"r{number}",
            body={
                "messages": [{"role": "user", "content": make_mixed_text(number)}],
                "max_tokens": 12,
                "temperature": 0,
                "response_format": schema,
            },
        )
        for number in range(count)
    ]
    with unit_of_work(engine) as db:
        models.create_run(
            db, by=BY, name="run", stage="test", endpoint=endpoint, dataset=None, requests=requests, now=NOW
        )


def read_answered_positions(engine) -> set[int]:
    return {call.position for call in read_calls(engine) if call.failure is None}


def check_mixed_ledger(engine, requests: int) -> None:
    """Check: each answered request has one successful call; the totals include faulty replies."""
    calls = read_calls(engine)
    successes = Counter(call.position for call in calls if call.failure is None)
    without_reply = {
        number for number in range(requests) if MIX.get(number % 100, "") in
        ("behave: refusal", "behave: wrong_schema", "behave: content_filter")
    }  # fmt: skip
    # The real model may fill its reply with blanks until it is cut off; that is a failure, too.
    cut = {call.position for call in calls if call.failure == FailureKind.LENGTH}
    assert all(MIX.get(number % 100) == REAL for number in cut)
    assert set(successes) == set(range(requests)) - without_reply - cut
    assert set(successes.values()) == {1}
    real = [call for call in calls if call.model == LOCAL_MODEL]
    assert len({call.position for call in real}) == requests // 5
    faulty = [call for call in calls if call.failure in (FailureKind.WRONG_SCHEMA, FailureKind.INVALID_JSON)]
    assert faulty
    for call in faulty:
        assert call.cost_nanos == 1000 * (call.prompt_tokens + 2 * call.completion_tokens) > 0
    with read_only_session(engine) as db:
        run = models.load_run(db, by=BY, name="run")
    assert (run.calls, run.prompt_tokens, run.completion_tokens, run.cost_nanos) == totals_of_ledger(engine)


@pytest.mark.slow
def test_a_real_model_answers_in_the_schema_and_its_failures_are_classified(sqlite_engine, local_model):
    """The code path is tested; the quality of the replies is not measured."""
    endpoint = add_endpoint(
        sqlite_engine, local_model, model=LOCAL_MODEL, max_parallel=1, timeout_seconds=120
    )
    schema = {"type": "json_schema", "json_schema": {"name": "t", "strict": True, "schema": SCHEMA}}
    texts = {
        "short": ("Say yes.", 24),
        "long": ("heart " * 2 * CONTEXT, 24),
        "cut": ("Count to one hundred in words.", 3),
    }
    requests = [
        ModelRequest(
            custom_id=name,
            body={
                "messages": [{"role": "user", "content": content}],
                "max_tokens": tokens,
                "temperature": 0,
                **({"response_format": schema} if name == "short" else {}),
            },
        )
        for name, (content, tokens) in texts.items()
    ]
    with unit_of_work(sqlite_engine) as db:
        models.create_run(
            db, by=BY, name="run", stage="test", endpoint=endpoint, dataset=None, requests=requests, now=NOW
        )
    work(sqlite_engine)
    calls = {call.position: call for call in read_calls(sqlite_engine)}
    outcomes = {custom_id: (output, failure) for custom_id, output, failure in replay(sqlite_engine)}
    assert outcomes["long"] == (None, FailureKind.CONTEXT_SIZE)
    assert outcomes["cut"] == (None, FailureKind.LENGTH)
    assert calls[2].completion_tokens == 3
    output, failure = outcomes["short"]
    # The grammar enforces the schema; a small model may still be cut off by the limit of tokens.
    assert failure == FailureKind.LENGTH or list(json.loads(output)) == ["answer"]
    assert {call.model for call in calls.values()} <= {LOCAL_MODEL, None}
