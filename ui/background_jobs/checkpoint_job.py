"""The background job that takes a checkpoint of the audit trail after an action on a page."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from accounts.service.audit_checkpoints import current_deposits, take_checkpoint
from domain.errors import DomainError
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from ui.background_jobs import job_control
from ui.context import current_workspace

_LOG = logging.getLogger(__name__)
#: The subject of every checkpoint job. They share it, so that only one job runs at a time.
_SUBJECT = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRequest:
    """The parameters of the job. ``after`` names the action before the checkpoint, for the log."""

    after: str


def start_checkpoint(person: Person, *, after: str) -> None:
    """Start taking a checkpoint. If one is being taken, do nothing. A failure is logged."""
    try:
        job_control.start_job(CHECKPOINT, CheckpointRequest(after=after), by=person, subject=_SUBJECT)
    except DomainError as error:  # the action before the checkpoint is saved
        _LOG.warning("no checkpoint of the audit trail after %s: %s", after, error)


def take_checkpoint_after_job(job: JobRun[Any], *, after: str) -> None:
    """Take a checkpoint. A failure is only logged, because a checkpoint is taken every night anyway."""
    workspace = current_workspace()
    try:
        take_checkpoint(
            by=job.owner, workspace=workspace, deposits=current_deposits(workspace), clock=job.now
        )
    except DomainError as error:
        _LOG.warning("no checkpoint of the audit trail after %s: %s", after, error)


def _run(job: JobRun[CheckpointRequest]) -> None:
    take_checkpoint_after_job(job, after=job.parameters.after)


CHECKPOINT = JobKind(
    name="checkpoint",
    title="Checkpoint of the audit trail",
    action=Action.SEE_AUDIT,
    parameters=CheckpointRequest,
    run=_run,
)
