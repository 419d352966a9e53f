"""Names in releases: the name of the release and the names of its reviewers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from domain.errors import InvalidValue

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ReviewerNaming(StrEnum):
    """How reviewers are named in a release."""

    ACCOUNT = "account"
    DISPLAY = "display"
    PSEUDONYM = "pseudonym"


def name_reviewers(reviewers: Mapping[int, tuple[str, str]], naming: ReviewerNaming) -> dict[int, str]:
    """Return the name of each reviewer in the release, by person id.

    Args:
        reviewers: the sign-in name and the display name by person id; pseudonyms are numbered in this order.
        naming: the kind of name.
    """
    if naming is ReviewerNaming.PSEUDONYM:
        return {person: f"reviewer-{number}" for number, person in enumerate(reviewers, start=1)}
    return {
        person: display_name if naming is ReviewerNaming.DISPLAY else account
        for person, (account, display_name) in reviewers.items()
    }


def validate_name(name: str) -> str:
    """Check the name of a release.

    Returns:
        The name without surrounding spaces.

    Raises:
        InvalidValue: the name does not have 1 to 64 letters, digits and . _ -, or does not start with a
            letter or digit.
    """
    if not _NAME.fullmatch(name.strip()):
        raise InvalidValue(
            "name",
            f"{name!r} must have 1 to 64 characters: letters, digits and . _ -, starting with a letter or "
            "digit",
        )
    return name.strip()
