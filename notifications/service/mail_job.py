"""The background job that sends one mail, and the mails that were not sent."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sqlmodel import Session

from domain.jobs import Job, JobStatus
from domain.mail import Notice
from domain.people import Action, Person, require
from jobs.service import JobKind, JobRun, list_jobs
from notifications.mail_text import compose_notice_mail
from notifications.smtp import MailNotSent, read_smtp_settings, send_mail
from storage.accounts.mail_settings import find_mail_setting
from storage.accounts.people import load_person

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailParameters:
    """The parameters of the job: the person, and the notices that the mail reports."""

    person_id: int
    notices: tuple[Notice, ...]


def _send(job: JobRun[MailParameters]) -> None:
    """Send the mail. A job that was killed after the server accepted the mail sends it again."""
    parameters = job.parameters
    with job.read_session() as db:
        person = load_person(db, person_id=parameters.person_id)
        setting = find_mail_setting(db, person_id=parameters.person_id)
    if person.disabled_at is not None or not setting.receives:
        return
    settings = read_smtp_settings()
    message = compose_notice_mail(
        parameters.notices,
        settings,
        to=setting.address,
        message_id=f"notice-{job.job.number}-{job.job.created_at:%Y%m%d%H%M%S}",
        now=job.now(),
    )
    job.raise_if_cancelled()
    try:
        send_mail(settings, message)
    except MailNotSent as error:
        _LOG.warning("the mail of job %s was not sent: %s", job.job.number, error.code)
        raise


MAIL = JobKind(
    name="mail",
    title="Notice by e-mail",
    action=Action.MANAGE_PEOPLE,
    parameters=MailParameters,
    run=_send,
    max_concurrent=2,
    failure_prefix="The mail was not sent.",
)


def list_failed_mails(db: Session, *, by: Person) -> list[tuple[Job, MailParameters]]:
    """The latest mails that were not sent and are not dismissed, the latest first.

    Raises:
        NotAllowed: the person may not manage people.
    """
    require(by, Action.MANAGE_PEOPLE)
    return [
        (job, MAIL.decode(job.parameters))
        for job in list_jobs(db, by=by, kind=MAIL, limit=100)
        if job.status in (JobStatus.FAILED, JobStatus.INTERRUPTED) and not job.dismissed
    ]
