"""Conversions that GEMeX's test and training files share: ids, exams, answers, boxes on a 224 grid."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from domain.errors import InvalidValue
from domain.vocabulary import YES_NO, AnswerFormat
from intake.texts import option_index
from records.questions import ExamRecord, RadiographRecord
from records.values import BoxRecord

#: Chest ImaGenome's grid of the boxes; the image is letterboxed to it.
GRID = (224, 224)

_PATIENT, _STUDY = re.compile(r"p\d+"), re.compile(r"s\d+")


class IdGenerator:
    """Makes ids from the file's stem and the record's number.

    Numbers repeat within a file, so the second question with a number gets "#2", the third "#3", in the order
    of the file.
    """

    def __init__(self, file_stem: str) -> None:
        """One object is for one pass over one file."""
        self._stem = file_stem
        self._counts: Counter[str] = Counter()

    def next_id(self, number: object) -> str:
        key = f"{self._stem}-{number}"
        self._counts[key] += 1
        return key if self._counts[key] == 1 else f"{key}#{self._counts[key]}"


def parse_exam(image_path: str) -> ExamRecord:
    """The exam of an image path such as "p10/p10000032/s50414267/02aa804e.jpg": one study, one radiograph.

    If several folders look like a patient's, the last one counts (the first contains many patients).

    Raises:
        InvalidValue: it names no file.
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
        InvalidValue: it is neither yes nor no.
    """
    normalised = answer.strip().rstrip(".").casefold()
    if normalised not in YES_NO:
        raise InvalidValue("answer", f"of a closed question must be yes or no, not {answer!r}")
    return normalised


def parse_option_indices(answer: list[str] | str, letters: list[str]) -> tuple[int, ...]:
    """The indices of the options that an answer names, sorted.

    Accepts "C", ["A", "B"], "['A', 'B']", "[A, B]" and "A, B".

    Raises:
        InvalidValue: a letter that is no option, no letter, or the same one twice.
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
    """Boxes [x1, y1, x2, y2] on the grid, labelled by the regions beside them; training files name none.

    Raises:
        InvalidValue: a location is not four numbers, or the number of regions differs from that of locations.
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
    """The answer format that a file name, `type` or `q_type` names ("closed_ended_questions"), if any."""
    normalised = text.casefold()
    words = (
        ("closed", AnswerFormat.CLOSED),
        ("single", AnswerFormat.SINGLE),
        ("multi", AnswerFormat.MULTIPLE),
        ("open", AnswerFormat.OPEN),
    )
    matches = [answer_format for word, answer_format in words if word in normalised]
    return matches[0] if len(matches) == 1 else None
