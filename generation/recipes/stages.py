"""What the recipes have in common: the material of an exam, stages, and the record of omissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from domain.provenance import CallReference, Evidence, EvidenceKind, Provenance
from generation.generated_questions import GeneratedQuestion
from generation.source_exams import SourceExam
from records.decoding import decode_json
from terminology.mentions import split_sentences

_PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that a model wrote from the report: a grounded sentence, or a bullet.

    ``sentences`` are the numbers, from 1, of its source sentences in the report. ``region`` is one
    of GEMeX's regions. ``is_abnormal`` is None if the stage does not state it.
    """

    text: str
    sentences: tuple[int, ...]
    region: str | None = None
    is_abnormal: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the stages have made from an exam so far. Each stage returns the material with its own part added.

    ``sentences`` are those of findings and impression. ``calls`` are the replies that were used.
    """

    source: str
    exam: SourceExam
    sentences: tuple[str, ...]
    statements: tuple[Statement, ...] = ()
    questions: tuple[GeneratedQuestion, ...] = ()
    calls: tuple[CallReference, ...] = ()

    def describe_origin(self, numbers: tuple[int, ...]) -> Provenance:
        """Describe the origin of a question: the statements with these numbers, each after its sentences."""
        evidence: list[Evidence] = []
        for number in numbers:
            statement = self.statements[number - 1]
            evidence += [
                Evidence(kind=EvidenceKind.SENTENCE, text=self.sentences[sentence - 1])
                for sentence in statement.sentences
            ]
            evidence.append(
                Evidence(
                    kind=EvidenceKind.BULLET,
                    text=statement.text,
                    region=statement.region,
                )
            )
        return Provenance(
            source=self.source,
            record=self.exam.id,
            evidence=tuple(dict.fromkeys(evidence)),
            calls=self.calls,
        )


class RecordOmission(Protocol):
    """Records that something was left out: the kind of omission, which is counted, and a detail to read."""

    def __call__(self, kind: str, detail: str = "") -> None: ...


def ignore_omission(kind: str, detail: str = "") -> None:
    """Do nothing. Use this for a reply whose omissions have already been recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of a recipe.

    Attributes:
        name: the name of the stage and of its prompt.
        title: what people see while it runs.
        fill: returns the values of the prompt's variables; None if the exam is left out.
        count_lines: returns how many numbered lines the request has, to which a reply refers.
        read: adds the JSON of a reply to the material.
    """

    name: str
    title: str
    fill: Callable[[Material, RecordOmission], Mapping[str, str] | None]
    count_lines: Callable[[Material], int]
    read: Callable[[Material, str, RecordOmission], Material]

    def read_shipped_prompt(self) -> str:
        """Return the prompt file that ships with Overread."""
        return (_PROMPTS / f"{self.name}.toml").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A recipe. ``version`` changes with the rules by which replies become questions."""

    name: str
    version: str
    stages: tuple[Stage, ...]


def count_sentences(material: Material) -> int:
    """Return the number of sentences of the report."""
    return len(material.sentences)


def count_statements(material: Material) -> int:
    """Return the number of bullets or grounded sentences."""
    return len(material.statements)


def make_material(exam: SourceExam, *, source: str) -> Material:
    """Return the material of an exam before the first stage.

    The sentences are those of the report. A source without reports, such as scene graphs, has the sentences
    of its codes.
    """
    sentences = split_sentences(exam.report.findings, exam.report.impression) or list(
        dict.fromkeys(code.sentence.strip() for code in exam.codes if code.sentence.strip())
    )
    return Material(source=source, exam=exam, sentences=tuple(sentences))


def fill_report(material: Material, record_omission: RecordOmission) -> Mapping[str, str] | None:
    """Return the numbered sentences of a report, for a first stage; None without a sentence."""
    if not material.sentences:
        record_omission("no sentence in findings or impression")
        return None
    return {"report": number_lines(material.sentences)}


def number_lines(texts: tuple[str, ...]) -> str:
    r"""Return one numbered line per text.

    >>> number_lines(("Clear lungs.", "No effusion."))
    '1. Clear lungs.\n2. No effusion.'
    """
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


_Reply = TypeVar("_Reply")


def decode_reply(reply: str, reply_type: type[_Reply], record_omission: RecordOmission) -> _Reply | None:
    """Decode a reply. If its structure differs, as with another schema, record this and return None."""
    try:
        return decode_json(reply, reply_type)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        record_omission("reply of another form", str(error))
        return None


def check_numbers(
    numbers: tuple[int, ...], count: int, *, kind: str, text: str, record_omission: RecordOmission
) -> tuple[int, ...] | None:
    """Return the distinct numbers, sorted.

    If there is none, or one is not from 1 to ``count``, record this and return None.
    """
    distinct_numbers = tuple(sorted(set(numbers)))
    if not distinct_numbers or distinct_numbers[0] < 1 or distinct_numbers[-1] > count:
        record_omission(kind, f"{list(numbers)} of {count}: {text}")
        return None
    return distinct_numbers
