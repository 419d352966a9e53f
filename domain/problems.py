"""Refusals of records on import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The reason why a record is not imported; ``record`` is its line number or key in the file."""

    file: str
    record: str
    field: str
    reason: str
