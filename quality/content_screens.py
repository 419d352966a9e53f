"""Rule-based checks of content: several correct answers, unsupported findings, wrong sides, revealed answers.

They detect the errors that the experts of ReXVQA found (section 3.3.3 of its paper). They are conservative:
they report a problem only if words contradict each other. A problem is a warning for a person, not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from domain.boxes import LabelledBox
from domain.checks import Check, Problem
from domain.questions import Question, option_letter
from domain.vocabulary import AnswerFormat, Task, View
from terminology.findings import load_findings
from terminology.mentions import (
    Mention,
    Polarity,
    TermGroup,
    group_terms,
    may_mention_finding,
    read_mentions,
    read_text,
    split_sentences,
)
from terminology.sides import PLACE_BITS, SIDE_BITS, Place, read_place
from terminology.word_filter import FilteredPattern, read_word_bits

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_STOP_WORDS = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "is", "are", "was", "were", "be", "there", "this", "that",
    "these", "those", "it", "its", "with", "and", "or", "to", "for", "by", "from", "as", "has", "have",
    "seen", "visible", "present", "noted", "shows", "showing", "show", "evidence", "finding",
    "findings", "within",
})  # fmt: skip
_NEGATIONS = frozenset({
    "no", "not", "without", "absent", "absence", "none", "neither", "nor", "normal", "unlikely",
    "cannot", "clear", "free",
})  # fmt: skip
#: Words that state the place, size or age of a finding. Without them the statement still holds.
_MODIFIERS = frozenset({
    "left", "right", "bilateral", "both", "upper", "lower", "mid", "middle", "lobe", "lobes", "zone",
    "zones", "apical", "basal", "basilar", "base", "bases", "lung", "lungs", "small", "large", "mild",
    "moderate", "severe", "minimal", "tiny", "subtle", "focal", "diffuse", "acute", "chronic", "patchy",
    "linear", "sided", "side", "moderately", "mildly", "slightly", "region", "field", "area", "partial",
    "trace", "pulmonary",
})  # fmt: skip
#: A stem that asks what is absent.
_NEGATED_STEM = FilteredPattern(
    r"(?<!\w)(?:not|except|absent|least|excluded|ruled\s+out|no\s+evidence|cannot|unlikely|negative|free\s+of|"
    r"lack\w*|without|no)\b|n't\b"
)
#: A stem that asks which finding is present, without further details.
_WHICH_IS_PRESENT = FilteredPattern(
    r"^(?:on\s+this\s+[\w\s-]+,\s*)?(?:which|what)\b(?!.*\b(?:most|best|primary|main|predominant|dominant|likely|"
    r"cause\w*|side|lung|lobe|location|where|zone|region)\b).*\b(?:present|seen|visible|identified|noted|shown|"
    r"evident|demonstrated|observed|detected)\b"
)
#: A stem that asks for what the report need not name: causes, diagnoses and consequences of its findings.
_ASKS_FOR_CAUSE = FilteredPattern(
    r"(?<!\w)(?:caus\w+|differential|diagnos\w+|lead\s+to|due\s+to|explain\w*|associated|complication\w*|suggest\w*|"
    r"consistent|indicat\w+|etiolog\w+|aetiolog\w+)\b"
)
_VERB_OF_QUESTION = re.compile(r"^(?:is|are|does|do)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
#: An answer that follows the question in the stem: "Is the heart enlarged? - No".
_ANSWERED_STEM = FilteredPattern(r"\?\W*\b(?:yes|no)\W*$")
_ALTERNATIVES = FilteredPattern(r"\b(?:or|versus|vs)\b")
_OF_THE_ABOVE = FilteredPattern(r"\b(?:of the above|of these|both\s+[a-d]\b|[a-d]\s+and\s+[a-d]\b)")


# ------------------------------------------------------------------------------------ several correct answers
def screen_several_correct(question: Question, report: str | None) -> Problem | None:
    """Return a problem if another option is correct, too: it follows from the key, or the report states it.

    Without a report only the options are compared with each other.
    """
    if question.format is not AnswerFormat.SINGLE:
        return None
    key_index = question.answer[0]
    if not isinstance(key_index, int):
        return None
    key = question.options[key_index]
    if _OF_THE_ABOVE.search(key):
        return None
    other_options = [(index, option) for index, option in enumerate(question.options) if index != key_index]
    key_terms = _read_option(key)
    for index, option in other_options:
        if _terms_entail(key_terms, _read_option(option)):
            return _make_several_correct_problem(
                f"{_format_option(index, option)} follows from the key {key!r}"
            )
    if not report:
        return None
    if _asks_for_absence(question):
        return _screen_absent_options(key, other_options, report)
    if not _asks_which_is_present(question.stem):
        return None
    for index, option in other_options:
        findings = _list_stated_findings(option)
        if (
            findings
            and all(_is_stated(finding, report) for finding in findings)
            and _is_side_in_report(option, report)
        ):
            return _make_several_correct_problem(
                f"{_format_option(index, option)} is stated in the report, too"
            )
    return None


def _screen_absent_options(key: str, other_options: Sequence[tuple[int, str]], report: str) -> Problem | None:
    """Return a problem if the finding of another option is absent, too: the report negates or omits it."""
    if not _list_stated_findings(key):
        return None
    for index, option in other_options:
        findings = _list_stated_findings(option)
        if not findings or any(_is_stated_or_uncertain(finding, report) for finding in findings):
            continue
        verb = "negates" if any(_is_negated(finding, report) for finding in findings) else "does not mention"
        return _make_several_correct_problem(
            f"{_format_option(index, option)} is absent as well: the report {verb} it"
        )
    return None


def _asks_for_absence(question: Question) -> bool:
    return question.task is Task.NEGATION or _is_negated_stem(question.stem)


@lru_cache(maxsize=1_000)
def _is_negated_stem(stem: str) -> bool:
    return _NEGATED_STEM.search(stem) is not None


@lru_cache(maxsize=1_000)
def _asks_which_is_present(stem: str) -> bool:
    return _WHICH_IS_PRESENT.search(stem) is not None and not _read_stem(stem)


def _make_several_correct_problem(reason: str) -> Problem:
    return Problem(check=Check.SEVERAL_CORRECT, field="options", reason=reason)


def _format_option(index: int, option: str) -> str:
    return f"{option_letter(index)} {option!r}"


def entails(specific: str, general: str) -> bool:
    """Whether ``general`` follows from ``specific``: it has fewer details, or names the same finding.

    >>> entails("Left pleural effusion", "Pleural effusion"), entails("Pleural effusion", "No effusion")
    (True, False)
    >>> entails("Bilateral effusions", "Left effusion"), entails("Cardiomegaly", "Enlarged heart")
    (True, True)
    """
    return _terms_entail(_read_option(specific), _read_option(general))


def _terms_entail(specific: _OptionTerms, general: _OptionTerms) -> bool:
    if (
        specific.without_modifiers != general.without_modifiers
        and specific.findings != general.findings
        and len(specific.place.sides) != 2
    ):
        return False  # tested first, because most options name different things
    if not specific.words or not general.words or specific.negations != general.negations:
        return False
    # ``specific`` has all words of ``general``, and besides them only modifiers.
    if (
        specific.without_modifiers == general.without_modifiers
        and general.words <= specific.words
        and (
            general.without_modifiers or (_is_side_of_lung(general.words) and general.words != specific.words)
        )
    ):
        return True
    if len(specific.place.sides) == 2 and general.place.side:
        return _strip_sides(specific.words) == _strip_sides(general.words)
    # Both consist of nothing but the name of a finding, and it is the same finding.
    return (
        len(specific.findings) == 1
        and specific.findings == general.findings
        and specific.place == general.place
    )


def _is_side_of_lung(words: frozenset[str]) -> bool:
    return "lung" in words and not words.isdisjoint(("left", "right"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OptionTerms:
    """The parts of an option that are compared: words, negations among them, place, findings."""

    words: frozenset[str]
    without_modifiers: frozenset[str]
    negations: frozenset[str]
    place: Place
    findings: frozenset[str]


@lru_cache(maxsize=20_000)
def _read_option(text: str) -> _OptionTerms:
    words = _read_content_words(text)
    return _OptionTerms(
        words=words,
        without_modifiers=words - _MODIFIERS,
        negations=words & _NEGATIONS,
        place=read_place(text),
        findings=_list_findings_if_nothing_else(text),
    )


def _strip_sides(words: frozenset[str]) -> frozenset[str]:
    return frozenset(
        word.removesuffix("s") for word in words - {"left", "right", "bilateral", "both", "sided"}
    )


def _list_findings_if_nothing_else(text: str) -> frozenset[str]:
    """Return the findings that a text names, if it consists of their names and modifiers only."""
    findings = {m.finding for m in read_mentions(text) if m.exact and m.polarity is Polarity.STATED}
    remaining_text = text
    for finding in findings:
        remaining_text = load_findings()[finding].name.sub(" ", remaining_text)
    if _read_content_words(remaining_text) - _MODIFIERS:
        return frozenset()
    return frozenset(findings)


@lru_cache(maxsize=20_000)
def _read_content_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _STOP_WORDS


# ------------------------------------------------------------------------------------- not in the report
def screen_not_in_report(question: Question, report: str) -> Problem | None:
    """Return a problem if the question assumes a finding that the report negates or does not name.

    A question assumes what its key states, what its stem presupposes ("Where is the effusion?"),
    and what its explanation states. A report that names a similar finding counts as naming it.
    """
    for field, findings in _list_assumed_findings(question):
        for finding in findings:
            if _is_stated_or_uncertain(finding, report):
                continue
            verb = "negates" if _is_negated(finding, report) else "does not mention"
            reason = f"names {load_findings()[finding].noun}, which the report {verb}"
            return Problem(check=Check.NOT_IN_REPORT, field=field, reason=reason)
    return None


def _list_assumed_findings(question: Question) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each field with the findings that it assumes to be present."""
    if _asks_for_absence(question) or _is_answer(question, "no"):
        return
    yield "stem", _list_stated(_read_stem(question.stem))
    if _is_answer(question, "yes"):
        return
    if question.task is Task.DIFFERENTIAL or _ASKS_FOR_CAUSE.search(question.stem):
        return
    if isinstance(question.answer, str):
        yield "answer", _list_stated_findings(question.answer)
    else:
        for index in question.answer:
            yield "options", _list_stated_findings(question.options[index])
    yield "explanation", _list_stated_findings(question.explanation)


