"""Parses an untrusted file of predictions in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from domain.boxes import Box, LabelledBox
from domain.problems import Refusal
from intake.guarded_process import parse_in_process, send_all
from reader_study.predictions_file import PredictionRecord, read_predictions

_BATCH_SIZE = 500


def read_predictions_in_process(
    path: Path, *, model: str | None, file: str
) -> Generator[tuple[PredictionRecord | Refusal, int], None, None]:
    """Run :func:`reader_study.predictions_file.read_predictions` in a separate process.

    Args:
        path: the path of the file.
        model: the name of the model; None for any name.
        file: the user's name of the file, used in refusals.

    Raises:
        ParsingStopped: the process failed or exceeded its limits.
    """
    with closing(parse_in_process("reader_study.predictions_process", path, {"model": model})) as parts:
        for part in parts:
            for plain, bytes_read in part:
                is_refusal = len(plain) == 3  # see _to_plain
                yield (_to_refusal(plain, file) if is_refusal else _to_record(plain)), bytes_read


def _to_record(plain: tuple[Any, ...]) -> PredictionRecord:
    line, question_id, answer, raw, explanation, boxes, seconds, probability = plain
    return PredictionRecord(
        line=line,
        question_id=question_id,
        answer=answer,
        raw=raw,
        explanation=explanation,
        boxes=tuple(
            [
                LabelledBox(radiograph=radiograph, label=label, box=Box(x_min=a, y_min=b, x_max=c, y_max=d))
                for radiograph, label, a, b, c, d in boxes
            ]
        ),
        seconds=seconds,
        probability=probability,
    )


def _to_refusal(plain: tuple[str, str, str], file: str) -> Refusal:
    record, field, reason = plain
    return Refusal(file=file, record=record, field=field, reason=reason)


def _to_plain(item: PredictionRecord | Refusal) -> tuple[Any, ...]:
    if isinstance(item, Refusal):
        return item.record, item.field, item.reason
    boxes = tuple(
        (
            labelled_box.radiograph,
            labelled_box.label,
            labelled_box.box.x_min,
            labelled_box.box.y_min,
            labelled_box.box.x_max,
            labelled_box.box.y_max,
        )
        for labelled_box in item.boxes
    )
    return (
        item.line, item.question_id, item.answer, item.raw, item.explanation, boxes, item.seconds,
        item.probability,
    )  # fmt: skip


def _iterate_parts(arguments: dict[str, Any]) -> Iterator[Any]:
    part: list[Any] = []
    for item, bytes_read in read_predictions(Path(arguments["path"]), model=arguments["model"]):
        part.append((_to_plain(item), bytes_read))
        if len(part) == _BATCH_SIZE:
            yield part
            part = []
    if part:
        yield part


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _iterate_parts))
