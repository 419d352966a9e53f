"""``cli.py run``: runs of requests to a language model."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.model_calls import (
    add_budget,
    add_lease,
    make_worker_name,
    read_budget,
    read_lease,
    stopping_on_signals,
)
from commands.output import ProgressPrinter
from domain.count_texts import duration_text
from domain.errors import InvalidValue
from domain.language_models import Budget, RunProgress, format_cost
from language_models import service as models
from language_models.prompts import parse_prompt
from language_models.requests import ModelRequest
from records.decoding import decode_json
from storage.unit_of_work import read_only_session, unit_of_work

_PILOT_CALLS = 20


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("run")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    _add_create(verbs)
    verbs.add_parser("list", help="list runs, newest first").set_defaults(run=run_list)
    show = verbs.add_parser("show", help="show the progress of a run, its failures, or one request")
    show.add_argument("name", metavar="RUN")
    show.add_argument("--request", metavar="CUSTOM_ID", help="one request with its messages and calls")
    show.add_argument("--failed", action="store_true", help="list the requests without a usable reply")
    show.set_defaults(run=run_show)
    resume = verbs.add_parser(
        "resume",
        help="make the calls of a run, or continue",
        description="Runs until all requests are answered, the run is paused or the budget is reached. "
        "The same command on other machines with the same PostgreSQL database shares the work. Ctrl+C "
        "stops it; calls under way are stored.",
    )
    resume.add_argument("name", metavar="RUN")
    resume.add_argument(
        "--pilot", action="store_true", help=f"make only {_PILOT_CALLS} calls, then estimate the rest"
    )
    resume.add_argument("--retry-failed", action="store_true", help="also call failed requests again")
    resume.add_argument(
        "--take-back-batch", action="store_true", help="also call requests whose batch results will not come"
    )
    resume.add_argument("--no-budget", action="store_true", help="remove the limits of the run")
    add_lease(resume)
    add_budget(resume)
    resume.set_defaults(run=run_resume)
    for verb, purpose, function in (
        ("pause", "pause a run in all processes; calls under way are stored", run_pause),
        ("cancel", "cancel a run for good; its replies stay", run_cancel),
    ):
        verb_parser = verbs.add_parser(verb, help=purpose)
        verb_parser.add_argument("name", metavar="RUN")
        verb_parser.set_defaults(run=function)
    replay = verbs.add_parser(
        "replay",
        help="write all replies from the ledger, without any call",
        description="Writes JSON lines with custom_id, output and failure, in the order of the requests. "
        "Two replays of a finished run are identical.",
    )
    replay.add_argument("name", metavar="RUN")
    replay.add_argument("--to", type=Path, metavar="FILE", help="default: standard output")
    replay.set_defaults(run=run_replay)
    _add_batch_commands(verbs)


def _add_batch_commands(verbs: Subparsers) -> None:
    write = verbs.add_parser(
        "write-batch",
        help="write the waiting requests to batch files of a provider or of vLLM",
        description="The requests then belong to the batch: `run resume` does not call them. Send the "
        "files yourself, and read the results with `run read-batch`. A file has at most 50,000 lines and "
        "200 MB.",
    )
    write.add_argument("name", metavar="RUN")
    write.add_argument("folder", type=Path, metavar="FOLDER")
    write.add_argument(
        "--format",
        required=True,
        choices=list(models.BatchFormat),
        type=models.BatchFormat,
        dest="batch_format",
    )
    write.set_defaults(run=run_write_batch)
    read = verbs.add_parser(
        "read-batch",
        help="read files of results and errors of a batch",
        description="Lines may be in any order. Reading a file again changes nothing. Requests that the "
        "provider did not process, or whose reply has to be corrected, wait again.",
    )
    read.add_argument("name", metavar="RUN")
    read.add_argument("files", type=Path, nargs="+", metavar="FILE")
    read.set_defaults(run=run_read_batch)


def _add_create(verbs: Subparsers) -> None:
    create = verbs.add_parser(
        "create",
        help="create a run from a file of requests; nothing is sent yet",
        description='FILE has one JSON object per line: {"custom_id": …, "body": {"messages": […], …}} '
        'as in batch files of OpenAI, or with --prompt {"custom_id": …, "variables": {…}, "images": '
        "[SHA-256, …]}. The same command again changes nothing.",
    )
    create.add_argument("name", metavar="RUN")
    create.add_argument("file", type=Path, metavar="FILE")
    create.add_argument("--endpoint", required=True, metavar="NAME")
    source = create.add_mutually_exclusive_group(required=True)
    source.add_argument("--dataset", help="the dataset whose texts or images the requests contain")
    source.add_argument("--no-dataset", action="store_true", help="the requests contain nothing of a dataset")
    create.add_argument("--prompt", metavar="NAME@VERSION", help="fill in this prompt for each line")
    create.add_argument("--stage", default="requests", help="what the replies are for (default: requests)")
    add_budget(create)
    create.set_defaults(run=run_create)


def run_create(args: argparse.Namespace) -> int:
    """Create the run."""
    by = command_line_person()
    with unit_of_work() as db:
        endpoint = models.load_endpoint(db, by=by, name=args.endpoint)
        prompt = models.load_prompt(db, by=by, label=args.prompt) if args.prompt else None
        run, is_new = models.create_run(
            db,
            by=by,
            name=args.name,
            stage=args.stage,
            endpoint=endpoint,
            dataset=args.dataset,
            requests=_read_requests(args.file, prompt),
            prompt=prompt,
            budget=read_budget(args),
            now=datetime.now(UTC),
        )
    verb = "Created run" if is_new else "There is already the same run"
    print(f"{verb} {run.name} with {run.requests:,} requests. Start it with `cli.py run resume {run.name}`.")
    return 0


def _read_requests(path: Path, prompt: models.PromptVersion | None) -> Iterator[ModelRequest]:
    parsed_prompt = parse_prompt(prompt.content) if prompt else None
    with path.open("rb") as file:
        for line_number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = decode_json(line, dict[str, Any])
                custom_id = str(record["custom_id"])
                if parsed_prompt is None:
                    yield ModelRequest(custom_id=custom_id, body=_read_body(record))
                else:
                    values, images = record.get("variables", {}), record.get("images", [])
                    yield parsed_prompt.build_request(custom_id=custom_id, values=values, images=images)
            except msgspec.DecodeError as error:
                raise InvalidValue(f"{path} line {line_number}", f"is not a JSON object: {error}") from error
            except KeyError as error:
                raise InvalidValue(f"{path} line {line_number}", f"has no field {error}") from error
            except InvalidValue as error:
                raise InvalidValue(f"{path} line {line_number}: {error.field}", error.reason) from error


def _read_body(record: dict[str, Any]) -> dict[str, Any]:
    body = record["body"]
    if not isinstance(body, dict):
        raise InvalidValue("body", "must be an object")
    return {name: value for name, value in body.items() if name != "model"}  # the endpoint sets the model


def run_list(_: argparse.Namespace) -> int:
    """Print one line per run."""
    with read_only_session() as db:
        runs = models.list_runs(db, by=command_line_person(), now=datetime.now(UTC))
    for progress in runs:
        run = progress.run
        print(
            f"{run.name}\t{progress.state}\t{progress.ended:,} of {run.requests:,}\t"
            f"{run.endpoint.marked_name}\t{format_cost(run.cost_nanos)}"
        )
    if not runs:
        print("No runs. Create one with `cli.py run create`.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the progress, the failed requests, or one request."""
    by = command_line_person()
    with read_only_session() as db:
        if args.request is not None:
            details = models.load_request(db, by=by, name=args.name, custom_id=args.request)
            print(json.dumps(_request_to_json(details), ensure_ascii=False, indent=2))
            return 0
        progress = models.load_progress(db, by=by, name=args.name, now=datetime.now(UTC))
        failed_requests = {
            kind: models.list_requests(db, by=by, name=args.name, failure=kind, limit=1000)
            for kind in (progress.failures if args.failed else ())
        }
    for name, value in _describe_run(progress).items():
        print(f"{name}: {value}")
    for kind, requests in failed_requests.items():
        for request in requests:
            print(f"{request.custom_id}\t{kind.value}")
    return 0


