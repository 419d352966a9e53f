"""External scores: pairs of texts for another tool, and the scores that it computes.

The tool is one that needs model weights, such as BERTScore, RadGraph F1, RaTEScore, GREEN or CRIMSON. A file
of pairs has one JSON object per line with ``question_id``, ``evaluation``, ``reference`` and ``candidate``. A
file of scores is CSV with ``question_id``, ``evaluation``, ``name``, ``version`` and ``score``.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from domain.errors import InvalidValue
from evaluation.answer_reason import AR_SCORE

_CSV_HEADER = ("question_id", "evaluation", "name", "version", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """The text of the key and that of a model."""

    question_id: str
    evaluation: str
    reference: str
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalScores:
    """The values of one external score for one evaluation; ``scores`` maps question row ids to values."""

    evaluation: str
    name: str
    version: str
    scores: Mapping[int, float]


def read_external_scores(
    lines: Iterable[str], *, file_name: str, evaluations: Collection[str], row_ids_by_key: Mapping[str, int]
) -> list[ExternalScores]:
    """Read the scores of a file.

    Args:
        lines: the lines of a CSV file.
        file_name: its name, for messages.
        evaluations: the names of the evaluations of the split.
        row_ids_by_key: the question row ids of the split, by the id of the question in the release.

    Raises:
        InvalidValue: the file or a line of it is not valid.
    """
    scores_by_column: dict[tuple[str, str], dict[int, float]] = {}
    versions: dict[str, str] = {}
    reader = csv.DictReader(lines)
    if not set(_CSV_HEADER) <= set(reader.fieldnames or ()):
        raise InvalidValue(file_name, f"must have the columns {', '.join(_CSV_HEADER)}")
    for line_number, record in enumerate(reader, start=2):
        location = f"{file_name}, line {line_number}"
        question_row_id = row_ids_by_key.get(record["question_id"])
        if question_row_id is None:
            raise InvalidValue(
                f"{location}: question_id", f"{record['question_id']!r} is not a question of the split"
            )
        if record["evaluation"] not in evaluations:
            raise InvalidValue(
                f"{location}: evaluation",
                f"{record['evaluation']!r} is none of {', '.join(sorted(evaluations))}",
            )
        name, version = (record["name"] or "").strip(), (record["version"] or "").strip()
        if not name or not version:
            raise InvalidValue(f"{location}: name and version", "must not be empty")
        if name == AR_SCORE:
            raise InvalidValue(
                f"{location}: name", f"{AR_SCORE} is computed by Overread; choose another name"
            )
        if versions.setdefault(name, version) != version:
            raise InvalidValue(
                f"{location}: version",
                f"{version!r} is not {versions[name]!r}; scores would not be comparable",
            )
        column_scores = scores_by_column.setdefault((record["evaluation"], name), {})
        if question_row_id in column_scores:
            raise InvalidValue(f"{location}: question_id", f"{record['question_id']!r} has a score already")
        column_scores[question_row_id] = _parse_score(record["score"] or "", location)
    if not scores_by_column:
        raise InvalidValue(file_name, "has no scores")
    return [
        ExternalScores(evaluation=evaluation, name=name, version=versions[name], scores=scores)
        for (evaluation, name), scores in scores_by_column.items()
    ]


def _parse_score(text: str, location: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InvalidValue(f"{location}: score", f"{text!r} is not a number")
    return score
