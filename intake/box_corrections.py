"""Plans new boxes of existing questions from an annotation file.

An annotation belongs to the question whose id it states, or to all questions on its image. An image is found
by its path, by the hash that releases use as its name, by its file name (without the prefix of Label Studio's
uploads), or by its file name without extension. A name that fits several radiographs is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import PurePosixPath

from domain.boxes import BoxGrid, LabelledBox, unify_grids
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.problems import Refusal
from intake.annotation_files import AnnotatedBox
from intake.rules import check_on_grid, map_to_image

_UPLOAD_PREFIX = re.compile(r"^[0-9a-f]{8}-")
_WORD = re.compile(r"\w+")


class BoxMatch(StrEnum):
    """How boxes find their questions."""

    AUTO = "auto"  # by question where the file states one, otherwise by image
    QUESTION = "question"
    IMAGE = "image"


class BoxLabels(StrEnum):
    """Which boxes of an image a question gets. Boxes matched by question always go to that question."""

    MENTIONED = "mentioned"  # those whose label occurs in stem, options or category
    ALL = "all"


class BoxExclusion(StrEnum):
    """Why a question with boxes in the file is not changed."""

    UNCHANGED = "has these boxes already"
    HAS_BOXES = "has other boxes; choose to replace them"
    IN_USE = "is in a batch, a study or a release; correct its boxes in the review"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRadiograph:
    """A radiograph of a dataset. Hash and size are None if its image was not imported."""

    exam_id: int
    exam: str
    key: str
    file: str
    sha256: str | None
    rows: int | None
    columns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetQuestion:
    """A question that may get boxes. ``text`` has stem, options and category."""

    number: int
    key: str
    exam_id: int
    text: str
    boxes: tuple[LabelledBox, ...]
    is_used: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxChange:
    """The boxes of one question before and after."""

    number: int
    key: str
    before: tuple[LabelledBox, ...]
    after: tuple[LabelledBox, ...]

    def describe(self) -> tuple[str, str]:
        """Return the boxes before and after as texts."""
        return _describe_boxes(self.before), _describe_boxes(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxPlan:
    """What a file changes: the changes, the ids of unchanged questions by reason, and the refused boxes.

    ``boxes`` counts the readable boxes in the file, ``without_question`` the boxes, not refused, that no
    question gets.
    """

    boxes: int
    changes: tuple[BoxChange, ...]
    excluded: Mapping[BoxExclusion, tuple[str, ...]]
    without_question: int
    refusals: tuple[Refusal, ...]

    def hash_changes(self) -> str:
        """Return a hash of the changes and of the refused boxes."""
        return hashlib.sha256(repr((self.changes, self.refusals)).encode()).hexdigest()

    def describe(self, file: str) -> list[str]:
        """Return sentences: the numbers of boxes and changes in a file, then what is not changed and why."""
        boxes_text = count_text(self.boxes, "box", "boxes")
        questions_text = count_text(len(self.changes), "question")
        sentences = [f"{boxes_text} in {file}; {questions_text} would change."]
        for reason, keys in self.excluded.items():
            listed = ", ".join(keys[:5]) + (", …" if len(keys) > 5 else "")
            sentences.append(f"Not changed: {count_text(len(keys), 'question')}. Each {reason}: {listed}.")
        if self.without_question:
            without_question_text = count_text(self.without_question, "box", "boxes")
            sentences.append(f"{without_question_text} without a question that mentions the label.")
        return sentences


class RadiographIndex:
    """Finds radiographs by the names of images in annotation files."""

    def __init__(self, radiographs: Iterable[TargetRadiograph]) -> None:
        self._indexes: tuple[defaultdict[str, list[TargetRadiograph]], ...] = tuple(
            defaultdict(list) for _ in range(4)
        )
        paths, hashes, names, stems = self._indexes
        self._by_exam = defaultdict[int, list[TargetRadiograph]](list)
        for radiograph in radiographs:
            path = PurePosixPath(radiograph.file)
            paths[radiograph.file].append(radiograph)
            names[path.name].append(radiograph)
            stems[path.stem].append(radiograph)
            if radiograph.sha256:
                hashes[radiograph.sha256].append(radiograph)
            self._by_exam[radiograph.exam_id].append(radiograph)

    def find(self, image: str, *, exam_id: int | None = None) -> TargetRadiograph:
        """Return the radiograph with that image, from one exam or from all exams.

        Raises:
            InvalidValue: no radiograph has the image, or several have it.
        """
        paths, hashes, names, stems = self._indexes
        path = PurePosixPath(image.partition("?")[0].replace("\\", "/"))
        plain_name = _UPLOAD_PREFIX.sub("", path.name)
        candidates = (
            paths[str(path)], hashes[path.stem], names[path.name], names[plain_name], stems[path.stem],
            stems[PurePosixPath(plain_name).stem],
        )  # fmt: skip
        for radiographs in candidates:
            matches = [radiograph for radiograph in radiographs if exam_id in (None, radiograph.exam_id)]
            if len(matches) > 1:
                exams = ", ".join(sorted({radiograph.exam for radiograph in matches})[:3])
                raise InvalidValue(
                    "image", f"{image!r} fits several radiographs, of exam {exams}. Give its path"
                )
            if matches:
                return matches[0]
        if exam_id is not None and len(self._by_exam[exam_id]) == 1:
            return self._by_exam[exam_id][0]
        raise InvalidValue(
            "image", f"the dataset has no radiograph {image!r}" + " of this question" * (exam_id is not None)
        )


def plan_boxes(
    annotations: Iterable[AnnotatedBox | InvalidValue],
    *,
    radiographs: RadiographIndex,
    questions_by_key: Mapping[str, TargetQuestion],
    questions_by_exam: Mapping[int, Sequence[TargetQuestion]],
    match: BoxMatch,
    labels: BoxLabels,
    replace: bool,
) -> BoxPlan:
    """Plan the changes; nothing is written.

    Args:
        annotations: the boxes of the file.
        radiographs: the radiographs of the dataset.
        questions_by_key: the questions whose ids the file states.
        questions_by_exam: the questions of the exams whose images the file states.
        match: how boxes find their questions.
        labels: which boxes of an image a question gets.
        replace: whether existing boxes on the annotated radiographs are replaced.
    """
    find_targets = partial(
        _find_targets,
        radiographs=radiographs,
        questions_by_key=questions_by_key,
        questions_by_exam=questions_by_exam,
        match=match,
        labels=labels,
    )
    box_count = without_question = 0
    refusals: list[Refusal] = []
    boxes_by_question: dict[int, list[LabelledBox]] = {}
    targets: dict[int, TargetQuestion] = {}
    for annotation in annotations:
        if isinstance(annotation, InvalidValue):
            refusals.append(_refuse("", annotation))
            continue
        box_count += 1
        try:
            question_boxes = list(find_targets(annotation))
        except InvalidValue as error:
            refusals.append(_refuse(annotation.name, error))
            continue
        without_question += not question_boxes
        for question, box in question_boxes:
            targets[question.number] = question
            boxes_by_question.setdefault(question.number, []).append(box)
    changes: list[BoxChange] = []
    excluded: dict[BoxExclusion, list[str]] = {}
    for number, question in sorted(targets.items()):
        new_boxes = tuple(dict.fromkeys(boxes_by_question[number]))
        annotated_radiographs = {box.radiograph for box in new_boxes}
        kept = tuple(box for box in question.boxes if box.radiograph not in annotated_radiographs)
        after = (*kept, *new_boxes)
        reason: BoxExclusion | None = None
        if set(after) == set(question.boxes):
            reason = BoxExclusion.UNCHANGED
        elif question.is_used:
            reason = BoxExclusion.IN_USE
        elif not set(question.boxes) <= set(after) and not replace:
            reason = BoxExclusion.HAS_BOXES
        if reason is not None:
            excluded.setdefault(reason, []).append(question.key)
            continue
        try:
            unify_grids(after)
        except InvalidValue as error:
            refusals.append(_refuse(f"question {question.key}", error))
        else:
            changes.append(BoxChange(number=number, key=question.key, before=question.boxes, after=after))
    return BoxPlan(
        boxes=box_count,
        changes=tuple(changes),
        excluded={reason: tuple(keys) for reason, keys in excluded.items()},
        without_question=without_question,
        refusals=tuple(refusals),
    )


def _find_targets(
    annotation: AnnotatedBox,
    *,
    radiographs: RadiographIndex,
    questions_by_key: Mapping[str, TargetQuestion],
    questions_by_exam: Mapping[int, Sequence[TargetQuestion]],
    match: BoxMatch,
    labels: BoxLabels,
) -> Iterator[tuple[TargetQuestion, LabelledBox]]:
    """Yield the questions that get the box, each with the box on its radiograph."""
    is_matched_by_question = match is BoxMatch.QUESTION or (
        match is BoxMatch.AUTO and annotation.question_id is not None
    )
    if is_matched_by_question:
        question = questions_by_key.get(annotation.question_id or "")
        if question is None:
            raise InvalidValue(
                "question_id",
                f"the dataset has no question {annotation.question_id!r}"
                if annotation.question_id
                else "is missing; match by image instead",
            )
        radiograph = radiographs.find(annotation.image, exam_id=question.exam_id)
        yield question, _to_labelled_box(annotation, radiograph)
        return
    radiograph = radiographs.find(annotation.image)
    box = _to_labelled_box(annotation, radiograph)
    for question in questions_by_exam.get(radiograph.exam_id, ()):
        if labels is BoxLabels.ALL or is_mentioned(annotation.label, question.text):
            yield question, box


def is_mentioned(label: str, text: str) -> bool:
    """Whether the words of a label occur in a text, one after the other; case is ignored.

    >>> is_mentioned("Pleural_Effusion", "Is there a pleural effusion?")
    True
    """
    label_words, text_words = (_WORD.findall(part.replace("_", " ").casefold()) for part in (label, text))
    size = len(label_words)
    return size > 0 and any(
        text_words[start : start + size] == label_words for start in range(len(text_words) - size + 1)
    )


def _to_labelled_box(annotation: AnnotatedBox, radiograph: TargetRadiograph) -> LabelledBox:
    """Convert a box to pixels of the radiograph; without an image it stays on the grid of the file.

    Raises:
        InvalidValue: the box exceeds the image, or the image in the file has another shape.
    """
    box, grid = annotation.box, annotation.grid
    if radiograph.rows is None or radiograph.columns is None:
        if grid is not None:
            check_on_grid(box, grid=grid)
    else:
        _check_shape(grid, rows=radiograph.rows, columns=radiograph.columns)
        box = map_to_image(box, grid=grid, rows=radiograph.rows, columns=radiograph.columns)
        grid = None
    return LabelledBox(radiograph=radiograph.key, label=annotation.label, box=box, grid=grid)


def _check_shape(grid: BoxGrid | None, *, rows: int, columns: int) -> None:
    if grid is None or grid.width == grid.height == 100:  # Label Studio's percent
        return
    if abs(grid.width * rows / columns - grid.height) > 1:
        raise InvalidValue(
            "image",
            f"is {grid.width} x {grid.height} pixels in the file, but the radiograph is {columns} x {rows}. "
            "Annotate the radiograph without cropping or rotation",
        )


def _describe_boxes(boxes: Sequence[LabelledBox]) -> str:
    return ", ".join(f"{box.describe()} on {box.radiograph}" for box in boxes) or "no boxes"


def _refuse(name: str, error: InvalidValue) -> Refusal:
    return Refusal(file="", record=name, field=error.field, reason=error.reason)
