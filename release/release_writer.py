"""Writes all files of a release except the manifest and the descriptions, in one pass over the questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from domain.errata import ErratumReport, Settlement, settle_report
from domain.exams import Exam, Radiograph
from domain.gold import Excluded, GoldItem, Judgement
from domain.image_display import ImageDisplay
from domain.verdicts import ErrorKind
from records.provenance import provenance_to_record
from records.questions import exam_to_record, question_to_record
from records.values import to_plain
from records.verdicts import correction_to_plain
from release.folder import HashedFile
from release.formats.coco import CocoWriter
from release.formats.datacard import ContentCounts
from release.formats.format_writer import FormatLimitation, FormatName, FormatWriter, OriginalLoader
from release.formats.gemex import GemexWriter
from release.formats.rexvqa import RexvqaWriter
from release.manifest import Entry
from release.optional_file import OptionalFile
from release.private import ERRATA, PrivateWriter
from release.splits import SPLIT_TABLE, Split, SplitPlan
from release.table import GoldTable
from release.tally import has_correction

if TYPE_CHECKING:
    from release.formats.parquet import DisplayImageLoader
    from release.formats.sr import SrWriter

_ERROR_KINDS = tuple(ErrorKind)
_IMAGE_SUFFIXES = {".dcm", ".dicom", ".png", ".jpg", ".jpeg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The options of a release.

    ``load_display_image`` loads the images for the Parquet file; if it is None, the file has no images.
    ``load_original`` loads DICOM files for structured reports, and ``sr_date`` is the date of these reports;
    if either is None, no structured reports are written. If the release has splits, ``plan`` has their
    shares and ``split_by_exam`` the split of each exam by its id; ``keys_folder`` is the folder for the keys
    of the private split. ``formats`` are the formats in addition to the native one. ``reports`` has the
    problems reported in earlier releases by the id of the question.
    """

    reviewer_names: Mapping[int, str]
    with_images: bool
    with_report: bool
    load_display_image: DisplayImageLoader | None = None
    load_original: OriginalLoader | None = None
    sr_date: datetime | None = None
    plan: SplitPlan | None = None
    split_by_exam: Mapping[str, Split] = field(default_factory=dict)
    keys_folder: Path | None = None
    formats: frozenset[FormatName] = frozenset(FormatName)
    reports: Mapping[str, Sequence[ErratumReport]] = field(default_factory=dict)


