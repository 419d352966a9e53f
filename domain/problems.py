"""What an automatic check found in a question, and why a record of a file was refused."""

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
    """One thing a check found: in which field, and why it matters. The question stays in the dataset."""

    check: Check
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a record can't come in: the file, the record (line number or key), the field, the reason."""

    file: str
    record: str
    field: str
    reason: str
