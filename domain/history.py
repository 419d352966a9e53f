"""Events in the history of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEvent:
    """One thing that happened: what ("imported", "verdict", …), when, who (None: the command line), where.

    ``place`` names the file, batch or release; ``details`` is what belongs to that kind of event.
    """

    kind: str
    occurred_at: datetime
    person_name: str | None
    place: str = ""
    details: dict[str, Any] = field(default_factory=dict)
