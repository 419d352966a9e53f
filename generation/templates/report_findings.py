"""Reads the findings of an exam, or their absence, from its report.

Less strict than :func:`generation.templates.exam_facts.collect_facts`, which confirms codes: here, a plain
statement of a finding suffices. Use it for counts and for the selection of exams, not for answer keys.

Of 583 reports of Open-i, 200 are coded as normal. This module reads 192 of these as healthy, and 25 of the
other 383. Most of the 25 have surgical clips or a foreign body only, or no codes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from generation.source_exams import ReportSections
from generation.sources.sections import split_report
from terminology.findings import load_findings
from terminology.mentions import Polarity, find_mentions, split_sentences

_NORMAL = re.compile(
    r"\b(?:normal|unremarkable|clear|no\s+(?:radiographic\s+)?(?:evidence\s+of\s+)?(?:an?\s+)?"
    r"(?:acute|active|significant)?\s*(?:\w+\s+)?(?:disease|process|abnormalit\w+|findings?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFindings:
    """What a report says about an exam.

    ``stated`` has the ids of the findings (`findings.toml`) that the report states without doubt.
    ``is_healthy`` is True if it states or suspects none, and states that something is normal or
    clear. Without stated findings, an exam that is not healthy has no known state.
    """

    stated: frozenset[str]
    is_healthy: bool


def read_report(report: str) -> ReportFindings:
    """Read findings and impression of a report; without headings, the whole text."""
    sections = split_report(report)
    if sections.is_empty:
        sections = ReportSections(findings=report)
    sentences = split_sentences(sections.findings, sections.impression)
    stated, has_possible_finding = set[str](), False
    for sentence in sentences:
        for finding, is_stated in _read_sentence(sentence):
            has_possible_finding = True
            if is_stated:
                stated.add(finding)
    is_healthy = not has_possible_finding and any(_NORMAL.search(sentence) for sentence in sentences)
    return ReportFindings(stated=frozenset(stated), is_healthy=is_healthy)


@lru_cache(maxsize=100_000)  # reports repeat their sentences
def _read_sentence(sentence: str) -> tuple[tuple[str, bool], ...]:
    """Return the findings that a sentence does not negate, and whether it states each without doubt."""
    return tuple(
        (mention.finding, mention.polarity is Polarity.STATED and mention.exact)
        for term in load_findings().values()
        for mention in find_mentions(sentence, term)
        if mention.polarity in {Polarity.STATED, Polarity.UNCERTAIN}
    )
