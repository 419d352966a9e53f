r"""Extracts the answer from a model's free text, by fixed rules in a fixed order.

1. ``tag``, ``json``, ``boxed``: ``<answer>B</answer>``, ``{"answer": "B"}``, ``\boxed{B}``. Extraction fails
   if two of them differ.
2. ``explicit``: the last "answer is X", "Final answer: X", "the correct option is: X", "the answers are A and
   C". Extraction fails if the last one names no single answer ("the answer is not A", "A or B"), or if the
   reply to a closed question begins with the opposite answer.
3. ``statement``: a sentence states the answer: "Option B is correct", "B is the correct answer", "not A but
   B". Extraction fails if two statements differ, or if one differs from the answer of rule 2.
4. ``letter``: a single letter, or yes or no, as the whole reply or on its own line, with or without the text
   of that option. Extraction fails if two lines differ.
5. ``option text``: the whole reply is the text of one option.
6. ``leading yes/no``: the reply to a closed question begins with yes or no, and its first sentence does not
   contradict it (:mod:`reader_study.yes_no_replies`).
7. ``failed``: no rule matched, or extraction failed. The reply counts as wrong and is reported separately.

No rule searches for letters inside sentences. No rule reads across lines, with one exception: the line after
a line that ends with "Answer:" is the answer. Text inside <think> is ignored. The answer to an open question
is the content of a tag; without a tag, it is the ``whole reply``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.questions import Answer
from domain.vocabulary import AnswerFormat
from reader_study.reply_values import is_option_text, parse_answer, parse_answer_list, to_plain_text
from reader_study.stated_options import find_stated_options, parse_contrast
from reader_study.yes_no_replies import find_leading_word, read_leading_yes_no

GIVEN, TAG, JSON, BOXED = "given", "tag", "json", "boxed"
EXPLICIT, STATEMENT, LETTER, OPTION_TEXT = "explicit", "statement", "letter", "option text"
LEADING_YES_NO, WHOLE_REPLY, FAILED = "leading yes/no", "whole reply", "failed"
#: All rules, in the order in which they are tried.
RULES = (
    GIVEN, TAG, JSON, BOXED, EXPLICIT, STATEMENT, LETTER, OPTION_TEXT, LEADING_YES_NO, WHOLE_REPLY, FAILED,
)  # fmt: skip
#: The number of characters of a reply that are read; the rest is ignored.
MAX_PARSED_LENGTH = 200_000
#: The maximum number of JSON objects that are tried in one reply.
_MAX_JSON_OBJECTS = 20

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<answer>([^<]{0,2000})", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]{0,500}\}){0,2000})\}")
_TEX = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]{0,500})\}")
_CUE = re.compile(
    r"\b(?P<before>\w+[ \t]+)?(?:(?P<answers>answers)|(?P<options>options|choices)|answer|option|choice)"
    r"(?:[ \t]+(?:is|are)\b[ \t]*:?|[ \t]*[:=])[ \t]*"
    r"(?:(?:most likely|likely|probably|clearly|therefore|thus|both)[ \t]+)?",
    re.IGNORECASE,
)
#: "The correct options are A and C" names the answer; "the options are A, B and C" does not.
_AFFIRMING_WORDS = frozenset({"correct", "right", "best", "final"})
_NEGATING_WORDS = frozenset(
    {
        "wrong",
        "incorrect",
        "false",
        "worst",
        "bad",
        "other",
        "no",
        "not",
        "possible",
        "previous",
        "remaining",
        "potential",
        "candidate",
        "available",
        "following",
    }
)
_DOUBT = re.compile(
    r"\b(?:not|never|doubt|if|whether|unless|cannot|would|could|might|may|suppose|assuming|initially)\b|n['’]t\b",
    re.IGNORECASE,
)
#: Matches the separators of clauses.
_CLAUSE = re.compile(r"[,;.:!?\n]|\b(?:so|but|therefore|thus|hence|and)\b", re.IGNORECASE)
#: Matches the end of an answer within a line.
_END = re.compile(
    r"[.;!\n]|,\s*(?:not|because|since|as|which|although|rather|given|due|instead)\b"
    r"|\s+(?:not|because|since|given|due to|based on|rather than|instead of)\b",
    re.IGNORECASE,
)
#: A further lettered option in the same line: "A) … B) …".
_NEXT_OPTION = re.compile(r"(?:^|\s)(?:[\[(][A-Za-z][\])]|[A-Za-z][.:)])(?=\s)")
_LEADING_LETTER = re.compile(r"\s*([\[(]?\s*[A-Za-z]\s*[\])]|[A-Za-z]\s*[.:)])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The extracted answer and the rule that matched; ``answer`` is None if the extraction failed."""

    answer: Answer | None
    rule: str


