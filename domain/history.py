"""Events in the history of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEvent:
    """One thing that happened: what ("imported", "verdict", …), when, who (None: the command line), where.

    ``place`` names the file, batch or release; ``more`` is what belongs to that kind of event.
    """

    what: str
    when: datetime
    who: str | None
    place: str = ""
    more: dict[str, Any] = field(default_factory=dict)
