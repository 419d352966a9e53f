"""Planted errors that replace the whole question, so that it cannot be corrected."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from demo.facts import Facts, Seen
from demo.phantom import FindingKind
from demo.planted_texts import INCIDENTAL, NOT_ANSWERABLE, NOT_VALID, WITHOUT_LATERAL, Text
from demo.questions import CONTENT_TYPES
from demo.terms import NEVER_THERE, TERMS, described, named, short
from domain.questions import Question
from domain.verdicts import ErrorKind
from domain.vocabulary import AnswerFormat, Task

Attempt = Callable[[Question, Facts, random.Random], Question | None]


def _comparison(question: Question, facts: Facts, source: random.Random) -> Question | None:
    if not facts.seen:
        stem, answer = "Have the lungs changed since the previous examination?", "no"
        because = "The lungs are as clear as on the previous examination."
        return _about(_closed(question, stem, answer, because), Task.PRESENCE, None)
    seen = source.choice(facts.seen)
    noun = short(seen)
    stem, because = source.choice(
        (
            (f"Has the {noun} increased since the previous examination?",
             f"{described(seen, facts)} On the previous examination this was less marked."),
            (f"Is the {noun} new compared with the previous examination?",
             f"{described(seen, facts)} It was not there on the previous examination."),
        )
    )  # fmt: skip
    return _about(_closed(question, stem, "yes", because), Task.PRESENCE, seen)


def _not_valid(question: Question, facts: Facts, source: random.Random) -> Question | None:
    return _from_texts(NOT_VALID, question, facts, source)


def _not_answerable(question: Question, facts: Facts, source: random.Random) -> Question | None:
    if not facts.lateral and source.random() < 0.5:
        return _about(_closed(question, *WITHOUT_LATERAL), Task.NEGATION, None)
    return _from_texts(NOT_ANSWERABLE, question, facts, source)


def _not_in_report(question: Question, facts: Facts, source: random.Random) -> Question | None:
    if not facts.quiet:
        return None
    (seen,) = facts.quiet
    term, because = TERMS[seen.kind], described(seen, facts)
    candidates = (
        _closed(question, f"Do the images show {term.a}?", "yes", because),
        _closed(question, f"Would you add {named(seen)} to the findings?", "yes", because),
        _closed(question, f"Is it right to call this examination free of any {term.no}?", "no", because),
        _single(
            question,
            "Which one of these four findings do you see?",
            (term.option, *source.sample(NEVER_THERE, 3)),
            because,
            source,
        ),
    )
    return _about(source.choice(candidates), Task.PRESENCE, seen)


def _not_in_image(question: Question, facts: Facts, source: random.Random) -> Question | None:
    finding = facts.case.only_reported
    if not finding:
        return None
    because = f"The images show {finding}, which is incidental."
    others = tuple(each[0].upper() + each[1:] for each in source.sample(INCIDENTAL, 3))
    candidates = (
        _closed(question, f"Is there {finding}?", "yes", because),
        _closed(question, f"Do the images show {finding}?", "yes", because),
        _single(
            question,
            "Which incidental finding do the images show?",
            (finding[0].upper() + finding[1:], *others),
            because,
            source,
        ),
    )
    return replace(
        _about(source.choice(candidates), Task.PRESENCE, None),
        category="Miscellaneous Diagnosis",
        subcategory="Miscellaneous Disease",
    )


WHOLE: Mapping[ErrorKind, Attempt] = {
    # The two kinds that few exams allow come first.
    ErrorKind.NOT_IN_REPORT: _not_in_report,
    ErrorKind.NOT_IN_IMAGE: _not_in_image,
    ErrorKind.COMPARISON: _comparison,
    ErrorKind.NOT_VALID: _not_valid,
    ErrorKind.NOT_ANSWERABLE: _not_answerable,
}


def _from_texts(
    texts: Mapping[FindingKind | None, tuple[Text, ...]],
    question: Question,
    facts: Facts,
    source: random.Random,
) -> Question | None:
    fitting: list[tuple[Seen | None, Text]] = [
        (seen, text) for seen in facts.seen for text in texts.get(seen.kind, ())
    ]
    if facts.normal:
        fitting = [(None, text) for text in texts[None]]
    if not fitting:
        return None
    seen, (stem, options, answer, because) = source.choice(fitting)
    if options:
        changed = _single(question, stem, options, because, source)
    else:
        changed = _closed(question, stem, answer, because)
    return _about(changed, Task.DIFFERENTIAL, seen)


def _about(question: Question, task: Task, seen: Seen | None) -> Question:
    """The question with the task, category and subcategory of its new text."""
    term = TERMS[seen.kind] if seen else None
    return replace(
        question,
        task=task,
        content_type=CONTENT_TYPES[task],
        category=term.category if term else "Negation",
        subcategory=term.subcategory if term else "Absence of Disease",
        boxes=seen.labelled() if seen else (),
    )


def _closed(question: Question, stem: str, answer: str, explanation: str) -> Question:
    return replace(
        question, format=AnswerFormat.CLOSED, stem=stem, options=(), answer=answer, explanation=explanation
    )


def _single(
    question: Question, stem: str, options: tuple[str, ...], explanation: str, source: random.Random
) -> Question:
    """Make the question a single-choice one. The first option is the key; the options are shuffled."""
    shuffled = list(options)
    source.shuffle(shuffled)
    return replace(
        question,
        format=AnswerFormat.SINGLE,
        stem=stem,
        options=tuple(shuffled),
        answer=(shuffled.index(options[0]),),
        explanation=explanation,
    )
