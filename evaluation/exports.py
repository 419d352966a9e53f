"""Writes the answers of a condition for other programs: overread.prediction/1, ReXrank, VLMEvalKit.

In Overread's own format, answers refer to the options of the release. The other two have each question as the
model saw it, with the options in the order shown, and its reply.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from domain.evaluations import EvaluatedExam, EvaluationCase, ImageSize
from domain.questions import Answer, option_letter
from domain.readings import Prediction
from evaluation.cases import EvaluatedQuestion
from evaluation.requests import list_shown_options
from evaluation.rexrank import build_record, name_image
from records.values import boxes_to_plain, to_plain


class ExportFormat(StrEnum):
    """The format of exported answers."""

    OVERREAD = "overread"
    REXRANK = "rexrank"
    VLMEVALKIT = "vlmevalkit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedAnswer:
    """A question as shown and the answer to it; ``exam`` is the one whose radiographs were shown, if any."""

    item: EvaluatedQuestion
    case: EvaluationCase
    exam: EvaluatedExam | None
    prediction: Prediction

    @property
    def reply(self) -> str:
        """What the model wrote, or the letters of its answer in the order shown."""
        if self.prediction.raw is not None:
            return self.prediction.raw
        answer = self.prediction.answer
        return "" if answer is None else format_letters(self.case.to_shown_order(answer))


def export_answers(
    answers: Iterable[ExportedAnswer], *, export_format: ExportFormat, model: str, image_size: ImageSize
) -> Iterator[str]:
    """Yield the parts of the file.

    Args:
        answers: the answers.
        export_format: the format.
        model: the name of the model in a file of Overread.
        image_size: the size of the radiographs, for their paths in files of the other formats.
    """
    if export_format is ExportFormat.OVERREAD:
        for answer in answers:
            yield msgspec.json.encode(_to_overread(answer, model)).decode() + "\n"
    elif export_format is ExportFormat.REXRANK:
        records = {
            answer.item.question.id: {
                **build_record(answer.item, answer.case, exam=answer.exam, image_size=image_size),
                "model_prediction": answer.reply,
            }
            for answer in answers
        }
        yield msgspec.json.format(msgspec.json.encode(records), indent=1).decode() + "\n"
    else:
        yield from _to_vlmevalkit(list(answers), image_size)


def format_letters(answer: Answer) -> str:
    """Format an answer as letters; several are separated by "|".

    >>> format_letters((0, 2)), format_letters("yes")
    ('A|C', 'yes')
    """
    return answer if isinstance(answer, str) else "|".join(option_letter(index) for index in answer)


def _to_overread(answer: ExportedAnswer, model: str) -> dict[str, Any]:
    prediction = answer.prediction
    fields = {
        "answer": None if prediction.answer is None else to_plain(prediction.answer),
        "raw": prediction.raw,
        "explanation": prediction.explanation or None,
        "boxes": boxes_to_plain(prediction.boxes) or None,
        "seconds": prediction.seconds,
        "probability": prediction.probability,
    }
    present_fields = {name: value for name, value in fields.items() if value is not None}
    return {"question_id": answer.item.question.id, "model": model, **present_fields}


def _to_vlmevalkit(answers: list[ExportedAnswer], image_size: ImageSize) -> Iterator[str]:
    """Yield the lines of a table for VLMEvalKit; several radiographs are a list in ``image_path``."""
    option_count = max((len(answer.item.question.options) for answer in answers), default=0)
    letters = [option_letter(index) for index in range(option_count)]
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerow(["index", "image_path", "question", *letters, "answer", "category", "prediction"])
    for answer in answers:
        question = answer.item.question
        options = list_shown_options(question.options, answer.case)
        images = [
            name_image(radiograph.sha256 or "", image_size)
            for radiograph in (answer.exam.radiographs if answer.exam else ())
        ]
        writer.writerow(
            [
                question.id,
                images[0] if len(images) == 1 else msgspec.json.encode(images).decode(),
                answer.case.stem or question.stem,
                *options,
                *[""] * (option_count - len(options)),
                format_letters(answer.case.to_shown_order(question.answer)),
                question.category or "",
                answer.reply,
            ]
        )
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()
