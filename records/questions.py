"""``overread.question/1``: the native record of a question, its JSON Schema, and its database columns.

A new field of a question is declared in `domain.questions`. In this module, it is added to the record, to the
conversions from and to the object, and to the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from domain.boxes import unify_grids
from domain.errors import InvalidValue
from domain.exams import Exam, Radiograph
from domain.provenance import Provenance
from domain.questions import Answer, Question, Source
from domain.vocabulary import AnswerFormat, Difficulty, Sex, Task, View
from records.decoding import make_converter
from records.provenance import ProvenanceRecord, provenance_to_record
from records.values import (
    BoxRecord,
    answer_from_json,
    answers_from_json,
    box_from_record,
    box_to_record,
    boxes_from_json,
    boxes_to_plain,
    from_json,
    to_json,
    to_json_lines,
)

#: Maximum length of an id. Ids are in an index, and PostgreSQL limits the size of index entries.
MAX_ID_LENGTH = 500
#: Maximum number of options, because an option is named by one of 26 letters.
MAX_OPTIONS = 26

#: Text that may be null or missing; both mean "unknown".
OptionalText = str | None | UnsetType
_NOT_BLANK = r"\S"
_OPTION_INDEX_RULES = {"type": "integer", "minimum": 0, "maximum": MAX_OPTIONS - 1}


def _schema_meta(description: str = "", **rules: Any) -> Meta:  # noqa: ANN401  # any keyword of JSON Schema
    """Declare what the published schema states about a field. The import has its own checks and messages."""
    return Meta(description=description or None, extra_json_schema=rules or None)


class RadiographRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """One image of the exam."""

    id: Annotated[str, _schema_meta("Unique within the exam.", minLength=1)]
    file: Annotated[
        str,
        _schema_meta(
            "Path of a DICOM, PNG or JPEG file, relative to the folder of images, with forward slashes.",
            minLength=1,
            maxLength=1000,
        ),
    ]
    view: Annotated[OptionalText, _schema_meta(enum=[*View, "", None])] = UNSET


class ExamRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The exam. Values from all lines of one exam are merged; contradicting lines are refused."""

    id: Annotated[str, _schema_meta(minLength=1, maxLength=MAX_ID_LENGTH)]
    patient: Annotated[OptionalText, _schema_meta("A pseudonym.")] = UNSET
    indication: Annotated[
        OptionalText, _schema_meta("Why the exam was made: the clinical information for the radiologist.")
    ] = UNSET
    age: Annotated[OptionalText, _schema_meta("As in the source: 058Y, 61.")] = UNSET
    sex: Annotated[OptionalText, _schema_meta("As in DICOM (0010,0040).", enum=[*Sex, "", None])] = UNSET
    radiographs: Annotated[list[RadiographRecord], _schema_meta(minItems=1)]


class SourceRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The program that wrote the question."""

    generator: Annotated[
        OptionalText, _schema_meta("Name of the program or model that wrote the question.")
    ] = UNSET
    version: Annotated[OptionalText, _schema_meta("Version of the generator.")] = UNSET
    prompt_version: Annotated[OptionalText, _schema_meta("Version of the prompt.")] = UNSET


class QuestionRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """One line of a native question file (JSON Lines, UTF-8): a question about one exam, with its answer key.

    ``UNSET`` means that the record does not have the field. The field is then also left out when the record
    is written.
    """

    id: Annotated[
        str,
        _schema_meta(
            "Unique within the dataset.", minLength=1, maxLength=MAX_ID_LENGTH, pattern=r"^\S(.*\S)?$"
        ),
    ]
    exam: ExamRecord
    format: AnswerFormat
    stem: Annotated[str, _schema_meta(pattern=_NOT_BLANK)]
    options: Annotated[
        tuple[Annotated[str, _schema_meta(pattern=_NOT_BLANK)], ...] | UnsetType | None,
        _schema_meta("Texts without letters; none for closed and open questions.", maxItems=MAX_OPTIONS),
    ] = UNSET
    answer: Annotated[
        Annotated[
            tuple[Annotated[int, _schema_meta(**_OPTION_INDEX_RULES)], ...],
            _schema_meta(minItems=1, uniqueItems=True),
        ]
        | Annotated[str, _schema_meta(pattern=_NOT_BLANK)],
        _schema_meta(
            "The answer key: indices of the correct options, counted from 0, ascending; yes or no; or the "
            "text of an open answer."
        ),
    ]
    also_right: Annotated[
        tuple[
            Annotated[
                tuple[Annotated[int, _schema_meta(**_OPTION_INDEX_RULES)], ...], _schema_meta(minItems=1)
            ],
            ...,
        ]
        | UnsetType
        | None,
        _schema_meta("Other complete answers that are also correct: [[0], [2]] is A or C."),
    ] = UNSET
    explanation: Annotated[OptionalText, _schema_meta("Why the answer key is correct.")] = UNSET
    boxes: tuple[BoxRecord, ...] | UnsetType | None = UNSET
    box_grid: Annotated[
        tuple[Annotated[int, _schema_meta(minimum=1)], Annotated[int, _schema_meta(minimum=1)]]
        | UnsetType
        | None,
        _schema_meta("[width, height] of the pixel grid of the boxes, if it is not that of the image."),
    ] = UNSET
    box_fit: Annotated[
        Literal["letterbox", "stretch"] | UnsetType | None,
        _schema_meta(
            "How the image was scaled to box_grid: with its aspect ratio and centred padding, or stretched."
        ),
    ] = UNSET
    task: Task | UnsetType | None = UNSET
    content_type: Annotated[
        OptionalText, _schema_meta("The kind of question as named by the source, if it is none of the tasks.")
    ] = UNSET
    category: Annotated[OptionalText, _schema_meta("The clinical category.")] = UNSET
    subcategory: Annotated[OptionalText, _schema_meta("The clinical subcategory.")] = UNSET
    difficulty: Difficulty | UnsetType | None = UNSET
    report: Annotated[
        OptionalText,
        _schema_meta("The exam's report. It reveals the answer and is shown only if the batch allows it."),
    ] = UNSET
    source: SourceRecord | UnsetType | None = UNSET
    provenance: ProvenanceRecord | UnsetType | None = UNSET


#: Fields of a record that reveal neither the answer nor where to look for it. All other fields are withheld.
NON_REVEALING_FIELDS = frozenset({"id", "exam", "format", "stem", "options", "task", "difficulty", "source"})
#: Fields of a record that reveal the answer or where to look for it.
REVEALING_FIELDS = frozenset(QuestionRecord.__struct_fields__) - NON_REVEALING_FIELDS
#: The fields of the question itself, in the order of the record.
QUESTION_FIELDS = tuple(
    name
    for name in QuestionRecord.__struct_fields__
    if name not in {"id", "exam", "box_grid", "box_fit", "report", "source", "provenance"}
)


# ----------------------------------------------------------------------------------------- object and record
def question_to_record(
    question: Question,
    exam: ExamRecord | msgspec.Raw,
    *,
    report: str | None = None,
    provenance: Provenance | None = None,
) -> QuestionRecord:
    """Convert a question to its record; unknown and empty fields are left out.

    Args:
        question: the question, with boxes in pixels of the stored matrix or on grids.
        exam: the record of the exam, or its JSON if several questions share it.
        report: the exam's report if it is included; it reveals the answer.
        provenance: the origin of the question if it is included; it reveals the answer.

    Raises:
        InvalidValue: the boxes cannot be written on one grid.
    """
    source = question.source
    boxes = unify_grids(question.boxes)
    grid = boxes[0].grid if boxes else None
    return QuestionRecord(
        id=question.id,
        exam=exam,  # type: ignore[arg-type]  # raw JSON is written unchanged
        format=question.format,
        stem=question.stem,
        options=question.options or UNSET,
        answer=question.answer,
        also_right=question.also_right or UNSET,
        explanation=question.explanation or UNSET,
        boxes=tuple([box_to_record(box) for box in boxes]) or UNSET,
        box_grid=(grid.width, grid.height) if grid else UNSET,
        box_fit=grid.fit.value if grid else UNSET,
        task=question.task or UNSET,
        content_type=question.content_type or UNSET,
        category=question.category or UNSET,
        subcategory=question.subcategory or UNSET,
        difficulty=question.difficulty or UNSET,
        report=report or UNSET,
        source=UNSET if source == _NO_SOURCE else _source_to_record(source),
        provenance=provenance_to_record(provenance) if provenance else UNSET,
    )


def question_from_record(record: QuestionRecord) -> Question:
    """Convert a record to a question. The boxes stay on the grid of the record.

    Raises:
        InvalidValue: the question is not valid; the error contains the field and the reason.
    """
    source = record.source or SourceRecord()
    return Question(
        id=record.id,
        exam_id=record.exam.id,
        format=record.format,
        stem=record.stem,
        options=tuple(record.options or ()),
        answer=record.answer,
        also_right=record.also_right or (),
        explanation=record.explanation or "",
        boxes=tuple([_parse_box(box) for box in record.boxes or ()]),
        task=record.task or None,
        content_type=record.content_type or None,
        category=record.category or None,
        subcategory=record.subcategory or None,
        difficulty=record.difficulty or None,
        source=Source(
            generator=source.generator or None,
            version=source.version or None,
            prompt_version=source.prompt_version or None,
        ),
    )


_to_record = make_converter(QuestionRecord)


def question_from_plain(plain: object) -> Question:
    """Convert the plain JSON of a record, as in a release, to a question.

    Raises:
        InvalidValue: the record is not a valid question.
    """
    try:
        record = _to_record(plain)
    except msgspec.ValidationError as error:
        raise InvalidValue("record", str(error)) from error
    return question_from_record(record)


def exam_to_record(exam: Exam, files: Mapping[str, str]) -> ExamRecord:
    """Convert an exam to its part of a question's record, without the report.

    Args:
        exam: the exam of the question.
        files: the paths of image files by their SHA-256. Other radiographs keep the path that they have.
    """
    return ExamRecord(
        id=exam.id,
        patient=_unset_if_none(exam.patient),
        indication=_unset_if_none(exam.indication),
        age=_unset_if_none(exam.age),
        sex=_unset_if_none(exam.sex),
        radiographs=[_radiograph_to_record(radiograph, files) for radiograph in exam.radiographs],
    )


_NO_SOURCE = Source()
_T = TypeVar("_T")


def _unset_if_none(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value


def _radiograph_to_record(radiograph: Radiograph, files: Mapping[str, str]) -> RadiographRecord:
    return RadiographRecord(
        id=radiograph.id,
        file=files.get(radiograph.sha256 or "", radiograph.file),
        view=UNSET if radiograph.view is View.UNKNOWN else radiograph.view,
    )


def _source_to_record(source: Source) -> SourceRecord:
    return SourceRecord(
        generator=_unset_if_none(source.generator),
        version=_unset_if_none(source.version),
        prompt_version=_unset_if_none(source.prompt_version),
    )


def _parse_box(record: BoxRecord) -> Any:  # noqa: ANN401  # a LabelledBox
    try:
        return box_from_record(record)
    except InvalidValue as error:
        raise InvalidValue("boxes", error.reason) from None


# --------------------------------------------------------------------------------------------------- columns
#: The columns of the table ``question`` that contain the question's own fields. Lists are JSON text.
QUESTION_COLUMNS = (
    "key", "format", "stem", "options", "answer", "also_right", "explanation", "boxes", "task",
    "content_type", "category", "subcategory", "difficulty", "generator", "generator_version",
    "prompt_version",
)  # fmt: skip
_EMPTY_LIST = "[]"
# Cached, because there are few different values and many questions.
_parse_format, _parse_task, _parse_difficulty = cache(AnswerFormat), cache(Task), cache(Difficulty)
_NO_SOURCE_RECORD = SourceRecord()
# Returns the value of an enum member. The property ``value`` takes four times as long.
_get_id = attrgetter("_value_")


def records_to_table(records: Sequence[QuestionRecord]) -> dict[str, Sequence[Any]]:
    """Convert one or more records to columns."""
    values = zip(*map(msgspec.structs.astuple, records), strict=True)
    return dict(zip(QuestionRecord.__struct_fields__, values, strict=True))


def table_to_question_columns(table: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Convert the columns of records to the database columns of :data:`QUESTION_COLUMNS`, with plain values.

    Whole columns are converted, because one call per question would be slow for 1.6 million questions.
    """
    sources = [source or _NO_SOURCE_RECORD for source in table["source"]]
    return {
        "key": table["id"],
        "format": list(map(_get_id, table["format"])),
        "stem": table["stem"],
        "options": _to_json_column(table["options"]),
        "answer": to_json_lines(table["answer"]),
        "also_right": _to_json_column(table["also_right"]),
        "explanation": _to_text_column(table["explanation"], ""),
        "boxes": _to_json_column(table["boxes"]),
        "task": _to_id_column(table["task"]),
        "content_type": _to_text_column(table["content_type"]),
        "category": _to_text_column(table["category"]),
        "subcategory": _to_text_column(table["subcategory"]),
        "difficulty": _to_id_column(table["difficulty"]),
        "generator": [source.generator or None for source in sources],
        "generator_version": [source.version or None for source in sources],
        "prompt_version": [source.prompt_version or None for source in sources],
    }


