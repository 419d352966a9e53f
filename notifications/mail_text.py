"""The text of an e-mail. It names batches and studies, and has no content of questions or comments."""

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
#: The maximum number of links below a line. A line about comments has one link per question.
_MAX_LINKS = 5
_FOOTER = "You can switch these notices off in Overread under My account."


def compose_notice_mail(
    notices: Sequence[Notice], settings: SmtpSettings, *, to: str, message_id: str, now: datetime
) -> EmailMessage:
    """Compose the e-mail that reports ``notices`` to the address ``to``.

    Args:
        notices: the events, at least one.
        settings: the sender, and the link to the app if it is configured.
        to: the address of the person.
        message_id: the part of the Message-ID before the @; the same if the e-mail is sent twice.
        now: the time.
    """
    lines = "\n".join(
        "\n  ".join((f"- {line}", *(f"{settings.link}{path}" for path in paths if settings.link and path)))
        for line, paths in zip(describe_notices(notices), _list_paths(notices), strict=True)
    )
    has_links = all(notice.path for notice in notices)
    link = [settings.link] if settings.link and not has_links else []
    paragraphs = ["New in Overread:", lines, *link, _FOOTER]
    message = _compose(settings, to=to, subject=SUBJECT, text="\n\n".join(paragraphs), now=now)
    message["Message-ID"] = f"<{message_id}@{settings.sender_domain}>"
    return message


def compose_test_mail(settings: SmtpSettings, *, to: str, now: datetime) -> EmailMessage:
    """Compose an e-mail that tests the settings."""
    text = "This is a test. Overread sends its notices this way."
    return _compose(settings, to=to, subject="Test e-mail from Overread", text=text, now=now)


def _compose(settings: SmtpSettings, *, to: str, subject: str, text: str, now: datetime) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, to, subject
    message["Date"] = format_datetime(now)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic replies
    message.set_content(text + "\n")
    return message


def describe_notices(notices: Sequence[Notice]) -> list[str]:
    """Describe the notices in one line per kind and name, in the order of their first occurrence.

    The number of assigned questions is left out. The total that a reviewer sees contains hidden questions, so
    the difference would reveal how many there are.

    >>> describe_notices([Notice(kind=NoticeKind.COMMENT, name="May")] * 2)
    ['Batch May: 2 new comments']
    """
    counts = Counter((notice.kind, notice.name) for notice in notices)
    return [_describe_notice(kind, name, count) for (kind, name), count in counts.items()]


def _list_paths(notices: Sequence[Notice]) -> list[list[str]]:
    """List the distinct pages for each line of :func:`describe_notices`, at most _MAX_LINKS per line."""
    paths: dict[tuple[NoticeKind, str], dict[str, None]] = {}
    for notice in notices:
        paths.setdefault((notice.kind, notice.name), {})[notice.path] = None
    return [list(pages)[:_MAX_LINKS] for pages in paths.values()]


def _describe_notice(kind: NoticeKind, name: str, count: int) -> str:
    match kind:
        case NoticeKind.ASSIGNED:
            return f"Batch {name}: questions were assigned to you"
        case NoticeKind.SHARED:
            return f"Batch {name}: you can take questions from the shared queue"
        case NoticeKind.COMMENT:
            return f"Batch {name}: {count_text(count, 'new comment')}"
        case NoticeKind.STUDY:
            return f"Reader study {name}: open for you"
        case NoticeKind.MARKING:
            return f"Reader study {name}: you can mark open answers"
        case NoticeKind.SCORING:
            return f"{name}: you can score outputs of models"