def extract_answer(reply: str, *, format_: AnswerFormat, options: Sequence[str]) -> Extraction:
    """Extract the answer from a reply.

    Args:
        reply: the free text of the reply.
        format_: the answer format of the question.
        options: the options of the question, in the order shown to the model.
    """
    text = _THOUGHT.sub(" ", reply[:MAX_PARSED_LENGTH])
    marked_answers = list(_find_marked_answers(text, format_, options))
    if marked_answers:
        answers = {answer for answer, _ in marked_answers}
        return _build_extraction(marked_answers[0][0] if len(answers) == 1 else None, marked_answers[0][1])
    if format_.is_free_text:
        return _build_extraction(to_plain_text(text) or None, WHOLE_REPLY)
    text = "\n".join(to_plain_text(text).splitlines())
    statements = list(find_stated_options(text, format_=format_, options=options))
    stated_answers = {answer for answer, _, _ in statements}
    stated_ranges = [(start, end) for _, start, end in statements]
    cues = [
        cue
        for cue in _CUE.finditer(text)
        if _names_an_answer(cue) and not _is_in_ranges(cue.start(), stated_ranges)
    ]
    if cues:
        cue_value = _parse_answer_after_cue(text, cues[-1], format_, options)
        if format_.fixed_answers and (leading_word := find_leading_word(text)):
            stated_answers.add(leading_word)
        return _build_extraction(None if stated_answers - {cue_value} else cue_value, EXPLICIT)
    if stated_answers:
        return _build_extraction(stated_answers.pop() if len(stated_answers) == 1 else None, STATEMENT)
    whole_value = parse_answer(text, format_=format_, options=options)
    if whole_value is not None:
        return _build_extraction(whole_value, OPTION_TEXT if is_option_text(text, options) else LETTER)
    contrast = parse_contrast(text, format_=format_, options=options)
    if contrast is not None:
        return _build_extraction(contrast, STATEMENT)
    lone_lines = dict.fromkeys(line for line in text.splitlines() if _is_lone_answer(line))
    line_values = {parse_answer(line, format_=format_, options=options) for line in lone_lines}
    if format_.fixed_answers and find_leading_word(text):
        leading_value = read_leading_yes_no(text)
        if not line_values:
            return _build_extraction(leading_value, LEADING_YES_NO)
        if not _is_lone_answer(text.split("\n", 1)[0]):
            line_values.add(leading_value)
    return _build_extraction(line_values.pop() if len(line_values) == 1 else None, LETTER)


def _build_extraction(answer: Answer | None, rule: str) -> Extraction:
    return Extraction(answer=answer, rule=FAILED if answer is None else rule)


def _find_marked_answers(
    text: str, format_: AnswerFormat, options: Sequence[str]
) -> Iterator[tuple[Answer | None, str]]:
    for tag_match in _TAG.finditer(text):
        yield _parse_value(tag_match[1], format_, options), TAG
    if "{" not in text:
        return
    for value in _find_json_answers(text):
        if isinstance(value, str):
            yield _parse_value(value, format_, options), JSON
        elif isinstance(value, list):
            yield parse_answer_list(value, format_=format_, options=options), JSON
        else:
            yield None, JSON  # a number is ambiguous: it may count from 0 or from 1
    for box_match in _BOXED.finditer(text):
        inner = _TEX.sub(r"\1", box_match[1])
        yield _parse_value(inner, format_, options), BOXED


