"""Rule-based screens of what a question states: several right answers, sides, and what the report says.

The screens look for the errors that the experts of ReXVQA found (its section 3.3.3) and err towards passing:
a problem needs words that contradict each other. A problem is a warning for a person, not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

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
#: Words that say where a finding is, how large or how old: without them the statement still holds.
_MODIFIERS = frozenset({
    "left", "right", "bilateral", "both", "upper", "lower", "mid", "middle", "lobe", "lobes", "zone",
    "zones", "apical", "basal", "basilar", "base", "bases", "lung", "lungs", "small", "large", "mild",
    "moderate", "severe", "minimal", "tiny", "subtle", "focal", "diffuse", "acute", "chronic", "patchy",
    "linear", "sided", "side", "moderately", "mildly", "slightly", "region", "field", "area", "partial",
    "trace", "pulmonary",
})  # fmt: skip
#: A stem that asks for what is not there.
_NEGATED_STEM = FilteredPattern(
    r"(?<!\w)(?:not|except|absent|least|excluded|ruled\s+out|no\s+evidence|cannot|unlikely|negative|free\s+of|"
    r"lack\w*|without|no)\b|n't\b"
)
#: A stem that asks which finding there is, without saying more about it.
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


# ------------------------------------------------------------------------------------ several right answers
def screen_several_right(question: Question, report: str | None) -> Problem | None:
    """Report an option that is right as well: it follows from the key, or the report supports it.

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
    others = [(index, option) for index, option in enumerate(question.options) if index != key_index]
    key_terms = _read_option(key)
    for index, option in others:
        if _entails(key_terms, _read_option(option)):
            return _several_right(f"{_name(index, option)} follows from the key {key!r}")
    if not report:
        return None
    if _asks_for_absence(question):
        return _screen_absent_options(key, others, report)
    if not _asks_which_is_present(question.stem):
        return None
    for index, option in others:
        stated = _stated_findings(option)
        if stated and all(_is_stated(name, report) for name in stated) and _agree(option, report):
            return _several_right(f"{_name(index, option)} is stated in the report, too")
    return None


def _screen_absent_options(key: str, others: Sequence[tuple[int, str]], report: str) -> Problem | None:
    """Report an option that is as absent as the key. Findings that a report does not name are absent, too."""
    if not _stated_findings(key):
        return None
    for index, option in others:
        names = _stated_findings(option)
        if not names or any(_is_mentioned(name, report) for name in names):
            continue
        verb = "negates" if any(_is_negated(name, report) for name in names) else "does not mention"
        return _several_right(f"{_name(index, option)} is absent as well: the report {verb} it")
    return None


def _asks_for_absence(question: Question) -> bool:
    return question.task is Task.NEGATION or _is_negated_stem(question.stem)


@lru_cache(maxsize=1_000)
def _is_negated_stem(stem: str) -> bool:
    return _NEGATED_STEM.search(stem) is not None


@lru_cache(maxsize=1_000)
def _asks_which_is_present(stem: str) -> bool:
    return _WHICH_IS_PRESENT.search(stem) is not None and not _read_stem(stem)


def _several_right(reason: str) -> Problem:
    return Problem(check=Check.SEVERAL_RIGHT, field="options", reason=reason)


def _name(index: int, option: str) -> str:
    return f"{option_letter(index)} {option!r}"


def entails(specific: str, general: str) -> bool:
    """Whether a statement follows from another: it is the same with fewer details, or names the same finding.

    >>> entails("Left pleural effusion", "Pleural effusion"), entails("Pleural effusion", "No effusion")
    (True, False)
    >>> entails("Bilateral effusions", "Left effusion"), entails("Cardiomegaly", "Enlarged heart")
    (True, True)
    """
    return _entails(_read_option(specific), _read_option(general))


def _entails(first: _OptionTerms, second: _OptionTerms) -> bool:
    if (
        first.without_modifiers != second.without_modifiers
        and first.names != second.names
        and len(first.place.sides) != 2
    ):
        return False  # most options name different things
    if not first.words or not second.words or first.negations != second.negations:
        return False
    # The first has all words of the second, and besides them only modifiers.
    if (
        first.without_modifiers == second.without_modifiers
        and second.words <= first.words
        and (second.without_modifiers or (_is_side_of_lung(second.words) and second.words != first.words))
    ):
        return True
    if len(first.place.sides) == 2 and second.place.side:
        return _strip_sides(first.words) == _strip_sides(second.words)
    # Both are only names of findings, and name the same one.
    return len(first.names) == 1 and first.names == second.names and first.place == second.place