@lru_cache(maxsize=1_000)
def _as_statement(stem: str) -> str:
    """Return the stem without its question mark, which would make each finding in it uncertain."""
    return _VERB_OF_QUESTION.sub("", stem.replace("?", ""))


def _read_stem(stem: str) -> tuple[Mention, ...]:
    """Return the mentions of findings in the stem, which is read as a statement."""
    # Without its question mark, "lung?nodule" may name a finding, so such stems are always read.
    if not may_mention_finding(stem) and "?" not in stem[:-1]:
        return ()
    return read_mentions(_as_statement(stem))


@lru_cache(maxsize=20_000)
def _list_stated_findings(text: str) -> tuple[str, ...]:
    """Return the findings that a text states by their own names.

    Definitions from `findings.toml`, such as "Edema shows indistinct vessels", state no finding.
    """
    return _list_stated([m for m in read_mentions(text) if m.sentence not in _list_signs()])


def _list_stated(mentions: Sequence[Mention]) -> tuple[str, ...]:
    findings = {m.finding: None for m in mentions if m.exact and m.polarity is Polarity.STATED}
    return tuple(findings)


@cache
def _list_signs() -> frozenset[str]:
    """Return the sentences of `findings.toml` that describe findings; template explanations quote them."""
    return frozenset(sentence for term in load_findings().values() for sentence in split_sentences(term.sign))


