"""A question that a recipe wrote, with its origin, and the questions of a generated file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from domain.provenance import Provenance
from domain.questions import Question
from records.decoding import make_decoder
from records.provenance import provenance_from_record
from records.questions import QuestionRecord, question_from_record


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedQuestion:
    """A question and its origin. ``report`` is only known if the question was read from a file."""

    question: Question
    provenance: Provenance
    report: str | None = None


def read_generated_questions(path: Path) -> Iterator[GeneratedQuestion]:
    """Yield the questions of a file that a recipe wrote.

    Args:
        path: the complete file.
    """
    decoder = make_decoder(QuestionRecord)
    with path.open("rb") as file:
        for line in file:
            record = decoder.decode(line)
            if record.provenance:
                yield GeneratedQuestion(
                    question=question_from_record(record),
                    provenance=provenance_from_record(record.provenance),
                    report=record.report or None,
                )
