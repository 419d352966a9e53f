"""Writes generated questions as a native file. A file appears when it is complete, or not at all."""

from __future__ import annotations

import filecmp
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from domain.errors import AlreadyThere
from domain.file_errors import add_filename_to_errors
from generation.generated_questions import GeneratedQuestion
from generation.source_exams import SourceExam
from records.questions import ExamRecord, RadiographRecord, question_to_record


def encode_questions(
    exam: SourceExam, questions: Iterable[GeneratedQuestion], *, comparison: bool
) -> Iterator[bytes]:
    """Yield the lines of an exam's questions, with their line feeds.

    Args:
        exam: the exam.
        questions: its questions.
        comparison: whether the report keeps its section on prior exams.
    """
    report = exam.report.format_text(comparison=comparison) if not exam.report.is_empty else None
    exam_record = ExamRecord(
        id=exam.id,
        patient=exam.patient or msgspec.UNSET,
        indication=exam.report.indication or msgspec.UNSET,
        age=exam.age or msgspec.UNSET,
        sex=exam.sex or msgspec.UNSET,
        radiographs=[
            RadiographRecord(id=image.id, file=image.file, view=image.view) for image in exam.images
        ],
    )
    for generated in questions:
        record = question_to_record(
            generated.question, exam_record, report=report, provenance=generated.provenance
        )
        yield msgspec.json.encode(record) + b"\n"


@contextmanager
def writing_files(*paths: Path, keep_same: bool = False) -> Iterator[tuple[BinaryIO, ...]]:
    """Open files for writing. They appear under their names, the first one last, if the block succeeds.

    Args:
        paths: the new files, in folders that exist.
        keep_same: whether existing files are accepted if they have the same content, as when a stopped
            command is repeated.

    Raises:
        AlreadyThere: a file exists, with other content if ``keep_same``.
    """
    if not keep_same:
        for path in paths:
            _refuse_existing(path)
    parts: list[Path] = []
    try:
        with ExitStack() as stack:
            files = []
            for path in paths:
                stack.enter_context(add_filename_to_errors(path))
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
                parts.append(Path(name))
                files.append(stack.enter_context(os.fdopen(handle, "wb")))
            yield tuple(files)
        new = [
            (path, part)
            for path, part in zip(paths, parts, strict=True)
            if not (keep_same and path.exists() and filecmp.cmp(path, part, shallow=False))
        ]
        for path, _ in new:
            _refuse_existing(path)
        for path, part in reversed(new):
            try:
                os.link(part, path)  # fails if somebody else wrote the file meanwhile
            except FileExistsError:
                _refuse_existing(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise AlreadyThere(f"{path} exists already. Choose another name, or delete it.")
