"""Recognises the sections of a report: indication, comparison, findings, impression."""

from __future__ import annotations

import re

from generation.source_exams import ReportSections

#: The headings that begin each section, in lower case.
HEADINGS = {
    "indication": (
        "indication", "indications", "clinical indication", "history", "clinical history",
        "clinical information", "reason for exam", "reason for examination", "reason for study",
    ),
    "comparison": ("comparison", "comparisons", "prior", "prior studies", "comparison studies"),
    "findings": ("findings", "finding", "report", "findings and impression", "findings/impression"),
    "impression": ("impression", "impressions", "conclusion", "conclusions", "opinion", "summary"),
}  # fmt: skip
_SECTION_BY_HEADING = {heading: section for section, headings in HEADINGS.items() for heading in headings}
#: A heading is at the beginning of a line and ends with a colon. Other words in capitals end a section, too.
_KNOWN_HEADINGS = "|".join(
    re.escape(heading) for heading in sorted(_SECTION_BY_HEADING, key=len, reverse=True)
)
_HEADING = re.compile(rf"^[ \t]*((?i:{_KNOWN_HEADINGS})|[A-Z][A-Z /&()-]{{3,60}})[ \t]*:", re.MULTILINE)


def split_report(text: str) -> ReportSections:
    r"""Split a report at its headings. Text without a heading, and sections of another kind, are left out.

    A section that occurs twice is joined. A report without any known heading has four empty sections.

    >>> split_report("EXAMINATION: Chest\nCOMPARISON: None.\nFINDINGS: Clear lungs.").findings
    'Clear lungs.'
    """
    parts: dict[str, list[str]] = {section: [] for section in HEADINGS}
    matches = list(_HEADING.finditer(text))
    for index, match in enumerate(matches):
        section = _SECTION_BY_HEADING.get(match[1].strip().casefold())
        end = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        body = join_lines(text[match.end() : end])
        if section and body:
            parts[section].append(body)
    return ReportSections(**{section: " ".join(bodies) for section, bodies in parts.items()})


def join_lines(text: str) -> str:
    """Join the lines of a text with single spaces; separators such as "____" are left out."""
    return " ".join(re.sub(r"_{4,}|-{4,}|={4,}", " ", text).split())
