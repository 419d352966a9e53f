"""Finds reports that must not become questions: with patient data, or with instructions to a model."""

from __future__ import annotations

import re
from dataclasses import fields

from generation.source_exams import ReportSections
from privacy.patterns import find_hits_by_pattern

#: Texts that address a language model. Reports have no reason to contain them.
_INSTRUCTIONS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+)?"
    r"(?:above|previous|preceding|prior|earlier|instructions?|rules?|prompt)\b"
    r"|\bsystem\s+prompt\b|\byou\s+are\s+(?:now\s+)?an?\s+(?:ai|assistant|language\s+model|chatbot)\b"
    r"|<\|[a-z_]+\|>|\[/?INST\]|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.MULTILINE,
)


def find_reason_to_refuse(report: ReportSections) -> tuple[str, str] | None:
    """Return (field, reason) if a report must not be used; None if it may be.

    The reason names the kind of patient data, not its text.
    """
    for section in fields(report):
        text = getattr(report, section.name)
        if match := _INSTRUCTIONS.search(text):
            return f"report.{section.name}", f"addresses a language model ({match[0].strip()!r}); remove it"
        hit = next(find_hits_by_pattern(text, field=section.name), None)
        if hit is not None:
            return (
                f"report.{section.name}",
                f"may identify a patient ({hit.kind}); de-identify the report first",
            )
    return None
