"""Reads records as a mapping declares and converts them to native records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.questions import Answer
from domain.vocabulary import YES_NO, AnswerFormat, Difficulty, Task
from intake.formats.views import parse_view
from intake.mapping.declaration import AnswerRule, AnswerSpec, BoxRule, Mapping, Rule, RuleSpec
from intake.mapping.lines import find_line
from intake.mapping.paths import parse_path
from intake.mapping.rules import JoinedRows, RecordValues, apply_rules, matches_conditions
from intake.record_files import split_member_name
from intake.strict_json import decode
from intake.texts import none_if_unknown, option_index, parse_list, split_option_letters
from records.questions import ExamRecord, QuestionRecord, RadiographRecord, SourceRecord
from records.values import BoxRecord

_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_LIST_TEXT = re.compile(r"\s*\[.*\]\s*", re.DOTALL)
_SEPARATORS = re.compile(r"\s*[,;|&]\s*|\s+and\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedReport:
    """A record of a table of reports. ``labels`` are the names of findings that are present."""

    exam: ExamRecord
    text: str
    labels: tuple[str, ...]


class MappingReader:
    """Converts the records of one file by a mapping. Records that the filter excludes give None."""

    def __init__(self, mapping: Mapping, file_stem: str, joined: JoinedRows) -> None:
        """``file_stem`` is the file name without extension; ``joined`` are the rows of the second files."""
        self._content, self._fields = mapping.content, mapping.content.fields
        self._locate = lru_cache(maxsize=64)(partial(_locate_values, mapping))
        self._file_stem, self._joined = file_stem, joined

    def read(self, name: int | str, raw: bytes) -> QuestionRecord | None:
        """Convert a record.

        Args:
            name: the name of the record: its line, index or key.
            raw: the bytes of the record.

        Raises:
            InvalidValue: the record is not valid.
        """
        values = self._read_values(name, raw)
        return None if values is None else self._build(values)

    def read_report(self, name: int | str, raw: bytes) -> MappedReport | None:
        """Convert a record of a table of reports; see :meth:`read`."""
        values = self._read_values(name, raw)
        if values is None:
            return None
        return MappedReport(
            exam=self._build_exam(values),
            text=self._read_optional("report", values) or "",
            labels=tuple(self._read_list(self._fields.labels, values, "labels")),
        )

    def _read_values(self, name: int | str, raw: bytes) -> RecordValues | None:
        """Return the values of a record; None if the filter excludes it."""
        member = split_member_name(name) if isinstance(name, str) else None
        file_stem, number = member or (self._file_stem, str(name))
        record = decode(raw, _decoder)
        if not isinstance(record, dict | list):
            raise InvalidValue("record", "must be an object with a member for each column")
        values = RecordValues(
            record=record,
            variables={"$file": file_stem, "$number": number, "$key": str(name)},
            content=self._content,
            joined=self._joined,
            locate=self._locate,
        )
        if self._content.where and not matches_conditions(self._content.where, values):
            return None
        return values

    def _build_exam(self, values: RecordValues) -> ExamRecord:
        images = self._read_list(self._fields.images, values, "images")
        if not images:
            raise InvalidValue("images", "is empty; a record needs the name of an image")
        return ExamRecord(
            id=self._read_text("exam", values) or str(PurePosixPath(images[0]).with_suffix("")),
            radiographs=_build_radiographs(images, self._read_list(self._fields.views, values, "views")),
            patient=self._read_optional("patient", values),
            indication=self._read_optional("indication", values),
            age=self._read_optional("age", values),
            sex=self._read_optional("sex", values),
        )

    def _build(self, values: RecordValues) -> QuestionRecord:
        exam = self._build_exam(values)
        letters, options = split_option_letters(self._read_list(self._fields.options, values, "options"))
        if options:
            _refuse_gap(self._fields.options, values)
        stated_format = self._read_text("format", values)
        answer_format, answer = self._read_answer(values, stated_format, letters, options)
        boxes, grid = self._read_boxes(values, exam.radiographs[0].id)
        task, difficulty = self._read_text("task", values), self._read_text("difficulty", values)
        return QuestionRecord(
            id=self._read_text("id", values) or _default_id(values),
            exam=exam,
            format=answer_format,
            stem=self._read_text("stem", values) or "",
            options=tuple(options) if answer_format.has_options else (),
            answer=answer,
            explanation=self._read_optional("explanation", values),
            boxes=boxes,
            box_grid=grid[0] if grid else None,
            box_fit=grid[1] if grid else None,  # type: ignore[arg-type]  # one of the two names
            task=_parse_choice(Task, task, "task"),
            content_type=self._read_optional("content_type", values),
            category=self._read_optional("category", values),
            subcategory=self._read_optional("subcategory", values),
            difficulty=_parse_choice(Difficulty, difficulty, "difficulty"),
            report=self._read_optional("report", values),
            source=SourceRecord(
                generator=self._read_optional("generator", values),
                version=self._read_optional("generator_version", values),
                prompt_version=self._read_optional("prompt_version", values),
            ),
        )

    def _read_list(self, spec: Any, values: RecordValues, name: str) -> list[str]:  # noqa: ANN401  # a RuleSpec
        texts = apply_rules(spec, values, name)
        if len(texts) == 1 and _LIST_TEXT.fullmatch(texts[0]):
            return [item.strip() for item in parse_list(texts[0], name) if item and item.strip()]
        return texts

    def _read_text(self, name: str, values: RecordValues) -> str | None:
        texts = apply_rules(getattr(self._fields, name), values, name)
        if len(texts) > 1:
            raise InvalidValue(name, f"has {len(texts)} values; choose one, or join them: join = ' '")
        return texts[0] if texts else None

    def _read_optional(self, name: str, values: RecordValues) -> str | None:
        return none_if_unknown(self._read_text(name, values))

    def _read_answer(
        self, values: RecordValues, stated_format: str | None, letters: list[str], options: list[str]
    ) -> tuple[AnswerFormat, Answer]:
        texts = apply_rules(self._fields.answer, values, "answer")
        if not texts:
            raise InvalidValue("answer", _explain_no_answer(self._fields.answer, values))
        answer_format = _parse_choice(AnswerFormat, stated_format, "format")
        if answer_format is None and not options:
            is_closed = len(texts) == 1 and _fold(texts[0]) in YES_NO
            answer_format = AnswerFormat.CLOSED if is_closed else AnswerFormat.OPEN
        if answer_format is None or answer_format.has_options:
            indices = self._find_options(texts, letters, options)
            if answer_format is None:
                answer_format = AnswerFormat.SINGLE if len(indices) == 1 else AnswerFormat.MULTIPLE
            return answer_format, indices
        text = ", ".join(texts)
        if answer_format is AnswerFormat.CLOSED:
            if _fold(text) not in YES_NO:
                raise InvalidValue("answer", f"of a closed question must be yes or no, not {text[:80]!r}")
            return answer_format, _fold(text)
        return answer_format, text

    def _find_options(self, texts: list[str], letters: list[str], options: list[str]) -> tuple[int, ...]:
        rules = self._fields.answer if isinstance(self._fields.answer, list) else [self._fields.answer]
        notation = next((rule.as_ for rule in rules if isinstance(rule, AnswerRule) and rule.as_), None)
        folded_options = [_fold(option) for option in options]
        if len(texts) == 1 and _LIST_TEXT.fullmatch(texts[0]):
            texts = [part for part in re.split(r"[\s,'\"\[\]]+", texts[0]) if part]
        elif len(texts) == 1 and notation != "text" and _fold(texts[0]) not in folded_options:
            texts = _split_answer(texts[0])
        indices = sorted({_find_option(text, notation, letters, folded_options) for text in texts})
        if len(indices) != len(texts):
            raise InvalidValue("answer", f"names an option twice: {texts}")
        return tuple(indices)

    def _read_boxes(
        self, values: RecordValues, radiograph: str
    ) -> tuple[tuple[BoxRecord, ...] | None, tuple[tuple[int, int], str] | None]:
        spec = self._fields.boxes
        if spec is None:
            return None, None
        rule = BoxRule(from_=spec) if isinstance(spec, str) else spec
        corners = _read_corners(values, rule)
        labels = apply_rules(rule.labels, values, "boxes.labels") if rule.labels else []
        if rule.labels and len(labels) != len(corners):
            raise InvalidValue("boxes.labels", f"names {len(labels)} labels for {len(corners)} boxes")
        boxes = tuple(
            BoxRecord(radiograph=radiograph, label=labels[index] if labels else "", box=box)
            for index, box in enumerate(corners)
        )
        return boxes or None, (rule.grid, rule.fit) if rule.grid and boxes else None


def _locate_values(mapping: Mapping, name: str) -> str:
    keys = tuple(name.split(".")) if name.startswith("columns.") else ("fields", name)
    return f"{mapping.file_name}, line {find_line(mapping.text, (*keys, 'values'))}"


def _refuse_gap(spec: RuleSpec | None, values: RecordValues) -> None:
    """Refuse an empty column before a filled one: the letters of the options after it would be wrong.

    Raises:
        InvalidValue: there is such a column.
    """
    if not isinstance(spec, Rule) or not isinstance(spec.from_, list):
        return
    empty_column = ""
    for column in spec.from_:
        if not values.find_text(column):
            empty_column = empty_column or column
        elif empty_column:
            gap = f"{parse_path(empty_column).text!r} is empty, but {parse_path(column).text!r} is not"
            raise InvalidValue("options", f"{gap}; the letters of the options would be wrong")


def _explain_no_answer(spec: AnswerSpec | None, values: RecordValues) -> str:
    """Explain why a record has no answer: its columns are empty, or no rule accepts their values."""
    rules = spec if isinstance(spec, list) else [spec] if spec is not None else []
    sources = [rule if isinstance(rule, str) else rule.from_ for rule in rules]
    paths = [
        path for source in sources if source for path in ([source] if isinstance(source, str) else source)
    ]
    text = next(filter(None, map(values.find_text, paths)), "")
    return f"no rule of the mapping accepts {text[:80]!r}" if text else "is empty"


def _default_id(values: RecordValues) -> str:
    return f"{values.variables['$file']}-{values.variables['$number']}"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _split_answer(text: str) -> list[str]:
    """Split an answer such as "A, C", "A|C" or "A and C" into letters. Other texts are not split."""
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    return parts if len(parts) > 1 and all(len(part.strip("().")) <= 2 for part in parts) else [text]


def _find_option(text: str, notation: str | None, letters: list[str], folded_options: list[str]) -> int:
    """Return the index of the option that one part of an answer names."""
    if notation in (None, "text") and folded_options.count(_fold(text)) == 1:
        return folded_options.index(_fold(text))
    if notation == "text":
        raise InvalidValue("answer", f"{text[:80]!r} is not the text of exactly one option")
    if notation in ("index", "number"):
        if not text.isdecimal():
            raise InvalidValue("answer", f"{text[:80]!r} is not a number; as = {notation!r} needs one")
        index = int(text) - (notation == "number")
        if not 0 <= index < len(folded_options):
            counted = "from 1" if notation == "number" else "from 0"
            raise InvalidValue(
                "answer", f"{text} is not an option; there are {len(folded_options)}, counted {counted}"
            )
        return index
    if notation is None and text.isdecimal():
        raise InvalidValue(
            "answer", f"{text} may count options from 0 or from 1; write as = 'index' or as = 'number'"
        )
    return option_index(text, letters)


def _parse_choice(kind: Any, text: str | None, name: str) -> Any:  # noqa: ANN401  # a Choice
    if not text:
        return None
    if text.casefold() not in set(kind):
        raise InvalidValue(
            name, f"{text[:80]!r} must be one of {', '.join(kind)}; add a table of values to the mapping"
        )
    return kind(text.casefold())


def _build_radiographs(images: list[str], views: list[str]) -> list[RadiographRecord]:
    if views and len(views) != len(images):
        raise InvalidValue("views", f"has {len(views)} entries for {len(images)} images")
    stems = [PurePosixPath(image).stem for image in images]
    ids = stems if len(set(stems)) == len(stems) else images
    return [
        RadiographRecord(id=ids[index], file=image, view=parse_view(views[index] if views else None).value)
        for index, image in enumerate(images)
    ]


def _read_corners(values: RecordValues, rule: BoxRule) -> list[tuple[float, float, float, float]]:
    paths = [rule.from_] if isinstance(rule.from_, str) else rule.from_
    cells: list[Any] = []
    for path in paths:
        for value in values.find(path):
            is_text = isinstance(value, str) and _LIST_TEXT.fullmatch(value)
            cells.append(msgspec.json.decode(value) if is_text else value)
    numbers: list[float] = []
    _collect_numbers(cells, numbers)
    if len(numbers) % 4:
        raise InvalidValue("boxes", f"{len(numbers)} numbers do not make boxes of four")
    boxes = [tuple(numbers[start : start + 4]) for start in range(0, len(numbers), 4)]
    if rule.corners == "xywh":
        return [(left, top, left + width, top + height) for left, top, width, height in boxes]
    return [(left, top, right, bottom) for left, top, right, bottom in boxes]


def _collect_numbers(value: Any, numbers: list[float]) -> None:  # noqa: ANN401  # any JSON value
    if isinstance(value, list):
        for item in value:
            _collect_numbers(item, numbers)
    elif isinstance(value, str):
        if value.strip():
            try:
                numbers.append(float(value))
            except ValueError:
                raise InvalidValue("boxes", f"{value[:60]!r} is not a number") from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        numbers.append(float(value))
    elif value is not None:
        raise InvalidValue("boxes", "is not a list of four numbers, or of such lists")
