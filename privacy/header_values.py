"""Searches texts for the names, numbers and dates of image headers.

A number or a full name is a hit in all texts of the dataset, except a name that consists of common words. A
part of a name is a hit only in the texts of its own exam, if it has more than three letters, begins with a
capital letter and is not a common word. A date is a hit only in the texts of its own exam, because
`privacy.patterns` finds all dates.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from domain.patient_data import HitKind, TextHit
from imaging.identity import IdentityKind, IdentityValue

_WORD_PATTERN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_IGNORED_NAME_PARTS = frozenset(
    {"mr", "mrs", "ms", "dr", "prof", "md", "phd", "jr", "sr", "von", "van", "de", "der", "la"}
)
# Names that are also common words in reports. A single one of them is not a hit.
_COMMON_WORDS = frozenset(
    [
        "april",
        "august",
        "best",
        "black",
        "blue",
        "bone",
        "brown",
        "butler",
        "church",
        "cross",
        "day",
        "dean",
        "field",
        "fields",
        "fine",
        "fish",
        "frank",
        "french",
        "glass",
        "gold",
        "good",
        "gray",
        "green",
        "grey",
        "hall",
        "hand",
        "hart",
        "heart",
        "hill",
        "house",
        "june",
        "king",
        "knight",
        "lane",
        "law",
        "little",
        "long",
        "love",
        "lung",
        "major",
        "march",
        "marks",
        "mason",
        "may",
        "miller",
        "mill",
        "moon",
        "moore",
        "morning",
        "murphy",
        "north",
        "page",
        "park",
        "parker",
        "penny",
        "pope",
        "port",
        "power",
        "price",
        "quick",
        "reed",
        "rice",
        "rich",
        "right",
        "rivers",
        "rose",
        "sharp",
        "short",
        "silver",
        "small",
        "smart",
        "south",
        "stern",
        "stone",
        "strong",
        "summer",
        "swan",
        "sweet",
        "terry",
        "valentine",
        "wall",
        "ward",
        "waters",
        "wells",
        "west",
        "white",
        "will",
        "winter",
        "wise",
        "wood",
        "woods",
        "young",
        "phantom",
        "patient",
        "anonymous",
        "test",
        "unknown",
        "none",
        "name",
        "removed",
        "chest",
        "hospital",
        "clinic",
        "medical",
        "center",
        "centre",
        "university",
        "general",
        "radiology",
    ]
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
_ISO_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.]?(\d\d?)[-/.]?(\d\d?)(?!\d)")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d\d?)[-/.](\d\d?)[-/.]((?:19|20)?\d\d)(?!\d)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d\d?)(?:st|nd|rd|th)?(?:\s+of)?[\s-]+([A-Za-z]{3})[a-z.]*,?[\s-]+((?:19|20)\d\d)"
)
_MONTH_DAY = re.compile(r"\b([A-Za-z]{3})[a-z.]*\s+(\d\d?)(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)")


class HeaderValues:
    """The identifying values of the headers of a dataset's exams.

    They are only searched for, never stored.
    """

    def __init__(self, values_by_exam: Mapping[int, Iterable[IdentityValue]]) -> None:
        """Index the values of the images' headers, which ``values_by_exam`` contains by exam id."""
        self._numbers: set[str] = set()
        self._names: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._name_parts_by_exam: dict[int, set[str]] = defaultdict(set)
        self._dates_by_exam: dict[int, set[date]] = defaultdict(set)
        for exam, values in values_by_exam.items():
            for value in values:
                self._add(exam, value)

    def __bool__(self) -> bool:
        return bool(self._numbers or self._names or self._dates_by_exam or self._name_parts_by_exam)

    def find_hits(self, text: str, *, field: str, exam: int) -> Iterator[TextHit]:
        """Search a text.

        Args:
            text: the text.
            field: the field of the question, which is stored with the hits.
            exam: the id of the exam that the text belongs to.

        Yields:
            Hits ordered by kind: numbers, names, dates.
        """
        for match in _TOKEN_PATTERN.finditer(text):
            if match[0].casefold() in self._numbers:
                yield _build_hit(field, match.span(), HitKind.HEADER_NUMBER)
        yield from self._find_name_hits(text, field, exam)
        exam_dates = self._dates_by_exam.get(exam)
        if exam_dates:
            yield from (
                _build_hit(field, span, HitKind.HEADER_DATE)
                for span, dates in _find_dates(text)
                if dates & exam_dates
            )

    def _add(self, exam: int, value: IdentityValue) -> None:
        if value.kind is IdentityKind.DATE:
            header_date = _parse_date(value.value[:4], value.value[4:6], value.value[6:8])
            if header_date is not None:
                self._dates_by_exam[exam].add(header_date)
        elif value.kind is IdentityKind.NUMBER:
            # Shorter numbers and those with few digits occur in many texts by chance.
            if len(value.value) >= 5 and sum(map(str.isdigit, value.value)) >= 4:
                self._numbers.add(value.value.casefold())
        else:
            parts = tuple(
                part.casefold()
                for part in _WORD_PATTERN.findall(value.value)
                if part.casefold() not in _IGNORED_NAME_PARTS
            )
            parts = tuple(part for part in parts if len(part) > 1)
            if len(parts) > 1:
                for order in {parts, parts[::-1], (parts[0], parts[1]), (parts[1], parts[0])}:
                    self._names[order[0]].add(order)
            self._name_parts_by_exam[exam] |= {
                part for part in parts if len(part) > 3 and part not in _COMMON_WORDS
            }

    def _find_name_hits(self, text: str, field: str, exam: int) -> Iterator[TextHit]:
        words = [(match[0].casefold(), match.start(), match.end()) for match in _WORD_PATTERN.finditer(text)]
        exam_name_parts, matched_until = self._name_parts_by_exam.get(exam, set()), 0
        for index, (word, start, end) in enumerate(words):
            if start < matched_until:
                continue
            full_names = [
                name for name in self._names.get(word, ())
                if tuple(token for token, _, _ in words[index : index + len(name)]) == name
                and not set(name) <= _COMMON_WORDS
            ]  # fmt: skip
            if full_names:
                matched_until = words[index + max(map(len, full_names)) - 1][2]
                yield _build_hit(field, (start, matched_until), HitKind.HEADER_NAME)
            elif word in exam_name_parts and text[start].isupper():
                matched_until = end
                yield _build_hit(field, (start, end), HitKind.HEADER_NAME)


