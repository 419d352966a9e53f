"""Problems that automatic checks detect in questions, and refusals of records on import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Check(StrEnum):
    """The four structural validators of ReXVQA's quality layer (its section 3.3)."""

    SCHEMA = "schema"
    TYPES = "types"
    FORMAT = "format"
    COMPLETENESS = "completeness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem that a check detected: the field and the reason. The question stays in the dataset."""

    check: Check
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason why a record is not imported; ``record`` is its line number or key in the file."""

    file: str
    record: str
    field: str
    reason: str
