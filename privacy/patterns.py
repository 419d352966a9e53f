"""Detects passages of English text that may identify a patient, by patterns.

The patterns avoid false positives, because people do not read a long list of mostly false hits. Anatomy
("T12", "ribs 8/9/10"), sizes ("2.5 cm") and blanked passages ("___") are not hits. Years alone and ages up to
89 do not identify a patient (45 CFR 164.514).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.patient_data import HitKind, TextHit

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|JAN(?:UARY)?|FEB(?:RUARY)?|MAR(?:CH)?|APR(?:IL)?|MAY|JUNE?|"
    r"JULY?|AUG(?:UST)?|SEPT?(?:EMBER)?|OCT(?:OBER)?|NOV(?:EMBER)?|DEC(?:EMBER)?)\b\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DAY_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_NUMBER = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"
# Numbers separated by a slash are more often ribs or vertebrae than a date.
_NO_BONES_BEFORE = r"(?<![\d/.\-])(?<![TCLStcls])(?<!ribs )(?<!rib )(?<!Ribs )(?<!RIBS )(?<!levels )"
_NO_BONES_AFTER = r"(?![\d/\-]|\.\d|\s*(?:th\b|[Rr]ib|RIB|[Ll]evel|mm\b|cm\b|vertebra))"

_DATES = (
    rf"\b{_YEAR}([-/.])(?:0?[1-9]|1[0-2])\1{_DAY}(?!\d)",
    rf"(?<![\d/.\-])(?:{_DAY}([-/.]){_NUMBER}|{_NUMBER}([-/.]){_DAY})(?:\1|\2){_YEAR}(?!\d)",
    rf"{_NO_BONES_BEFORE}(?:{_NUMBER}/{_DAY}|{_DAY}/{_NUMBER})/\d\d{_NO_BONES_AFTER}",
    rf"\b{_DAY_NTH}(?:\s+of)?[\s-]+{_MONTH},?[\s-]*(?:'?\d\d\b|{_YEAR}\b)",
    rf"\b{_MONTH}\s+{_DAY_NTH},?\s+{_YEAR}\b",
    rf"\b(?!May\b|MAY\b){_MONTH}\s+{_DAY_NTH}(?![\d.%]|\s*(?:cm|mm|of|ribs?)\b)",
    rf"\b{_MONTH},?\s+{_YEAR}\b",
    r"(?<![\w.-])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\w.-])",
)
_PHONES = (
    r"(?<![\w+])\+\d{1,3}[\s.-]?(?:\(?\d{1,4}\)?[\s.-]?){2,5}\d{2,4}(?!\d)",
    r"(?<![\d.\-])\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}(?![\d.\-]\d|\d)",
    (
        r"\b(?i:tel(?:ephone)?|phone|pager?|beeper|fax|mobile|ext(?:ension)?)\b\.?\s*(?:no\.?|number|#|:)?\s*"
        r"\(?\d[\d\s().-]{2,16}\d"
    ),
)
_RECORD_NUMBERS = (
    (
        r"\b(?i:MRN|medical\s+record(?:\s+(?:number|no\.?|#))?|patient\s+(?:id|number|no\.?)|"
        r"unit\s+(?:number|no\.?)|"
        r"accession(?:\s+(?:number|no\.?))?|acc\s*(?=#|:)|hospital\s+(?:number|no\.?)|case\s+(?:number|no\.?)|"
        r"study\s+id|NHS(?:\s+(?:number|no\.?))?|DOB|date\s+of\s+birth)\s*[:#.]?\s*"
        r"(?=[\w./-]*\d)[A-Za-z0-9][\w./-]{3,}"
    ),
    r"(?<![\w.,/-])\d{7,12}(?![\w%]|[.,/-]\d)",
    r"(?<![\w.-])[A-Z]{1,4}-?\d{6,12}(?![\w.-])",
)
_WORD = r"[A-Z][a-zA-Z'’]+(?:-[A-Z][a-zA-Z'’]+)?"
_NO_NAME = (
    r"(?!(?:The|This|That|There|No|Not|And|Or|In|On|At|For|With|Findings?|Impression|Chest|Emergency|Department|"
    r"Team|Service|Unit|Room|Hospital|Medical|Surgery|Surgical|Radiology|Radiologists?|Nursing|Nurse|Physician|"
    r"Clinical|Clinician|Referring|Ordering|Primary|Care|Intensive|ICU|ED|ER|PACU|Thoracic|Internal|Medicine|"
    r"Left|Right|Lung|Heart|Cardiology|Oncology|Pulmonary|Attending|Resident|House|Staff|Officer)\b)"
)
_NAME = rf"{_NO_NAME}{_WORD}"
_PEOPLE = (
    rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Drs)\b\.?\s+(?:[A-Z]\.\s*){{0,2}}{_NAME}(?:\s+{_NAME})?",
    rf"\b(?:Doctor|Professor|Nurse|Herr|Frau|Monsieur|Madame|Señora?)\s+(?:[A-Z]\.\s*)?{_NAME}",
    rf"\b(?:[Pp]atient(?:'s)?\s+)?[Nn]ame\s*:\s*{_NAME}(?:,?\s+{_NAME})?",
    (
        rf"\b(?i:discussed\s+with|communicated\s+(?:to|with)|notified|reported\s+to|telephoned\s+to|informed|paged|"
        rf"dictated\s+by|signed\s+by|read\s+by|reviewed\s+by|interpreted\s+by)\s+{_NAME}\s+(?:[A-Z]\.\s+)?{_NAME}"
    ),
    rf"\b{_NAME}\s+(?:[A-Z]\.\s+)?{_NAME},?\s+(?:M\.?D\b|D\.?O\b\.|Ph\.?D\b|F\.?R\.?C\.?R\b|R\.?N\b)",
)
_STREET = (
    r"Street|St\.|Avenue|Ave\b\.?|Road|Rd\b\.?|Boulevard|Blvd\b\.?|Lane|Ln\b\.?|Drive|Dr\.|Court|Way|Square|"
    r"Highway|Terrace|Parkway"
)
_ADDRESSES = (
    rf"\b\d{{1,5}}[A-Za-z]?\s+(?:[NSEW]\.?\s+)?(?:[A-Z][a-z]+\s+){{1,3}}(?:{_STREET})(?!\w)",
    r"\b[A-Z][a-z]+,\s*[A-Z]{2}\s+\d{5}(?:-\d{4})?\b",
    r"\bP\.?\s?O\.?\s+Box\s+\d+",
)

#: The patterns in order of precedence. Of overlapping passages, the first one is kept.
PATTERNS: tuple[tuple[HitKind, tuple[re.Pattern[str], ...]], ...] = tuple(
    (kind, tuple(re.compile(expression) for expression in expressions))
    for kind, expressions in (
        (HitKind.EMAIL, (r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b",)),
        (HitKind.URL, (r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:)]",)),
        (HitKind.NATIONAL_NUMBER, (r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",)),
        (HitKind.DATE, _DATES),
        (HitKind.PHONE, _PHONES),
        (HitKind.ADDRESS, _ADDRESSES),
        (HitKind.RECORD_NUMBER, _RECORD_NUMBERS),
        (HitKind.PERSON, _PEOPLE),
        (HitKind.AGE, (r"\b(?:9\d|1[01]\d)[\s-]*(?i:years?[\s-]*old|y/?o\b|yrs?\b|-year)",)),
    )
)
# Quick test: a text that does not match this pattern matches none of the others. Most sentences don't match.
_PREFILTER = re.compile(
    r"\d{4}|\d[/-]\d|\d\s?\)|@|www\.|://|\b(?:Mr|Mrs|Ms|Dr|Drs|Prof|Doctor|Professor|Nurse|Herr|Frau|Monsieur|Madame|"
    r"Señora?)\b|[Nn]ame\s*:|(?i:discussed|communicated|notified|reported\s+to|telephoned|informed|paged|"
    r"dictated|signed|read\s+by|reviewed\s+by|interpreted|M\.?D\b|D\.?O\b|Ph\.?D|R\.?C\.?R|R\.?N\b|MRN|DOB|"
    r"tel|phone|page|ext|fax|box|street|ave|road|lane|drive|court|square|9\d|1[01]\d)|" + _MONTH
)


def find_hits_by_pattern(text: str, *, field: str) -> Iterator[TextHit]:
    """Search a text by patterns.

    Args:
        text: the text.
        field: the field of the question, which is stored with the hits.

    Yields:
        Hits without overlaps, in the order of the patterns.
    """
    if not _PREFILTER.search(text):
        return
    matched_spans: list[tuple[int, int]] = []
    for kind, patterns in PATTERNS:
        for pattern in patterns:
            for match in pattern.finditer(text):
                start, end = match.span()
                if all(end <= span_start or start >= span_end for span_start, span_end in matched_spans):
                    matched_spans.append((start, end))
                    yield TextHit(field=field, start=start, end=end, kind=kind)
