"""Bulk actions on the questions that match a search, their limits, and the description of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from browsing.search import Search
from domain.errors import InvalidValue, Refused

#: Maximum number of questions for one bulk action.
MAX_QUESTIONS = 200_000
#: Maximum number of questions in a queued batch. For more questions, draw a sample instead.
MAX_QUEUED = 5_000
#: The names of stored criteria, where they differ from the fields of :class:`Search`.
_STORED_NAMES = {"status": "standing"}
#: The labels of stored criteria in texts for the user, where they differ from the stored names.
_CRITERION_LABELS = {
    "standing": "status",
    "content_type": "content type",
    "controlled_category": "controlled category",
    "controlled_content_type": "controlled content type",
    "prompt_version": "prompt version",
}


class BulkAction(StrEnum):
    """An action on all questions that match a search."""

    REJECT = "reject"
    QUEUE = "queue"


def normalise_reason(reason: str) -> str:
    """Check a reason and remove surrounding spaces.

    Args:
        reason: the text that the user entered.

    Returns:
        The reason without surrounding spaces.

    Raises:
        InvalidValue: the reason is shorter than 3 or longer than 1,000 characters.
    """
    stripped = reason.strip()
    if not 3 <= len(stripped) <= 1000:
        raise InvalidValue("reason", "must have 3 to 1,000 characters")
    return stripped


def check_search_scope(search: Search, count: int, action: BulkAction) -> None:
    """Check that a bulk action may be applied to the questions that match a search.

    Args:
        search: the search.
        count: the number of matching questions that can be changed.
        action: the bulk action, which determines the maximum.

    Raises:
        Refused: the search has no criterion besides the dataset, or ``count`` is 0 or exceeds the maximum.
    """
    if not search.has_criteria:
        raise Refused("Enter a search or choose a filter first. The whole dataset cannot be selected.")
    if not count:
        raise Refused(
            "No question can be changed: none matches, or all are already drawn, judged or rejected."
        )
    limit = MAX_QUEUED if action is BulkAction.QUEUE else MAX_QUESTIONS
    if count > limit:
        raise Refused(
            f"{count:,} questions are too many for one action; the maximum is {limit:,}. Narrow the search."
        )


def search_to_json(search: Search) -> dict[str, Any]:
    """Convert a search to the JSON values that are stored; criteria that are not set are omitted."""
    return {
        _STORED_NAMES.get(name, name): value
        for name, value in asdict(search).items()
        if value not in (None, "", False)
    }


def describe_search(search: Mapping[str, Any]) -> str:
    """Describe a stored search as text for the user."""
    parts = [f"“{search['words']}”"] if search.get("words") else []
    parts += [
        "with boxes" if name == "with_boxes" else f"{_CRITERION_LABELS.get(name, name)} {value}"
        for name, value in search.items()
        if name not in ("dataset", "words")
    ]
    return ", ".join(parts)