def _build_hit(field: str, span: tuple[int, int], kind: HitKind) -> TextHit:
    return TextHit(field=field, start=span[0], end=span[1], kind=kind)


def _find_dates(text: str) -> Iterator[tuple[tuple[int, int], set[date]]]:
    """Yield passages that are dates, with all dates that they can mean (day and month may be swapped)."""
    for match in _ISO_DATE.finditer(text):
        yield match.span(), _list_valid_dates((match[1], match[2], match[3]))
    for match in _NUMERIC_DATE.finditer(text):
        years = [match[3]] if len(match[3]) == 4 else [f"19{match[3]}", f"20{match[3]}"]
        orders = [(year, *pair) for year in years for pair in ((match[2], match[1]), (match[1], match[2]))]
        yield match.span(), _list_valid_dates(*orders)
    for match in _DAY_MONTH.finditer(text):
        yield match.span(), _list_valid_dates((match[3], _get_month_number(match[2]), match[1]))
    for match in _MONTH_DAY.finditer(text):
        yield match.span(), _list_valid_dates((match[3], _get_month_number(match[1]), match[2]))


def _list_valid_dates(*orders: tuple[str, str, str]) -> set[date]:
    return {day for order in orders if (day := _parse_date(*order)) is not None}


def _get_month_number(name: str) -> str:
    return str(_MONTHS.get(name.casefold(), 0))


def _parse_date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
