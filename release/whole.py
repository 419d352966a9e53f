"""Writes all files of a release except the manifest, in one pass over the outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from domain.gold import GoldItem, LeftOut
from records.questions import exam_to_record, question_to_record
from release.forms.coco import CocoForm
from release.forms.datacard import Content
from release.forms.form import Form, FormName, Original
from release.forms.gemex import GemexForm
from release.forms.rexvqa import RexvqaForm
from release.manifest import Entry
from release.private import PrivateFiles
from release.splits import Side
from release.writers import GoldWriters

if TYPE_CHECKING:
    from release.forms.parquet import Picture
    from release.forms.sr import SrForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The options of a release.

    ``picture`` returns images for the Parquet file, ``original`` DICOM files for structured reports (with
    ``when`` as their date); without them images and reports are not written. ``side_of`` is the side of each
    exam if there is a private side; ``keys`` is then the folder for its keys. ``forms`` are the formats in
    addition to the native one.
    """

    names: Mapping[int, str]
    with_images: bool
    with_report: bool
    picture: Picture | None = None
    original: Original | None = None
    when: datetime | None = None
    side_of: Mapping[str, Side] | None = None
    keys: Path | None = None
    forms: frozenset[FormName] = frozenset(FormName)


class ReleaseFiles:
    """Writes the public files and formats, and the private side if there is one."""

    def __init__(self, folder: Path, contents: Contents) -> None:
        """Create all files in an empty folder."""
        self._contents = contents
        self.gold = GoldWriters(
            folder,
            names=contents.names,
            with_images=contents.with_images,
            with_report=contents.with_report,
        )
        files = self.gold.images if contents.with_images else {}
        self._files = files
        opened: dict[FormName, Callable[[], Form]] = {
            FormName.REXVQA: lambda: RexvqaForm(folder, files=files, with_report=contents.with_report),
            FormName.GEMEX: lambda: GemexForm(folder, files=files, with_report=contents.with_report),
            FormName.COCO: lambda: CocoForm(folder, files=files),
            FormName.PARQUET: lambda: _parquet_form(folder, files, contents.picture),
        }
        self.forms: list[Form] = [made() for name, made in opened.items() if name in contents.forms]
        self._sr: SrForm | None = None
        if contents.original is not None and contents.when is not None:
            # Half a second of imports that a release without structured reports need not wait for.
            from release.forms.sr import SrForm  # noqa: PLC0415 - for those who ask

            self._sr = SrForm(folder, original=contents.original, when=contents.when)
            self.forms.append(self._sr)
        self.private = None
        if contents.side_of is not None and contents.keys is not None:
            self.private = PrivateFiles(folder, contents.keys)
        self.content = Content()
        #: The ids of the released questions on each side.
        self.released: dict[Side, list[str]] = {side: [] for side in Side}
        self._exams: dict[Side, set[str]] = {side: set() for side in Side}

    def add(self, settled: GoldItem | LeftOut) -> None:
        """Write the records of one judged question."""
        if isinstance(settled, LeftOut):
            self.gold.add(settled)
            return
        side = self._side(settled)
        self.released[side].append(settled.question.id)
        self._exams[side].add(settled.judged.exam.id)
        self.content.add(settled)
        if side is Side.PRIVATE and self.private is not None:
            exam = settled.judged.exam
            self.gold.add_images(exam)
            report = exam.report if self._contents.with_report else None
            record = question_to_record(settled.question, exam_to_record(exam, self._files), report=report)
            self.private.add(record, corrections=self.gold.corrections_of(settled))
            return
        self.gold.add(settled)
        for form in self.forms:
            form.add(settled)

    @property
    def splits(self) -> dict[str, dict[str, int]] | None:
        """The numbers of questions and exams of each side; None without a private side."""
        if self.private is None:
            return None
        return {
            side.value: {"questions": len(self.released[side]), "exams": len(self._exams[side])}
            for side in Side
        }

    @property
    def lacks(self) -> dict[str, dict[str, int]]:
        """Why something is not in a format, with counts, by format; complete formats are left out."""
        found: dict[str, dict[str, int]] = {
            form.name: {reason.value: count for reason, count in sorted(form.lacks.items())}
            for form in self.forms
            if form.lacks
        }
        if self._sr is not None and self._sr.radiographs_left_out:
            found["sr (radiographs)"] = {
                reason.value: count for reason, count in sorted(self._sr.radiographs_left_out.items())
            }
        return found

    def entries(self) -> list[Entry]:
        """The files with their lengths and hashes; complete after the end of the ``with`` block."""
        found = self.gold.entries()
        for form in self.forms:
            found += form.entries()
        if self.private is not None:
            found.append(self.private.entry)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        parts: list[Any] = [self.gold, *self.forms]
        with ExitStack() as stack:  # each is closed, whatever becomes of the others
            for part in parts:
                stack.callback(part.__exit__, kind, error, trace)
            if self.private is not None:
                stack.callback(self.private.close, kind)

    def _side(self, gold: GoldItem) -> Side:
        if self._contents.side_of is None:
            return Side.PUBLIC
        return self._contents.side_of[gold.judged.exam.id]


def _parquet_form(folder: Path, files: Mapping[str, str], picture: Picture | None) -> Form:
    from release.forms.parquet import ParquetForm  # noqa: PLC0415 - brings pyarrow, which a start needs not

    return ParquetForm(folder, files=files, picture=picture)
