"""Writes parsed batches of a question file to the database: exams, radiographs, questions, problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlmodel import Session

from domain.boxes import Box, BoxFit, BoxGrid
from domain.draw_hash import compute_draw_hashes
from domain.errors import InvalidValue
from imaging.identity import IdentityValue
from intake.collector import pause_garbage_collector
from intake.containers import Container, format_record_name
from intake.exams import FACT_NAMES, ExamState, RadiographState, merge_exam
from intake.parsed_batch import BOXES, COLUMNS, KEY, RECORD_HASH, UnmappedBoxes, ExamFacts, ParsedBatch
from intake.refusals import RefusalList
from intake.rules import map_to_image
from intake.seen import SeenHashes
from intake.service.pictures import ImageImporter, resolve_view
from records.values import BoxRecord, to_json
from storage.intake.bulk import (
    REBUILD_INDEXES_BELOW,
    add_exam_facts,
    has_exams,
    insert_rows,
    load_draw_hashes,
    load_known_exams,
    load_record_hashes,
    load_next_numbers,
)

_QUESTION_COLUMNS = ("id", "dataset_id", "exam_id", "import_id", "draw_hash", *COLUMNS)
_EXAM_COLUMNS = ("id", "dataset_id", "key", *FACT_NAMES)
_RADIOGRAPH_COLUMNS = ("exam_id", "key", "position", "file", "view", "image_sha256")
_PROBLEM_COLUMNS = ("question_id", "check_name", "field", "dataset_id", "reason")
# Exams kept in memory; others are looked up again.
_MAX_CACHED_EXAMS = 8_192


class BatchWriter:
    """Writes one batch after the other; its memory is limited.

    ``questions``, ``known`` (left out) and ``exams`` (new) count what was written so far, ``problems`` the
    problems by check.
    """

    def __init__(
        self,
        db: Session,
        *,
        dataset_id: int,
        import_id: int,
        container: Container,
        pictures: ImageImporter | None,
        refusals: RefusalList,
        skip_known: bool,
        there: int,
    ) -> None:
        """``there`` is the number of questions that the dataset already has."""
        self._db, self._dataset, self._import = db, dataset_id, import_id
        self._container, self._pictures, self._refusals = container, pictures, refusals
        self._skip_known = skip_known
        self._exams: dict[str, ExamState] = {}
        self._next_exam, self._next_question = load_next_numbers(db)
        # The hashes of few ids are kept in memory; with many, each batch queries the index.
        self._asks_index = there >= REBUILD_INDEXES_BELOW
        self._seen = SeenHashes(
            [] if self._asks_index or not there else load_draw_hashes(db, dataset_id=dataset_id)
        )
        # If the dataset had no exams, only exams of this file can be in the database.
        self._exams_met = None if has_exams(db, dataset_id=dataset_id) else SeenHashes()
        self.questions = self.known = self.exams = 0
        self.problems: dict[str, int] = {}
        #: Values of headers that are not stored, by exam: searched for in texts at the end, then discarded.
        self.identity: dict[str, dict[IdentityValue, None]] = {}

    def write(self, batch: ParsedBatch) -> None:
        """Write the valid questions of a batch; others are added to the refusals."""
        with pause_garbage_collector():
            self._write_batch(batch)

    def _write_batch(self, batch: ParsedBatch) -> None:
        for record, field, reason in batch.refusals:
            self._refusals.add(record, field, reason)
        hashes = compute_draw_hashes([question[KEY] for question in batch.questions])
        new_indices = self._new_ones(batch, hashes)
        self._look_up([batch.exams[exam_index][0] for exam_index in {batch.exam_of[i] for i in new_indices}])
        if self._pictures:
            needed = {batch.exam_of[i] for i in new_indices}
            files = (file for exam_index in sorted(needed) for _, file, _ in batch.exams[exam_index][6])
            self._pictures.write(self._db, files)
        batch_rows = BatchRows(self, batch, hashes)
        rows = batch_rows.rows(new_indices)
        self._write(batch_rows, rows)

    def _new_ones(self, batch: ParsedBatch, hashes: Sequence[int]) -> list[int]:
        """Indices of the questions whose ids are new."""
        questions = batch.questions
        seen = self._seen.met_before(hashes)
        to_look_up = range(len(questions)) if self._asks_index else seen
        known = (
            load_record_hashes(self._db, dataset_id=self._dataset, keys=[questions[i][KEY] for i in to_look_up])
            if to_look_up
            else {}
        )
        if not seen and not known:
            return list(range(len(questions)))
        possibly_known = set(seen)
        new_indices: list[int] = []
        for i, question in enumerate(questions):
            key, record_hash = question[KEY], question[RECORD_HASH]
            earlier_hash = known.get(key)
            if earlier_hash is None:
                new_indices.append(i)
                if i in possibly_known:
                    known[key] = record_hash
            elif earlier_hash == record_hash and self._skip_known:
                self.known += 1
            else:
                comparison = (
                    "the same record; --skip-known leaves it out"
                    if earlier_hash == record_hash
                    else "another record"
                )
                self.refuse(
                    batch.names[i],
                    "id",
                    f"{key!r} is in the dataset or earlier in the file already, with {comparison}",
                )
        return new_indices

    def _look_up(self, keys: list[str]) -> None:
        if len(self._exams) > _MAX_CACHED_EXAMS:
            self._exams.clear()
        unknown = sorted({key for key in keys if key not in self._exams})
        if self._exams_met is not None:
            unknown = [unknown[i] for i in self._exams_met.met_before([hash(key) for key in unknown])]
        for key, row in load_known_exams(self._db, dataset_id=self._dataset, keys=unknown).items():
            radiographs = {name: RadiographState(*picture) for name, picture in row["radiographs"].items()}
            self._exams[key] = ExamState(key, row["id"], tuple(row[name] for name in FACT_NAMES), radiographs)

    def refuse(self, name: int | str, field: str, reason: str) -> None:
        """Add a record to the list of refusals."""
        self._refusals.add(format_record_name(self._container, name), field, reason)

    def stated(self, facts: ExamFacts) -> tuple[ExamFacts, dict[str, RadiographState]]:
        """The facts of an exam, completed from its image files, and its radiographs.

        Raises:
            InvalidValue: an image is missing or can't be read.
        """
        key, patient, indication, age, sex, report, radiographs = facts
        if self._pictures is None:
            return facts, {name: RadiographState(file, view) for name, file, view in radiographs}
        radiograph_states = {}
        for name, file, view in radiographs:
            image = self._pictures[file]
            image_facts = image.facts
            radiograph_states[name] = RadiographState(file, resolve_view(view, image_facts), image.sha256, image_facts.rows, image_facts.columns)
            if image.identity:
                self.identity.setdefault(key, {}).update(dict.fromkeys(image.identity))
            patient, age, sex = (
                patient or image_facts.patient,
                age or image_facts.age,
                sex or (image_facts.sex and image_facts.sex.value),
            )
        return (key, patient, indication, age, sex, report, radiographs), radiograph_states

    def exam(self, key: str) -> ExamState | None:
        """The exam's state so far; None for a new one."""
        return self._exams.get(key)

    def take(self, state: ExamState) -> ExamState:
        """Keep an exam's state, with a number if it is new."""
        if state.number is None:
            state = ExamState(state.key, self._next_exam, state.facts, state.radiographs)
            self._next_exam += 1
            self.exams += 1
        self._exams[state.key] = state
        return state

    def numbers_for(self, count: int) -> tuple[int, int, int]:
        """Reserve ``count`` question numbers: (first number, number of the dataset, of the import)."""
        first = self._next_question
        self._next_question += count
        return first, self._dataset, self._import

    def numbered(self, exam: int, draw_hash: int, question: tuple[Any, ...]) -> tuple[Any, ...]:
        """The row of a question, with the next number."""
        number = self._next_question
        self._next_question = number + 1
        return (number, self._dataset, exam, self._import, draw_hash, *question)

    def _write(self, batch_rows: BatchRows, rows: list[tuple[Any, ...]]) -> None:
        db, dataset = self._db, self._dataset
        new_rows = ((state.number, dataset, state.key, *state.facts) for state in batch_rows.new_exams.values())
        insert_rows(db, table="exam", columns=_EXAM_COLUMNS, rows=new_rows)
        insert_rows(db, table="radiograph", columns=_RADIOGRAPH_COLUMNS, rows=batch_rows.radiographs())
        add_exam_facts(
            db,
            facts=[
                {
                    "number": state.number,
                    **{f"new_{name}": fact for name, fact in zip(FACT_NAMES, state.facts, strict=True)},
                }
                for state in batch_rows.changed_exams.values()
            ],
        )
        insert_rows(db, table="question", columns=_QUESTION_COLUMNS, rows=rows)
        problems = []
        for question_index, check, field, reason in batch_rows.batch.problems:
            if (number := batch_rows.numbers.get(question_index)) is not None:
                problems.append((number, check, field, dataset, reason))
                self.problems[check] = self.problems.get(check, 0) + 1
        insert_rows(db, table="problem", columns=_PROBLEM_COLUMNS, rows=problems)
        self.questions += len(rows)


