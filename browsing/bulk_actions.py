"""Rules for applying one decision to many questions, and the stored form of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from browsing.search import Search
from domain.errors import InvalidValue, Refused

#: The most questions that one step applies to.
MAX_QUESTIONS = 200_000
#: The most questions that can be queued into one batch; draw a sample of more.
MAX_QUEUED = 5_000


class BulkAction(StrEnum):
    """What is done with the questions that a search finds."""

    REJECT = "reject"
    QUEUE = "queue"


def check_reason(reason: str) -> str:
    """Check a reason.

    Args:
        reason: as typed.

    Returns:
        Without spaces around it.

    Raises:
        InvalidValue: shorter than 3 or longer than 1,000 characters.
    """
    stripped = reason.strip()
    if not 3 <= len(stripped) <= 1000:
        raise InvalidValue("reason", "must have 3 to 1,000 characters")
    return stripped


def check_search_scope(search: Search, count: int, action: BulkAction) -> None:
    """Check that a step may apply to what a search finds.

    Args:
        search: the search.
        count: questions that it finds.
        action: the step, which limits the number.

    Raises:
        Refused: the search has no criterion but the dataset, or finds no or too many questions.
    """
    if not search.has_criteria:
        raise Refused("Enter a search or choose a filter first. The whole dataset cannot be selected.")
    if not count:
        raise Refused("All matching questions are already drawn, judged or rejected.")
    limit = MAX_QUEUED if action is BulkAction.QUEUE else MAX_QUESTIONS
    if count > limit:
        raise Refused(
            f"{count:,} questions are too many for one step; the maximum is {limit:,}. Narrow the search."
        )


def search_to_json(search: Search) -> dict[str, Any]:
    """The stored form of a search: JSON values of the criteria that are set."""
    return {name: value for name, value in asdict(search).items() if value not in (None, "", False)}


def describe_search(search: Mapping[str, Any]) -> str:
    """Describe a stored search in text for the user."""
    parts = [f"“{search['words']}”"] if search.get("words") else []
    parts += [
        "with boxes" if name == "with_boxes" else f"{name.replace('_', ' ')} {value}"
        for name, value in search.items()
        if name not in ("dataset", "words")
    ]
    return ", ".join(parts)
