"""Plants known faults in correct questions. The same question, fault and seed give the same result."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from domain.draw_hash import compute_draw_hash
from domain.hidden import DETECTING_ERRORS, PlantedFault
from domain.questions import Question
from domain.verdicts import Decision, Verdict
from domain.vocabulary import AnswerFormat

_SIDE_PATTERN = re.compile(r"\b(left|right)\b", re.IGNORECASE)
_BOTH_SIDES_PATTERN = re.compile(r"\b(both|bilateral(ly)?|either|symmetrical(ly)?)\b", re.IGNORECASE)
_PRIOR_PATTERN = re.compile(
    r"\b(prior|previous(ly)?|compar\w*|interval|earlier|unchanged|new(ly)?|increased|decreased)\b", re.I
)
#: Terms and their synonyms, for an additional correct option.
_SYNONYMS = (
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
#: Findings that can be claimed: the text, and the words whose presence shows that the finding may exist.
_CLAIMABLE_FINDINGS = (
    ("a small pneumothorax at the left apex", ("pneumothora",)),
    ("free air below the right hemidiaphragm", ("free air", "pneumoperitoneum")),
    ("a fracture of the sixth right rib", ("fracture",)),
    ("a cavity in the right upper lobe", ("cavit",)),
    ("a pacemaker with two leads", ("pacemaker", "pacing")),
    ("a hernia behind the heart", ("hernia",)),
)
#: The fields of each fault: the fault counts as found if the reviewer corrected one of them.
_AFFECTED_FIELDS: dict[PlantedFault, tuple[str, ...]] = {
    PlantedFault.KEY_SWAPPED: ("answer",),
    PlantedFault.SECOND_CORRECT_OPTION: ("options", "also_right"),
    PlantedFault.PRIOR_COMPARISON: ("stem", "explanation"),
    PlantedFault.WRONG_SIDE: ("stem", "explanation", "answer", "options"),
    PlantedFault.ABSENT_FINDING: ("explanation",),
}


class FaultDetection(StrEnum):
    """Whether a reviewer found a planted fault."""

    FOUND = "found"
    OTHER_REASON = "not accepted, for another reason"
    MISSED = "missed"


def plant_fault(question: Question, fault: PlantedFault, *, other_texts: str, seed: int) -> Question | None:
    """Plant a fault in a question.

    Args:
        question: a correct question.
        fault: the kind of fault.
        other_texts: further texts about the exam, such as its report; findings in them are not absent.
        seed: the seed of the choice among several possibilities.

    Returns:
        The question with the fault; None if the question does not allow the fault.
    """
    draw_number = compute_draw_hash(f"{seed}:{fault}:{question.id}") % 2**32
    altered = _PLANTERS[fault](question, draw_number, other_texts.lower())
    return None if altered == question else altered


def classify_detection(fault: PlantedFault, verdict: Verdict) -> FaultDetection:
    """Classify a verdict: the fault is found if the verdict names its kind of error or corrects its field."""
    is_corrected = any(
        getattr(verdict.opinion.correction, name) is not None for name in _AFFECTED_FIELDS[fault]
    )
    if verdict.opinion.errors & DETECTING_ERRORS[fault] or is_corrected:
        return FaultDetection.FOUND
    if verdict.decision is Decision.ACCEPT and not verdict.opinion.errors:
        return FaultDetection.MISSED
    return FaultDetection.OTHER_REASON


# ---------------------------------------------------------------------------------------------- kind by kind
def _swap_key(question: Question, draw_number: int, _other_texts: str) -> Question | None:
    if question.format is AnswerFormat.CLOSED:
        return replace(question, answer="no" if question.answer == "yes" else "yes")
    if question.format is not AnswerFormat.SINGLE or question.also_right:
        return None
    wrong_indices = [index for index in range(len(question.options)) if (index,) != question.answer]
    return replace(question, answer=(wrong_indices[draw_number % len(wrong_indices)],))


def _add_second_correct_option(question: Question, draw_number: int, _other_texts: str) -> Question | None:
    if question.format is not AnswerFormat.SINGLE or question.also_right or isinstance(question.answer, str):
        return None
    correct_index = question.answer[0]
    synonym = _replace_with_synonym(question.options[correct_index])
    if synonym is None or synonym.lower() in {option.lower() for option in question.options}:
        return None
    wrong_indices = [index for index in range(len(question.options)) if index != correct_index]
    options = list(question.options)
    options[wrong_indices[draw_number % len(wrong_indices)]] = synonym
    return replace(question, options=tuple(options))


def _add_prior_comparison(question: Question, _draw_number: int, _other_texts: str) -> Question | None:
    if _PRIOR_PATTERN.search(f"{question.stem} {question.explanation}"):
        return None
    stem = f"Compared with the previous radiograph, {question.stem[0].lower()}{question.stem[1:]}"
    explanation = question.explanation.strip()
    if explanation:
        explanation += " This has increased since the previous examination."
    return replace(question, stem=stem, explanation=explanation)


def _swap_sides(question: Question, _draw_number: int, _other_texts: str) -> Question | None:
    """Swap left and right in all texts that support the key."""
    key = question.answer if isinstance(question.answer, str) else ""
    if not isinstance(question.answer, str):
        key = " ".join(question.options[index] for index in question.answer)
    text = f"{question.stem} {question.explanation} {key}"
    sides = {side.lower() for side in _SIDE_PATTERN.findall(text)}
    if len(sides) != 1 or _BOTH_SIDES_PATTERN.search(text) or question.format is AnswerFormat.MULTIPLE:
        return None
    values: dict[str, object] = {
        "stem": _swap_left_right(question.stem),
        "explanation": _swap_left_right(question.explanation),
    }
    if question.format is AnswerFormat.OPEN:
        values["answer"] = _swap_left_right(key)
    elif (
        question.format is AnswerFormat.SINGLE
        and _SIDE_PATTERN.search(key)
        and isinstance(question.answer, tuple)
    ):
        swapped_key = _swap_left_right(key)
        if swapped_key in question.options:
            values["answer"] = (question.options.index(swapped_key),)
        else:
            options = list(question.options)
            options[question.answer[0]] = swapped_key
            values["options"] = tuple(options)
        values["also_right"] = ()
    return replace(question, **values)  # type: ignore[arg-type]  # fields of a question by their names


def _add_absent_finding(question: Question, draw_number: int, other_texts: str) -> Question | None:
    if not other_texts.strip():
        return None  # without a report it is unknown which findings are absent
    known_text = f"{other_texts} {question.stem} {question.explanation} {' '.join(question.options)}".lower()
    absent_findings = [
        text for text, signs in _CLAIMABLE_FINDINGS if not any(sign in known_text for sign in signs)
    ]
    if not absent_findings:
        return None
    sentence = f"There is also {absent_findings[draw_number % len(absent_findings)]}."
    return replace(question, explanation=f"{question.explanation.strip()} {sentence}".strip())


_PLANTERS: dict[PlantedFault, Callable[[Question, int, str], Question | None]] = {
    PlantedFault.KEY_SWAPPED: _swap_key,
    PlantedFault.SECOND_CORRECT_OPTION: _add_second_correct_option,
    PlantedFault.PRIOR_COMPARISON: _add_prior_comparison,
    PlantedFault.WRONG_SIDE: _swap_sides,
    PlantedFault.ABSENT_FINDING: _add_absent_finding,
}


def _replace_with_synonym(text: str) -> str | None:
    """Return a synonym of the text; None if none is known."""
    match = re.fullmatch(r"(left|right)(?:-sided)? (.+)", text.strip(), re.IGNORECASE)
    if match:
        return f"{match[2][0].upper()}{match[2][1:]} on the {match[1].lower()}"
    for term, synonym in _SYNONYMS:
        if term in text.lower():
            return f"{synonym[0].upper()}{synonym[1:]}"
    return None


def _swap_left_right(text: str) -> str:
    opposite = {"left": "right", "right": "left"}

    def swap_match(match: re.Match[str]) -> str:
        swapped = opposite[match[0].lower()]
        return swapped.capitalize() if match[0][0].isupper() else swapped

    return _SIDE_PATTERN.sub(swap_match, text)
