"""Planted errors that change one part of a correct question. Reverting the change corrects the question."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from demo.descriptions import name_with_location
from demo.facts import VisibleFinding, round_box
from demo.phantom import CATALOGUE, Side
from demo.planted_texts import IRRELEVANT_EXPLANATIONS
from demo.questions import WrittenQuestion
from demo.source_exams import FINDINGS
from domain.boxes import Box, LabelledBox
from domain.questions import Question
from domain.verdicts import ErrorKind
from domain.vocabulary import AnswerFormat, Task
from terminology.findings import load_findings

PlantError = Callable[[WrittenQuestion, random.Random], Question | None]
_SINGLE, _CLOSED, _OPEN = AnswerFormat.SINGLE, AnswerFormat.CLOSED, AnswerFormat.OPEN
_PRESENT, _ABSENT = "Which of these findings is present?", "Which of these findings is absent?"


def _plant_several_correct(written: WrittenQuestion, rng: random.Random) -> Question | None:
    """Replace a wrong option with a second correct one. The key is unchanged."""
    right_options = _list_alternatives(written, right=True)
    if not right_options:
        return None
    question = written.question
    return _replace_option(question, rng.choice(_wrong_indices(question)), rng.choice(right_options))


def _plant_none_right(written: WrittenQuestion, rng: random.Random) -> Question | None:
    """Replace the correct option with a wrong one. The key still points to it."""
    wrong_options = _list_alternatives(written, right=False)
    if not wrong_options:
        return None
    return _replace_option(written.question, _key_index(written.question), rng.choice(wrong_options))


def _list_alternatives(written: WrittenQuestion, *, right: bool) -> list[str]:
    """List options on other findings that are right (or wrong) answers to a single-choice question.

    The list is empty for questions whose options do not name findings.
    """
    question, known, terms = written.question, written.known, load_findings()
    by_option = {option: _read_option(option) for option in question.options}
    if question.format is not _SINGLE or None in by_option.values():
        return []
    groups = {terms[name].group for name in by_option.values() if name}
    names = [name for name in (*known.present, *known.absent) if terms[name].group not in groups]
    if question.stem in {_PRESENT, _ABSENT}:
        asks_for = known.present if (question.stem == _PRESENT) == right else known.absent
        return [terms[name].option for name in names if name in asks_for]
    if any(option == terms[name].option for option, name in by_option.items() if name):
        return []  # the options are diagnoses; the exam supports at most one known diagnosis
    if question.stem.startswith("Which statement on size"):
        names = [name for name in names if Task.GEOMETRIC in terms[name].tasks]
    return [terms[name].present if (name in known.present) == right else terms[name].absent for name in names]


def _read_option(option: str) -> str | None:
    """Return the finding that an option names or makes a statement on; None if it does neither."""
    return _map_options_to_findings().get(option)


@cache
def _map_options_to_findings() -> dict[str, str]:
    return {
        text: name
        for name, term in load_findings().items()
        for text in (term.option, term.present, term.absent)
    }


def _plant_wrong_key(written: WrittenQuestion, rng: random.Random) -> Question | None:
    question = written.question
    if question.format is _CLOSED:
        return replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.format is _SINGLE:
        return replace(question, answer=(rng.choice(_wrong_indices(question)),))
    return None


def _plant_irrelevant_explanation(written: WrittenQuestion, rng: random.Random) -> Question:
    return replace(written.question, explanation=rng.choice(IRRELEVANT_EXPLANATIONS))


def _plant_wrong_side(written: WrittenQuestion, _rng: random.Random) -> Question | None:
    """Swap the side in both key and explanation, so that they still agree."""
    question = written.question
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


def _plant_wrong_box(written: WrittenQuestion, rng: random.Random) -> Question | None:
    """Move the frontal box to the other side, or too far down."""
    question, facts = written.question, written.facts
    one_sided_kinds = {
        str(finding.kind) for finding in facts.visible if CATALOGUE[finding.kind].sides != (Side.MIDLINE,)
    }
    frontal_boxes = [
        labelled_box for labelled_box in question.boxes if labelled_box.radiograph == facts.frontal
    ]
    if len(frontal_boxes) != 1 or frontal_boxes[0].label not in one_sided_kinds:
        return None
    middle = sum(facts.thorax) / 2
    box = frontal_boxes[0].box
    if box.x_min < middle < box.x_max:
        return None
    moved = Box(x_min=2 * middle - box.x_max, y_min=box.y_min, x_max=2 * middle - box.x_min, y_max=box.y_max)
    if box.height < facts.columns / 8 and rng.random() < 0.5:
        shift = 2.5 * box.height
        moved = Box(x_min=box.x_min, y_min=box.y_min + shift, x_max=box.x_max, y_max=box.y_max + shift)
    moved = round_box(moved.clip_to_matrix(rows=facts.columns, columns=facts.columns))
    return replace(
        question, boxes=(LabelledBox(radiograph=facts.frontal, label=frontal_boxes[0].label, box=moved),)
    )


def _plant_given_away(written: WrittenQuestion, rng: random.Random) -> Question | None:
    """State the answer in the stem."""
    question = written.question
    if question.format not in (_SINGLE, _OPEN) or question.task not in (Task.PRESENCE, Task.LOCATION):
        return None
    answer = question.answer if isinstance(question.answer, str) else question.options[_key_index(question)]
    for finding in written.facts.visible:
        if _is_answered_by(finding, answer, question):
            hint = rng.choice(("There is {it}.", "The radiograph shows {it}."))
            return replace(question, stem=f"{hint.format(it=name_with_location(finding))} {question.stem}")
    return None


def _plant_bad_wording(written: WrittenQuestion, rng: random.Random) -> Question | None:
    """Drop articles, and duplicate or reorder words, so that the stem is hard to read or ambiguous."""
    question = written.question
    stem = question.stem
    match = re.fullmatch(r"Is there (an? .*?)\?", stem)
    if match and question.format is _CLOSED:
        return replace(question, stem=f"Is there not no {match[1].split(' ', 1)[1]} to be seen or not?")
    if question.format is not _SINGLE and question.format is not AnswerFormat.MULTIPLE:
        return None
    changed = re.sub(r"\b[Oo]f these\b", "these of", stem)
    changed = re.sub(r"\b(the|a|an) ", "", changed)
    changed = re.sub(r"\b(are|is|does|fits?)\b", rng.choice((r"\1 \1", r"is \1 it")), changed, count=1)
    return None if changed == stem else replace(question, stem=changed)


EDITS: Mapping[ErrorKind, PlantError] = {
    # Errors that fit few questions come first.
    ErrorKind.WRONG_LOCATION: _plant_wrong_side,
    ErrorKind.ANSWER_REVEALED: _plant_given_away,
    ErrorKind.BOX_WRONG: _plant_wrong_box,
    ErrorKind.SEVERAL_CORRECT: _plant_several_correct,
    ErrorKind.NONE_CORRECT: _plant_none_right,
    ErrorKind.WORDING: _plant_bad_wording,
    ErrorKind.WRONG_KEY: _plant_wrong_key,
    ErrorKind.EXPLANATION: _plant_irrelevant_explanation,
}


def _key_index(question: Question) -> int:
    if isinstance(question.answer, str):
        raise TypeError(f"{question.id} has no options")
    return question.answer[0]


def _wrong_indices(question: Question) -> list[int]:
    return [index for index in range(len(question.options)) if index != _key_index(question)]


def _replace_option(question: Question, index: int, text: str) -> Question:
    options = list(question.options)
    options[index] = text
    return replace(question, options=tuple(options))


def _swap_sides(text: str) -> str:
    """Swap left and right, capitalised or not."""
    opposite = {"right": "left", "left": "right", "Right": "Left", "Left": "Right"}
    return re.sub(r"\b([Rr]ight|[Ll]eft)\b", lambda match: opposite[match[1]], text)


def _is_answered_by(finding: VisibleFinding, answer: str, question: Question) -> bool:
    """Whether naming a finding with its location reveals the answer to the question."""
    term = load_findings()[FINDINGS[finding.kind][0]]
    if question.task is Task.PRESENCE:
        return answer in {term.option, term.present}
    # The question asks where a finding is; the boxes are labelled with the finding's kind.
    is_asked = str(finding.kind) in {labelled_box.label for labelled_box in question.boxes}
    return is_asked and str(finding.side) in answer.casefold()
