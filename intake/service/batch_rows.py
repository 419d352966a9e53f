"""The rows of one batch while they are made: exams that are new or grew, questions with placed boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from domain.boxes import Box, BoxFit, BoxGrid
from domain.errors import InvalidValue
from intake.exams import ExamState, together
from intake.parsed_batch import BOXES, Boxes, ParsedBatch
from intake.rules import placed
from records.values import BoxRecord, to_json

if TYPE_CHECKING:
    from intake.service.landing import Landing


class BatchRows:
    """The rows of one batch while they are made."""

    def __init__(self, landing: Landing, batch: ParsedBatch, draw_hashes: Sequence[int]) -> None:
        """``draw_hashes`` are those of the questions' ids."""
        self._landing, self.batch, self._draw_hashes = landing, batch, draw_hashes
        self.new_exams: dict[str, ExamState] = {}
        self.changed_exams: dict[str, ExamState] = {}
        self.numbers: dict[int, int] = {}
        self._positions: dict[str, int] = {}
        self._taken: dict[int, ExamState] = {}
        self._failed: dict[int, InvalidValue] = {}

    def rows(self, places: list[int]) -> list[tuple[Any, ...]]:
        """The questions' rows. An exam is taken with the first of its questions that can be."""
        batch, landing = self.batch, self._landing
        if not batch.boxes and not batch.refusals and len(places) == len(batch.questions):
            rows = self._all_rows()
            if rows is not None:
                return rows
        has_problems = {place for place, *_ in batch.problems}
        rows = []
        for i in places:
            place = batch.exam_of[i]
            question = batch.questions[i]
            try:
                state = self._taken.get(place) or self._stated(place)
                if i in batch.boxes:
                    question = self._with_boxes(question, batch.boxes[i], state)
            except InvalidValue as error:
                landing.refuse(batch.names[i], error.field, error.reason)
                continue
            if place not in self._taken:
                state = self._take(place, state)
            row = landing.numbered(state.number or 0, self._draw_hashes[i], question)
            if i in has_problems:
                self.numbers[i] = row[0]
            rows.append(row)
        return rows

    def _all_rows(self) -> list[tuple[Any, ...]] | None:
        """All rows at once, where no question can be refused any more; None where an exam can't be."""
        batch, landing = self.batch, self._landing
        numbers: list[int] = []
        for place in range(len(batch.exams)):
            try:
                state = self._stated(place)
            except InvalidValue:
                return None
            numbers.append(self._take(place, state).number or 0)
        first, dataset, run = landing.numbers_for(len(batch.questions))
        for i, *_ in batch.problems:
            self.numbers[i] = first + i
        return [
            (number, dataset, numbers[place], run, draw_hash, *question)
            for number, place, draw_hash, question in zip(
                range(first, first + len(batch.questions)),
                batch.exam_of,
                self._draw_hashes,
                batch.questions,
                strict=True,
            )
        ]

    def radiographs(self) -> Iterator[tuple[Any, ...]]:
        """Rows of the radiographs that are new, behind those that were there."""
        for key in (*self.new_exams, *self.changed_exams):
            state = self.new_exams.get(key) or self.changed_exams[key]
            for position, (name, picture) in enumerate(state.radiographs.items()):
                if position >= self._positions[key]:
                    yield (state.number, name, position, picture.file, picture.view, picture.sha256)

    def _stated(self, place: int) -> ExamState:
        if place in self._failed:
            raise self._failed[place]
        try:
            facts, pictures = self._landing.stated(self.batch.exams[place])
            return together(self._landing.exam(facts[0]), facts, pictures)
        except InvalidValue as error:
            self._failed[place] = error
            raise

    def _take(self, place: int, state: ExamState) -> ExamState:
        before = self._landing.exam(state.key)
        taken = self._taken[place] = self._landing.take(state)
        self._positions.setdefault(state.key, len(before.radiographs) if before else 0)
        if before is None or state.key in self.new_exams:
            self.new_exams[state.key] = taken
        elif taken is not before:
            self.changed_exams[state.key] = taken
        return taken

    def _with_boxes(self, question: tuple[Any, ...], boxes: Boxes, state: ExamState) -> tuple[Any, ...]:
        plain_grid, kept = boxes
        grid = (
            BoxGrid(width=plain_grid[0], height=plain_grid[1], fit=BoxFit(plain_grid[2]))
            if plain_grid
            else None
        )
        new, changed = [], grid is not None
        for radiograph, label, corners in kept:
            picture = state.radiographs[radiograph]
            if picture.rows is None or picture.columns is None:
                if grid is not None:
                    raise InvalidValue("boxes", "are on another grid; to map them the images are needed")
                return question
            x_min, y_min, x_max, y_max = corners
            if (
                grid is None
                and x_min >= 0
                and y_min >= 0
                and x_max <= picture.columns
                and y_max <= picture.rows
            ):
                new.append(BoxRecord(radiograph, label, corners))
                continue
            box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
            on_image = placed(box, grid=grid, rows=picture.rows, columns=picture.columns)
            new.append(BoxRecord(radiograph, label, on_image.as_tuple()))
            changed = True
        return (*question[:BOXES], to_json(new), *question[BOXES + 1 :]) if changed else question