def _describe_run(progress: RunProgress) -> dict[str, str]:
    run = progress.run
    fields = {
        "run": run.name,
        "state": progress.state,
        "progress": models.describe_progress(progress),
        "endpoint": f"{run.endpoint.marked_name}: {run.endpoint.model} at {run.endpoint.url} "
        f"({run.endpoint.data_use})",
        "dataset": run.dataset or "none",
        "prompt": run.prompt or "none",
        "requests": ", ".join(f"{count:,} {status.value}" for status, count in progress.by_status.items()),
        "from the ledger": f"{progress.reused:,}",
        "rate": f"{progress.calls_per_minute:,} calls per minute",
        "expected cost": "unknown"
        if progress.expected_cost_nanos is None
        else format_cost(progress.expected_cost_nanos),
        "requests SHA-256": run.requests_sha256,
    }
    return fields | ({"reason": run.reason} if run.reason else {})


def _request_to_json(details: models.RequestDetails) -> dict[str, Any]:
    return {
        "custom_id": details.overview.custom_id,
        "status": details.overview.status,
        "failure": details.overview.failure,
        "body": details.body,
        "calls": [
            {
                "called_at": call.called_at.isoformat(),
                "round": call.round,
                "failure": call.failure,
                "error": call.error,
                "model": call.model,
                "finish_reason": call.finish_reason,
                "prompt_tokens": call.usage.prompt_tokens,
                "completion_tokens": call.usage.completion_tokens,
                "attempts": call.attempts,
                "seconds": round(call.seconds, 3),
                "raw": call.raw,
            }
            for call in details.calls
        ],
    }