def _is_stated_or_uncertain(finding: str, report: str) -> bool:
    """Whether the report states a finding, or leaves it open; a similar finding counts as well."""
    mentions = read_text(report).find(_group_related_terms(finding))
    return any(m.polarity is not Polarity.NEGATED for m in mentions)


def _is_negated(finding: str, report: str) -> bool:
    mentions = read_text(report).find(_group_related_terms(finding))
    return any(m.polarity is Polarity.NEGATED for m in mentions)


def _is_stated(finding: str, report: str) -> bool:
    """Whether the report states a finding by its own name."""
    mentions = read_text(report).find(group_terms(frozenset({finding})))
    return any(m.exact and m.polarity is Polarity.STATED for m in mentions)


@cache
def _group_related_terms(finding: str) -> TermGroup:
    return group_terms(_list_related_findings(finding))


@cache
def _list_related_findings(finding: str) -> frozenset[str]:
    """Return the finding, the findings of its group, and all findings linked with it by `blocked_by`."""
    terms = load_findings()
    term = terms[finding]
    return frozenset(
        candidate.id
        for candidate in terms.values()
        if candidate.group == term.group or candidate.id in term.blocked_by or finding in candidate.blocked_by
    )


def _is_side_in_report(option: str, report: str) -> bool:
    """Whether the sentence of the report that states the option's finding has the side of the option."""
    sides = read_place(option).sides
    mentions = read_text(report).find(group_terms(frozenset(_list_stated_findings(option))))
    return any(
        sides <= read_place(m.sentence).sides for m in mentions if m.exact and m.polarity is Polarity.STATED
    )


