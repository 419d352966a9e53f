"""Parses an untrusted file of predictions in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from domain.boxes import Box, LabelledBox
from domain.problems import Refusal
from intake.guarded_process import parts_of, send_all
from reader_study.predictions_file import PredictionRecord, prediction_lines

_AT_ONCE = 500


def guarded_predictions(
    path: Path, *, model: str, file: str
) -> Iterator[tuple[PredictionRecord | Refusal, int]]:
    """:func:`reader_study.predictions_file.prediction_lines` in a separate process.

    Args:
        path: the file.
        model: its name.
        file: the user's name of the file, for refusals.

    Raises:
        Refused: the process ended before the end of the file.
    """
    for part in parts_of("reader_study.predictions_process", path, {"model": model}):
        for plain, so_far in part:
            yield (_record(plain) if len(plain) > 3 else _refusal(plain, file)), so_far


def _record(plain: tuple[Any, ...]) -> PredictionRecord:
    line, question_id, answer, raw, explanation, boxes, seconds = plain
    return PredictionRecord(
        line=line,
        question_id=question_id,
        answer=answer,
        raw=raw,
        explanation=explanation,
        boxes=tuple(
            LabelledBox(radiograph=radiograph, label=label, box=Box(x_min=a, y_min=b, x_max=c, y_max=d))
            for radiograph, label, a, b, c, d in boxes
        ),
        seconds=seconds,
    )


def _refusal(plain: tuple[str, str, str], file: str) -> Refusal:
    record, field, reason = plain
    return Refusal(file=file, record=record, field=field, reason=reason)


def _plain(found: PredictionRecord | Refusal) -> tuple[Any, ...]:
    if isinstance(found, Refusal):
        return found.record, found.field, found.reason
    boxes = tuple(
        (each.radiograph, each.label, each.box.x_min, each.box.y_min, each.box.x_max, each.box.y_max)
        for each in found.boxes
    )
    return (
        found.line, found.question_id, found.answer, found.raw, found.explanation, boxes, found.seconds,
    )  # fmt: skip


def _parts(asked: dict[str, Any]) -> Iterator[Any]:
    part: list[Any] = []
    for found, so_far in prediction_lines(Path(asked["path"]), model=asked["model"]):
        part.append((_plain(found), so_far))
        if len(part) == _AT_ONCE:
            yield part
            part = []
    if part:
        yield part


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _parts))
