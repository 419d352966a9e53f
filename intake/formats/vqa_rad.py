"""VQA-RAD: yes/no and open questions on radiographs, without options, boxes or explanations."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.expectations import Expectations
from domain.vocabulary import YES_NO, AnswerFormat, Task
from intake.strict_json import decode
from records.decoding import make_decoder
from records.questions import ExamRecord, QuestionRecord, RadiographRecord

#: The types that determine the task. SIZE, ABN and the other types ask for various skills.
_TASKS = {"PRES": Task.PRESENCE, "POS": Task.LOCATION}


class _Record(msgspec.Struct, gc=False):
    qid: int | str
    image_name: str
    question: str
    answer: str | int | float
    answer_type: str = ""
    question_type: str = ""


_decoder = make_decoder(_Record)

#: VQA-RAD questions have an answer but no explanation, and only some types determine a task.
EXPECTATIONS = Expectations(fields=frozenset())


def looks_like(record: dict[str, Any]) -> bool:
    """Return whether a file with this first record is a VQA-RAD file."""
    return {"qid", "image_name", "question", "answer"} <= record.keys()


class VqaRadReader:
    """Reads VQA-RAD files. Each image is one exam. Spaces and case are normalised; words are kept."""

    def __init__(self, file_stem: str) -> None:
        """Create a reader. The file's name is not used."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:  # noqa: ARG002 - the interface of all formats
        record = decode(raw, _decoder)
        answer = " ".join(str(record.answer).split())
        if not answer:
            raise InvalidValue("answer", "is empty")
        answer_type = record.answer_type.strip().upper()
        yes_no = answer.casefold().rstrip(".")
        is_closed = answer_type == "CLOSED" and yes_no in YES_NO
        # The order does not matter: "PRES, POS" and "POS, PRES" are the same type.
        types = ", ".join(
            sorted(part.strip().upper() for part in record.question_type.split(",") if part.strip())
        )
        image = record.image_name.strip()
        return QuestionRecord(
            id=str(record.qid).strip(),
            exam=ExamRecord(
                id=image, radiographs=[RadiographRecord(id=PurePosixPath(image).stem, file=image)]
            ),
            # A "CLOSED" question with an answer such as "Right" has options that the file does not list.
            format=AnswerFormat.CLOSED if is_closed else AnswerFormat.OPEN,
            stem=" ".join(record.question.split()),
            answer=yes_no if is_closed else answer,
            task=_TASKS.get(types),
            content_type=": ".join(part for part in (answer_type, types) if part) or None,
        )
