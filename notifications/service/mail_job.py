"""The background job that sends one e-mail, and the e-mails that were not sent."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlmodel import Session

from domain.jobs import Job, JobStatus
from domain.mail import Notice
from domain.people import Action, Person, require
from jobs.service import JobKind, JobRun, list_jobs, queue_system_job
from notifications.mail_text import compose_notice_mail
from notifications.smtp import MailNotSent, read_smtp_settings, send_mail
from storage.accounts.mail_settings import find_mail_setting
from storage.accounts.people import load_person

_LOG = logging.getLogger(__name__)
#: The pauses before further tries, if the server refuses an e-mail temporarily or is not reached. A server
#: that delays unknown senders (greylisting) accepts the e-mail after some minutes.
RETRY_DELAYS = (timedelta(minutes=10), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=8))


@dataclass(frozen=True, slots=True, kw_only=True)
class MailParameters:
    """The parameters of the job: the person, and the notices that the e-mail reports.

    ``tries`` is the number of failed tries, and ``problem`` the reason of the last one.
    """

    person_id: int
    notices: tuple[Notice, ...]
    tries: int = 0
    problem: str = ""


def merge_mails(waiting: MailParameters, added: MailParameters) -> MailParameters:
    """Merge two e-mails to a person into one that keeps the tries of the waiting one."""
    return replace(waiting, notices=(*waiting.notices, *added.notices))


def _send(job: JobRun[MailParameters]) -> None:
    """Send the e-mail. If the job is killed after the server accepted it, the e-mail is sent again."""
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
        _LOG.warning("the e-mail of job %s was not sent: %s", job.job.number, error.code)
        if not error.is_temporary or parameters.tries >= len(RETRY_DELAYS):
            raise
        _queue_retry(job, problem=str(error))


def _queue_retry(job: JobRun[MailParameters], *, problem: str) -> None:
    """Queue the next try, and finish this job in the same transaction."""
    parameters, now = job.parameters, job.now()
    next_try = replace(parameters, tries=parameters.tries + 1, problem=problem)
    with job.transaction() as db:
        queue_system_job(
            db,
            kind=MAIL,
            subject=f"person {parameters.person_id}",
            parameters=next_try,
            merge=lambda waiting, retry: replace(retry, notices=(*retry.notices, *waiting.notices)),
            not_before=now + RETRY_DELAYS[parameters.tries],
            now=now,
        )
        job.finish(db, "")


MAIL = JobKind(
    name="mail",
    title="Notice by e-mail",
    action=Action.MANAGE_PEOPLE,
    parameters=MailParameters,
    run=_send,
    max_concurrent=2,
    failure_prefix="The e-mail was not sent.",
)


def list_unsent_mails(db: Session, *, by: Person) -> list[tuple[Job, MailParameters]]:
    """List the latest e-mails that were not sent, newest first: given up, or waiting for another try.

    Dismissed e-mails are omitted.

    Raises:
        NotAllowed: the person may not manage people.
    """
    require(by, Action.MANAGE_PEOPLE)
    return [
        (job, parameters)
        for job in list_jobs(db, by=by, kind=MAIL, limit=100)
        for parameters in [MAIL.decode(job.parameters)]
        if not job.dismissed
        and (
            job.status in (JobStatus.FAILED, JobStatus.INTERRUPTED)
            or (job.status is JobStatus.QUEUED and parameters.tries > 0)
        )
    ]
