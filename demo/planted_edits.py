"""Planted errors that change one part of a correct question. Reverting the change corrects the question."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from demo.facts import ExamFacts, VisibleFinding, lung_zone_names
from demo.phantom import CATALOGUE, Side
from demo.planted_texts import IRRELEVANT_EXPLANATIONS
from demo.questions_differential import list_alternative_diagnoses
from demo.terms import NEVER_PRESENT, TERMS, name_with_location
from domain.boxes import Box, LabelledBox
from domain.questions import Question
from domain.verdicts import ErrorKind
from domain.vocabulary import AnswerFormat, Task

PlantError = Callable[[Question, ExamFacts, random.Random], Question | None]
_SINGLE, _CLOSED, _OPEN = AnswerFormat.SINGLE, AnswerFormat.CLOSED, AnswerFormat.OPEN


def _plant_several_right(question: Question, facts: ExamFacts, rng: random.Random) -> Question | None:
    """Replace a wrong option with a second correct one. The key is unchanged."""
    if question.format is not _SINGLE:
        return None
    key = question.options[_key_index(question)]
    right_options: list[str] = []
    if question.task is Task.PRESENCE and key in {TERMS[finding.kind].option for finding in facts.visible}:
        right_options = [TERMS[finding.kind].option for finding in facts.visible]
    elif question.task is Task.LOCATION and key.lower() in lung_zone_names():
        right_options = [f"{key.split(' ', 1)[0]} lung"]
    elif question.task is Task.DIFFERENTIAL:
        right_options = list(list_alternative_diagnoses(key)[0])
    right_options = [option for option in right_options if option not in question.options]
    if not right_options:
        return None
    return _with_option(question, rng.choice(_wrong_indices(question)), rng.choice(right_options))


def _plant_none_right(question: Question, facts: ExamFacts, rng: random.Random) -> Question | None:
    """Replace the correct option with a wrong one. The key still points to it."""
    if question.format is not _SINGLE:
        return None
    key = question.options[_key_index(question)]
    wrong_options: list[str] = []
    if question.task is Task.PRESENCE and key in {TERMS[finding.kind].option for finding in facts.visible}:
        wrong_options = [*NEVER_PRESENT, *(TERMS[kind].option for kind in facts.absent_kinds())]
    elif question.task is Task.LOCATION and key.lower() in lung_zone_names():
        wrong_options = [zone.capitalize() for zone in lung_zone_names()]
    elif question.task is Task.DIFFERENTIAL:
        wrong_options = list(list_alternative_diagnoses(key)[1])
    wrong_options = [option for option in wrong_options if option not in question.options]
    if not wrong_options:
        return None
    return _with_option(question, _key_index(question), rng.choice(wrong_options))


def _plant_wrong_key(question: Question, _facts: ExamFacts, rng: random.Random) -> Question | None:
    if question.format is _CLOSED:
        return replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.format is _SINGLE:
        return replace(question, answer=(rng.choice(_wrong_indices(question)),))
    return None


def _plant_explanation(question: Question, _facts: ExamFacts, rng: random.Random) -> Question:
    return replace(question, explanation=rng.choice(IRRELEVANT_EXPLANATIONS))


def _plant_wrong_side(question: Question, _facts: ExamFacts, _rng: random.Random) -> Question | None:
    """Swap the side in both key and explanation, so that they still agree."""
    explanation = _swap_sides(question.explanation)
    if question.task is not Task.LOCATION or explanation == question.explanation:
        return None
    if question.format is _OPEN and isinstance(question.answer, str):
        swapped = _swap_sides(question.answer)
        if swapped == question.answer:
            return None
        return replace(question, answer=swapped, explanation=explanation)
    if question.format is _SINGLE:
        swapped = _swap_sides(question.options[_key_index(question)])
        if swapped not in question.options or swapped == question.options[_key_index(question)]:
            return None
        return replace(question, answer=(question.options.index(swapped),), explanation=explanation)
    return None


def _plant_wrong_box(question: Question, facts: ExamFacts, rng: random.Random) -> Question | None:
    """Move the frontal box to the other side, or too far down."""
    one_sided = {
        str(finding.kind) for finding in facts.visible if CATALOGUE[finding.kind].sides != (Side.MIDLINE,)
    }
    frontal_boxes = [
        labelled_box for labelled_box in question.boxes if labelled_box.radiograph == facts.frontal
    ]
    if len(frontal_boxes) != 1 or frontal_boxes[0].label not in one_sided:
        return None
    middle = sum(facts.thorax) / 2
    box = frontal_boxes[0].box
    if box.x_min < middle < box.x_max:
        return None
    moved = Box(x_min=2 * middle - box.x_max, y_min=box.y_min, x_max=2 * middle - box.x_min, y_max=box.y_max)
    if box.height < facts.columns / 8 and rng.random() < 0.5:
        shift = 2.5 * box.height
        moved = Box(x_min=box.x_min, y_min=box.y_min + shift, x_max=box.x_max, y_max=box.y_max + shift)
    moved = moved.clip_to_matrix(rows=facts.columns, columns=facts.columns)
    return replace(
        question, boxes=(LabelledBox(radiograph=facts.frontal, label=frontal_boxes[0].label, box=moved),)
    )


def _plant_given_away(question: Question, facts: ExamFacts, rng: random.Random) -> Question | None:
    """State the answer in the stem."""
    if question.format not in (_SINGLE, _OPEN) or question.task not in (Task.PRESENCE, Task.LOCATION):
        return None
    answer = question.answer if isinstance(question.answer, str) else question.options[_key_index(question)]
    for finding in facts.visible:
        if _is_answered_by(finding, answer):
            hint = rng.choice(("There is {it}.", "The radiograph shows {it}."))
            return replace(question, stem=f"{hint.format(it=name_with_location(finding))} {question.stem}")
    return None


def _plant_bad_wording(question: Question, _facts: ExamFacts, rng: random.Random) -> Question | None:
    """Drop articles, and duplicate or reorder words, so that the stem is hard to read or ambiguous."""
    stem = question.stem
    match = re.fullmatch(
        r"(?:Is there|Can|Does this examination show) (an? .*?)(?: on this examination| be seen)?\?", stem
    )
    if match and question.format is _CLOSED:
        return replace(question, stem=f"Is there not no {match[1].split(' ', 1)[1]} to be seen or not?")
    if question.format is not _SINGLE and question.format is not AnswerFormat.MULTIPLE:
        return None
    changed = re.sub(r"\b[Tt]he following\b", "following the", stem)
    changed = re.sub(r"\b(the|a|an) ", "", changed)
    changed = re.sub(r"\b(are|is|do|does|can|lie)\b", rng.choice((r"\1 \1", r"is \1 it")), changed, count=1)
    return None if changed == stem else replace(question, stem=changed)


EDITS: Mapping[ErrorKind, PlantError] = {
    # Errors that fit few questions come first.
    ErrorKind.WRONG_LOCATION: _plant_wrong_side,
    ErrorKind.SEVERAL_CORRECT: _plant_several_right,
    ErrorKind.NONE_CORRECT: _plant_none_right,
    ErrorKind.ANSWER_REVEALED: _plant_given_away,
    ErrorKind.BOX_WRONG: _plant_wrong_box,
    ErrorKind.WORDING: _plant_bad_wording,
    ErrorKind.WRONG_KEY: _plant_wrong_key,
    ErrorKind.EXPLANATION: _plant_explanation,
}


def _key_index(question: Question) -> int:
    if isinstance(question.answer, str):
        raise TypeError(f"{question.id} has no options")
    return question.answer[0]


def _wrong_indices(question: Question) -> list[int]:
    return [index for index in range(len(question.options)) if index != _key_index(question)]


def _with_option(question: Question, index: int, text: str) -> Question:
    options = list(question.options)
    options[index] = text
    return replace(question, options=tuple(options))


def _swap_sides(text: str) -> str:
    """Swap left and right, capitalised or not."""
    opposite = {"right": "left", "left": "right", "Right": "Left", "Left": "Right"}
    return re.sub(r"\b([Rr]ight|[Ll]eft)\b", lambda match: opposite[match[1]], text)


def _is_answered_by(finding: VisibleFinding, answer: str) -> bool:
    answer_text = answer.lower()
    return (
        answer_text in name_with_location(finding)
        or answer_text in (TERMS[finding.kind].option.lower(), str(finding.side))
        or name_with_location(finding) == answer_text
    )
