"""Planted errors that change one part of a correct question. Undoing the change corrects the question."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from demo.facts import Facts, Seen, zones
from demo.phantom import CATALOGUE, Side
from demo.planted_texts import BESIDE_THE_POINT
from demo.questions_differential import diagnoses_beside
from demo.terms import NEVER_THERE, TERMS, named
from domain.boxes import Box, LabelledBox
from domain.questions import Question
from domain.verdicts import ErrorKind
from domain.vocabulary import AnswerFormat, Task

Attempt = Callable[[Question, Facts, random.Random], Question | None]
_SINGLE, _CLOSED, _OPEN = AnswerFormat.SINGLE, AnswerFormat.CLOSED, AnswerFormat.OPEN


def _several_right(question: Question, facts: Facts, source: random.Random) -> Question | None:
    """Replace a wrong option with a second right one; the key is unchanged."""
    if question.format is not _SINGLE:
        return None
    key = question.options[_key(question)]
    right: list[str] = []
    if question.task is Task.PRESENCE and key in {TERMS[each.kind].option for each in facts.seen}:
        right = [TERMS[each.kind].option for each in facts.seen]
    elif question.task is Task.LOCATION and key.lower() in zones():
        right = [f"{key.split(' ', 1)[0]} lung"]
    elif question.task is Task.DIFFERENTIAL:
        right = list(diagnoses_beside(key)[0])
    right = [each for each in right if each not in question.options]
    if not right:
        return None
    return _with_option(question, source.choice(_wrong_places(question)), source.choice(right))


def _none_right(question: Question, facts: Facts, source: random.Random) -> Question | None:
    """Replace the right option with a wrong one; the key still points to it."""
    if question.format is not _SINGLE:
        return None
    key = question.options[_key(question)]
    wrong: list[str] = []
    if question.task is Task.PRESENCE and key in {TERMS[each.kind].option for each in facts.seen}:
        wrong = [*NEVER_THERE, *(TERMS[kind].option for kind in facts.absent())]
    elif question.task is Task.LOCATION and key.lower() in zones():
        wrong = [zone.capitalize() for zone in zones()]
    elif question.task is Task.DIFFERENTIAL:
        wrong = list(diagnoses_beside(key)[1])
    wrong = [each for each in wrong if each not in question.options]
    if not wrong:
        return None
    return _with_option(question, _key(question), source.choice(wrong))


def _wrong_key(question: Question, _facts: Facts, source: random.Random) -> Question | None:
    if question.format is _CLOSED:
        return replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.format is _SINGLE:
        return replace(question, answer=(source.choice(_wrong_places(question)),))
    return None


def _explanation(question: Question, _facts: Facts, source: random.Random) -> Question:
    return replace(question, explanation=source.choice(BESIDE_THE_POINT))


def _wrong_place(question: Question, _facts: Facts, _source: random.Random) -> Question | None:
    """Swap the side in both key and explanation, so that they still agree."""
    explanation = _turned(question.explanation)
    if question.task is not Task.LOCATION or explanation == question.explanation:
        return None
    if question.format is _OPEN and isinstance(question.answer, str):
        turned = _turned(question.answer)
        if turned == question.answer:
            return None
        return replace(question, answer=turned, explanation=explanation)
    if question.format is _SINGLE:
        turned = _turned(question.options[_key(question)])
        if turned not in question.options or turned == question.options[_key(question)]:
            return None
        return replace(question, answer=(question.options.index(turned),), explanation=explanation)
    return None


def _box_wrong(question: Question, facts: Facts, source: random.Random) -> Question | None:
    """Move the frontal box to the other side, or too far down."""
    one_sided = {str(each.kind) for each in facts.seen if CATALOGUE[each.kind].sides != (Side.MIDLINE,)}
    frontal = [each for each in question.boxes if each.radiograph == facts.frontal]
    if len(frontal) != 1 or frontal[0].label not in one_sided:
        return None
    middle = sum(facts.thorax) / 2
    box = frontal[0].box
    if box.x_min < middle < box.x_max:
        return None
    moved = Box(x_min=2 * middle - box.x_max, y_min=box.y_min, x_max=2 * middle - box.x_min, y_max=box.y_max)
    if box.height < facts.columns / 8 and source.random() < 0.5:
        down = 2.5 * box.height
        moved = Box(x_min=box.x_min, y_min=box.y_min + down, x_max=box.x_max, y_max=box.y_max + down)
    moved = moved.clipped(rows=facts.columns, columns=facts.columns)
    return replace(
        question, boxes=(LabelledBox(radiograph=facts.frontal, label=frontal[0].label, box=moved),)
    )


def _given_away(question: Question, facts: Facts, source: random.Random) -> Question | None:
    """State the answer in the stem."""
    if question.format not in (_SINGLE, _OPEN) or question.task not in (Task.PRESENCE, Task.LOCATION):
        return None
    answer = question.answer if isinstance(question.answer, str) else question.options[_key(question)]
    for seen in facts.seen:
        if _says(seen, answer):
            before = source.choice(("There is {it}.", "The radiograph shows {it}."))
            return replace(question, stem=f"{before.format(it=named(seen))} {question.stem}")
    return None


def _wording(question: Question, _facts: Facts, source: random.Random) -> Question | None:
    """Drop articles, and duplicate or reorder words, so that the stem is hard to read or ambiguous."""
    stem = question.stem
    found = re.fullmatch(
        r"(?:Is there|Can|Does this examination show) (an? .*?)(?: on this examination| be seen)?\?", stem
    )
    if found and question.format is _CLOSED:
        return replace(question, stem=f"Is there not no {found[1].split(' ', 1)[1]} to be seen or not?")
    if question.format is not _SINGLE and question.format is not AnswerFormat.MULTIPLE:
        return None
    changed = re.sub(r"\b[Tt]he following\b", "following the", stem)
    changed = re.sub(r"\b(the|a|an) ", "", changed)
    changed = re.sub(
        r"\b(are|is|do|does|can|lie)\b", source.choice((r"\1 \1", r"is \1 it")), changed, count=1
    )
    return None if changed == stem else replace(question, stem=changed)


SLIPS: Mapping[ErrorKind, Attempt] = {
    # Kinds that few questions allow come first.
    ErrorKind.WRONG_PLACE: _wrong_place,
    ErrorKind.SEVERAL_RIGHT: _several_right,
    ErrorKind.NONE_RIGHT: _none_right,
    ErrorKind.GIVEN_AWAY: _given_away,
    ErrorKind.BOX_WRONG: _box_wrong,
    ErrorKind.WORDING: _wording,
    ErrorKind.WRONG_KEY: _wrong_key,
    ErrorKind.EXPLANATION: _explanation,
}


def _key(question: Question) -> int:
    if isinstance(question.answer, str):
        raise TypeError(f"{question.id} has no options")
    return question.answer[0]


def _wrong_places(question: Question) -> list[int]:
    return [place for place in range(len(question.options)) if place != _key(question)]


def _with_option(question: Question, place: int, text: str) -> Question:
    options = list(question.options)
    options[place] = text
    return replace(question, options=tuple(options))


def _turned(text: str) -> str:
    """Swap left and right, with and without a capital."""
    other = {"right": "left", "left": "right", "Right": "Left", "Left": "Right"}
    return re.sub(r"\b([Rr]ight|[Ll]eft)\b", lambda found: other[found[1]], text)


def _says(seen: Seen, answer: str) -> bool:
    told = answer.lower()
    return (
        told in named(seen)
        or told in (TERMS[seen.kind].option.lower(), str(seen.side))
        or named(seen) == told
    )
