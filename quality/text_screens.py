"""Rule-based screens of question texts: content that GEMeX's rules 3 and 4 forbid (its Table 2).

A screen may report too much: it finds words, and a word may be used in another sense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from domain.questions import Question
from terminology.word_filter import FilteredPattern, read_word_bits


class Screen(StrEnum):
    """The kind of content in a question that nobody can answer from the image itself."""

    REFERS_TO_TEXT = "refers to the report"
    COMPARISON = "compares with a prior exam"
    NOTIFICATION = "is about the notification of staff"
    VIEW = "is about the view"
    OTHER_SCAN = "is about another scan"
    SIZE = "needs a measurement"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenHit:
    """A screen that a text did not pass: the field of the question and the words."""

    screen: Screen
    field: str
    words: str


def _compile(*alternatives: str) -> FilteredPattern:
    return FilteredPattern("|".join(alternatives))


_TEXT = r"(?:report|text|description|phrases?|sentences?|bullets?|bullet\s+points?|narrative)"
#: Screen: its pattern, and whether the explanation is searched as well as stem, options and answer.
_PATTERNS = {
    Screen.REFERS_TO_TEXT: (
        _compile(
            rf"\b(?:the|this|provided|given|above|radiology|radiological)\s+{_TEXT}\b(?!\s+of\s+the\s+lung)",
            rf"\b(?:according\s+to|based\s+on|as\s+per|from|in)\s+the\s+{_TEXT}\b",
            r"\bas\s+(?:stated|described|mentioned|documented|reported|noted)\b",
            r"\b(?:is|are|was|were)\s+(?:explicitly\s+|specifically\s+)?"
            r"(?:stated|mentioned|documented|reported)\b",
            r"\b(?:CXR|x-?ray|image|radiograph)\s+(?:specifies|states|mentions|reports)\b",
        ),
        True,
    ),
    Screen.COMPARISON: (
        _compile(
            r"\bcompar(?:ed|ing|ison)\b",
            r"\b(?:prior|previous(?:ly)?|earlier)\b",
            r"\b(?:since|from)\s+(?:the\s+)?(?:last|prior|previous|earlier)\b",
            r"\binterval\s+(?:change|development|increase|decrease|improvement|worsening|removal|placement)\b",
            r"\b(?:unchanged|worsen\w*|improv(?:ed|ing|ement)|progress(?:ed|ing|ion|ive)|resolv(?:ed|ing))\b",
            r"\b(?:stable|newly|persistent|redemonstrat\w+)\b|\bnew\b",
            r"\bha(?:s|ve)\s+(?:increased|decreased|changed|enlarged)\b",
            r"\bchanges?\s+over\s+time\b",
        ),
        True,
    ),
    Screen.NOTIFICATION: (
        _compile(
            r"\b(?:notif(?:y|ied|ication)|inform(?:ed|ing)|page[dr]|telephoned?|phoned|communicat(?:ed|ion))\b",
            r"\bdiscussed\s+with\b",
            r"\bDr\.",
        ),
        True,
    ),
    Screen.VIEW: (
        _compile(
            r"\b(?:what|which)\b[^?.]*\b(?:views?|projections?|patient\s+position)\b",
            r"^\s*(?:an?\s+|the\s+)?(?:PA|AP|lateral|frontal|postero-?anterior|antero-?posterior|oblique|"
            r"decubitus|lordotic)(?:\s+(?:view|projection|radiograph|film))?\s*\.?\s*$",
        ),
        False,
    ),
    Screen.OTHER_SCAN: (
        _compile(
            r"\b(?-i:CT|CTA|MRI|MR|PET|PET-CT)\b",  # "pet" in lower case is no scan
            r"\b(?:computed\s+tomography|magnetic\s+resonance|ultraso(?:und|nography)|echocardiogra\w+|"
            r"scintigraphy|angiogra\w+|mammogra\w+)\b",
            r"\bother\s+(?:scans?|imaging|studies)\b",
        ),
        False,
    ),
    Screen.SIZE: (
        _compile(
            r"\d\s*[- ]?\s*(?:cm|mm|centimet\w+|millimet\w+)\b",
            r"\bhow\s+many\s+(?:centi|milli)met\w+",
            r"\bwhat\s+(?:is|are)\s+the\s+(?:exact\s+|precise\s+)?(?:diameter|measurements?|dimensions?)\b",
        ),
        True,
    ),
}


def screen_question(question: Question) -> Iterator[ScreenHit]:
    """Yield the screens that a question does not pass, the first hit of each.

    Args:
        question: the question. Its stem, options and text of the answer are searched; its explanation only by
            the screens that :data:`_PATTERNS` marks.
    """
    for screen in _PATTERNS:
        hit = find_hit(question, screen)
        if hit is not None:
            yield hit


def find_hit(question: Question, screen: Screen) -> ScreenHit | None:
    """Return the first hit of one screen in a question, searched as by :func:`screen_question`."""
    pattern, searches_explanation = _PATTERNS[screen]
    texts = [("stem", question.stem), *(("options", option) for option in question.options)]
    if isinstance(question.answer, str):
        texts.append(("answer", question.answer))
    if searches_explanation:
        texts.append(("explanation", question.explanation))
    for field, text in texts:
        match = pattern.search(text)
        if match is not None:
            start, end = match.span()
            return ScreenHit(screen=screen, field=field, words=text[start:end].strip())
    return None


def may_hit(screen: Screen, word_bits: int) -> bool:
    """Whether a screen may have a hit in a question whose texts have these bits."""
    return bool(_PATTERNS[screen][0].word_bits & word_bits)


def read_question_bits(question: Question) -> int:
    """Return the bits of all texts of a question that screens search."""
    bits = read_word_bits(question.stem) | read_word_bits(question.explanation)
    for option in question.options:
        bits |= read_word_bits(option)
    return bits | read_word_bits(question.answer) if isinstance(question.answer, str) else bits
