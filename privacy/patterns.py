"""Detects passages of English text that may identify a patient, by patterns.

The patterns avoid false positives, because people do not read a long list of mostly false hits. Anatomy
("T12", "ribs 8/9/10"), sizes ("2.5 cm") and blanked passages ("___") are not hits. Years alone and ages up to
89 do not identify a patient (45 CFR 164.514).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from domain.patient_data import HitKind, TextHit
from terminology.word_filter import ALL_BITS, FilteredPattern, compile_folded, fold, read_word_bits

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|JAN(?:UARY)?|FEB(?:RUARY)?|MAR(?:CH)?|APR(?:IL)?|MAY|JUNE?|"
    r"JULY?|AUG(?:UST)?|SEPT?(?:EMBER)?|OCT(?:OBER)?|NOV(?:EMBER)?|DEC(?:EMBER)?)\b\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DAY_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_MONTH_NUMBER = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"
# Numbers separated by a slash are more often ribs or vertebrae than a date.
_NO_BONES_BEFORE = r"(?<![\d/.\-])(?<![TCLStcls])(?<!ribs )(?<!rib )(?<!Ribs )(?<!RIBS )(?<!levels )"
_NO_BONES_AFTER = r"(?![\d/\-]|\.\d|\s*(?:th\b|[Rr]ib|RIB|[Ll]evel|mm\b|cm\b|vertebra))"

#: Two numbers with a mark or a space between them, as in dates and phone numbers but not in most texts.
_NUMBERS_IN_A_ROW = re.compile(r"\d[-/.)\s]{1,2}\d")
_ANY_MONTH = re.compile(_MONTH)
# (minimum number of consecutive digits in a match, pattern, a search that succeeds in each text with a match,
# whole words of which each text with a match has at least one)
_DATES = (
    (4, rf"\b{_YEAR}([-/.])(?:0?[1-9]|1[0-2])\1{_DAY}(?!\d)", _NUMBERS_IN_A_ROW),
    (
        4,
        rf"(?<![\d/.\-])(?:{_DAY}([-/.]){_MONTH_NUMBER}|{_MONTH_NUMBER}([-/.]){_DAY})(?:\1|\2){_YEAR}(?!\d)",
        _NUMBERS_IN_A_ROW,
    ),
    (
        2,
        rf"{_NO_BONES_BEFORE}(?:{_MONTH_NUMBER}/{_DAY}|{_DAY}/{_MONTH_NUMBER})/\d\d{_NO_BONES_AFTER}",
        _NUMBERS_IN_A_ROW,
    ),
    (2, rf"\b{_DAY_NTH}(?:\s+of)?[\s-]+{_MONTH},?[\s-]*(?:'?\d\d\b|{_YEAR}\b)", _ANY_MONTH),
    (4, rf"\b{_MONTH}\s+{_DAY_NTH},?\s+{_YEAR}\b", _ANY_MONTH),
    (1, rf"\b(?!May\b|MAY\b){_MONTH}\s+{_DAY_NTH}(?![\d.%]|\s*(?:cm|mm|of|ribs?)\b)", _ANY_MONTH),
    (4, rf"\b{_MONTH},?\s+{_YEAR}\b", _ANY_MONTH),
    (8, r"(?<![\w.-])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\w.-])"),
)
_PHONES = (
    (2, r"(?<![\w+])\+\d{1,3}[\s.-]?(?:\(?\d{1,4}\)?[\s.-]?){2,5}\d{2,4}(?!\d)"),
    (4, r"(?<![\d.\-])\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}(?![\d.\-]\d|\d)", _NUMBERS_IN_A_ROW),
    (
        1,
        (
            r"\b(?i:tel(?:ephone)?|phone|pager?|beeper|fax|mobile|ext(?:ension)?)\b\.?\s*(?:no\.?|number|#|:)?\s*"
            r"\(?\d[\d\s().-]{2,16}\d"
        ),
    ),
)
_NAME_OF_NUMBER = (
    r"MRN|medical\s+record(?:\s+(?:number|no\.?|#))?|patient\s+(?:id|number|no\.?)|unit\s+(?:number|no\.?)|"
    r"accession(?:\s+(?:number|no\.?))?|acc\s*(?=#|:)|hospital\s+(?:number|no\.?)|case\s+(?:number|no\.?)|"
    r"study\s+id|NHS(?:\s+(?:number|no\.?))?|DOB|date\s+of\s+birth"
)
_NAME_OF_NUMBER_FOLDED = compile_folded(_NAME_OF_NUMBER)


def _has_name_of_number(text: str) -> bool:
    return _NAME_OF_NUMBER_FOLDED.search(fold(text)) is not None


_RECORD_NUMBERS = (
    (
        1,
        rf"\b(?i:{_NAME_OF_NUMBER})\s*[:#.]?\s*(?=[\w./-]*\d)[A-Za-z0-9][\w./-]{{3,}}",
        _has_name_of_number,
    ),
    (7, r"(?<![\w.,/-])\d{7,12}(?![\w%]|[.,/-]\d)"),
    (6, r"(?<![\w.-])[A-Z]{1,4}-?\d{6,12}(?![\w.-])"),
)
_PART = r"[A-ZÀ-ÖØ-Þ][a-zA-ZÀ-ÖØ-öø-ÿ'’]+"
_WORD = rf"{_PART}(?:-{_PART})?"
#: Words before a family name.
_PARTICLES = r"(?:(?:van|von|de|del|della|der|den|di|da|la|le|ter|ten)\s+){0,2}"
_NO_NAME = (
    r"(?!(?:The|This|That|There|No|Not|And|Or|In|On|At|For|With|Findings?|Impression|Chest|Emergency|Department|"
    r"Team|Service|Unit|Room|Hospital|Medical|Surgery|Surgical|Radiology|Radiologists?|Nursing|Nurse|Physician|"
    r"Clinical|Clinician|Referring|Ordering|Primary|Care|Intensive|ICU|ED|ER|PACU|Thoracic|Internal|Medicine|"
    r"Left|Right|Lung|Heart|Cardiology|Oncology|Pulmonary|Attending|Resident|House|Staff|Officer)\b)"
)
_NAME = rf"{_NO_NAME}{_WORD}"
#: Each degree contains at least one of these whole words, with or without dots: "Ph.D." contains "ph".
_WORDS_OF_DEGREES = "md|m|do|d|phd|ph|frcr|frc|fr|f|rn|r"
_DEGREES = r"M\.?D\b|D\.?O\b\.|Ph\.?D\b|F\.?R\.?C\.?R\b|R\.?N\b"
_PEOPLE = (
    (0, rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Drs)\b\.?\s+(?:[A-Z]\.\s*){{0,2}}{_PARTICLES}{_NAME}(?:\s+{_NAME})?"),
    (0, rf"\b(?:Doctor|Professor|Nurse|Herr|Frau|Monsieur|Madame|Señora?)\s+(?:[A-Z]\.\s*)?{_NAME}"),
    (0, rf"\b(?:[Pp]atient(?:'s)?\s+)?[Nn]ame\s*:\s*{_NAME}(?:,?\s+{_NAME})?"),
    (
        0,
        (
            rf"\b(?i:discussed\s+with|communicated\s+(?:to|with)|notified|reported\s+to|telephoned\s+to|informed|paged|"
            rf"dictated\s+by|signed\s+by|read\s+by|reviewed\s+by|interpreted\s+by)\s+{_NAME}\s+(?:[A-Z]\.\s+)?{_NAME}"
        ),
    ),
    (0, rf"\b{_NAME}\s+(?:[A-Z]\.\s+)?{_NAME},?\s+(?:{_DEGREES})", re.compile(_DEGREES), _WORDS_OF_DEGREES),
)
_STREET = (
    r"Street|St\.|Avenue|Ave\b\.?|Road|Rd\b\.?|Boulevard|Blvd\b\.?|Lane|Ln\b\.?|Drive|Dr\.|Court|Way|Square|"
    r"Highway|Terrace|Parkway"
)
#: Each street name contains at least one of these whole words.
_WORDS_OF_STREETS = _STREET.replace(r"\b\.?", "").replace(r"\.", "")
_ADDRESSES = (
    (
        1,
        rf"\b\d{{1,5}}[A-Za-z]?\s+(?:[NSEW]\.?\s+)?(?:[A-Z][a-z]+\s+){{1,3}}(?:{_STREET})(?!\w)",
        re.compile(r"\d[A-Za-z]?\s+[A-Z]"),
        _WORDS_OF_STREETS,
    ),
    (5, r"\b[A-Z][a-z]+,\s*[A-Z]{2}\s+\d{5}(?:-\d{4})?\b", re.compile(r",\s*[A-Z]{2}\s")),
    (1, r"\bP\.?\s?O\.?\s+Box\s+\d+"),
)
#: Below 90, an age does not identify a patient.
_AGES = (
    (
        2,
        r"\b(?:9\d|1[01]\d)[\s-]*(?i:years?[\s-]*old|y/?o\b|yrs?\b|-year)",
        re.compile(r"(?:9|1[01])\d[\s-]*[yY]"),
    ),
)


class _Rule(NamedTuple):
    """A pattern, what it finds, and what a text with a match contains.

    Attributes:
        kind: the kind of its hits.
        filtered: the pattern.
        digits: the minimum number of consecutive digits in a match.
        has_numbers_in_a_row: whether each match contains ``_NUMBERS_IN_A_ROW``.
        find_needed: a faster search that succeeds in each text with a match; None if there is none.
        needed_bits: each text with a match has words with one of these bits and one of the pattern's bits.
    """

    kind: HitKind
    filtered: FilteredPattern
    digits: int
    has_numbers_in_a_row: bool
    find_needed: Callable[[str], object] | None
    needed_bits: int

    def may_match(self, text: str, word_bits: int) -> bool:
        """Whether the pattern can match a text whose words have these bits."""
        return self.filtered.may_match(text, word_bits) and (
            self.find_needed is None or bool(self.find_needed(text))
        )


def _make_rule(
    kind: HitKind,
    digits: int,
    expression: str,
    needed: re.Pattern[str] | Callable[[str], object] | None = None,
    words: str = "",
) -> _Rule:
    is_in_a_row = needed is _NUMBERS_IN_A_ROW
    return _Rule(
        kind=kind,
        filtered=FilteredPattern(expression, ignore_case=False),
        digits=digits,
        has_numbers_in_a_row=is_in_a_row,
        find_needed=None if is_in_a_row else needed.search if isinstance(needed, re.Pattern) else needed,
        needed_bits=FilteredPattern(rf"\b(?:{words})\b").word_bits if words else ALL_BITS,
    )


#: The patterns in order of precedence. Of overlapping passages, the first one is kept.
RULES = tuple(
    _make_rule(kind, *values)
    for kind, expressions in (
        (HitKind.EMAIL, ((0, r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),)),
        (HitKind.URL, ((0, r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:)]"),)),
        (HitKind.NATIONAL_NUMBER, ((4, r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])", _NUMBERS_IN_A_ROW),)),
        (HitKind.DATE, _DATES),
        (HitKind.PHONE, _PHONES),
        (HitKind.ADDRESS, _ADDRESSES),
        (HitKind.RECORD_NUMBER, _RECORD_NUMBERS),
        (HitKind.PERSON, _PEOPLE),
        (HitKind.AGE, _AGES),
    )
    for values in expressions
)
_DIGITS = re.compile(r"\d+")
_TO_DIGITS = bytes(code if chr(code) in string.digits else ord(" ") for code in range(256))
_MAX_DIGITS = max(rule.digits for rule in RULES)
#: The word bits that at least one rule needs.
_WORD_BITS = reduce(
    or_,
    (bits for rule in RULES for bits in (rule.filtered.word_bits, rule.needed_bits) if bits != ALL_BITS),
)


def find_hits_by_pattern(text: str, *, field: str) -> Iterator[TextHit]:
    """Search a text by patterns.

    Args:
        text: the text.
        field: the field of the question, which is stored with the hits.

    Yields:
        Hits without overlaps, in the order of the patterns.
    """
    matched_spans: list[tuple[int, int]] = []
    for rule in _find_rules(text, read_word_bits(text)):
        for match in rule.filtered.pattern.finditer(text):
            start, end = match.span()
            if all(end <= span_start or start >= span_end for span_start, span_end in matched_spans):
                matched_spans.append((start, end))
                yield TextHit(field=field, start=start, end=end, kind=rule.kind)


def may_have_hits(texts: Iterable[str], *, word_bits: int) -> bool:
    """Whether any of these texts may have a hit: a faster test of many texts, few of which have one.

    The texts are searched together, joined by a separator that no pattern matches.

    Args:
        texts: the texts.
        word_bits: the bits of all words of the texts (:func:`terminology.word_filter.read_word_bits`).
    """
    text = "\n|\n".join(texts)
    return any(rule.filtered.pattern.search(text) for rule in _find_rules(text, word_bits))


def _find_rules(text: str, word_bits: int) -> Iterator[_Rule]:
    """Yield the rules that can match a text with these words, in order."""
    # Translating the bytes takes a tenth of the time of the pattern.
    runs = text.encode().translate(_TO_DIGITS).split() if text.isascii() else _DIGITS.findall(text)
    digits = min(max(map(len, runs), default=0), _MAX_DIGITS)
    is_in_a_row = len(runs) > 1 and _NUMBERS_IN_A_ROW.search(text) is not None
    for rule in _select_rules(word_bits & _WORD_BITS, digits, is_in_a_row):
        if rule.may_match(text, word_bits):
            yield rule


@lru_cache(maxsize=10_000)
def _select_rules(bits: int, digits: int, is_in_a_row: bool) -> tuple[_Rule, ...]:
    """Return the rules that can match a text with these words and digits; many texts have the same ones."""
    return tuple(
        rule
        for rule in RULES
        if rule.digits <= digits
        and rule.has_numbers_in_a_row <= is_in_a_row
        and rule.filtered.word_bits & (bits | ~_WORD_BITS)
        and rule.needed_bits & (bits | ~_WORD_BITS)
    )
