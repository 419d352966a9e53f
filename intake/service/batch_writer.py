"""Writes parsed batches of a question file to the database: exams, radiographs, questions, problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlmodel import Session

from domain.boxes import Box, BoxFit, BoxGrid
from domain.draw_hash import draw_hashes
from domain.errors import InvalidValue
from imaging.identity import IdentityValue
from intake.collector import collector_paused
from intake.containers import Container, record_name
from intake.exams import FACTS, ExamState, Picture, together
from intake.parsed_batch import BOXES, COLUMNS, KEY, RECORD_HASH, Boxes, ExamFacts, ParsedBatch
from intake.refusals import RefusalList
from intake.rules import placed
from intake.seen import SeenHashes
from intake.service.pictures import Pictures, view_told
from records.values import BoxRecord, to_json
from storage.intake.bulk import (
    FEW,
    add_facts,
    has_exams,
    insert_rows,
    known_draw_hashes,
    known_exams,
    known_questions,
    next_numbers,
)

_QUESTION = ("id", "dataset_id", "exam_id", "import_id", "draw_hash", *COLUMNS)
_EXAM = ("id", "dataset_id", "key", *FACTS)
_RADIOGRAPH = ("exam_id", "key", "position", "file", "view", "image_sha256")
_PROBLEM = ("question_id", "check_name", "field", "dataset_id", "reason")
# Exams kept in memory; others are looked up again.
_REMEMBERED = 8_192


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
        pictures: Pictures | None,
        refusals: RefusalList,
        skip_known: bool,
        there: int,
    ) -> None:
        """``there`` is the number of questions that the dataset already has."""
        self._db, self._dataset, self._import = db, dataset_id, import_id
        self._container, self._pictures, self._refusals = container, pictures, refusals
        self._skip_known = skip_known
        self._exams: dict[str, ExamState] = {}
        self._next_exam, self._next_question = next_numbers(db)
        # The hashes of few ids are kept in memory; with many, each batch queries the index.
        self._asks_index = there >= FEW
        self._seen = SeenHashes(
            [] if self._asks_index or not there else known_draw_hashes(db, dataset_id=dataset_id)
        )
        # If the dataset had no exams, only exams of this file can be in the database.
        self._exams_met = None if has_exams(db, dataset_id=dataset_id) else SeenHashes()
        self.questions = self.known = self.exams = 0
        self.problems: dict[str, int] = {}
        #: Values of headers that are not stored, by exam: searched for in texts at the end, then discarded.
        self.identity: dict[str, dict[IdentityValue, None]] = {}

    def write(self, batch: ParsedBatch) -> None:
        """Write the valid questions of a batch; others are added to the refusals."""
        with collector_paused():
            self._write_batch(batch)

    def _write_batch(self, batch: ParsedBatch) -> None:
        for record, field, reason in batch.refusals:
            self._refusals.add(record, field, reason)
        hashes = draw_hashes([question[KEY] for question in batch.questions])
        places = self._new_ones(batch, hashes)
        self._look_up([batch.exams[place][0] for place in {batch.exam_of[i] for i in places}])
        if self._pictures:
            needed = {batch.exam_of[i] for i in places}
            files = (file for place in sorted(needed) for _, file, _ in batch.exams[place][6])
            self._pictures.write(self._db, files)
        writing = BatchRows(self, batch, hashes)
        rows = writing.rows(places)
        self._write(writing, rows)

    def _new_ones(self, batch: ParsedBatch, hashes: Sequence[int]) -> list[int]:
        """Indices of the questions whose ids are new."""
        questions = batch.questions
        met = self._seen.met_before(hashes)
        asked = range(len(questions)) if self._asks_index else met
        known = (
            known_questions(self._db, dataset_id=self._dataset, keys=[questions[i][KEY] for i in asked])
            if asked
            else {}
        )
        if not met and not known:
            return list(range(len(questions)))
        doubtful = set(met)
        kept: list[int] = []
        for i, question in enumerate(questions):
            key, record_hash = question[KEY], question[RECORD_HASH]
            earlier = known.get(key)
            if earlier is None:
                kept.append(i)
                if i in doubtful:
                    known[key] = record_hash
            elif earlier == record_hash and self._skip_known:
                self.known += 1
            else:
                same = (
                    "the same record; --skip-known leaves it out"
                    if earlier == record_hash
                    else "another record"
                )
                self.refuse(
                    batch.names[i],
                    "id",
                    f"{key!r} is in the dataset or earlier in the file already, with {same}",
                )
        return kept

    def _look_up(self, keys: list[str]) -> None:
        if len(self._exams) > _REMEMBERED:
            self._exams.clear()
        unknown = sorted({key for key in keys if key not in self._exams})
        if self._exams_met is not None:
            unknown = [unknown[i] for i in self._exams_met.met_before([hash(key) for key in unknown])]
        for key, found in known_exams(self._db, dataset_id=self._dataset, keys=unknown).items():
            radiographs = {name: Picture(*picture) for name, picture in found["radiographs"].items()}
            self._exams[key] = ExamState(key, found["id"], tuple(found[name] for name in FACTS), radiographs)

    def refuse(self, name: int | str, field: str, reason: str) -> None:
        """Add a record to the list of refusals."""
        self._refusals.add(record_name(self._container, name), field, reason)

    def stated(self, facts: ExamFacts) -> tuple[ExamFacts, dict[str, Picture]]:
        """The facts of an exam, completed from its image files, and its radiographs.

        Raises:
            InvalidValue: an image is missing or can't be read.
        """
        key, patient, indication, age, sex, report, radiographs = facts
        if self._pictures is None:
            return facts, {name: Picture(file, view) for name, file, view in radiographs}
        pictures = {}
        for name, file, view in radiographs:
            image = self._pictures[file]
            about = image.facts
            pictures[name] = Picture(file, view_told(view, about), image.sha256, about.rows, about.columns)
            if image.identity:
                self.identity.setdefault(key, {}).update(dict.fromkeys(image.identity))
            patient, age, sex = (
                patient or about.patient,
                age or about.age,
                sex or (about.sex and about.sex.value),
            )
        return (key, patient, indication, age, sex, report, radiographs), pictures

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

    def _write(self, writing: BatchRows, rows: list[tuple[Any, ...]]) -> None:
        db, dataset = self._db, self._dataset
        new = ((state.number, dataset, state.key, *state.facts) for state in writing.new_exams.values())
        insert_rows(db, table="exam", columns=_EXAM, rows=new)
        insert_rows(db, table="radiograph", columns=_RADIOGRAPH, rows=writing.radiographs())
        add_facts(
            db,
            facts=[
                {
                    "number": state.number,
                    **{f"new_{name}": fact for name, fact in zip(FACTS, state.facts, strict=True)},
                }
                for state in writing.changed_exams.values()
            ],
        )
        insert_rows(db, table="question", columns=_QUESTION, rows=rows)
        problems = []
        for place, check, field, reason in writing.batch.problems:
            if (number := writing.numbers.get(place)) is not None:
                problems.append((number, check, field, dataset, reason))
                self.problems[check] = self.problems.get(check, 0) + 1
        insert_rows(db, table="problem", columns=_PROBLEM, rows=problems)
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

    def rows(self, places: list[int]) -> list[tuple[Any, ...]]:
        """The rows of the valid questions; an exam is kept with its first valid question."""
        batch, writer = self.batch, self._writer
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
                writer.refuse(batch.names[i], error.field, error.reason)
                continue
            if place not in self._taken:
                state = self._take(place, state)
            row = writer.numbered(state.number or 0, self._draw_hashes[i], question)
            if i in has_problems:
                self.numbers[i] = row[0]
            rows.append(row)
        return rows

    def _all_rows(self) -> list[tuple[Any, ...]] | None:
        """All rows at once if no question can be refused any more; None if an exam is invalid."""
        batch, writer = self.batch, self._writer
        numbers: list[int] = []
        for place in range(len(batch.exams)):
            try:
                state = self._stated(place)
            except InvalidValue:
                return None
            numbers.append(self._take(place, state).number or 0)
        first, dataset, run = writer.numbers_for(len(batch.questions))
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
        """Rows of the new radiographs, with positions after the existing ones."""
        for key in (*self.new_exams, *self.changed_exams):
            state = self.new_exams.get(key) or self.changed_exams[key]
            for position, (name, picture) in enumerate(state.radiographs.items()):
                if position >= self._positions[key]:
                    yield (state.number, name, position, picture.file, picture.view, picture.sha256)

    def _stated(self, place: int) -> ExamState:
        if place in self._failed:
            raise self._failed[place]
        try:
            facts, pictures = self._writer.stated(self.batch.exams[place])
            return together(self._writer.exam(facts[0]), facts, pictures)
        except InvalidValue as error:
            self._failed[place] = error
            raise

    def _take(self, place: int, state: ExamState) -> ExamState:
        before = self._writer.exam(state.key)
        taken = self._taken[place] = self._writer.take(state)
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
