"""Converts a reviewer's comment thread to plain JSON for the form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain.comments import Comment


def comments_to_json(thread: Iterable[Comment]) -> list[dict[str, Any]]:
    """Return the comments, oldest first, without ids of people."""
    return [
        {
            "author": "You" if comment.by_reviewer else comment.author_name,
            "mine": comment.by_reviewer,
            "text": comment.text,
            "at": comment.written_at.isoformat(),
        }
        for comment in thread
    ]
