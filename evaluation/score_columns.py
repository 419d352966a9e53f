"""External scores: pairs of texts for tools that need model weights, and columns of their scores.

A file of pairs has one JSON object per line with ``question_id``, ``evaluation``, ``reference`` and
``candidate``. A file of columns is CSV with ``question_id``, ``evaluation``, ``name``, ``version`` and
``score``, such as BERTScore, RadGraph F1, RaTEScore, GREEN or CRIMSON.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from domain.errors import InvalidValue
from evaluation.answer_reason import AR_SCORE

_COLUMNS = ("question_id", "evaluation", "name", "version", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """The text of the key and that of a model."""

    question_id: str
    evaluation: str
    reference: str
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideColumn:
    """A column of a file for one evaluation; ``scores`` has the ids of the questions in the database."""

    evaluation: str
    name: str
    version: str
    scores: Mapping[int, float]


def read_columns(
    lines: Iterable[str], *, file_name: str, evaluations: Collection[str], numbers: Mapping[str, int]
) -> list[OutsideColumn]:
    """Read the columns of a file.

    Args:
        lines: the lines of a CSV file.
        file_name: its name, for messages.
        evaluations: the names of the evaluations of the split.
        numbers: the ids of the questions of the split in the database, by their id in the file.

    Raises:
        InvalidValue: the file or a line of it is not valid.
    """
    values: dict[tuple[str, str], dict[int, float]] = {}
    versions: dict[str, str] = {}
    reader = csv.DictReader(lines)
    if not set(_COLUMNS) <= set(reader.fieldnames or ()):
        raise InvalidValue(file_name, f"must have the columns {', '.join(_COLUMNS)}")
    for line, record in enumerate(reader, start=2):
        where = f"{file_name}, line {line}"
        number = numbers.get(record["question_id"])
        if number is None:
            raise InvalidValue(
                f"{where}: question_id", f"{record['question_id']!r} is not a question of the split"
            )
        if record["evaluation"] not in evaluations:
            raise InvalidValue(
                f"{where}: evaluation",
                f"{record['evaluation']!r} is none of {', '.join(sorted(evaluations))}",
            )
        name, version = (record["name"] or "").strip(), (record["version"] or "").strip()
        if not name or not version:
            raise InvalidValue(f"{where}: name and version", "must not be empty")
        if name == AR_SCORE:
            raise InvalidValue(f"{where}: name", f"{AR_SCORE} is the score of a judge of Overread")
        if versions.setdefault(name, version) != version:
            raise InvalidValue(
                f"{where}: version",
                f"{version!r} is not {versions[name]!r}; scores would not be comparable",
            )
        column = values.setdefault((record["evaluation"], name), {})
        if number in column:
            raise InvalidValue(f"{where}: question_id", f"{record['question_id']!r} has a score already")
        column[number] = _parse_score(record["score"] or "", where)
    if not values:
        raise InvalidValue(file_name, "has no scores")
    return [
        OutsideColumn(evaluation=evaluation, name=name, version=versions[name], scores=scores)
        for (evaluation, name), scores in values.items()
    ]


def _parse_score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InvalidValue(f"{where}: score", f"{text!r} is not a number")
    return score
