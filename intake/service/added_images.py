"""Gives exams that were imported without images the images of a later import.

Boxes of their questions are converted from the grid of their file to pixels of the image. Exams with a
question in a batch, a study or a release get no images, because people may have judged that question without
images.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.boxes import LabelledBox
from domain.checks import CHECKS_READING_BOXES
from domain.errors import InvalidValue
from domain.people import Person
from intake.exams import ExamState, RadiographState
from intake.rules import check_one_unit, map_to_image
from records.values import boxes_from_json, boxes_to_plain, to_json
from storage.intake.box_corrections import (
    QuestionFacts,
    find_used_questions,
    load_questions_of_exams,
    write_boxes,
)
from storage.intake.bulk import set_radiograph_images
from storage.quality.check_states import restart_checks
from storage.sampling.frames import lock_dataset


class AddedImages:
    """The images that one import adds to exams in the database, batch by batch.

    ``questions`` counts the questions whose boxes changed.
    """

    def __init__(
        self, db: Session, *, dataset_id: int, by: Person, import_id: int, file: str, now: datetime
    ) -> None:
        """``file`` is the name of the imported file, and ``by`` the person who imports it."""
        self._db, self._dataset_id = db, dataset_id
        self._by, self._now, self._import = by, now, {"import": import_id, "file": file}
        self._is_locked = False
        self._questions: dict[int, list[QuestionFacts]] = {}
        self._used: set[int] = set()
        self._images: dict[tuple[int, str], RadiographState] = {}
        self._exam_keys: dict[int, str] = {}
        self._boxes: dict[int, tuple[LabelledBox, ...]] = {}
        self._old_boxes: dict[int, tuple[LabelledBox, ...]] = {}
        self._exam_ids: set[int] = set()
        self.questions = 0

    @property
    def exams(self) -> int:
        """The number of exams that got an image."""
        return len(self._exam_ids)

    def load(self, exam_ids: Collection[int]) -> None:
        """Load the questions of the exams without images that the next batch names."""
        self._questions, self._used = {}, set()
        if not exam_ids:
            return
        if not self._is_locked:  # no draw and no new study may use the questions meanwhile
            lock_dataset(self._db, dataset_id=self._dataset_id)
            self._is_locked = True
        for question in load_questions_of_exams(self._db, exam_ids=sorted(exam_ids)):
            self._questions.setdefault(question.exam_id, []).append(question)
        numbers = [question.number for questions in self._questions.values() for question in questions]
        self._used = find_used_questions(self._db, numbers=numbers)

    def add(self, known: ExamState, merged: ExamState) -> None:
        """Add the images that ``merged`` has and ``known``, the exam in the database, lacks.

        Raises:
            InvalidValue: a question of the exam is in use, or a box exceeds its image.
        """
        images = {
            name: radiograph
            for name, radiograph in merged.radiographs.items()
            if radiograph.sha256 and name in known.radiographs and not known.radiographs[name].sha256
        }
        if not images or known.number is None:
            return
        questions = self._questions.get(known.number, [])
        used = next((question.key for question in questions if question.number in self._used), None)
        if used is not None:
            raise InvalidValue(
                "exam.radiographs.file",
                f"exam {known.key} was imported without images, and its question {used!r} is in a batch, a "
                "study or a release; import the file with its images into another dataset",
            )
        old_boxes, boxes = {}, {}
        for question in questions:
            old = boxes_from_json(question.boxes)
            try:
                new = tuple(_convert_box(box, merged.radiographs) for box in old)
                check_one_unit(box.grid is None for box in new)
            except InvalidValue as error:
                raise InvalidValue("boxes", f"of question {question.key!r}: {error.reason}") from None
            if new != old:
                old_boxes[question.number], boxes[question.number] = old, new
        self._exam_ids.add(known.number)
        self._exam_keys[known.number] = known.key
        self._images |= {(known.number, name): radiograph for name, radiograph in images.items()}
        self._old_boxes |= old_boxes
        self._boxes |= boxes

    def write(self) -> None:
        """Write and record the images and boxes added since the last call."""
        set_radiograph_images(
            self._db,
            images=[
                {"exam": exam_id, "name": name, "new_sha256": image.sha256, "new_view": image.view}
                for (exam_id, name), image in self._images.items()
            ],
        )
        plain_boxes = {number: boxes_to_plain(boxes) for number, boxes in self._boxes.items()}
        write_boxes(self._db, boxes={number: to_json(boxes) for number, boxes in plain_boxes.items()})
        files_by_exam: dict[int, dict[str, str]] = {}
        for (exam_id, name), image in self._images.items():
            files_by_exam.setdefault(exam_id, {})[name] = image.file
        for exam_id, radiographs in files_by_exam.items():
            new = {"exam": self._exam_keys[exam_id], "radiographs": radiographs}
            self._record("add images", f"exam {exam_id}", new)
        for number, boxes in plain_boxes.items():
            old = boxes_to_plain(self._old_boxes[number])
            self._record("convert boxes", f"question {number}", {"boxes": boxes}, old=old)
        if self._exam_keys:
            restart_checks(self._db, dataset_id=self._dataset_id, checks=CHECKS_READING_BOXES)
        self.questions += len(self._boxes)
        self._images, self._exam_keys, self._boxes, self._old_boxes = {}, {}, {}, {}

    def _record(
        self, action_name: str, subject: str, new: Mapping[str, object], *, old: object = None
    ) -> None:
        record_action(
            self._db,
            by=self._by,
            action=action_name,
            subject=subject,
            old=old,
            new={**self._import, **new},
            now=self._now,
        )


def _convert_box(box: LabelledBox, radiographs: Mapping[str, RadiographState]) -> LabelledBox:
    """Return the box in pixels of its image; unchanged without an image.

    Raises:
        InvalidValue: the box exceeds the image.
    """
    image = radiographs[box.radiograph]
    if image.rows is None or image.columns is None:
        return box
    mapped = map_to_image(box.box, grid=box.grid, rows=image.rows, columns=image.columns)
    return LabelledBox(radiograph=box.radiograph, label=box.label, box=mapped)