def run_resume(args: argparse.Namespace) -> int:
    """Work on the run in this process; the exit code is 1 if requests are left."""
    by, printer = command_line_person(), ProgressPrinter()
    lease = read_lease(args)
    with unit_of_work() as db:
        run = models.resume_run(
            db,
            by=by,
            name=args.name,
            retry_failed=args.retry_failed,
            requeue_batched=args.take_back_batch,
            budget=Budget() if args.no_budget else read_budget(args),
            now=datetime.now(UTC),
        )
    with stopping_on_signals() as should_stop:
        progress = models.work_on_run(
            by=by,
            name=args.name,
            worker=make_worker_name(),
            clock=lambda: datetime.now(UTC),
            report=lambda calls: printer("calls of this process", calls, run.requests),
            should_stop=should_stop,
            most=_PILOT_CALLS if args.pilot else None,
            lease=lease,
        )
    print(models.describe_progress(progress))
    if args.pilot and not progress.is_finished:
        print(_describe_forecast(progress))
    return 0 if progress.is_finished else 1


def _describe_forecast(progress: RunProgress) -> str:
    """Estimate the whole run from the calls so far."""
    run = progress.run
    answered_count = max(1, progress.ended - progress.reused)
    calls = round(run.calls / answered_count * run.requests)
    tokens = round((run.prompt_tokens + run.completion_tokens) / answered_count * run.requests)
    cost = "unknown" if run.unpriced_calls else format_cost(progress.expected_cost_nanos or 0)
    time_left = (
        "unknown" if progress.seconds_left is None else f"about {duration_text(progress.seconds_left)}"
    )
    return (
        f"Estimate for all {run.requests:,} requests from {answered_count:,}: {calls:,} calls, {tokens:,} "
        f"tokens, cost {cost}; "
        f"time left {time_left} at the rate of the pilot, which is lower than that of a long run."
    )


def run_write_batch(args: argparse.Namespace) -> int:
    """Write the files; the exit code is 1 if no request waits."""
    files = models.write_batch_files(
        by=command_line_person(), name=args.name, folder=args.folder, batch_format=args.batch_format
    )
    for path, requests in files:
        print(f"{path}: {requests:,} requests")
    if not files:
        print("No request waits, or the budget is reached: `cli.py run show` states which.")
    return 0 if files else 1


def run_read_batch(args: argparse.Namespace) -> int:
    """Read the files; the exit code is 1 if a line could not be used."""
    has_problems = False
    for path in args.files:
        reading = models.read_batch_file(
            by=command_line_person(), name=args.name, path=path, now=datetime.now(UTC)
        )
        print(
            f"{path}: {reading.ended:,} requests ended, {reading.waiting:,} wait again, {reading.known:,} "
            f"lines read before. {reading.left:,} requests of the run are still without a result."
        )
        for custom_id in reading.unknown[:10]:
            print(f"{path}: the run has no request {custom_id!r}", file=sys.stderr)
        for line in reading.unreadable[:10]:
            print(f"{path} line {line}: is not a result of a batch; was the file cut off?", file=sys.stderr)
        has_problems |= bool(reading.unknown or reading.unreadable)
    return 1 if has_problems else 0


def run_pause(args: argparse.Namespace) -> int:
    """Pause the run."""
    with unit_of_work() as db:
        models.pause_run(db, by=command_line_person(), name=args.name)
    print(f"Run {args.name} is paused. Continue with `cli.py run resume {args.name}`.")
    return 0


def run_cancel(args: argparse.Namespace) -> int:
    """Cancel the run."""
    with unit_of_work() as db:
        models.cancel_run(db, by=command_line_person(), name=args.name, now=datetime.now(UTC))
    print(f"Run {args.name} is cancelled. Its replies stay in the ledger.")
    return 0


def run_replay(args: argparse.Namespace) -> int:
    """Write the replies; the exit code is 1 if a request has none."""
    missing_count = 0
    partial_path = args.to.with_name(f"{args.to.name}.part") if args.to else None
    with read_only_session() as db:
        replies = models.iterate_reply_texts(db, by=command_line_person(), name=args.name)
        lines = (
            (
                json.dumps(
                    {"custom_id": custom_id, "output": output, "failure": failure}, ensure_ascii=False
                ),
                output,
            )
            for custom_id, output, failure in replies
        )
        if partial_path is None:
            for line, output in lines:
                missing_count += output is None
                print(line)
        else:
            with partial_path.open("w", encoding="utf-8") as file:
                for line, output in lines:
                    missing_count += output is None
                    file.write(f"{line}\n")
            partial_path.replace(args.to)
    if missing_count:
        print(f"{missing_count:,} requests have no usable reply; their output is null.", file=sys.stderr)
    return 1 if missing_count else 0
