"""Queues notices. Several notices to a person within some minutes become one e-mail."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlmodel import Session

from domain.mail import Notice, NoticeKind
from domain.people import Person, Role
from jobs.service import queue_system_job
from notifications.service.mail_job import MAIL, MailParameters, merge_mails
from notifications.smtp import is_mail_configured
from storage.accounts.mail_settings import find_mail_setting
from storage.accounts.people import list_people

#: The time during which further notices are added to an e-mail.
COLLECTION_TIME = timedelta(minutes=3)


def notify(
    db: Session,
    *,
    by_id: int,
    person_ids: Collection[int],
    kind: NoticeKind,
    name: str,
    path: str,
    now: datetime,
) -> None:
    """Queue a notice to each of these people, except the one who acts and people who want none.

    The notice is queued in the transaction of the event, so an event that is rolled back sends nothing. This
    function does not connect to the mail server.

    Args:
        db: a session that writes.
        by_id: id of the person who acts; 0 for the command line.
        person_ids: ids of the people.
        kind: the event.
        name: the name of the batch, study, prompt bench or region check.
        path: the page of the app to which the notice links, such as "review?batch=1".
        now: the time.
    """
    if not is_mail_configured():
        return
    for person_id in sorted(set(person_ids) - {by_id}):  # in order, so that two transactions never deadlock
        if find_mail_setting(db, person_id=person_id).receives:
            queue_system_job(
                db,
                kind=MAIL,
                subject=f"person {person_id}",
                parameters=MailParameters(
                    person_id=person_id, notices=(Notice(kind=kind, name=name, path=path),)
                ),
                merge=merge_mails,
                not_before=now + COLLECTION_TIME,
                now=now,
            )


def notify_coordinators(
    db: Session, *, by: Person, kind: NoticeKind, name: str, path: str, now: datetime
) -> None:
    """Queue a notice to all coordinators; see :func:`notify`."""
    if not is_mail_configured():
        return
    coordinator_ids = {person.id for person in list_people(db) if Role.COORDINATOR in person.roles}
    notify(db, by_id=by.id, person_ids=coordinator_ids, kind=kind, name=name, path=path, now=now)