def _parse_value(text: str, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Return the answer that a marked text names. In a closed question, a leading yes or no is enough."""
    value = parse_answer(text, format_=format_, options=options)
    if value is None and format_.fixed_answers:
        return read_leading_yes_no(to_plain_text(text))
    return value


def _find_json_answers(text: str) -> Iterator[object]:
    """Yield the values of the field "answer" or "final_answer" of all JSON objects in the text."""
    position = text.find("{")
    for _ in range(_MAX_JSON_OBJECTS):
        if position < 0:
            return
        try:
            parsed, end = _object_decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(parsed, _Object):
            for name, value in parsed.pairs:
                if name.lower() in ("answer", "final_answer"):
                    yield value
        position = text.find("{", end)


class _Object:
    """A JSON object with all its fields, including duplicate keys."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs


_object_decoder = json.JSONDecoder(object_pairs_hook=_Object)


def _is_in_ranges(position: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether the position is in one of the ranges, which are sorted by start."""
    index = bisect_right(ranges, position, key=lambda bounds: bounds[0]) - 1
    return index >= 0 and position < ranges[index][1]


def describe_rule_counts(counts: Mapping[str, int]) -> str:
    """Return the number of replies by rule, in the order of the rules: "explicit 3, failed 1"."""
    return ", ".join(f"{rule} {counts[rule]:,}" for rule in RULES if counts.get(rule))


def _names_an_answer(cue: re.Match[str]) -> bool:
    """Whether the cue announces the answer; "the options are" and "the other answers are" do not."""
    before = (cue["before"] or "").strip().lower()
    if cue["options"]:
        return before in _AFFIRMING_WORDS
    return not (cue["answers"] and before in _NEGATING_WORDS)


def _parse_answer_after_cue(
    text: str, cue: re.Match[str], format_: AnswerFormat, options: Sequence[str]
) -> Answer | None:
    """Return the answer that follows a cue on its line; None if it is negated, ambiguous or not recognised.

    If the line ends with the cue, the answer is on the next line, unless a later line names another answer.
    """
    if (cue["before"] or "").strip().lower() in _NEGATING_WORDS:
        return None
    text_before = text[max(0, cue.start() - 120) : cue.start()] + (cue["before"] or "")
    clause = _CLAUSE.split(text_before)[-1]
    if _DOUBT.search(clause):
        return None
    line, *later_lines = text[cue.end() : cue.end() + 2000].split("\n")
    if line.strip():
        return _parse_answer_in_line(line.strip(), format_, options)
    lines = [later_line.strip() for later_line in later_lines if later_line.strip()]
    if not lines:
        return None
    value = _parse_answer_in_line(lines[0], format_, options)
    later_values = {parse_answer(later_line, format_=format_, options=options) for later_line in lines[1:]}
    return None if later_values - {value, None} else value


def _parse_answer_in_line(line: str, format_: AnswerFormat, options: Sequence[str]) -> Answer | None:
    """Return the answer with which a line begins, after a cue."""
    line_value = _parse_value(line, format_, options)
    if line_value is None:
        line_value = parse_contrast(line, format_=format_, options=options)
    if line_value is not None:
        return line_value
    lead_letter = _LEADING_LETTER.match(line)
    start = lead_letter.end() if lead_letter else 0
    end = _END.search(line, start)
    if end is None:
        # The line may be a letter in brackets or with a full stop, followed by a sentence.
        return _parse_letter_before_sentence(line, lead_letter, format_, options)
    value_before_end = parse_answer(line[: end.start()], format_=format_, options=options)
    return (
        value_before_end
        if value_before_end is not None
        else _parse_letter_before_sentence(line, lead_letter, format_, options)
    )


def _parse_letter_before_sentence(
    line: str, lead_letter: re.Match[str] | None, format_: AnswerFormat, options: Sequence[str]
) -> Answer | None:
    """Return the letter before a sentence ("B. The angle is blunt"); None if an alternative follows it."""
    if lead_letter is None:
        return None
    sentence = line[lead_letter.end() :].strip()
    if re.match(r"(?:or|and|and/or|[,/&|;])(?:\s|$)|\?", sentence, re.IGNORECASE):
        return None
    if parse_answer(sentence.split(".")[0], format_=format_, options=options) is not None:
        return None
    if _NEXT_OPTION.search(sentence):
        return None
    return parse_answer(lead_letter[1], format_=format_, options=options)


def _is_lone_answer(line: str) -> bool:
    """Whether the line is a single letter, yes or no."""
    stripped = line.strip(" .()[]:!\"'")
    return len(stripped) == 1 or stripped.lower() in ("yes", "no")
