"""Notices by e-mail: what they report, and where a person wants them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue

#: Maximum length of an address in characters (RFC 5321: a path has at most 256, including its two brackets).
MAX_ADDRESS_LENGTH = 254
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")


class NoticeKind(StrEnum):
    """The events that are reported by e-mail.

    ASSIGNED: questions of a batch were assigned to the person. SHARED: the person joined the shared queue of
    a batch. COMMENT: a comment was written to the person. STUDY: a reader study was opened for the person.
    MARKING: the person was assigned to mark the open answers of a study. SCORING: the person was assigned to
    score the outputs of a prompt bench, or to mark the sentences of a region check.
    """

    ASSIGNED = "assigned"
    SHARED = "shared"
    COMMENT = "comment"
    STUDY = "study"
    MARKING = "marking"
    SCORING = "scoring"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One event that is reported to a person.

    ``name`` is the name of the batch or study, and ``path`` the page of the app that shows it, such as
    "review?batch=1"; empty if it was queued by an older version.
    """

    kind: NoticeKind
    name: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSetting:
    """Where a person gets notices; ``address`` is empty if none is known."""

    address: str = ""
    wanted: bool = True

    @property
    def receives(self) -> bool:
        """Whether notices are sent to the person."""
        return self.wanted and bool(self.address)


def check_mail_address(text: str) -> str:
    """Check an e-mail address; empty stays empty.

    Args:
        text: the address that the user entered.

    Returns:
        The address without surrounding spaces.

    Raises:
        InvalidValue: it is not a single address in ASCII characters.

    >>> check_mail_address(" anna@example.org ")
    'anna@example.org'
    """
    address = text.strip()
    if address and (len(address) > MAX_ADDRESS_LENGTH or not _ADDRESS.fullmatch(address)):
        raise InvalidValue(
            "e-mail address", f"{address[:80]!r} must be a single address such as anna@example.org"
        )
    return address
