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
def writing_files(path: Path, *lists: Path, keep_same: bool = False) -> Iterator[tuple[BinaryIO, ...]]:
    """Open files for writing. They appear under their names, the first one last, if the block succeeds.

    Args:
        path: the new question file, in a folder that exists.
        lists: further files that are derived from the same content; existing ones are replaced.
        keep_same: whether an existing question file is accepted if it has the same content, as when a stopped
            command is repeated, or is empty.

    Raises:
        AlreadyThere: the question file exists, with other content if ``keep_same``.
    """
    if not keep_same:
        _refuse_existing(path)
    part_paths: list[Path] = []
    try:
        with ExitStack() as stack:
            files = []
            for target in (path, *lists):
                stack.enter_context(add_filename_to_errors(target))
                handle, part_name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
                part_paths.append(Path(part_name))
                files.append(stack.enter_context(os.fdopen(handle, "wb")))
            yield tuple(files)
        has_same_content = keep_same and path.exists() and filecmp.cmp(path, part_paths[0], shallow=False)
        is_empty = keep_same and path.exists() and not path.stat().st_size
        if not has_same_content and not is_empty:
            _refuse_existing(path)
        for target, part_path in zip(lists, part_paths[1:], strict=True):
            part_path.replace(target)
        if is_empty:
            part_paths[0].replace(path)
        elif not has_same_content:
            try:
                os.link(part_paths[0], path)  # fails if another process wrote the file meanwhile
            except FileExistsError:
                _refuse_existing(path)
    finally:
        for part_path in part_paths:
            part_path.unlink(missing_ok=True)


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise AlreadyThere(f"{path} exists already. Choose another name, or delete it.")
