"""Scores from outside: pairs of texts for tools that need model weights, and columns of their scores.

A file of pairs has one JSON object per line with ``question_id``, ``evaluation``, ``reference`` and
``candidate``. A file of columns is CSV with ``question_id``, ``evaluation``, ``name``, ``version`` and
``score``, such as BERTScore, RadGraph F1, RaTEScore, GREEN or CRIMSON.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from domain.errors import InvalidValue
from evaluation.score_table import QuestionTable, ScoreColumn
from evaluation.scoreboard import ScoredModel

_COLUMNS = ("question_id", "evaluation", "name", "version", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """The text of the key and that of a model."""

    question_id: str
    evaluation: str
    reference: str
    candidate: str


def add_columns(
    path: Path, models: Sequence[ScoredModel], table: QuestionTable, numbers: Mapping[str, int]
) -> list[ScoredModel]:
    """Return the models with the columns of a file.

    Args:
        path: a CSV file.
        models: the models of a split.
        table: the questions of the split.
        numbers: the ids of the questions in the database, by their id in the file.

    Raises:
        InvalidValue: the file or a line of it is not valid.
    """
    if not path.is_file():
        raise InvalidValue("--columns", f"{path} is not a file")
    rows = {int(number): row for row, number in enumerate(table.numbers.tolist())}
    known = {model.name for model in models}
    values: dict[tuple[str, str, str], dict[int, float]] = {}
    versions: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not set(_COLUMNS) <= set(reader.fieldnames or ()):
            raise InvalidValue("--columns", f"{path} must have the columns {', '.join(_COLUMNS)}")
        for line, record in enumerate(reader, start=2):
            where = f"{path.name}, line {line}"
            number = numbers.get(record["question_id"])
            if number is None:
                raise InvalidValue(
                    f"{where}: question_id", f"{record['question_id']!r} is not a question of the split"
                )
            if record["evaluation"] not in known:
                raise InvalidValue(
                    f"{where}: evaluation", f"{record['evaluation']!r} is none of {', '.join(sorted(known))}"
                )
            name, version = record["name"].strip(), record["version"].strip()
            if not name or not version:
                raise InvalidValue(f"{where}: name and version", "must not be empty")
            if versions.setdefault(name, version) != version:
                raise InvalidValue(
                    f"{where}: version",
                    f"{version!r} is not {versions[name]!r}; scores would not be comparable",
                )
            column = values.setdefault((record["evaluation"], name, version), {})
            if rows[number] in column:
                raise InvalidValue(f"{where}: question_id", f"{record['question_id']!r} has a score already")
            column[rows[number]] = _parse_score(record["score"], where)
    return [
        replace(model, columns=(*model.columns, *_build(model.name, values, len(rows)))) for model in models
    ]


def _parse_score(text: str, where: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InvalidValue(f"{where}: score", f"{text!r} is not a number")
    return score


def _build(
    model: str, values: Mapping[tuple[str, str, str], Mapping[int, float]], questions: int
) -> list[ScoreColumn]:
    columns = []
    for (evaluation, name, version), scores in values.items():
        if evaluation == model:
            column = np.full(questions, np.nan)
            column[list(scores)] = list(scores.values())
            columns.append(ScoreColumn(name=name, version=version, values=column))
    return columns
