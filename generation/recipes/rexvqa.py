"""ReXVQA's generation layer: report to bullets, bullets to multiple-choice questions.

Source: section 3.3.1 of the paper, which prints no prompt. docs/generation.md has the reasons for ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from domain.questions import Question
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
    number_lines,
)

_NAME, _VERSION = "rexvqa", "1"
#: The share of a sentence's content words that its bullets must contain for it to count as covered.
LEAST_COVERAGE = 0.5
#: The number of first letters that a word and its inflected forms have in common.
_STEM_LENGTH = 5
_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset(
    [
        "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "has", "have", "in", "into",
        "is", "it", "its", "of", "on", "or", "otherwise", "seen", "demonstrate", "demonstrated", "identified",
        "noted", "that", "the", "there", "these", "this", "to", "was", "were", "which", "with", "within",
        "evidence",
    ]
)  # fmt: skip


# --------------------------------------------------------------------------------------------------- bullets
class _Bullet(msgspec.Struct):
    finding: str
    is_abnormal: bool
    details: tuple[str, ...]
    sentences: tuple[int, ...]


class _Structure(msgspec.Struct):
    structure: str
    findings: list[_Bullet]


class _Bullets(msgspec.Struct):
    structures: list[_Structure]


def _read_bullets(material: Material, reply: str, record_omission: RecordOmission) -> Material:
    decoded = decode_reply(reply, _Bullets, record_omission)
    if decoded is None:
        return material
    statements: dict[str, Statement] = {}
    for structure in decoded.structures:
        for bullet in structure.findings:
            text = _format_bullet(structure.structure, bullet)
            if not text:
                record_omission("empty bullet")
                continue
            kind = "number of a sentence that the report does not have"
            numbers = check_numbers(
                bullet.sentences,
                len(material.sentences),
                kind=kind,
                text=text,
                record_omission=record_omission,
            )
            if numbers is None:
                continue
            if text.casefold() in statements:
                record_omission("the same bullet twice", text)
                continue
            statements[text.casefold()] = Statement(
                text=text, sentences=numbers, is_abnormal=bullet.is_abnormal
            )
    kept_statements = tuple(statements.values())
    for sentence in find_uncovered(material.sentences, kept_statements):
        record_omission("sentence that no bullet covers", sentence)
    return replace(material, statements=kept_statements)


def _format_bullet(structure: str, bullet: _Bullet) -> str:
    """Return a bullet as one line: structure, finding, details; "" without a finding."""
    if not bullet.finding.strip():
        return ""
    parts = [bullet.finding.strip(), *(detail.strip() for detail in bullet.details if detail.strip())]
    heading = f"{structure.strip()}: " if structure.strip() else ""
    return " ".join(f"{heading}{'; '.join(parts)}".split())


def find_uncovered(sentences: tuple[str, ...], bullets: tuple[Statement, ...]) -> tuple[str, ...]:
    """Return the sentences of a report that bullets do not cover.

    A sentence is covered if at least half of its content words begin like a word of the bullets that cite it.
    A sentence without content words is covered.

    >>> bullet = Statement(text="Pleura: no effusion", sentences=(1,))
    >>> find_uncovered(("There is no effusion.", "The heart is enlarged."), (bullet,))
    ('The heart is enlarged.',)
    """
    uncovered = []
    for number, sentence in enumerate(sentences, start=1):
        content_stems = _list_stems(sentence)
        covered_stems: set[str] = set()
        for bullet in bullets:
            if number in bullet.sentences:
                covered_stems |= _list_stems(bullet.text)
        if content_stems and len(content_stems & covered_stems) < LEAST_COVERAGE * len(content_stems):
            uncovered.append(sentence)
    return tuple(uncovered)


def _list_stems(text: str) -> set[str]:
    return {word[:_STEM_LENGTH] for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS}


# ------------------------------------------------------------------------------------------------- questions
class _QuestionEntry(msgspec.Struct, kw_only=True):
    question: str
    options: Options
    answer: str
    explanation: str
    task: Task
    difficulty: Difficulty
    class_: str = msgspec.field(name="class")
    category: str
    subcategory: str
    bullets: tuple[int, ...]


class _Questions(msgspec.Struct):
    questions: QuestionReply[_QuestionEntry]


def _fill_questions(material: Material, record_omission: RecordOmission) -> Mapping[str, str] | None:
    if not material.statements:
        record_omission("no bullet")
        return None
    bullets = tuple(
        f"({'abnormal' if statement.is_abnormal else 'normal'}) {statement.text}"
        for statement in material.statements
    )
    return {"bullets": number_lines(bullets)}


def _read_questions(material: Material, reply: str, record_omission: RecordOmission) -> Material:
    decoded = decode_reply(reply, _Questions, record_omission)
    if decoded is None:
        return material
    entries = list_written_questions(decoded.questions)
    if not entries:
        record_omission("no question")
    collector = QuestionCollector(
        material, recipe=f"{_NAME}@{_VERSION}", prefix="r", record_omission=record_omission
    )
    for entry in entries:
        _add_question(entry, collector, material)
    return replace(material, questions=tuple(collector.questions))


def _add_question(entry: _QuestionEntry, collector: QuestionCollector, material: Material) -> None:
    collector.add(
        stem=entry.question,
        numbers=entry.bullets,
        statement_term="bullet",
        build=lambda stem: Question(
            id="new",
            exam_id=material.exam.id,
            format=AnswerFormat.SINGLE,
            stem=stem,
            options=entry.options.list_texts(),
            answer=parse_letters([entry.answer], count=4),
            explanation=" ".join(entry.explanation.split()),
            task=entry.task,
            content_type=entry.class_.strip() or None,
            category=entry.category.strip() or None,
            subcategory=entry.subcategory.strip() or None,
            difficulty=entry.difficulty,
        ),
    )


REXVQA = Recipe(
    name=_NAME,
    version=_VERSION,
    stages=(
        Stage(
            name="rexvqa-bullets",
            title="Bullets",
            fill=fill_report,
            count_lines=count_sentences,
            read=_read_bullets,
        ),
        Stage(
            name="rexvqa-questions",
            title="Questions",
            fill=_fill_questions,
            count_lines=count_statements,
            read=_read_questions,
        ),
    ),
)
