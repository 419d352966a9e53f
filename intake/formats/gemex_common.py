"""Conversions of GEMeX's test and training files: ids, exams, answers, boxes on a 224 x 224 grid."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from domain.errors import InvalidValue
from domain.vocabulary import YES_NO, AnswerFormat
from intake.texts import option_index
from records.questions import ExamRecord, RadiographRecord
from records.values import BoxRecord

#: The grid of the boxes, from Chest ImaGenome. The image is letterboxed to it.
GRID = (224, 224)

_PATIENT, _STUDY = re.compile(r"p\d+"), re.compile(r"s\d+")


class IdGenerator:
    """Creates ids from the file's stem and the record's number.

    Numbers repeat within a file. In the order of the file, the second question with the same number gets the
    suffix "#2", the third "#3".
    """

    def __init__(self, file_stem: str) -> None:
        """``file_stem`` is the beginning of each id. Use a new object for each pass over a file."""
        self._stem = file_stem
        self._counts: Counter[str] = Counter()

    def next_id(self, number: object) -> str:
        key = f"{self._stem}-{number}"
        self._counts[key] += 1
        return key if self._counts[key] == 1 else f"{key}#{self._counts[key]}"


def parse_exam(image_path: str) -> ExamRecord:
    """Return the exam of an image path such as "p10/p10000032/s50414267/02aa804e.jpg".

    The exam is the study and has one radiograph. If several folders look like a patient's, the last one
    counts (the first contains many patients).

    Raises:
        InvalidValue: the path does not name a file.
    """
    path = PurePosixPath(image_path.strip())
    if not path.name:
        raise InvalidValue("image_path", f"does not name a file: {image_path!r}")
    folders = path.parts[:-1]
    patient = next((part for part in reversed(folders) if _PATIENT.fullmatch(part)), None)
    study = next((part for part in reversed(folders) if _STUDY.fullmatch(part)), None)
    return ExamRecord(
        id=study or str(path.with_suffix("")),
        radiographs=[RadiographRecord(id=path.stem, file=str(path))],
        patient=patient,
    )


def parse_closed_answer(answer: str) -> str:
    """Convert a closed answer such as "No." to "no".

    Raises:
        InvalidValue: the answer is neither yes nor no.
    """
    normalised = answer.strip().rstrip(".").casefold()
    if normalised not in YES_NO:
        raise InvalidValue("answer", f"of a closed question must be yes or no, not {answer!r}")
    return normalised


def parse_option_indices(answer: list[str] | str, letters: list[str]) -> tuple[int, ...]:
    """Return the sorted indices of the options that an answer names.

    Accepts "C", ["A", "B"], "['A', 'B']", "[A, B]" and "A, B".

    Raises:
        InvalidValue: a letter does not name an option or occurs twice, or there is no letter.
    """
    if isinstance(answer, str):
        answer = (
            [part for part in re.split(r"[\s,'\"\[\]]+", answer) if part]
            if "," in answer or "[" in answer
            else [answer]
        )
    indices = sorted(option_index(letter, letters) for letter in answer)
    if not indices:
        raise InvalidValue("answer", "must be one of the options")
    if len(set(indices)) != len(indices):
        raise InvalidValue("answer", f"names an option twice: {answer}")
    return tuple(indices)


def parse_boxes(
    locations: list[list[float]], regions: list[str] | None, radiograph: str
) -> tuple[BoxRecord, ...]:
    """Convert locations [x1, y1, x2, y2] on the grid to boxes, labelled by the regions.

    ``regions`` is None for training files, which have no labels.

    Raises:
        InvalidValue: a location does not have four numbers, or there are not as many regions as locations.
    """
    locations = [location for location in locations if location]
    if regions is not None and len(regions) != len(locations):
        raise InvalidValue("visual_regions", f"names {len(regions)} regions for {len(locations)} locations")
    boxes = []
    for index, location in enumerate(locations):
        if len(location) != 4:
            raise InvalidValue("visual_locations", f"{location} is not x1, y1, x2, y2")
        x_min, y_min, x_max, y_max = location
        label = regions[index].strip() if regions else ""
        boxes.append(BoxRecord(radiograph=radiograph, label=label, box=(x_min, y_min, x_max, y_max)))
    return tuple(boxes)


def detect_format(text: str) -> AnswerFormat | None:
    """Return the answer format that a file name, `type` or `q_type` names ("closed_ended_questions").

    Return None if the text names no format or several.
    """
    normalised = text.casefold()
    words = (
        ("closed", AnswerFormat.CLOSED),
        ("single", AnswerFormat.SINGLE),
        ("multi", AnswerFormat.MULTIPLE),
        ("open", AnswerFormat.OPEN),
    )
    matches = [answer_format for word, answer_format in words if word in normalised]
    return matches[0] if len(matches) == 1 else None
