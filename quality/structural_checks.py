"""The four structural checks, based on ReXVQA's validators v1 to v4 (section 3.3.2 of its paper).

Each check returns the first problem that it detects in a question, or None. A question with problems stays in
the dataset; the problems are shown before an expert spends time on it. Invalid questions (an answer that is
not an option, an empty stem) are refused on import and never checked here.
docs/decisions/017-structural-checks.md has the decisions on details that the paper does not define.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from domain.checks import Check, Problem
from domain.expectations import Expectations
from domain.questions import Question, option_letter
from terminology.word_filter import FilteredPattern

#: Texts that result from converting a missing value to text.
_MISSING_VALUE_TEXTS = frozenset({"nan", "null", "undefined", "[object object]"})
#: The same texts, and others that are not valid in a field that needs a whole sentence.
_NON_SENTENCES = _MISSING_VALUE_TEXTS | {"none", "n/a"}
_LONGEST_NON_SENTENCE = max(map(len, _NON_SENTENCES))
_OPENING_BRACKETS = ("[", "{")

_SERIALISED_PATTERN = re.compile(r"\s*(\[.*\]|\{.*\})\s*", re.DOTALL)
_LETTERED_PATTERN = re.compile(r"\s*([A-Z])\s*[.):]\s+\S")
_KEY_IN_STEM_PATTERN = FilteredPattern(r"\banswer\s*(?:is|:|=)\s*\(?[A-Z]\b")
#: "Figure A. … Figure B. …" names images, not options.
_OPTIONS_IN_STEM_PATTERN = re.compile(r"(?<![Ff]igure )(?<![Ii]mage )\bA\s*[.):]\s.*\bB\s*[.):]\s", re.DOTALL)


def check_schema(question: Question, *, expected: Expectations) -> Problem | None:
    """Check v1, required structure: a choice question has the number of options that its format promises."""
    if question.format.has_options and len(question.options) != (
        expected.option_count or len(question.options)
    ):
        reason = f"{len(question.options)} instead of {expected.option_count}"
        return Problem(check=Check.SCHEMA, field="options", reason=reason)
    return None


def check_types(question: Question) -> Problem | None:
    """Check v2, types: no text is a serialised list, object or missing value, and the stem has letters."""
    for field, text in _iter_texts(question):
        stripped = text.strip()
        if len(stripped) <= _LONGEST_NON_SENTENCE and stripped.casefold() in (
            _NON_SENTENCES if field in ("stem", "explanation") else _MISSING_VALUE_TEXTS
        ):
            return Problem(
                check=Check.TYPES, field=field, reason=f"is {stripped!r}: a missing value converted to text"
            )
        if stripped[:1] in _OPENING_BRACKETS and _SERIALISED_PATTERN.fullmatch(text):
            return Problem(check=Check.TYPES, field=field, reason="is a list or an object converted to text")
    if not any(character.isalpha() for character in question.stem):
        return Problem(check=Check.TYPES, field="stem", reason="contains no letters")
    return None


def check_format(question: Question, *, minimum_explanation: int) -> Problem | None:
    """Check v3, format: distinct options without letters, explanation length, no options or key in the stem.

    Args:
        question: the question to check.
        minimum_explanation: the minimum length of an explanation in characters. Empty explanations are
            accepted.
    """
    normalised = [" ".join(option.casefold().split()) for option in question.options]
    if len(set(normalised)) < len(normalised):
        duplicate = next(text for text, count in Counter(normalised).items() if count > 1)
        return Problem(check=Check.FORMAT, field="options", reason=f"{duplicate!r} occurs more than once")
    if question.options and all(
        (match := _LETTERED_PATTERN.match(option)) and match[1] == option_letter(index)
        for index, option in enumerate(question.options)
    ):
        return Problem(check=Check.FORMAT, field="options", reason="begin with option letters")
    length = len(question.explanation.strip())
    if 0 < length < minimum_explanation:
        reason = f"has {length} characters; the minimum is {minimum_explanation}"
        return Problem(check=Check.FORMAT, field="explanation", reason=reason)
    if _KEY_IN_STEM_PATTERN.search(question.stem):
        return Problem(check=Check.FORMAT, field="stem", reason="contains the letter of the answer")
    if "B" in question.stem and _OPTIONS_IN_STEM_PATTERN.search(question.stem):
        return Problem(check=Check.FORMAT, field="stem", reason="contains the options")
    return None


def check_completeness(question: Question, *, expected: Expectations) -> Problem | None:
    """Check v4, completeness: the fields that the format promises are not empty."""
    empty_fields = [
        name
        for name, value in (
            ("explanation", question.explanation.strip()),
            ("difficulty", question.difficulty),
            ("category", (question.category or "").strip()),
            ("task", question.task),
        )
        if name in expected.fields and not value
    ]
    if "boxes.label" in expected.fields and any(not box.label.strip() for box in question.boxes):
        empty_fields.append("boxes.label")
    if not empty_fields:
        return None
    reason = "is empty" if len(empty_fields) == 1 else "are empty"
    return Problem(check=Check.COMPLETENESS, field=", ".join(empty_fields), reason=reason)


def check_question(
    question: Question, *, expected: Expectations, minimum_explanation: int
) -> tuple[Problem, ...]:
    """Run the four checks on a question.

    Args:
        question: the question to check.
        expected: what the format of its file promises.
        minimum_explanation: the minimum length of an explanation in characters.

    Returns:
        The problems in the order of the checks, at most one per check.
    """
    results = (
        check_schema(question, expected=expected),
        check_types(question),
        check_format(question, minimum_explanation=minimum_explanation),
        check_completeness(question, expected=expected),
    )
    return tuple(problem for problem in results if problem is not None)


# ------------------------------------------------------------------------------------- many questions at once
#: The number of options that the quick test requires. ReXVQA's questions have four, {o1; o2; o3; o4}.
QUICK_OPTION_COUNT = 4
# Shorter texts could be "none" or "n/a", so the quick test does not accept them.
_MIN_SURE_LENGTH = 16
_BLANKS = " \n\t\r"
_LETTER_TERMINATORS = ".): "
_SECOND_CHARACTER_STOPS = _LETTER_TERMINATORS + "\n"
_SUSPICIOUS_IN_OPTIONS = (" \n", "\n ", "  ", "[", "{", "\t", "\r")


def certainly_has_no_problems(
    stems: Sequence[str],
    options: Sequence[Sequence[str]],
    explanations: Sequence[str],
    labels: Iterable[str],
    minimum_explanation: int,
) -> bool:
    """Whether it is certain that none of the four checks detects a problem in any of these choice questions.

    The result may be False although there is no problem, but it is never True if a check detects one; tests
    compare this function with the checks. The texts are joined and searched once, which takes 3 us of CPU
    time per question. The individual checks, including the creation of question objects, take about 50 us.
    The function requires all fields and four options, so it can be used for all formats except those with
    another number of options.

    Args:
        stems: the stems of the questions, at least one. All questions have a difficulty, a category and a
            task.
        options: the options of each question.
        explanations: the explanation of each question.
        labels: the labels of all boxes.
        minimum_explanation: the minimum length of an explanation in characters.
    """
    if not (all(stems) and all(explanations) and set(map(len, options)) == {QUICK_OPTION_COUNT}):
        return False
    if min(map(len, stems)) < _MIN_SURE_LENGTH or min(map(len, explanations)) < max(
        _MIN_SURE_LENGTH, minimum_explanation
    ):
        return False
    if not "".join([text[0] for text in (*stems, *explanations)]).isalpha():
        return False
    joined_stems = "\n".join(stems)
    if "nswer" in joined_stems or "NSWER" in joined_stems:
        return False
    if "A" in joined_stems and (
        "A." in joined_stems or "A)" in joined_stems or "A:" in joined_stems or "A " in joined_stems
    ):
        return False
    option_blocks = list(map("\n".join, options))
    joined_options = "\n".join(option_blocks)
    if not joined_options.isascii() or any(fragment in joined_options for fragment in _SUSPICIOUS_IN_OPTIONS):
        return False
    folded_options = joined_options.casefold().split("\n")
    # A different number of lines means that an option contains a line break.
    if (
        len(folded_options) != QUICK_OPTION_COUNT * len(stems)
        or not all(folded_options)
        or not _MISSING_VALUE_TEXTS.isdisjoint(folded_options)
    ):
        return False
    option_iterator = iter(folded_options)
    if (
        min(
            map(
                len,
                map(
                    set, zip(option_iterator, option_iterator, option_iterator, option_iterator, strict=True)
                ),
            )
        )
        != QUICK_OPTION_COUNT
    ):
        return False
    first_two_characters = {text[:2] for text in option_blocks}
    return (
        joined_options[-1] not in _BLANKS
        and {text[-1] for text in explanations}.isdisjoint(_BLANKS)
        and all(
            start[0].isalnum() and start[1] not in _SECOND_CHARACTER_STOPS for start in first_two_characters
        )
        and all(map(_is_plain_label, set(labels)))
    )


@lru_cache(maxsize=4096)
def _is_plain_label(label: str) -> bool:
    return label.isascii() and label[:1].isalpha() and label.strip().casefold() not in _MISSING_VALUE_TEXTS


def _iter_texts(question: Question) -> Iterator[tuple[str, str]]:
    yield "stem", question.stem
    yield "explanation", question.explanation
    for option in question.options:
        yield "options", option
    if question.format.is_free_text and isinstance(question.answer, str):
        yield "answer", question.answer
    for box in question.boxes:
        yield "boxes.label", box.label
