"""A question that a recipe wrote, with its origin."""

from __future__ import annotations

from dataclasses import dataclass

from domain.provenance import Provenance
from domain.questions import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedQuestion:
    """A question and its origin."""

    question: Question
    provenance: Provenance