# ---------------------------------------------------------------------------------------------------- sides
@dataclass(frozen=True, slots=True, kw_only=True)
class ImageGeometry:
    """The id, view and width of a radiograph, by which the sides of boxes are determined.

    ``columns`` is the width in pixels; None if it is unknown.
    """

    radiograph: str
    view: View
    columns: int | None


class _Part(NamedTuple):
    """A part of a question: its field, its text, and the place that the text names."""

    field: str
    text: str
    place: Place


def screen_side(
    question: Question, radiographs: Sequence[ImageGeometry] = (), report: str | None = None
) -> Problem | None:
    """Return a problem if parts of a question name opposite sides or levels, or a box contradicts a side.

    The stem and the key are compared with each other and with the report; the explanation and the labels of
    the boxes with the key, or with the stem if the key names no side. A part that names both sides, or none,
    contradicts nothing.
    """
    key = _format_key(question)
    if not question.boxes and not PLACE_BITS & (read_word_bits(key) | read_word_bits(question.stem)):
        return None  # neither names a place that others could contradict
    if _is_answer(question, "no") or _asks_for_absence(question):
        return None  # "Is it on the left?" - "No": the explanation rightly names the other side
    key_place, stem_place = read_place(key), read_place(question.stem)
    if not question.boxes and not key_place.side and not stem_place.side:
        return None  # nothing to compare with
    parts = [
        _Part("answer", key, key_place),
        _Part("stem", question.stem, stem_place),
        _Part("explanation", question.explanation, read_place(question.explanation)),
        *(_Part("boxes.label", box.label, read_place(box.label)) for box in question.boxes),
    ]
    problem = _find_contradiction(question, parts)
    return (
        problem
        or _find_misplaced_box(question, radiographs, parts)
        or _compare_with_report(question, parts, report or "")
    )


def _find_contradiction(question: Question, parts: Sequence[_Part]) -> Problem | None:
    key_place, stem_place = parts[0].place, parts[1].place
    # "Is it on the left or on the right?" names both. A stem may also compare: "unlike the left lung, ...".
    if (
        key_place.side
        and stem_place.side
        and key_place.side != stem_place.side
        and not _ALTERNATIVES.search(question.stem)
    ):
        return _make_side_problem(
            "answer", f"names the {key_place.side} side, but the stem names the {stem_place.side} side"
        )
    reference = key_place if key_place.side else stem_place
    if not reference.side:
        return None
    source = "answer" if key_place.side else "stem"
    for field, _, place in parts[2:]:
        is_one_of_several = field == "boxes.label" and len(question.boxes) > 1
        if place.side and place.side != reference.side and not is_one_of_several:
            return _make_side_problem(
                field, f"names the {place.side} side, but the {source} names the {reference.side} side"
            )
        if (
            place.sides == key_place.sides
            and len(key_place.heights) == len(place.heights) == 1
            and key_place.heights != place.heights
        ):
            (height,), (key_height,) = place.heights, key_place.heights
            return _make_side_problem(
                field, f"names the {height} part, but the answer names the {key_height} part"
            )
    return None