class BatchRows:
    """Makes the rows of one batch."""

    def __init__(self, writer: BatchWriter, batch: ParsedBatch, draw_hashes: Sequence[int]) -> None:
        """``draw_hashes`` are those of the questions' ids."""
        self._writer, self.batch, self._draw_hashes = writer, batch, draw_hashes
        self.new_exams: dict[str, ExamState] = {}
        self.changed_exams: dict[str, ExamState] = {}
        self.numbers: dict[int, int] = {}
        self._positions: dict[str, int] = {}
        self._taken: dict[int, ExamState] = {}
        self._failed: dict[int, InvalidValue] = {}

    def rows(self, question_indices: list[int]) -> list[tuple[Any, ...]]:
        """The rows of the valid questions; an exam is kept with its first valid question."""
        batch, writer = self.batch, self._writer
        if not batch.boxes and not batch.refusals and len(question_indices) == len(batch.questions):
            rows = self._all_rows()
            if rows is not None:
                return rows
        has_problems = {question_index for question_index, *_ in batch.problems}
        rows = []
        for i in question_indices:
            exam_index = batch.exam_of[i]
            question = batch.questions[i]
            try:
                state = self._taken.get(exam_index) or self._stated(exam_index)
                if i in batch.boxes:
                    question = self._with_boxes(question, batch.boxes[i], state)
            except InvalidValue as error:
                writer.refuse(batch.names[i], error.field, error.reason)
                continue
            if exam_index not in self._taken:
                state = self._take(exam_index, state)
            row = writer.numbered(state.number or 0, self._draw_hashes[i], question)
            if i in has_problems:
                self.numbers[i] = row[0]
            rows.append(row)
        return rows

    def _all_rows(self) -> list[tuple[Any, ...]] | None:
        """All rows at once if no question can be refused any more; None if an exam is invalid."""
        batch, writer = self.batch, self._writer
        numbers: list[int] = []
        for exam_index in range(len(batch.exams)):
            try:
                state = self._stated(exam_index)
            except InvalidValue:
                return None
            numbers.append(self._take(exam_index, state).number or 0)
        first, dataset, import_id = writer.numbers_for(len(batch.questions))
        for i, *_ in batch.problems:
            self.numbers[i] = first + i
        return [
            (number, dataset, numbers[exam_index], import_id, draw_hash, *question)
            for number, exam_index, draw_hash, question in zip(
                range(first, first + len(batch.questions)),
                batch.exam_of,
                self._draw_hashes,
                batch.questions,
                strict=True,
            )
        ]

    def radiographs(self) -> Iterator[tuple[Any, ...]]:
        """Rows of the new radiographs, with positions after the existing ones."""
        for key in (*self.new_exams, *self.changed_exams):
            state = self.new_exams.get(key) or self.changed_exams[key]
            for position, (name, radiograph_state) in enumerate(state.radiographs.items()):
                if position >= self._positions[key]:
                    yield (state.number, name, position, radiograph_state.file, radiograph_state.view, radiograph_state.sha256)

    def _stated(self, place: int) -> ExamState:
        if place in self._failed:
            raise self._failed[place]
        try:
            facts, radiograph_states = self._writer.stated(self.batch.exams[place])
            return merge_exam(self._writer.exam(facts[0]), facts, radiograph_states)
        except InvalidValue as error:
            self._failed[place] = error
            raise

    def _take(self, place: int, state: ExamState) -> ExamState:
        known_state = self._writer.exam(state.key)
        kept_state = self._taken[place] = self._writer.take(state)
        self._positions.setdefault(state.key, len(known_state.radiographs) if known_state else 0)
        if known_state is None or state.key in self.new_exams:
            self.new_exams[state.key] = kept_state
        elif kept_state is not known_state:
            self.changed_exams[state.key] = kept_state
        return kept_state

    def _with_boxes(self, question: tuple[Any, ...], boxes: UnmappedBoxes, state: ExamState) -> tuple[Any, ...]:
        plain_grid, listed_boxes = boxes
        grid = (
            BoxGrid(width=plain_grid[0], height=plain_grid[1], fit=BoxFit(plain_grid[2]))
            if plain_grid
            else None
        )
        mapped_boxes, changed = [], grid is not None
        for radiograph, label, corners in listed_boxes:
            radiograph_state = state.radiographs[radiograph]
            if radiograph_state.rows is None or radiograph_state.columns is None:
                if grid is not None:
                    raise InvalidValue("boxes", "are on another grid; to map them the images are needed")
                return question
            x_min, y_min, x_max, y_max = corners
            if (
                grid is None
                and x_min >= 0
                and y_min >= 0
                and x_max <= radiograph_state.columns
                and y_max <= radiograph_state.rows
            ):
                mapped_boxes.append(BoxRecord(radiograph, label, corners))
                continue
            box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
            mapped_box = map_to_image(box, grid=grid, rows=radiograph_state.rows, columns=radiograph_state.columns)
            mapped_boxes.append(BoxRecord(radiograph, label, mapped_box.as_tuple()))
            changed = True
        return (*question[:BOXES], to_json(mapped_boxes), *question[BOXES + 1 :]) if changed else question
