"""The comparison of meanings: what must agree before two similar questions count as duplicates.

Cosine similarity alone cannot decide. "Is there a pleural effusion on the left side?" and the same question
about the right side, or with "no", are closer than most paraphrases.
"""

from __future__ import annotations

from enum import StrEnum

from domain.duplicates import ComparedQuestion
from domain.questions import normalise_text_answer
from quality.duplicates.wording import Meaning, TermKind, find_difference, normalise, read_meaning


class Outcome(StrEnum):
    """The outcome of comparing two similar questions.

    ``DUPLICATE``: they are the same question with the same key. ``CONTRADICTION``: the same question about
    the same exam with keys that cannot both be right. The other values name what differs.
    """

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    FORMAT = "format"
    LATERALITY = "laterality"
    NEGATION = "negation"
    REGION = "region"
    SIZE = "size"
    FINDING = "finding"
    RELATION = "relation"
    WORD = "other words"
    OPTIONS = "options"
    KEY = "answer key"


def similarity_text(question: ComparedQuestion) -> str:
    """Return stem and options as one normalised text; the order of the options does not matter."""
    return " | ".join([normalise(question.stem), *sorted(map(normalise, question.options))])


def compare_questions(first: ComparedQuestion, second: ComparedQuestion) -> Outcome:
    """Compare two questions by format, meaning of the stem, options and key."""
    if first.format is not second.format:
        return Outcome.FORMAT
    difference = find_difference(read_meaning(first.stem), read_meaning(second.stem))
    if difference is not None:
        return Outcome(difference.value)
    if not first.format.has_options:
        return _compare_texts(first, second)
    matches = _match_options(first.options, second.options)
    if matches is None:
        return Outcome.OPTIONS
    if frozenset(matches[index] for index in first.keyed_options) == second.keyed_options:
        return Outcome.DUPLICATE
    return _classify_different_keys(first, second)


def signature(question: ComparedQuestion) -> tuple[object, ...]:
    """Return what two questions must share to be the same: format, and the known terms of stem and options.

    Equal signatures are necessary for :attr:`Outcome.DUPLICATE` and :attr:`Outcome.CONTRADICTION`, not
    sufficient.
    """
    options = sorted(read_meaning(option).known for option in question.options)
    return question.format.value, read_meaning(question.stem).known, *options


def _compare_texts(first: ComparedQuestion, second: ComparedQuestion) -> Outcome:
    answers = normalise_text_answer(str(first.answer)), normalise_text_answer(str(second.answer))
    if answers[0] == answers[1]:
        return Outcome.DUPLICATE
    if not first.format.is_free_text:
        return _classify_different_keys(first, second)
    meanings = read_meaning(answers[0]), read_meaning(answers[1])
    if find_difference(*meanings) is None:
        return Outcome.DUPLICATE
    is_opposite = any(_terms_differ(*meanings, kind) for kind in (TermKind.LATERALITY, TermKind.SIZE)) or (
        {*answers} == {"yes", "no"}
    )
    return _classify_different_keys(first, second) if is_opposite else Outcome.KEY


def _classify_different_keys(first: ComparedQuestion, second: ComparedQuestion) -> Outcome:
    return Outcome.CONTRADICTION if first.exam == second.exam else Outcome.KEY


def _terms_differ(first: Meaning, second: Meaning, kind: TermKind) -> bool:
    """Whether both texts contain terms of this kind, and the terms differ."""
    names = [{term.name for term in meaning.terms if term.kind is kind} for meaning in (first, second)]
    return bool(names[0] and names[1]) and names[0] != names[1]


def _match_options(first: tuple[str, ...], second: tuple[str, ...]) -> dict[int, int] | None:
    """Return the index in ``second`` of each option of ``first``; None if an option has no counterpart."""
    if len(first) != len(second):
        return None
    remaining = {index: read_meaning(option) for index, option in enumerate(second)}
    matches = {}
    for index, option in enumerate(first):
        meaning = read_meaning(option)
        same_texts = [
            candidate for candidate in remaining if normalise(second[candidate]) == normalise(option)
        ]
        counterparts = same_texts or [
            candidate
            for candidate, its_meaning in remaining.items()
            if find_difference(meaning, its_meaning) is None
        ]
        if not counterparts:
            return None
        matches[index] = counterparts[0]
        del remaining[counterparts[0]]
    return matches
