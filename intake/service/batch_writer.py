"""Writes parsed batches of a question file to the database: exams, radiographs, questions, problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import repeat
from typing import Any

from sqlmodel import Session

from domain.boxes import Box, BoxFit, BoxGrid
from domain.draw_hash import compute_draw_hashes
from domain.errors import InvalidValue
from imaging.identity import IdentityValue
from intake.containers import Container, format_record_name
from intake.exams import FACT_NAMES, ExamState, RadiographState, merge_exam
from intake.garbage_collector import pause_garbage_collector
from intake.parsed_batch import BOXES, COLUMNS, KEY, RECORD_HASH, ExamFacts, ParsedBatch
from intake.refusals import RefusalList
from intake.rules import check_on_grid, check_one_unit, map_to_image
from intake.seen_hashes import SeenHashes
from intake.service.added_images import AddedImages
from intake.service.image_importer import ImageImporter, resolve_view
from records.values import BoxRecord, GridRecord, StoredBox, to_json
from storage.intake.bulk import (
    REBUILD_INDEXES_BELOW,
    add_exam_facts,
    has_exams,
    insert_rows,
    load_draw_hashes,
    load_known_exams,
    load_next_row_ids,
    load_record_hashes,
)

_QUESTION_COLUMNS = ("id", "dataset_id", "exam_id", "import_id", "draw_hash", *COLUMNS)
_EXAM_COLUMNS = ("id", "dataset_id", "key", *FACT_NAMES)
_RADIOGRAPH_COLUMNS = ("exam_id", "key", "position", "file", "view", "image_sha256")
_PROVENANCE_COLUMNS = ("question_id", "content")
_PROBLEM_COLUMNS = ("question_id", "check_name", "field", "dataset_id", "reason")
# The maximum number of exams in memory; other exams are loaded again.
_MAX_CACHED_EXAMS = 8_192


class BatchWriter:
    """Writes one batch after the other, with limited memory.

    Counts so far: ``questions`` and new ``exams`` that were written, ``known`` questions that were skipped,
    and ``problems`` by check. ``added_images`` collects the images that are added to existing exams.
    """

    def __init__(
        self,
        db: Session,
        *,
        dataset_id: int,
        import_id: int,
        container: Container,
        image_importer: ImageImporter | None,
        refusals: RefusalList,
        skip_known: bool,
        existing_count: int,
        added_images: AddedImages,
    ) -> None:
        """``existing_count`` is the number of questions that the dataset already has."""
        self._db, self.dataset_id, self.import_id = db, dataset_id, import_id
        self._container, self._image_importer, self._refusals = container, image_importer, refusals
        self._skip_known = skip_known
        self._exams: dict[str, ExamState] = {}
        self._next_exam_id, self._next_question_id = load_next_row_ids(db)
        # The id hashes of a small dataset are kept in memory. For a large one, each batch queries the index.
        self._queries_index = existing_count >= REBUILD_INDEXES_BELOW
        self._seen_questions = SeenHashes(
            [] if self._queries_index or not existing_count else load_draw_hashes(db, dataset_id=dataset_id)
        )
        # If the dataset had no exams, only exams of this file can be in the database.
        self._seen_exams = None if has_exams(db, dataset_id=dataset_id) else SeenHashes()
        self.added_images = added_images
        self.questions = self.known = self.exams = 0
        self.problems: dict[str, int] = {}
        #: Identifying values of DICOM headers by exam. They are never stored: the texts are searched for them
        #: at the end of the import.
        self.identity: dict[str, dict[IdentityValue, None]] = {}

    def write(self, batch: ParsedBatch) -> None:
        """Write the valid questions of a batch; others are added to the refusals."""
        with pause_garbage_collector():
            self._write_batch(batch)

    def _write_batch(self, batch: ParsedBatch) -> None:
        for record, field, reason in batch.refusals:
            self._refusals.add(record, field, reason)
        hashes = compute_draw_hashes(batch.questions[KEY])
        new_indices, known_indices = self._find_new_questions(batch, hashes)
        if self._image_importer is None:
            known_indices = []  # without images they change nothing
        exams = batch.exams
        needed_exam_indices = {batch.exam_indices[i] for i in (*new_indices, *known_indices)}
        self._load_exams([exams[exam_index][0] for exam_index in needed_exam_indices])
        known_indices = [i for i in known_indices if self._lacks_images(exams[batch.exam_indices[i]][0])]
        if self._image_importer:
            needed_exam_indices = {batch.exam_indices[i] for i in (*new_indices, *known_indices)}
            files = (
                file for exam_index in sorted(needed_exam_indices) for _, file, _ in exams[exam_index][6]
            )
            self._image_importer.write(self._db, files)
            keys = {exams[exam_index][0] for exam_index in needed_exam_indices}
            self.added_images.load({self._exams[key].number or 0 for key in keys if self._lacks_images(key)})
        batch_rows = BatchRows(self, batch, hashes)
        rows = batch_rows.build_rows(new_indices)
        batch_rows.add_images(known_indices)
        self._write_rows(batch_rows, rows)

    def _lacks_images(self, key: str) -> bool:
        """Whether the exam is in the database and has a radiograph without an image."""
        state = self._exams.get(key)
        return state is not None and any(not radiograph.sha256 for radiograph in state.radiographs.values())

    def _find_new_questions(
        self, batch: ParsedBatch, hashes: Sequence[int]
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return the indices of the questions whose ids are new, and of the duplicates that are skipped."""
        keys = batch.questions[KEY]
        seen_indices = self._seen_questions.add_and_find_known(hashes)
        lookup_indices = range(len(keys)) if self._queries_index else seen_indices
        existing_hashes = (
            load_record_hashes(self._db, dataset_id=self.dataset_id, keys=[keys[i] for i in lookup_indices])
            if lookup_indices
            else {}
        )
        if not seen_indices and not existing_hashes:
            return range(len(keys)), []
        possible_duplicates = set(seen_indices)
        new_indices: list[int] = []
        known_indices: list[int] = []
        for i, (key, record_hash) in enumerate(zip(keys, batch.questions[RECORD_HASH], strict=True)):
            earlier_hash = existing_hashes.get(key)
            if earlier_hash is None:
                new_indices.append(i)
                if i in possible_duplicates:
                    existing_hashes[key] = record_hash
            elif earlier_hash == record_hash and self._skip_known:
                self.known += 1
                known_indices.append(i)
            else:
                comparison = (
                    "the same record; --skip-known leaves it out"
                    if earlier_hash == record_hash
                    else "another record"
                )
                self.refuse(
                    batch.record_names[i],
                    "id",
                    f"{key!r} is already in the dataset or earlier in the file, with {comparison}",
                )
        return new_indices, known_indices

    def _load_exams(self, keys: list[str]) -> None:
        if len(self._exams) > _MAX_CACHED_EXAMS:
            self._exams.clear()
        unknown_keys = sorted({key for key in keys if key not in self._exams})
        if self._seen_exams is not None:
            unknown_keys = [
                unknown_keys[i]
                for i in self._seen_exams.add_and_find_known([hash(key) for key in unknown_keys])
            ]
        for key, row in load_known_exams(self._db, dataset_id=self.dataset_id, keys=unknown_keys).items():
            radiographs = {name: RadiographState(*fields) for name, fields in row["radiographs"].items()}
            self._exams[key] = ExamState(key, row["id"], tuple(row[name] for name in FACT_NAMES), radiographs)

    def refuse(self, name: int | str, field: str, reason: str) -> None:
        """Add a record to the list of refusals."""
        self._refusals.add(format_record_name(self._container, name), field, reason)

    def complete_exam(self, facts: ExamFacts) -> tuple[ExamFacts, dict[str, RadiographState]]:
        """Return the facts of an exam, completed from its image files, and its radiographs.

        Raises:
            InvalidValue: an image is missing or can't be read.
        """
        key, patient, indication, age, sex, report, radiographs = facts
        if self._image_importer is None:
            return facts, {name: RadiographState(file, view) for name, file, view in radiographs}
        radiograph_states = {}
        for name, file, view in radiographs:
            image = self._image_importer[file]
            image_facts = image.facts
            radiograph_states[name] = RadiographState(
                file, resolve_view(view, image_facts), image.sha256, image_facts.rows, image_facts.columns
            )
            if image.identity:
                self.identity.setdefault(key, {}).update(dict.fromkeys(image.identity))
            patient, age, sex = (
                patient or image_facts.patient,
                age or image_facts.age,
                sex or (image_facts.sex and image_facts.sex.value),
            )
        return (key, patient, indication, age, sex, report, radiographs), radiograph_states

    def find_exam(self, key: str) -> ExamState | None:
        """Return the state of an exam so far; None for a new exam."""
        return self._exams.get(key)

    def keep_exam(self, state: ExamState) -> ExamState:
        """Store an exam's state in memory. A new exam gets its id."""
        if state.number is None:
            state = ExamState(state.key, self._next_exam_id, state.facts, state.radiographs)
            self._next_exam_id += 1
            self.exams += 1
        self._exams[state.key] = state
        return state

    def reserve_row_ids(self, count: int) -> range:
        """Reserve the ids of ``count`` questions."""
        first_id = self._next_question_id
        self._next_question_id += count
        self.questions += count
        return range(first_id, first_id + count)

    def _write_rows(self, batch_rows: BatchRows, rows: Iterable[tuple[Any, ...]]) -> None:
        db, dataset_id = self._db, self.dataset_id
        exam_rows = (
            (state.number, dataset_id, state.key, *state.facts) for state in batch_rows.new_exams.values()
        )
        insert_rows(db, table="exam", columns=_EXAM_COLUMNS, rows=exam_rows)
        insert_rows(
            db, table="radiograph", columns=_RADIOGRAPH_COLUMNS, rows=batch_rows.build_radiograph_rows()
        )
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
        self.added_images.write()
        insert_rows(db, table="question", columns=_QUESTION_COLUMNS, rows=rows)
        provenance = batch_rows.batch.provenance
        insert_rows(
            db,
            table="question_provenance",
            columns=_PROVENANCE_COLUMNS,
            rows=(
                (row_id, provenance[index])
                for index, row_id in batch_rows.row_ids.items()
                if index in provenance
            ),
        )
        problems = []
        for question_index, check, field, reason in batch_rows.batch.problems:
            if (row_id := batch_rows.row_ids.get(question_index)) is not None:
                problems.append((row_id, check, field, dataset_id, reason))
                self.problems[check] = self.problems.get(check, 0) + 1
        insert_rows(db, table="problem", columns=_PROBLEM_COLUMNS, rows=problems)


