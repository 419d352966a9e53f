"""Plants known faults in correct questions; the same question, fault and seed give the same result."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from domain.draw_hash import draw_hash
from domain.hidden import NAMED_BY, PlantedFault
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from domain.vocabulary import AnswerFormat

_SIDE = re.compile(r"\b(left|right)\b", re.IGNORECASE)
_BOTH = re.compile(r"\b(both|bilateral(ly)?|either|symmetrical(ly)?)\b", re.IGNORECASE)
_PRIOR = re.compile(
    r"\b(prior|previous(ly)?|compar\w*|interval|earlier|unchanged|new(ly)?|increased|decreased)\b", re.I
)
#: Synonyms for parts of a correct option.
_SAID_OTHERWISE = (
    ("pleural effusion", "fluid in the pleural space"),
    ("effusion", "fluid in the pleural space"),
    ("pneumothorax", "air in the pleural space"),
    ("cardiomegaly", "an enlarged heart"),
    ("consolidation", "airspace opacity"),
    ("atelectasis", "loss of lung volume"),
    ("nodule", "a small rounded opacity"),
    ("hiatal hernia", "part of the stomach above the diaphragm"),
    ("emphysema", "destruction of air spaces with hyperinflation"),
)
#: Absent findings: the text of the option, and words that would show that the finding is present.
_ABSENT = (
    ("a small pneumothorax at the left apex", ("pneumothora",)),
    ("free air below the right hemidiaphragm", ("free air", "pneumoperitoneum")),
    ("a fracture of the sixth right rib", ("fracture",)),
    ("a cavity in the right upper lobe", ("cavit",)),
    ("a pacemaker with two leads", ("pacemaker", "pacing")),
    ("a hernia behind the heart", ("hernia",)),
)
#: A fault counts as found if the reviewer corrected one of these fields.
_TOUCHES: dict[PlantedFault, tuple[str, ...]] = {
    PlantedFault.KEY_SWAPPED: ("answer",),
    PlantedFault.SECOND_RIGHT: ("options", "also_right"),
    PlantedFault.PRIOR_WORDS: ("stem", "explanation"),
    PlantedFault.WRONG_SIDE: ("stem", "explanation", "answer", "options"),
    PlantedFault.NOT_THERE: ("explanation",),
}


class FaultSeen(StrEnum):
    """Whether a reviewer found a planted fault."""

    FOUND = "found"
    OTHERWISE = "not accepted, for another reason"
    MISSED = "missed"


def spoil(question: Question, fault: PlantedFault, *, elsewhere: str, seed: int) -> Question | None:
    """Plant a fault in a question.

    Args:
        question: a correct question.
        fault: the kind of fault.
        elsewhere: other texts about the exam, such as its report; a finding named there is not absent.
        seed: of the choice among several possibilities.

    Returns:
        The question with the fault; None if the question does not allow it.
    """
    number = draw_hash(f"{seed}:{fault}:{question.id}") % 2**32
    changed = _WAYS[fault](question, number, elsewhere.lower())
    return None if changed == question else changed


def seen(fault: PlantedFault, verdict: Verdict) -> FaultSeen:
    """Whether a verdict shows that the fault was found: it names the kind of error or corrects the field."""
    corrected = any(getattr(verdict.opinion.correction, name) is not None for name in _TOUCHES[fault])
    if verdict.opinion.errors & NAMED_BY[fault] or corrected:
        return FaultSeen.FOUND
    if verdict.decision is Decision.ACCEPT and not verdict.opinion.errors:
        return FaultSeen.MISSED
    return FaultSeen.OTHERWISE


# ---------------------------------------------------------------------------------------------- kind by kind
def _key_swapped(question: Question, number: int, _elsewhere: str) -> Question | None:
    if question.format is AnswerFormat.CLOSED:
        return replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.format is not AnswerFormat.SINGLE or question.also_right:
        return None
    wrong = [place for place in range(len(question.options)) if (place,) != question.answer]
    return replace(question, answer=(wrong[number % len(wrong)],))


def _second_right(question: Question, number: int, _elsewhere: str) -> Question | None:
    if question.format is not AnswerFormat.SINGLE or question.also_right or isinstance(question.answer, str):
        return None
    right = question.answer[0]
    again = _said_otherwise(question.options[right])
    if again is None or again.lower() in {each.lower() for each in question.options}:
        return None
    wrong = [place for place in range(len(question.options)) if place != right]
    options = list(question.options)
    options[wrong[number % len(wrong)]] = again
    return replace(question, options=tuple(options))


def _prior_words(question: Question, _number: int, _elsewhere: str) -> Question | None:
    if _PRIOR.search(f"{question.stem} {question.explanation}"):
        return None
    stem = f"Compared with the previous radiograph, {question.stem[0].lower()}{question.stem[1:]}"
    explanation = question.explanation.strip()
    if explanation:
        explanation += " This has increased since the previous examination."
    return replace(question, stem=stem, explanation=explanation)


def _wrong_side(question: Question, _number: int, _elsewhere: str) -> Question | None:
    """Exchange left and right in all texts that support the key."""
    key = question.answer if isinstance(question.answer, str) else ""
    if not isinstance(question.answer, str):
        key = " ".join(question.options[place] for place in question.answer)
    told = f"{question.stem} {question.explanation} {key}"
    sides = {each.lower() for each in _SIDE.findall(told)}
    if len(sides) != 1 or _BOTH.search(told) or question.format is AnswerFormat.MULTIPLE:
        return None
    values: dict[str, object] = {
        "stem": _turned(question.stem),
        "explanation": _turned(question.explanation),
    }
    if question.format is AnswerFormat.OPEN:
        values["answer"] = _turned(key)
    elif question.format is AnswerFormat.SINGLE and _SIDE.search(key) and isinstance(question.answer, tuple):
        turned = _turned(key)
        if turned in question.options:
            values["answer"] = (question.options.index(turned),)
        else:
            options = list(question.options)
            options[question.answer[0]] = turned
            values["options"] = tuple(options)
        values["also_right"] = ()
    return replace(question, **values)  # type: ignore[arg-type]  # fields of a question by their names


def _not_there(question: Question, number: int, elsewhere: str) -> Question | None:
    if not elsewhere.strip():
        return None  # without a report it is unknown which findings are absent
    known = f"{elsewhere} {question.stem} {question.explanation} {' '.join(question.options)}".lower()
    absent = [text for text, words in _ABSENT if not any(word in known for word in words)]
    if not absent:
        return None
    told = f"There is also {absent[number % len(absent)]}."
    return replace(question, explanation=f"{question.explanation.strip()} {told}".strip())


_WAYS: dict[PlantedFault, Callable[[Question, int, str], Question | None]] = {
    PlantedFault.KEY_SWAPPED: _key_swapped,
    PlantedFault.SECOND_RIGHT: _second_right,
    PlantedFault.PRIOR_WORDS: _prior_words,
    PlantedFault.WRONG_SIDE: _wrong_side,
    PlantedFault.NOT_THERE: _not_there,
}


def _said_otherwise(text: str) -> str | None:
    """The text with a synonym; None without a known one."""
    side = re.fullmatch(r"(left|right)(?:-sided)? (.+)", text.strip(), re.IGNORECASE)
    if side:
        return f"{side[2][0].upper()}{side[2][1:]} on the {side[1].lower()}"
    for words, otherwise in _SAID_OTHERWISE:
        if words in text.lower():
            return f"{otherwise[0].upper()}{otherwise[1:]}"
    return None


def _turned(text: str) -> str:
    other = {"left": "right", "right": "left"}

    def turn(found: re.Match[str]) -> str:
        word = other[found[0].lower()]
        return word.capitalize() if found[0][0].isupper() else word

    return _SIDE.sub(turn, text)
