"""The text of a mail. It contains names of batches and studies, and no content of questions or comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime

from domain.count_texts import count_text
from domain.mail import Notice, NoticeKind
from notifications.smtp import SmtpSettings

SUBJECT = "New work in Overread"
_FOOTER = "You can switch these notices off in Overread under My account."


def compose_notice_mail(
    notices: Sequence[Notice], settings: SmtpSettings, *, to: str, message_id: str, now: datetime
) -> EmailMessage:
    """Compose the mail that reports ``notices`` to the address ``to``.

    Args:
        notices: the events, at least one.
        settings: give the sender and the link to the app, if there is one.
        to: the address of the person.
        message_id: the part before the @, the same if the mail is sent twice.
        now: the time.
    """
    lines = "\n".join(f"- {line}" for line in describe_notices(notices))
    paragraphs = ["New in Overread:", lines, *([settings.link] if settings.link else []), _FOOTER]
    message = _compose(settings, to=to, subject=SUBJECT, text="\n\n".join(paragraphs), now=now)
    message["Message-ID"] = f"<{message_id}@{settings.sender_domain}>"
    return message


def compose_test_mail(settings: SmtpSettings, *, to: str, now: datetime) -> EmailMessage:
    """Compose a mail that tests the settings."""
    text = "This is a test. Overread sends its notices this way."
    return _compose(settings, to=to, subject="Test mail of Overread", text=text, now=now)


def _compose(settings: SmtpSettings, *, to: str, subject: str, text: str, now: datetime) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, to, subject
    message["Date"] = format_datetime(now)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic replies
    message.set_content(text + "\n")
    return message


def describe_notices(notices: Sequence[Notice]) -> list[str]:
    """Describe the notices, one line for all of a kind and name, in the order of their first occurrence.

    The number of assigned questions is left out. The reviewer's own total contains hidden questions, so the
    difference would reveal how many there are.

    >>> describe_notices([Notice(kind=NoticeKind.COMMENT, name="May")] * 2)
    ['Batch May: 2 new comments']
    """
    return [_describe_notice(notice, count) for notice, count in Counter(notices).items()]


def _describe_notice(notice: Notice, count: int) -> str:
    match notice.kind:
        case NoticeKind.ASSIGNED:
            return f"Batch {notice.name}: questions were assigned to you"
        case NoticeKind.SHARED:
            return f"Batch {notice.name}: you can take questions from the shared queue"
        case NoticeKind.COMMENT:
            return f"Batch {notice.name}: {count_text(count, 'new comment')}"
        case NoticeKind.STUDY:
            return f"Reader study {notice.name}: open for you"
        case NoticeKind.MARKING:
            return f"Reader study {notice.name}: you can mark open answers"