class ReleaseWriter:
    """Writes the native files, the export formats, and the private questions if there are any.

    With the splits train, valid and test, the files of the export formats are in one folder per split, and
    ``splits.jsonl`` has the split of each question.
    """

    def __init__(self, folder: Path, options: ReleaseOptions) -> None:
        """Create all files in an empty folder."""
        self._options = options
        self.gold = GoldFileWriter(
            folder,
            reviewer_names=options.reviewer_names,
            with_images=options.with_images,
            with_report=options.with_report,
        )
        image_paths = self.gold.images if options.with_images else {}
        self._image_paths = image_paths
        self._split_table: HashedFile | None = None
        if Split.TRAIN in self._planned_splits:
            self._split_table = HashedFile(folder / SPLIT_TABLE)
        self._formats: dict[Split, list[FormatWriter]] = {
            split: _create_format_writers(_make_split_folder(folder, split), image_paths, options)
            for split in self._planned_splits
            if split is not Split.PRIVATE
        }
        self._sr: SrWriter | None = None
        if options.load_original is not None and options.sr_date is not None:
            # The import takes half a second and is not needed without structured reports.
            from release.formats.sr import SrWriter  # noqa: PLC0415 - only for structured reports

            self._sr = SrWriter(folder, load_original=options.load_original, content_date=options.sr_date)
        self.private = None
        if options.keys_folder is not None:
            self.private = PrivateWriter(folder, options.keys_folder)
        self._errata = OptionalFile(folder / ERRATA)
        self.content = ContentCounts()
        #: The ids of the released questions in each split.
        self.released: dict[Split, list[str]] = {split: [] for split in self._planned_splits}
        self._exams: dict[Split, set[str]] = {split: set() for split in self._planned_splits}

    def add(self, outcome: GoldItem | Excluded) -> None:
        """Write the records of one judged question."""
        self._add_errata(outcome)
        if isinstance(outcome, Excluded):
            self.gold.add(outcome)
            return
        split = self._find_split(outcome)
        self.released[split].append(outcome.question.id)
        self._exams[split].add(outcome.judged.exam.id)
        self.content.add(outcome)
        if self._split_table is not None:
            self._split_table.write_json_line(
                {
                    "question_id": outcome.question.id,
                    "exam_id": outcome.judged.exam.id,
                    "split": split.value,
                }
            )
        if split is Split.PRIVATE and self.private is not None:
            exam = outcome.judged.exam
            self.gold.add_images(exam)
            report = exam.report if self._options.with_report else None
            record = question_to_record(
                outcome.question, exam_to_record(exam, self._image_paths), report=report
            )
            self.private.add(
                record,
                corrections=self.gold.correction_records(outcome),
                provenance=self.gold.provenance_record(outcome),
            )
            return
        self.gold.add(outcome)
        for format_writer in (*self._formats[split], *([self._sr] if self._sr else [])):
            format_writer.add(outcome)

    def _add_errata(self, outcome: GoldItem | Excluded) -> None:
        """Write the settled reports of a question; reports of private questions go to the keys' folder."""
        judged = outcome.judged
        for report in self._options.reports.get(judged.question.id, ()):
            settlement = settle_report(report, imported=judged.question, adjudication=judged.adjudication)
            if settlement is None:
                continue
            record = self.gold.erratum_record(report, settlement)
            is_private = Split.PRIVATE in (report.side, self._options.split_by_exam.get(judged.exam.id))
            if not is_private:
                self._errata.add(record)
            elif self.private is not None:
                self.private.errata.add(record)

    @property
    def formats(self) -> list[FormatWriter]:
        """The writers of all export formats, of all splits."""
        writers = [writer for split_writers in self._formats.values() for writer in split_writers]
        return [*writers, self._sr] if self._sr is not None else writers

    @property
    def splits(self) -> dict[str, dict[str, int]] | None:
        """The numbers of questions and exams in each split; None without splits."""
        if self._options.plan is None:
            return None
        return {
            split.value: {"questions": len(self.released[split]), "exams": len(self._exams[split])}
            for split in self._planned_splits
        }

    @property
    def _planned_splits(self) -> tuple[Split, ...]:
        return (Split.PUBLIC,) if self._options.plan is None else tuple(self._options.plan.shares)

    @property
    def limitations(self) -> dict[str, dict[str, int]]:
        """The counts of omitted content by format and reason, without formats that omit nothing."""
        counts = defaultdict[str, Counter[FormatLimitation]](Counter)
        for format_writer in self.formats:
            counts[format_writer.name].update(format_writer.limitations)
        limitations: dict[str, dict[str, int]] = {
            name: {reason.value: count for reason, count in sorted(by_reason.items())}
            for name, by_reason in counts.items()
            if by_reason
        }
        if self._sr is not None and self._sr.excluded_radiographs:
            limitations["sr (radiographs)"] = {
                reason.value: count for reason, count in sorted(self._sr.excluded_radiographs.items())
            }
        return limitations

    def list_entries(self) -> list[Entry]:
        """The files with their lengths and hashes; complete after the end of the ``with`` block."""
        entries = self.gold.list_entries()
        for split, format_writers in self._formats.items():
            for format_writer in format_writers:
                entries += [
                    entry if split is Split.PUBLIC else replace(entry, path=f"{split}/{entry.path}")
                    for entry in format_writer.list_entries()
                ]
        if self._sr is not None:
            entries += self._sr.list_entries()
        if self._split_table is not None:
            table = self._split_table
            entries.append(Entry(path=SPLIT_TABLE, bytes=table.bytes, sha256=table.sha256))
        if self.private is not None:
            entries.append(self.private.entry)
        return [*entries, *self._errata.list_entries()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        writers: list[Any] = [self.gold, *self.formats, *([self._split_table] if self._split_table else [])]
        with ExitStack() as stack:  # closes every writer, even if closing another one fails
            for writer in writers:
                stack.callback(writer.__exit__, kind, error, trace)
            stack.callback(self._errata.close, kind)
            if self.private is not None:
                stack.callback(self.private.close, kind)

    def _find_split(self, gold: GoldItem) -> Split:
        if self._options.plan is None:
            return Split.PUBLIC
        return self._options.split_by_exam[gold.judged.exam.id]


def _make_split_folder(folder: Path, split: Split) -> Path:
    if split is Split.PUBLIC:
        return folder
    (folder / split.value).mkdir()
    return folder / split.value


def _create_format_writers(
    folder: Path, image_paths: Mapping[str, str], options: ReleaseOptions
) -> list[FormatWriter]:
    writer_factories: dict[FormatName, Callable[[], FormatWriter]] = {
        FormatName.REXVQA: lambda: RexvqaWriter(folder, files=image_paths, with_report=options.with_report),
        FormatName.GEMEX: lambda: GemexWriter(folder, files=image_paths, with_report=options.with_report),
        FormatName.COCO: lambda: CocoWriter(folder, paths_by_sha256=image_paths),
        FormatName.PARQUET: lambda: _create_parquet_writer(folder, image_paths, options.load_display_image),
    }
    return [make_writer() for name, make_writer in writer_factories.items() if name in options.formats]


class GoldFileWriter:
    """Writes gold.jsonl, gold.csv, corrections.jsonl, left_out.jsonl, images.jsonl and provenance.jsonl.

    ``reviewer_names`` has the reviewers' names in the release, by person id. If ``with_images`` is True, the
    file of a radiograph is ``images/<sha256><suffix>``, and :attr:`images` has the files to copy; otherwise
    the file is the path in the question file.
    """

    def __init__(
        self, folder: Path, *, reviewer_names: Mapping[int, str], with_images: bool, with_report: bool
    ) -> None:
        """Create the files in an empty folder."""
        self._reviewer_names, self._with_images, self._with_report = reviewer_names, with_images, with_report
        self._files = {
            name: HashedFile(folder / name)
            for name in ("gold.jsonl", "gold.csv", "corrections.jsonl", "left_out.jsonl", "images.jsonl")
        }
        self._provenance = OptionalFile(folder / "provenance.jsonl")
        self._written_exam_ids: set[str] = set()
        self.images: dict[str, str] = {}
        self._encoded_exam: tuple[Exam, msgspec.Raw] | None = None
        self._gold = self._files["gold.jsonl"]
        self._table = GoldTable(self._files["gold.csv"], reviewer_names=reviewer_names)

    def add(self, outcome: GoldItem | Excluded) -> None:
        """Write the records of one judged question."""
        if isinstance(outcome, Excluded):
            self._files["left_out.jsonl"].write_json_line(self._build_excluded_record(outcome))
            return
        exam = outcome.judged.exam
        self.add_images(exam)
        image_paths = self.images if self._with_images else {}
        # The record is kept, because the questions of an exam are consecutive.
        if self._encoded_exam is None or self._encoded_exam[0] is not exam:
            self._encoded_exam = (exam, msgspec.Raw(msgspec.json.encode(exam_to_record(exam, image_paths))))
        report = exam.report if self._with_report else None
        record = question_to_record(outcome.question, self._encoded_exam[1], report=report)
        self._gold.write_json_line(record)
        self._table.add(outcome, record, image_paths)
        for line in self.correction_records(outcome) if outcome.changes else ():
            self._files["corrections.jsonl"].write_json_line(line)
        self._provenance.add(self.provenance_record(outcome))

    def correction_records(self, gold: GoldItem) -> list[dict[str, Any]]:
        """Return the records of ``corrections.jsonl`` for a released question: one per person and change."""
        adjudication = gold.judged.adjudication
        if adjudication is not None:
            provenance = {
                "who": self._reviewer_names[adjudication.person_id],
                "when": format_utc(adjudication.given_at),
                "why": adjudication.reason,
                "batch": gold.judged.adjudicated_in,
                "revision": adjudication.revision,
                "adjudicated": True,
                **_build_image_display_field(adjudication.image),
            }
            return [
                {
                    "question_id": gold.question.id,
                    "field": change.field,
                    "before": to_plain(change.before),
                    "after": to_plain(change.after),
                    **provenance,
                }
                for change in gold.changes
            ]
        return [
            {
                "question_id": gold.question.id,
                "field": change.field,
                "before": to_plain(change.before),
                "after": to_plain(change.after),
                "who": self._reviewer_names[judgement.person_id],
                "when": format_utc(judgement.given_at),
                "why": _format_correction_reason(judgement),
                "batch": judgement.batch,
                "revision": judgement.revision,
                **_build_image_display_field(judgement.image),
            }
            for judgement in gold.judged.judgements
            if has_correction(judgement.decision)
            for change in gold.changes
        ]

    def erratum_record(self, report: ErratumReport, settlement: Settlement) -> dict[str, Any]:
        """Return the record of ``errata.jsonl`` for a settled report. The reporter is not named."""
        adjudication = settlement.adjudication
        return {
            "question_id": report.question_id,
            "release": report.release,
            "problem": report.kind.value,
            "description": report.text,
            "reported": format_utc(report.reported_at),
            "outcome": settlement.status.value,
            "reason": adjudication.reason,
            "decided": format_utc(adjudication.given_at),
            "by": self._reviewer_names[adjudication.person_id],
            "changes": [
                {
                    "field": change.field,
                    "before": to_plain(change.before),
                    "after": to_plain(change.after),
                }
                for change in settlement.changes
            ],
        }

    def provenance_record(self, gold: GoldItem) -> dict[str, Any] | None:
        """Return the record of ``provenance.jsonl`` for a released question; None if its origin is not known.

        Without reports, the texts of sentences and bullets are left out.
        """
        provenance = gold.judged.provenance
        if provenance is None:
            return None
        if not self._with_report:
            provenance = provenance.without_report_texts()
        source = gold.question.source
        return {
            "question_id": gold.question.id,
            "exam_id": gold.judged.exam.id,
            "generator": source.generator,
            "version": source.version,
            "prompt_version": source.prompt_version,
            **msgspec.to_builtins(provenance_to_record(provenance)),
            "verdicts": [self._build_judgement_record(judgement) for judgement in gold.judged.judgements],
            **self._build_adjudication_record(gold),
        }

    def list_entries(self) -> list[Entry]:
        """The files with their lengths and hashes; complete after the end of the ``with`` block."""
        entries = [
            Entry(path=name, bytes=file.bytes, sha256=file.sha256) for name, file in self._files.items()
        ]
        return [*entries, *self._provenance.list_entries()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        for file in self._files.values():
            file.__exit__(kind, error, trace)
        self._provenance.close(kind)

    def add_images(self, exam: Exam) -> None:
        """Write the records of ``images.jsonl`` for an exam, unless they are already written."""
        if exam.id in self._written_exam_ids:
            return
        self._written_exam_ids.add(exam.id)
        for radiograph in exam.radiographs:
            if radiograph.sha256 and self._with_images:
                self.images.setdefault(
                    radiograph.sha256, f"images/{radiograph.sha256}{_find_image_suffix(radiograph)}"
                )
            self._files["images.jsonl"].write_json_line(
                {
                    "exam_id": exam.id,
                    "radiograph": radiograph.id,
                    "file": self.images[radiograph.sha256 or ""]
                    if self._with_images and radiograph.sha256
                    else radiograph.file,
                    "source_file": radiograph.file,
                    "sha256": radiograph.sha256,
                    "rows": radiograph.rows,
                    "columns": radiograph.columns,
                }
            )

    def _build_excluded_record(self, excluded: Excluded) -> dict[str, Any]:
        question = excluded.judged.question
        return {
            "question_id": question.id,
            "reason": excluded.reason.value,
            "stratum": excluded.judged.stratum,
            "verdicts": [
                {
                    **self._build_judgement_record(judgement),
                    "comment": judgement.comment,
                    "correction": correction_to_plain(judgement.correction),
                    **_build_image_display_field(judgement.image),
                }
                for judgement in excluded.judged.judgements
            ],
            **self._build_adjudication_record(excluded),
        }

    def _build_judgement_record(self, judgement: Judgement) -> dict[str, Any]:
        return {
            "who": self._reviewer_names[judgement.person_id],
            "when": format_utc(judgement.given_at),
            "batch": judgement.batch,
            "revision": judgement.revision,
            "decision": judgement.decision.value,
            "errors": _list_error_values(judgement),
        }

    def _build_adjudication_record(self, outcome: GoldItem | Excluded) -> dict[str, Any]:
        adjudication = outcome.judged.adjudication
        if adjudication is None:
            return {}
        adjudicator, decided_at = (
            self._reviewer_names[adjudication.person_id],
            format_utc(adjudication.given_at),
        )
        return {
            "adjudication": {
                "who": adjudicator,
                "when": decided_at,
                "why": adjudication.reason,
                **_build_image_display_field(adjudication.image),
            }
        }


def format_utc(moment: datetime) -> str:
    """Return a time as ISO 8601 in UTC, with the suffix Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _format_correction_reason(judgement: Judgement) -> str:
    """Return the kinds of error, the comment, and the reason for changing an earlier verdict, as one text."""
    remarks = " ".join(text for text in (judgement.comment.strip(), judgement.why.strip()) if text)
    return ": ".join(part for part in (", ".join(_list_error_values(judgement)), remarks) if part)


def _build_image_display_field(image: ImageDisplay | None) -> dict[str, str]:
    """Return the field that states whether the radiographs were on screen; empty if that was not recorded."""
    return {} if image is None else {"image": image.value}


def _list_error_values(judgement: Judgement) -> list[str]:
    return [kind.value for kind in _ERROR_KINDS if kind in judgement.errors] if judgement.errors else []


def _find_image_suffix(radiograph: Radiograph) -> str:
    """Return the suffix of the imported file's name, or an empty text if it is not that of an image."""
    suffix = Path(radiograph.file.replace("\\", "/")).suffix.lower()
    return suffix if suffix in _IMAGE_SUFFIXES else ""


def _create_parquet_writer(
    folder: Path, image_paths: Mapping[str, str], load_display_image: DisplayImageLoader | None
) -> FormatWriter:
    from release.formats.parquet import ParquetWriter  # noqa: PLC0415 - imports pyarrow, which is not needed at start

    return ParquetWriter(folder, files=image_paths, load_display_image=load_display_image)