def question_to_columns(question: Question) -> dict[str, Any]:
    """Convert one question to the values of :data:`QUESTION_COLUMNS`, by name."""
    record = question_to_record(replace(question, boxes=()), msgspec.Raw(b"{}"))
    columns = table_to_question_columns(records_to_table([record]))
    # Unlike a record, the column has the grid of each box.
    return {name: values[0] for name, values in columns.items()} | {
        "boxes": to_json(boxes_to_plain(question.boxes))
    }


def question_from_columns(exam_id: str, values: Sequence[Any]) -> Question:
    """Convert the values of :data:`QUESTION_COLUMNS`, in their order, to a question.

    ``exam_id`` is the exam's id in the file, not the id of its database row.
    """
    (
        key, format_, stem, options, answer, also_right, explanation, boxes, task, content_type, category,
        subcategory, difficulty, generator, version, prompt_version,
    ) = values  # fmt: skip
    return Question(
        id=key,
        exam_id=exam_id,
        format=_parse_format(format_),
        stem=stem,
        options=() if options == _EMPTY_LIST else tuple(from_json(options)),
        answer=_parse_answer(answer),
        also_right=() if also_right == _EMPTY_LIST else answers_from_json(also_right),
        explanation=explanation,
        boxes=() if boxes == _EMPTY_LIST else boxes_from_json(boxes),
        task=_parse_task(task) if task else None,
        content_type=content_type,
        category=category,
        subcategory=subcategory,
        difficulty=_parse_difficulty(difficulty) if difficulty else None,
        source=_make_source(generator, version, prompt_version),
    )


@lru_cache(maxsize=1_000)
def _make_source(generator: str | None, version: str | None, prompt_version: str | None) -> Source:
    return Source(generator=generator, version=version, prompt_version=prompt_version)


@lru_cache(maxsize=1_000)
def _parse_answer(text: str) -> Answer:
    return answer_from_json(text)


def _to_json_column(column: Sequence[Any]) -> list[str]:
    return to_json_lines(column if all(column) else [value or () for value in column])


def _to_text_column(column: Sequence[Any], default: str | None = None) -> Sequence[Any]:
    return column if all(column) else [value or default for value in column]


def _to_id_column(column: Sequence[Any]) -> list[str | None]:
    return (
        list(map(_get_id, column)) if all(column) else [choice.value if choice else None for choice in column]
    )
