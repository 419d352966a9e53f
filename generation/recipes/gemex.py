"""GEMeX: from a report to grounded sentences (stage I), and from these to eleven questions (stage II).

Source: sections 3.1 and 3.2 of the paper, its prompts in Tables 2 and 9. docs/generation.md states where the
shipped prompts differ from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.questions import Answer, Question
from domain.vocabulary import AnswerFormat, Difficulty, Task
from generation.recipes.questions import (
    Options,
    QuestionCollector,
    QuestionReply,
    list_written_questions,
    parse_letters,
)
from generation.recipes.stages import (
    Material,
    Recipe,
    RecordOmission,
    Stage,
    Statement,
    check_numbers,
    count_sentences,
    count_statements,
    decode_reply,
    fill_report,
    ignore_omission,
    number_lines,
)
from generation.templates.selection import PER_EXAM
from terminology.regions import resolve_region

_NAME, _VERSION = "gemex", "1"
#: A derived sentence has a subject and a predicate (rule 3 of stage I), so it has at least this many words.
_MIN_WORDS = 3
#: Reports with fewer sentences are not used (section 3.2).
_MIN_SENTENCES = 2


# ---------------------------------------------------------------------------------------------------- stage I
class _Pair(msgspec.Struct):
    number: int
    sentence: str
    region: str


class _Pairs(msgspec.Struct):
    pairs: list[_Pair]


def _read_regions(material: Material, reply: str, record_omission: RecordOmission) -> Material:
    statements = find_statements(material.sentences, reply, record_omission)
    return material if statements is None else replace(material, statements=statements)


def find_statements(
    sentences: tuple[str, ...], reply: str, record_omission: RecordOmission = ignore_omission
) -> tuple[Statement, ...] | None:
    """Return the grounded sentences of a reply of stage I; None if it does not match the stage's schema.

    Args:
        sentences: the sentences of the report.
        reply: the reply.
        record_omission: records pairs that are left out, and sentences of the report without a region.
    """
    decoded = decode_reply(reply, _Pairs, record_omission)
    if decoded is None:
        return None
    statements: dict[str, Statement] = {}
    for pair in decoded.pairs:
        statement = _check_pair(pair, sentences, record_omission)
        if statement is None:
            continue
        earlier = statements.setdefault(statement.text.casefold(), statement)
        if earlier is not statement:
            is_same_region = earlier.region == statement.region
            record_omission(
                "the same pair twice" if is_same_region else "one sentence with several regions",
                statement.text,
            )
    grounded_numbers = {number for statement in statements.values() for number in statement.sentences}
    for number, sentence in enumerate(sentences, start=1):
        if number not in grounded_numbers:
            record_omission("sentence without a region", sentence)
    return tuple(statements.values())


def _check_pair(pair: _Pair, sentences: tuple[str, ...], record_omission: RecordOmission) -> Statement | None:
    text = " ".join(pair.sentence.split())
    kind = "number of a sentence that the report does not have"
    numbers = check_numbers(
        (pair.number,), len(sentences), kind=kind, text=text, record_omission=record_omission
    )
    if numbers is None:
        return None
    is_derived = text.casefold() != sentences[pair.number - 1].casefold()
    if not text or (is_derived and len(text.split()) < _MIN_WORDS):
        record_omission("not a complete sentence", text)
        return None
    try:
        region = resolve_region(pair.region)
    except InvalidValue:
        record_omission("unknown region", f"{pair.region!r}: {text}")
        return None
    return Statement(text=text, sentences=numbers, region=region)


# --------------------------------------------------------------------------------------------------- stage II
class _QuestionEntry(msgspec.Struct, kw_only=True):
    """The fields of every question. ``phrases`` are the numbers of its grounded sentences."""

    question: str
    reason: str
    regions: tuple[str, ...]
    phrases: tuple[int, ...]
    content_type: str
    task: Task
    category: str
    difficulty: Difficulty


class _TextEntry(_QuestionEntry, kw_only=True):
    answer: str


class _SingleEntry(_QuestionEntry, kw_only=True):
    options: Options
    answer: str


class _MultipleEntry(_QuestionEntry, kw_only=True):
    options: Options
    answers: tuple[str, ...]


class _Questions(msgspec.Struct):
    open: QuestionReply[_TextEntry]
    closed: QuestionReply[_TextEntry]
    single: QuestionReply[_SingleEntry]
    multiple: QuestionReply[_MultipleEntry]


def _fill_questions(material: Material, record_omission: RecordOmission) -> Mapping[str, str] | None:
    if len(material.statements) < _MIN_SENTENCES:
        record_omission(f"fewer than {_MIN_SENTENCES} grounded sentences")
        return None
    phrases = tuple(
        f"{statement.text} [visual location: {statement.region}]" for statement in material.statements
    )
    return {"phrases": number_lines(phrases)}


def _read_questions(material: Material, reply: str, record_omission: RecordOmission) -> Material:
    decoded = decode_reply(reply, _Questions, record_omission)
    if decoded is None:
        return material
    collector = QuestionCollector(
        material, recipe=f"{_NAME}@{_VERSION}", prefix="g", record_omission=record_omission
    )
    written_counts: Counter[AnswerFormat] = Counter()
    for format_, entry in _list_entries(decoded):
        written_counts[format_] += 1
        if written_counts[format_] > PER_EXAM[format_]:
            record_omission(f"more {format_} questions than requested", entry.question)
        else:
            _add_question(entry, format_, collector, material, record_omission)
    for format_, wanted_count in PER_EXAM.items():
        for _ in range(wanted_count - written_counts[format_]):
            record_omission(f"fewer {format_} questions than requested")
    return replace(material, questions=tuple(collector.questions))


def _list_entries(decoded: _Questions) -> Iterator[tuple[AnswerFormat, _QuestionEntry]]:
    yield from ((AnswerFormat.OPEN, entry) for entry in list_written_questions(decoded.open))
    yield from ((AnswerFormat.CLOSED, entry) for entry in list_written_questions(decoded.closed))
    yield from ((AnswerFormat.SINGLE, entry) for entry in list_written_questions(decoded.single))
    yield from ((AnswerFormat.MULTIPLE, entry) for entry in list_written_questions(decoded.multiple))


def _add_question(
    entry: _QuestionEntry,
    format_: AnswerFormat,
    collector: QuestionCollector,
    material: Material,
    record_omission: RecordOmission,
) -> None:
    regions = _check_regions(entry, material, record_omission)
    if regions is None:
        return
    collector.add(
        stem=entry.question,
        numbers=entry.phrases,
        statement_term="phrase",
        build=lambda stem: Question(
            id="new",
            exam_id=material.exam.id,
            format=format_,
            stem=stem,
            options=entry.options.list_texts() if isinstance(entry, _SingleEntry | _MultipleEntry) else (),
            answer=_parse_answer(entry, format_),
            explanation=" ".join(entry.reason.split()),
            boxes=_find_boxes(regions, material, record_omission),
            task=entry.task,
            content_type=entry.content_type.strip() or None,
            category=entry.category.strip() or None,
            difficulty=entry.difficulty,
        ),
    )


def _parse_answer(entry: _QuestionEntry, format_: AnswerFormat) -> Answer:
    if isinstance(entry, _SingleEntry):
        return parse_letters([entry.answer], count=4)
    if isinstance(entry, _MultipleEntry):
        return parse_letters(entry.answers, count=4)
    if isinstance(entry, _TextEntry):
        text = entry.answer.strip()
        return text.rstrip(".").casefold() if format_ is AnswerFormat.CLOSED else text
    raise ValueError(f"{type(entry)} has no answer")


def _check_regions(
    entry: _QuestionEntry, material: Material, record_omission: RecordOmission
) -> tuple[str, ...] | None:
    """Return a question's regions. If one has no grounded sentence, record this and return None."""
    grounded_regions = {statement.region for statement in material.statements}
    regions = []
    for name in entry.regions:
        try:
            region = resolve_region(name)
        except InvalidValue:
            record_omission("unknown region", f"{name!r}: {entry.question}")
            return None
        if region not in grounded_regions:
            record_omission("region of no grounded sentence", f"{region}: {entry.question}")
            return None
        regions.append(region)
    if not regions:
        record_omission("no region", entry.question)
        return None
    return tuple(dict.fromkeys(regions))


def _find_boxes(
    regions: tuple[str, ...], material: Material, record_omission: RecordOmission
) -> tuple[LabelledBox, ...]:
    """Return the boxes of regions. A region without a box is recorded if the source has boxes at all."""
    boxes = material.exam.region_boxes
    for region in regions:
        if boxes and region not in boxes:
            record_omission("region without a box (the question is kept)", region)
    return tuple(box for region in regions for box in boxes.get(region, ()))


GEMEX = Recipe(
    name=_NAME,
    version=_VERSION,
    stages=(
        Stage(
            name="gemex-regions",
            title="Stage I: sentences and regions",
            fill=fill_report,
            count_lines=count_sentences,
            read=_read_regions,
        ),
        Stage(
            name="gemex-questions",
            title="Stage II: questions",
            fill=_fill_questions,
            count_lines=count_statements,
            read=_read_questions,
        ),
    ),
)