def _is_side_of_lung(words: frozenset[str]) -> bool:
    return "lung" in words and not words.isdisjoint(("left", "right"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _OptionTerms:
    """What is compared of an option: its words, the negations among them, its place, its findings."""

    words: frozenset[str]
    without_modifiers: frozenset[str]
    negations: frozenset[str]
    place: Place
    names: frozenset[str]


@lru_cache(maxsize=20_000)
def _read_option(text: str) -> _OptionTerms:
    words = _content_words(text)
    return _OptionTerms(
        words=words,
        without_modifiers=words - _MODIFIERS,
        negations=words & _NEGATIONS,
        place=read_place(text),
        names=_exact_names(text),
    )


def _strip_sides(words: frozenset[str]) -> frozenset[str]:
    return frozenset(
        word.removesuffix("s") for word in words - {"left", "right", "bilateral", "both", "sided"}
    )


def _exact_names(text: str) -> frozenset[str]:
    """The findings that a text names, if it consists of their names and modifiers only."""
    names = {m.finding for m in read_mentions(text) if m.exact and m.polarity is Polarity.STATED}
    rest = text
    for name in names:
        rest = load_findings()[name].name.sub(" ", rest)
    if _content_words(rest) - _MODIFIERS:
        return frozenset()
    # Of a finding and a more general one of its group, the text names the first.
    return frozenset(names)


@lru_cache(maxsize=20_000)
def _content_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _STOP_WORDS


# ------------------------------------------------------------------------------------- what the report says
def screen_not_in_report(question: Question, report: str) -> Problem | None:
    """Report a finding that the question takes as present, and that the report negates or does not name.

    The question takes as present what its key states, what its stem presupposes ("Where is the effusion?"),
    and what its explanation states. A report that names a similar finding counts as naming it.
    """
    for field, names in _assertions(question):
        for name in names:
            if _is_mentioned(name, report):
                continue
            verb = "negates" if _is_negated(name, report) else "does not mention"
            reason = f"names {load_findings()[name].noun}, which the report {verb}"
            return Problem(check=Check.NOT_IN_REPORT, field=field, reason=reason)
    return None


def _assertions(question: Question) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (field, findings) of what the question takes as present."""
    if _asks_for_absence(question) or _answers(question, "no"):
        return
    yield "stem", _names_of_stated(_read_stem(question.stem))
    if _answers(question, "yes"):
        return
    if question.task is Task.DIFFERENTIAL or _ASKS_FOR_CAUSE.search(question.stem):
        return
    if isinstance(question.answer, str):
        yield "answer", _stated_findings(question.answer)
    else:
        for index in question.answer:
            yield "options", _stated_findings(question.options[index])
    yield "explanation", _stated_findings(question.explanation)


@lru_cache(maxsize=1_000)
def _as_statement(stem: str) -> str:
    """The stem without its question mark, which would make each finding in it uncertain."""
    return _VERB_OF_QUESTION.sub("", stem.replace("?", ""))


def _read_stem(stem: str) -> tuple[Mention, ...]:
    """The mentions of findings in the stem as a statement."""
    # A question mark within the stem may stand between letters, which are one word without it.
    if not may_mention_finding(stem) and "?" not in stem[:-1]:
        return ()
    return read_mentions(_as_statement(stem))


@lru_cache(maxsize=20_000)
def _stated_findings(text: str) -> tuple[str, ...]:
    """The findings that a text states by their own names. "Edema shows indistinct vessels" states none."""
    return _names_of_stated([m for m in read_mentions(text) if m.sentence not in _list_signs()])


def _names_of_stated(mentions: Sequence[Mention]) -> tuple[str, ...]:
    names = {m.finding: None for m in mentions if m.exact and m.polarity is Polarity.STATED}
    return tuple(names)


@cache
def _list_signs() -> frozenset[str]:
    """The sentences of `findings.toml` on how findings look, which explanations of templates contain."""
    return frozenset(sentence for term in load_findings().values() for sentence in split_sentences(term.sign))


def _is_mentioned(name: str, report: str) -> bool:
    """Whether the report states a finding, or leaves it open; a similar finding counts as well."""
    mentions = read_text(report).find(_related_terms(name))
    return any(m.polarity is not Polarity.NEGATED for m in mentions)


def _is_negated(name: str, report: str) -> bool:
    mentions = read_text(report).find(_related_terms(name))
    return any(m.polarity is Polarity.NEGATED for m in mentions)


def _is_stated(name: str, report: str) -> bool:
    """Whether the report states a finding by its own name."""
    mentions = read_text(report).find(group_terms(frozenset({name})))
    return any(m.exact and m.polarity is Polarity.STATED for m in mentions)


@cache
def _related_terms(name: str) -> TermGroup:
    return group_terms(_related_findings(name))


@cache
def _related_findings(name: str) -> frozenset[str]:
    """The finding, those of its group, and those that its absence depends on, in either direction."""
    terms = load_findings()
    term = terms[name]
    return frozenset(
        other.id
        for other in terms.values()
        if other.group == term.group or other.id in term.blocked_by or name in other.blocked_by
    )


def _agree(option: str, report: str) -> bool:
    """Whether the sentence of the report that states the option's finding has the side of the option."""
    sides = read_place(option).sides
    mentions = read_text(report).find(group_terms(frozenset(_stated_findings(option))))
    return any(
        sides <= read_place(m.sentence).sides for m in mentions if m.exact and m.polarity is Polarity.STATED
    )


# ---------------------------------------------------------------------------------------------------- sides
@dataclass(frozen=True, slots=True, kw_only=True)
class ImageWidth:
    """What a radiograph of an exam says about sides: its id, view, and width in pixels, None if unknown."""

    radiograph: str
    view: View
    columns: int | None


def screen_side(
    question: Question, radiographs: Sequence[ImageWidth] = (), report: str | None = None
) -> Problem | None:
    """Report parts of a question that name opposite sides or heights, or a box on the other side.

    The stem, the key, the explanation and the labels of the boxes are compared, and the sentences of the
    report that state the same finding. A part that names both sides, or none, contradicts nothing.
    """
    key = _key_text(question)
    if not question.boxes and not PLACE_BITS & (read_word_bits(key) | read_word_bits(question.stem)):
        return None  # neither names a place that others could contradict
    if _answers(question, "no") or _asks_for_absence(question):
        return None  # "Is it on the left?" - "No": the explanation rightly names the other side
    key_place, stem_place = read_place(key), read_place(question.stem)
    if not question.boxes and not key_place.side and not stem_place.side:
        return None  # nothing to compare with
    parts = [
        ("answer", key, key_place),
        ("stem", question.stem, stem_place),
        ("explanation", question.explanation, read_place(question.explanation)),
        *(("boxes.label", box.label, read_place(box.label)) for box in question.boxes),
    ]
    problem = _find_contradiction(question, parts)
    return (
        problem
        or _find_misplaced_box(question, radiographs, parts)
        or _compare_with_report(question, parts, report or "")
    )


def _find_contradiction(question: Question, parts: Sequence[tuple[str, str, Place]]) -> Problem | None:
    (_, _, key), (_, _, stem), *others = parts
    # "Is it on the left or on the right?" names both. A stem may also compare: "unlike the left lung, ...".
    if key.side and stem.side and key.side != stem.side and not _ALTERNATIVES.search(question.stem):
        return _side_problem("answer", f"names the {key.side} side, the stem the {stem.side} side")
    reference = key if key.side else stem
    if not reference.side:
        return None
    source = "answer" if key.side else "stem"
    for field, _, place in others:
        is_one_of_several = field == "boxes.label" and len(question.boxes) > 1
        if place.side and place.side != reference.side and not is_one_of_several:
            return _side_problem(
                field, f"names the {place.side} side, the {source} the {reference.side} side"
            )
        if (
            place.sides == key.sides
            and len(key.heights) == len(place.heights) == 1
            and key.heights != place.heights
        ):
            (height,), (key_height,) = place.heights, key.heights
            return _side_problem(field, f"names the {height} part, the answer the {key_height} part")
    return None


def _find_misplaced_box(
    question: Question, radiographs: Sequence[ImageWidth], parts: Sequence[tuple[str, str, Place]]
) -> Problem | None:
    """Compare boxes with the sides of their labels, or of the key if there is one box without a side.

    On a frontal radiograph the patient's left is on the right of the image. The radiograph may be rotated and
    the mediastinum shifted, so that only a box that lies wholly on the other side is reported.
    """
    by_id = {image.radiograph: image for image in radiographs}
    key_side = parts[0][2].side or parts[1][2].side
    for box in question.boxes:
        radiograph = by_id.get(box.radiograph)
        width = box.grid.width if box.grid is not None else radiograph.columns if radiograph else None
        if radiograph is None or radiograph.view not in {View.PA, View.AP} or not width:
            continue
        label = read_place(box.label)
        side = label.side or (key_side if len(question.boxes) == 1 and not label.sides else "")
        if side and _lies_on(box, width) == {"left": "right", "right": "left"}[side]:
            return _side_problem(
                "boxes", f"lies on the patient's {_lies_on(box, width)}, its label or key is {side}"
            )
    return None


def _compare_with_report(
    question: Question, parts: Sequence[tuple[str, str, Place]], report: str
) -> Problem | None:
    """Compare the side of key or stem with that of the sentences of the report about the same finding."""
    field, side = ("answer", parts[0][2].side) if parts[0][2].side else ("stem", parts[1][2].side)
    if not side or len(parts[1][2].sides) == 2:
        return None
    mentions = (*read_mentions(parts[0][1]), *_read_stem(question.stem))
    findings = {m.finding for m in mentions if m.exact}
    sides = frozenset().union(
        *(
            read_place(m.sentence).sides
            for finding in findings
            for m in read_text(report).find(_related_terms(finding), word_bits=SIDE_BITS)
            if m.polarity is not Polarity.NEGATED
        )
    )
    if sides and side not in sides:
        (other,) = sides
        return _side_problem(field, f"names the {side} side, the report the {other} side")
    return None


def _lies_on(box: LabelledBox, width: int) -> str:
    """The patient's side on which the whole box lies in a frontal image; "" if it crosses the middle."""
    margin = 0.03 * width
    if box.box.x_max < width / 2 - margin:
        return "right"
    return "left" if box.box.x_min > width / 2 + margin else ""


def _side_problem(field: str, reason: str) -> Problem:
    return Problem(check=Check.SIDE, field=field, reason=reason)


def _answers(question: Question, word: str) -> bool:
    """Whether the answer is yes or no; open answers may begin with it ("No, not seen")."""
    if not isinstance(question.answer, str):
        return False
    match = _YES_OR_NO.match(question.answer)
    return match is not None and match[1].casefold() == word


def _key_text(question: Question) -> str:
    if isinstance(question.answer, str):
        return "" if _YES_OR_NO.match(question.answer) else question.answer
    return "; ".join(question.options[index] for index in question.answer)


# ------------------------------------------------------------------------------------------ answer revealed
def screen_answer_revealed(question: Question) -> Problem | None:
    """Report a stem that contains the words by which the key differs from all other options.

    A stem that offers alternatives ("left or right") reveals nothing. A stem that ends with "- Yes" does.
    """
    if _ANSWERED_STEM.search(question.stem):
        return Problem(check=Check.ANSWER_REVEALED, field="stem", reason="ends with an answer")
    key = _key_text(question)
    if not key or _ALTERNATIVES.search(question.stem) or question.format is AnswerFormat.MULTIPLE:
        return None
    key_words = _content_words(key)
    folded_stem = question.stem.casefold()
    # Before the words of the stem and of the options are read, which takes longer.
    words_in_stem = {word for word in key_words if word in folded_stem}
    if not words_in_stem:
        return None
    others = [
        _content_words(option)
        for index, option in enumerate(question.options)
        if not isinstance(question.answer, str) and index not in question.answer
    ]
    distinctive = key_words.difference(*others) if others else key_words
    if not distinctive or key_words & _NEGATIONS or not any(len(word) > 3 for word in distinctive):
        return None
    if not distinctive <= words_in_stem:
        return None
    stem = _content_words(question.stem)
    if not distinctive <= stem:
        return None
    # Words of another option in the stem: the stem describes the material, not the key.
    everything = frozenset().union(key_words, *others)
    if any((words - key_words) and (words - key_words) <= stem for words in others) or not everything:
        return None
    words = ", ".join(sorted(distinctive))
    return Problem(
        check=Check.ANSWER_REVEALED, field="stem", reason=f"contains what only the key has: {words}"
    )