def _find_misplaced_box(
    question: Question, radiographs: Sequence[ImageGeometry], parts: Sequence[_Part]
) -> Problem | None:
    """Compare boxes with the sides of their labels.

    If the label of a single box names no side, compare the box with the side of the key or the stem.

    On a frontal radiograph the patient's left is on the right of the image. The radiograph may be rotated and
    the mediastinum shifted, so only a box that lies wholly on the other side is reported.
    """
    radiographs_by_id = {image.radiograph: image for image in radiographs}
    key_side = parts[0].place.side or parts[1].place.side
    for box in question.boxes:
        radiograph = radiographs_by_id.get(box.radiograph)
        width = box.grid.width if box.grid is not None else radiograph.columns if radiograph else None
        if radiograph is None or radiograph.view not in {View.PA, View.AP} or not width:
            continue
        label_place = read_place(box.label)
        side = label_place.side or (key_side if len(question.boxes) == 1 and not label_place.sides else "")
        box_side = _find_box_side(box, width)
        if side and box_side == {"left": "right", "right": "left"}[side]:
            return _make_side_problem(
                "boxes",
                f"lies on the patient's {box_side}, but its label or the key names the {side} side",
            )
    return None


def _compare_with_report(question: Question, parts: Sequence[_Part], report: str) -> Problem | None:
    """Compare the side of key or stem with the sides in the report's sentences about the same finding."""
    key_part, stem_part = parts[0], parts[1]
    field, side = ("answer", key_part.place.side) if key_part.place.side else ("stem", stem_part.place.side)
    if not side or len(stem_part.place.sides) == 2:
        return None
    mentions = (*read_mentions(key_part.text), *_read_stem(question.stem))
    findings = {m.finding for m in mentions if m.exact}
    sides = frozenset().union(
        *(
            read_place(m.sentence).sides
            for finding in findings
            for m in read_text(report).find(_group_related_terms(finding), word_bits=SIDE_BITS)
            if m.polarity is not Polarity.NEGATED
        )
    )
    if sides and side not in sides:
        (report_side,) = sides
        return _make_side_problem(
            field, f"names the {side} side, but the report names the {report_side} side"
        )
    return None


def _find_box_side(box: LabelledBox, width: int) -> str:
    """Return the patient's side on which the whole box lies; "" if it crosses or is near the middle."""
    margin = 0.03 * width
    if box.box.x_max < width / 2 - margin:
        return "right"
    return "left" if box.box.x_min > width / 2 + margin else ""


def _make_side_problem(field: str, reason: str) -> Problem:
    return Problem(check=Check.SIDE_OR_LEVEL, field=field, reason=reason)


def _is_answer(question: Question, word: str) -> bool:
    """Whether the answer is the given word, yes or no, or begins with it ("No, not seen")."""
    if not isinstance(question.answer, str):
        return False
    match = _YES_OR_NO.match(question.answer)
    return match is not None and match[1].casefold() == word


def _format_key(question: Question) -> str:
    if isinstance(question.answer, str):
        return "" if _YES_OR_NO.match(question.answer) else question.answer
    return "; ".join(question.options[index] for index in question.answer)


# ------------------------------------------------------------------------------------------ answer revealed
def screen_answer_revealed(question: Question) -> Problem | None:
    """Return a problem if the stem contains the words by which the key differs from all other options.

    A stem that offers alternatives ("left or right") reveals nothing; a stem that ends with "- Yes" does.
    """
    if _ANSWERED_STEM.search(question.stem):
        return Problem(check=Check.ANSWER_REVEALED, field="stem", reason="ends with an answer")
    key = _format_key(question)
    if not key or _ALTERNATIVES.search(question.stem) or question.format is AnswerFormat.MULTIPLE:
        return None
    key_words = _read_content_words(key)
    folded_stem = question.stem.casefold()
    # A cheap test first: reading the words of stem and options takes longer.
    words_in_stem = {word for word in key_words if word in folded_stem}
    if not words_in_stem:
        return None
    words_of_others = [
        _read_content_words(option)
        for index, option in enumerate(question.options)
        if not isinstance(question.answer, str) and index not in question.answer
    ]
    distinctive = key_words.difference(*words_of_others) if words_of_others else key_words
    if not distinctive or key_words & _NEGATIONS or not any(len(word) > 3 for word in distinctive):
        return None
    if not distinctive <= words_in_stem:
        return None
    stem_words = _read_content_words(question.stem)
    if not distinctive <= stem_words:
        return None
    # If the stem also contains words of another option, it does not reveal the key.
    all_option_words = frozenset().union(key_words, *words_of_others)
    if (
        any((words - key_words) and (words - key_words) <= stem_words for words in words_of_others)
        or not all_option_words
    ):
        return None
    words = ", ".join(sorted(distinctive))
    return Problem(
        check=Check.ANSWER_REVEALED, field="stem", reason=f"contains what only the key has: {words}"
    )
