"""``cli.py job``: list, show and cancel the background jobs of the app."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.jobs import Job
from jobs.service import cancel_job, list_jobs, load_job
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("job")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list | show | cancel")
    list_parser = verbs.add_parser("list", help="list jobs, newest first")
    list_parser.add_argument("--active", action="store_true", help="only queued and running jobs")
    list_parser.add_argument(
        "--most", type=int, default=50, metavar="N", help="maximum number of jobs (default 50)"
    )
    list_parser.set_defaults(run=run_list)
    show_parser = verbs.add_parser("show", help="show all details of a job")
    show_parser.add_argument("job", type=int, metavar="JOB", help="number of the job")
    show_parser.set_defaults(run=run_show)
    cancel_parser = verbs.add_parser(
        "cancel",
        help="cancel a job",
        description="A running job stops at its next step, within a few seconds. Its results are discarded, "
        "except complete parts of the search index.",
    )
    cancel_parser.add_argument("job", type=int, metavar="JOB", help="number of the job")
    cancel_parser.set_defaults(run=run_cancel)


def run_list(args: argparse.Namespace) -> int:
    """Print one line per job."""
    with read_only_session() as db:
        jobs = list_jobs(db, by=command_line_person(), active_only=args.active, limit=args.most)
    for job in jobs:
        print(
            f"{job.number}  {job.kind}  {job.status}  {job.created_at:%Y-%m-%d %H:%M:%S} UTC "
            f" {_format_state(job)}"
        )
    if not jobs:
        print("No jobs.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print one line per field of the job."""
    with read_only_session() as db:
        job = load_job(db, by=command_line_person(), number=args.job)
    fields = {
        "job": job.number,
        "kind": job.kind,
        "subject": job.subject,
        "status": job.status,
        "progress": job.progress.text,
        "message": job.message,
        "started by": "the command line" if job.owner_id is None else f"person {job.owner_id}",
        "attempts": job.attempts,
        "worker": job.worker or "",
        "created": job.created_at,
        "started": job.started_at or "",
        "finished": job.finished_at or "",
        "parameters": job.parameters,
        "result": job.result or "",
    }
    for name, value in fields.items():
        print(f"{name}: {value}")
    return 0


def run_cancel(args: argparse.Namespace) -> int:
    """Request the cancellation, and print the status of the job."""
    with unit_of_work() as db:
        job = cancel_job(db, by=command_line_person(), number=args.job, now=datetime.now(UTC))
    if job.is_active:
        print(f"Job {job.number} will be cancelled at its next step.")
    else:
        print(f"Job {job.number} is {job.status}.")
    return 0


def _format_state(job: Job) -> str:
    return job.progress.text if job.is_active else job.message.partition("\n")[0]