class BatchRows:
    """Creates the rows of one batch."""

    def __init__(self, writer: BatchWriter, batch: ParsedBatch, draw_hashes: Sequence[int]) -> None:
        """``draw_hashes`` are the hashes of the questions' ids."""
        self._writer, self.batch, self._draw_hashes = writer, batch, draw_hashes
        self.new_exams: dict[str, ExamState] = {}
        self.changed_exams: dict[str, ExamState] = {}
        self.row_ids: dict[int, int] = {}
        self._existing_radiograph_counts: dict[str, int] = {}
        self._kept_states: dict[int, ExamState] = {}
        self._errors: dict[int, InvalidValue] = {}

    def build_rows(self, question_indices: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        """Return the rows of the valid questions. An exam is stored with its first valid question."""
        batch, writer = self.batch, self._writer
        valid_indices: list[int] = []
        exam_ids: list[int | None] = []
        for i in question_indices:
            exam_index = batch.exam_indices[i]
            state = self._kept_states.get(exam_index)
            if state is None or i in batch.boxes:
                try:
                    state = state or self._merge_state(exam_index)
                    if i in batch.boxes:
                        self._check_boxes(i, state)
                    if exam_index not in self._kept_states:
                        state = self._keep_state(exam_index, state)
                except InvalidValue as error:
                    writer.refuse(batch.record_names[i], error.field, error.reason)
                    continue
            valid_indices.append(i)
            exam_ids.append(state.number)
        row_ids = writer.reserve_row_ids(len(valid_indices))
        # The row ids are needed only for problems and provenance.
        needs_row_ids = batch.problems or batch.provenance
        self.row_ids = dict(zip(valid_indices, row_ids, strict=True)) if needs_row_ids else {}
        columns: Iterable[Sequence[Any]] = (self._draw_hashes, *batch.questions)
        if len(valid_indices) < len(batch.record_names):
            columns = [[column[i] for i in valid_indices] for column in columns]
        # An iterator, not a list: zip can use one tuple for all rows.
        return zip(
            row_ids, repeat(writer.dataset_id), exam_ids, repeat(writer.import_id), *columns, strict=False
        )

    def add_images(self, question_indices: Iterable[int]) -> None:
        """Add the missing images to the existing exams of these questions."""
        for i in question_indices:
            exam_index = self.batch.exam_indices[i]
            if exam_index not in self._kept_states:
                try:
                    self._keep_state(exam_index, self._merge_state(exam_index))
                except InvalidValue as error:
                    self._writer.refuse(self.batch.record_names[i], error.field, error.reason)

    def build_radiograph_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of the new radiographs, with positions after the existing ones."""
        for key in (*self.new_exams, *self.changed_exams):
            state = self.new_exams.get(key) or self.changed_exams[key]
            for position, (name, radiograph_state) in enumerate(state.radiographs.items()):
                if position >= self._existing_radiograph_counts[key]:
                    yield (
                        state.number,
                        name,
                        position,
                        radiograph_state.file,
                        radiograph_state.view,
                        radiograph_state.sha256,
                    )

    def _merge_state(self, exam_index: int) -> ExamState:
        if exam_index in self._errors:
            raise self._errors[exam_index]
        try:
            facts, radiograph_states = self._writer.complete_exam(self.batch.exams[exam_index])
            return merge_exam(self._writer.find_exam(facts[0]), facts, radiograph_states)
        except InvalidValue as error:
            self._errors[exam_index] = error
            raise

    def _keep_state(self, exam_index: int, state: ExamState) -> ExamState:
        """Store the state of an exam.

        Raises:
            InvalidValue: the images that the exam gets can't be added.
        """
        known_state = self._writer.find_exam(state.key)
        if known_state is not None:
            self._writer.added_images.add(known_state, state)
        kept_state = self._kept_states[exam_index] = self._writer.keep_exam(state)
        self._existing_radiograph_counts.setdefault(
            state.key, len(known_state.radiographs) if known_state else 0
        )
        if known_state is None or state.key in self.new_exams:
            self.new_exams[state.key] = kept_state
        elif kept_state is not known_state:
            self.changed_exams[state.key] = kept_state
        return kept_state

    def _check_boxes(self, i: int, state: ExamState) -> None:
        """Compare the boxes of question ``i`` with its images, and clip or map the boxes to them.

        Raises:
            InvalidValue: a box exceeds its image, or its grid if there is no image.
        """
        plain_grid, boxes = self.batch.boxes[i]
        grid = (
            BoxGrid(width=plain_grid[0], height=plain_grid[1], fit=BoxFit(plain_grid[2]))
            if plain_grid
            else None
        )
        mapped_boxes: list[BoxRecord] = []
        is_changed = grid is not None
        for radiograph, label, corners in boxes:
            radiograph_state = state.radiographs[radiograph]
            x_min, y_min, x_max, y_max = corners
            if radiograph_state.rows is None or radiograph_state.columns is None:
                if grid is None:
                    return
                box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
                check_on_grid(box, grid=grid)
                mapped_boxes.append(StoredBox(radiograph, label, corners, GridRecord(**asdict(grid))))
                continue
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
            mapped_box = map_to_image(
                box, grid=grid, rows=radiograph_state.rows, columns=radiograph_state.columns
            )
            mapped_boxes.append(BoxRecord(radiograph, label, mapped_box.as_tuple()))
            is_changed = True
        check_one_unit(not isinstance(box, StoredBox) for box in mapped_boxes)
        if is_changed:
            self.batch.questions[BOXES][i] = to_json(mapped_boxes)
