"""Events in the history of a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionEvent:
    """An event: its kind ("imported", "verdict", …), its time and its person (None: the command line).

    ``container`` is the name of the file, batch or release. The content of ``details`` depends on the kind.
    """

    kind: str
    occurred_at: datetime
    person_name: str | None
    container: str = ""
    details: dict[str, Any] = field(default_factory=dict)
