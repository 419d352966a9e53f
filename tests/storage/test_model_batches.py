"""Batch files of OpenAI, Azure OpenAI and vLLM: written in the documented format, read in any order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.errors import Refused
from domain.language_models import Budget, FailureKind, RequestStatus
from language_models import service as models
from language_models.service import BatchFormat
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.model_server import MODEL, make_completion, running_model_server
from tests.storage.test_model_runs import BY, add_endpoint, create_run, read_calls, replay, work
from tests.storage.worlds import NOW

URL = "http://127.0.0.1:9/v1"
ADDRESSES = {
    BatchFormat.OPENAI: "/v1/chat/completions",
    BatchFormat.AZURE: "/chat/completions",
    BatchFormat.VLLM: "/v1/chat/completions",
}


def write(engine, folder, batch_format=BatchFormat.OPENAI) -> list[dict]:
    files = models.write_batch_files(
        by=BY, name="run", folder=folder, batch_format=batch_format, engine=engine
    )
    return [json.loads(line) for path, _ in files for line in path.read_text(encoding="utf-8").splitlines()]


def read(engine, path, lines: list):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return models.read_batch_file(by=BY, name="run", path=path, now=NOW, engine=engine)


def make_result(custom_id: str, content='{"answer": "yes"}', **completion) -> dict:
    """A line of a file of results, as all three providers write it."""
    body = json.loads(make_completion(content, **completion))
    response = {"status_code": 200, "request_id": "req_1", "body": body}
    return {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": response, "error": None}


def count_by_status(engine) -> dict:
    with read_only_session(engine) as db:
        return models.load_progress(db, by=BY, name="run", now=NOW).by_status


@pytest.mark.parametrize("batch_format", BatchFormat)
def test_lines_have_the_documented_format(sqlite_engine, tmp_path, batch_format):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, URL), ["one", "two"])
    lines = write(sqlite_engine, tmp_path, batch_format)
    assert [set(line) for line in lines] == [{"custom_id", "method", "url", "body"}] * 2
    assert [(line["custom_id"], line["method"], line["url"]) for line in lines] == [
        ("r0", "POST", ADDRESSES[batch_format]),
        ("r1", "POST", ADDRESSES[batch_format]),
    ]
    assert lines[0]["body"]["model"] == MODEL
    assert lines[0]["body"]["messages"] == [{"role": "user", "content": "one"}]


def test_results_in_any_order_are_assigned_to_their_requests(engine, tmp_path):
    create_run(engine, add_endpoint(engine, URL), ["one", "two", "three"])
    write(engine, tmp_path / "batch")
    reading = read(
        engine,
        tmp_path / "results.jsonl",
        [
            make_result("r2", '{"answer": "3"}'),
            make_result("r0", '{"answer": "1"}'),
            make_result("r1", '{"answer": "2"}'),
        ],
    )
    assert (reading.ended, reading.left) == (3, 0)
    assert [output for _, output, _ in replay(engine)] == [f'{{"answer": "{n}"}}' for n in (1, 2, 3)]


#: Lines with a failure, as the providers document them, each with the outcome of its request.
FAILURES: dict[str, tuple[dict[str, Any], tuple[RequestStatus, FailureKind]]] = {
    "expired (OpenAI)": (
        {"response": None, "error": {"code": "batch_expired", "message": "It was not executed in time."}},
        (RequestStatus.WAITING, FailureKind.EXPIRED),
    ),
    "rate limit (Azure)": (
        {"response": {"status_code": 429, "body": {"error": {"code": "429", "message": "Slow down."}}}},
        (RequestStatus.WAITING, FailureKind.RATE_LIMIT),
    ),
    "content filter (Azure)": (
        {
            "response": {
                "status_code": 400,
                "body": {"error": {"code": "content_filter", "message": "Filtered."}},
            },
            "error": None,
        },
        (RequestStatus.FAILED, FailureKind.CONTENT_FILTER),
    ),
    "bad request (vLLM)": (
        {
            "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
            "error": {
                "error": {"message": "max_tokens is too large", "type": "BadRequestError", "code": 400}
            },
        },
        (RequestStatus.FAILED, FailureKind.BAD_REQUEST),
    ),
    "error as text (vLLM)": (
        {"response": {"status_code": 400, "body": None}, "error": "unsupported url"},
        (RequestStatus.FAILED, FailureKind.BAD_REQUEST),
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_line_with_a_failure_determines_status_and_failure_of_its_request(sqlite_engine, tmp_path, name):
    fields, (status, failure) = FAILURES[name]
    create_run(sqlite_engine, add_endpoint(sqlite_engine, URL), ["one"])
    write(sqlite_engine, tmp_path / "batch")
    read(sqlite_engine, tmp_path / "errors.jsonl", [{"id": "x", "custom_id": "r0", "error": None} | fields])
    assert count_by_status(sqlite_engine) == {status: 1}
    assert read_calls(sqlite_engine)[0].failure == failure


def test_requests_missing_in_a_file_of_results_stay_in_the_batch_until_requeued(engine, tmp_path):
    create_run(engine, add_endpoint(engine, URL), ["one", "two", "three"])
    write(engine, tmp_path / "batch")
    cut_line = json.dumps(make_result("r1"))[:80]
    reading = read(engine, tmp_path / "results.jsonl", [make_result("r0"), cut_line])
    assert (reading.ended, reading.unreadable, reading.left) == (1, [2], 2)
    with running_model_server() as server:
        assert work(engine).by_status == {RequestStatus.DONE: 1, RequestStatus.IN_BATCH: 2}
        assert server.connections == 0
    with unit_of_work(engine) as db:
        models.resume_run(db, by=BY, name="run", requeue_batched=True, now=NOW)
    assert count_by_status(engine) == {RequestStatus.DONE: 1, RequestStatus.WAITING: 2}


def test_duplicates_and_unknown_ids_are_counted_and_change_nothing(engine, tmp_path):
    create_run(engine, add_endpoint(engine, URL), ["one"])
    write(engine, tmp_path / "batch")
    lines = [
        make_result("r0", '{"answer": "first"}'),
        make_result("r0", '{"answer": "second"}'),
        make_result("other"),
    ]
    reading = read(engine, tmp_path / "results.jsonl", lines)
    again = read(engine, tmp_path / "again.jsonl", lines)
    assert (reading.ended, reading.known, reading.unknown) == (1, 1, ["other"])
    assert (again.ended, again.known) == (0, 2)
    assert len(read_calls(engine)) == 1
    assert replay(engine) == [("r0", '{"answer": "first"}', "")]


def test_a_reply_that_fails_validation_is_corrected_in_the_next_batch(sqlite_engine, tmp_path):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, URL), ["one"])
    write(sqlite_engine, tmp_path / "first")
    reading = read(sqlite_engine, tmp_path / "results.jsonl", [make_result("r0", '{"reply": 1}')])
    assert (reading.ended, reading.waiting) == (0, 1)
    [line] = write(sqlite_engine, tmp_path / "second")
    assert [message["role"] for message in line["body"]["messages"]] == ["user", "assistant", "user"]
    read(sqlite_engine, tmp_path / "more.jsonl", [make_result("r0")])
    assert count_by_status(sqlite_engine) == {RequestStatus.DONE: 1}


def test_a_folder_with_files_of_the_run_is_refused_and_the_requests_stay(sqlite_engine, tmp_path):
    create_run(sqlite_engine, add_endpoint(sqlite_engine, URL), ["one"])
    (tmp_path / "run-001.jsonl").write_text("kept", encoding="utf-8")
    with pytest.raises(Refused, match="so that no file is sent twice"):
        write(sqlite_engine, tmp_path)
    assert count_by_status(sqlite_engine) == {RequestStatus.WAITING: 1}
    assert [path.name for path in tmp_path.glob("run*")] == ["run-001.jsonl"]


def test_files_have_at_most_the_permitted_number_of_lines(sqlite_engine, tmp_path, monkeypatch):
    monkeypatch.setattr("language_models.service.batches.MAX_LINES", 2)
    create_run(sqlite_engine, add_endpoint(sqlite_engine, URL), [f"{n}" for n in range(5)])
    files = models.write_batch_files(
        by=BY, name="run", folder=tmp_path, batch_format=BatchFormat.VLLM, engine=sqlite_engine
    )
    assert [(path.name, lines) for path, lines in files] == [
        ("run-001.jsonl", 2), ("run-002.jsonl", 2), ("run-003.jsonl", 1)
    ]  # fmt: skip


def test_a_batch_stays_within_the_budget(sqlite_engine, tmp_path):
    endpoint = add_endpoint(sqlite_engine, URL)
    create_run(sqlite_engine, endpoint, [f"{n}" for n in range(5)], budget=Budget(max_calls=3))
    assert len(write(sqlite_engine, tmp_path)) == 3
    assert count_by_status(sqlite_engine) == {RequestStatus.IN_BATCH: 3, RequestStatus.WAITING: 2}
