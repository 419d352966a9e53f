"""Planted errors that replace the whole question, so that it cannot be corrected."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from demo.descriptions import describe_finding, name_with_location, short_name
from demo.facts import VisibleFinding
from demo.phantom import DEVICES, FindingKind
from demo.planted_texts import INCIDENTAL_FINDINGS, NOT_ANSWERABLE, NOT_VALID, WITHOUT_LATERAL, QuestionText
from demo.questions import WrittenQuestion
from demo.source_exams import FINDINGS
from domain.questions import Question
from domain.verdicts import ErrorKind
from domain.vocabulary import AnswerFormat, Task
from generation.templates.question_file import CONTENT_TYPES
from terminology.findings import FindingTerm, load_findings

PlantError = Callable[[WrittenQuestion, random.Random], Question | None]


def _ask_for_comparison(written: WrittenQuestion, rng: random.Random) -> Question | None:
    question, facts = written.question, written.facts
    if not facts.visible:
        stem, answer = "Have the lungs changed since the previous examination?", "no"
        explanation = "The lungs are as clear as on the previous examination."
        return _set_subject(_make_closed(question, stem, answer, explanation), Task.PRESENCE, None)
    finding = rng.choice(facts.visible)
    noun = short_name(finding)
    stem = f"Is the {noun} new compared with the previous examination?"
    explanation = f"{describe_finding(finding, facts)} It was not there on the previous examination."
    if finding.kind not in DEVICES and rng.random() < 0.5:
        stem = f"Has the {noun} increased since the previous examination?"
        explanation = f"{describe_finding(finding, facts)} On the previous examination it was smaller."
    return _set_subject(_make_closed(question, stem, "yes", explanation), Task.PRESENCE, finding)


def _ask_invalid(written: WrittenQuestion, rng: random.Random) -> Question | None:
    return _replace_from_texts(NOT_VALID, written, rng)


def _ask_unanswerable(written: WrittenQuestion, rng: random.Random) -> Question | None:
    if not written.facts.lateral and rng.random() < 0.5:
        return _set_subject(_make_closed(written.question, *WITHOUT_LATERAL), Task.NEGATION, None)
    return _replace_from_texts(NOT_ANSWERABLE, written, rng)


def _ask_unreported(written: WrittenQuestion, rng: random.Random) -> Question | None:
    question, facts, known = written.question, written.facts, written.known
    if not facts.unreported:
        return None
    (finding,) = facts.unreported
    term, explanation = _find_term(finding), describe_finding(finding, facts)
    absent = [load_findings()[name].option for name in sorted(known.absent)]
    candidates = (
        _make_closed(question, f"Do the images show {term.with_article}?", "yes", explanation),
        _make_closed(question, f"Can you see {term.with_article}?", "yes", explanation),
        _make_closed(
            question, f"Would you add {name_with_location(finding)} to the findings?", "yes", explanation
        ),
        _make_closed(
            question, f"Is it right to call this examination free of any {term.noun}?", "no", explanation
        ),
        _make_single(
            question,
            "Which one of these four findings do you see?",
            (term.option, *rng.sample(absent, 3)),
            explanation,
            rng,
        ),
    )
    return _set_subject(rng.choice(candidates), Task.PRESENCE, finding)


def _ask_not_in_image(written: WrittenQuestion, rng: random.Random) -> Question | None:
    question, finding = written.question, written.facts.case.only_reported
    if not finding:
        return None
    explanation = f"The images show {finding}, which is incidental."
    other_options = tuple(text[0].upper() + text[1:] for text in rng.sample(INCIDENTAL_FINDINGS, 3))
    candidates = (
        _make_closed(question, f"Is there {finding}?", "yes", explanation),
        _make_closed(question, f"Do the images show {finding}?", "yes", explanation),
        _make_single(
            question,
            "Which incidental finding do the images show?",
            (finding[0].upper() + finding[1:], *other_options),
            explanation,
            rng,
        ),
    )
    return replace(
        _set_subject(rng.choice(candidates), Task.PRESENCE, None),
        category="Miscellaneous Diagnosis",
        subcategory="Miscellaneous Disease",
    )


REPLACEMENTS: Mapping[ErrorKind, PlantError] = {
    # The two errors that fit few exams come first.
    ErrorKind.NOT_IN_REPORT: _ask_unreported,
    ErrorKind.NOT_IN_IMAGE: _ask_not_in_image,
    ErrorKind.COMPARISON: _ask_for_comparison,
    ErrorKind.NOT_CLINICALLY_VALID: _ask_invalid,
    ErrorKind.NOT_ANSWERABLE: _ask_unanswerable,
}


def _replace_from_texts(
    texts: Mapping[FindingKind | None, tuple[QuestionText, ...]],
    written: WrittenQuestion,
    rng: random.Random,
) -> Question | None:
    question, facts = written.question, written.facts
    candidates: list[tuple[VisibleFinding | None, QuestionText]] = [
        (finding, text) for finding in facts.visible for text in texts.get(finding.kind, ())
    ]
    if facts.is_normal:
        candidates = [(None, text) for text in texts[None]]
    if not candidates:
        return None
    finding, (stem, options, answer, explanation) = rng.choice(candidates)
    if options:
        changed = _make_single(question, stem, options, explanation, rng)
    else:
        changed = _make_closed(question, stem, answer, explanation)
    return _set_subject(changed, Task.DIFFERENTIAL, finding)


def _set_subject(question: Question, task: Task, finding: VisibleFinding | None) -> Question:
    """Return the question with the task, category, subcategory and boxes of its new text."""
    term = _find_term(finding) if finding else None
    return replace(
        question,
        task=task,
        content_type=CONTENT_TYPES[task],
        category=term.category if term else "Negation",
        subcategory=term.subcategory if term else "Absence of Disease",
        boxes=finding.to_labelled_boxes() if finding else (),
    )


def _find_term(finding: VisibleFinding) -> FindingTerm:
    return load_findings()[FINDINGS[finding.kind][0]]


def _make_closed(question: Question, stem: str, answer: str, explanation: str) -> Question:
    return replace(
        question, format=AnswerFormat.CLOSED, stem=stem, options=(), answer=answer, explanation=explanation
    )


def _make_single(
    question: Question, stem: str, options: tuple[str, ...], explanation: str, rng: random.Random
) -> Question:
    """Make the question a single-choice question. The first option is the key; the options are shuffled."""
    shuffled = list(options)
    rng.shuffle(shuffled)
    return replace(
        question,
        format=AnswerFormat.SINGLE,
        stem=stem,
        options=tuple(shuffled),
        answer=(shuffled.index(options[0]),),
        explanation=explanation,
    )
