"""Compares the folder of a release with its manifest, and its files with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from domain.corrections import CORRECTABLE_FIELDS
from domain.errors import InvalidValue
from records.questions import REVEALING_FIELDS, question_from_plain
from release.folder import MANIFEST, hash_file
from release.manifest import FORMAT, Entry, parse_entries
from release.private import QUESTIONS as PRIVATE
from release.splits import SPLIT_TABLE

#: The maximum number of faults that are reported.
MAX_FAULTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """The result of a verification. The release is unchanged if there are no ``faults``."""

    folder: Path
    faults: tuple[str, ...]
    files: int
    questions: int
    corrections: int
    manifest_sha256: str | None

    @property
    def ok(self) -> bool:
        return not self.faults


class _BadManifest(Exception):
    """The manifest is missing or not valid."""


def verify_release(folder: Path) -> VerifyReport:
    """Verify the folder of a release.

    The function checks the manifest, the length and SHA-256 of every file, and that no file is missing or
    added. If these are correct, it checks that every line of gold.jsonl is a valid question with its
    corrections applied, and that the counts of the manifest are correct.

    Args:
        folder: the folder of the release.
    """
    try:
        manifest, entries = _load_manifest(folder)
    except _BadManifest as error:
        return VerifyReport(
            folder=folder, faults=(str(error),), files=0, questions=0, corrections=0, manifest_sha256=None
        )
    faults = [*_check_files(folder, entries), *_find_unlisted_files(folder, entries)]
    corrections, questions = 0, 0
    # The contents are compared only if the files are unchanged.
    if not faults:
        gold = _GoldFiles(folder)
        faults += gold.check()
        corrections, questions = gold.corrections, gold.questions
        faults += _check_counts(manifest, gold)
    return VerifyReport(
        folder=folder,
        faults=tuple(faults[:MAX_FAULTS]),
        files=len(entries) + 1,
        questions=questions,
        corrections=corrections,
        manifest_sha256=hash_file(folder / MANIFEST)[0],
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a release.

    Raises:
        InvalidValue: the manifest is missing or not valid.
    """
    try:
        return _load_manifest(folder)[0]
    except _BadManifest as error:
        raise InvalidValue("release", str(error)) from error


def _load_manifest(folder: Path) -> tuple[dict[str, Any], tuple[Entry, ...]]:
    path = folder / MANIFEST
    if not path.is_file():
        raise _BadManifest(f"{folder} has no {MANIFEST}. Choose the folder of a release.")
    try:
        manifest = msgspec.json.decode(path.read_bytes())
        entries = parse_entries(manifest)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise _BadManifest(f"{path} cannot be read: {error!r}") from error
    if manifest.get("format") != FORMAT:
        raise _BadManifest(f"{path} has the format {manifest.get('format')!r}, not {FORMAT}")
    for entry in entries:
        if not _is_inside(entry.path):
            raise _BadManifest(f"{path} lists the file {entry.path!r}, which is outside the folder")
    return manifest, entries


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and "\\" not in path and "\0" not in path and not {"", ".", ".."} & set(parts)


def _check_files(folder: Path, entries: tuple[Entry, ...]) -> Iterator[str]:
    for entry in entries:
        path = folder / entry.path
        if path.is_symlink() or not path.is_file():
            yield f"{entry.path}: missing"
            continue
        sha256, length = hash_file(path)
        if length != entry.bytes:
            yield f"{entry.path}: {length:,} bytes; the manifest states {entry.bytes:,}"
        elif sha256 != entry.sha256:
            yield f"{entry.path}: changed; SHA-256 is {sha256}, the manifest states {entry.sha256}"


def _find_unlisted_files(folder: Path, entries: tuple[Entry, ...]) -> Iterator[str]:
    listed_names = {MANIFEST, *(entry.path for entry in entries)}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name not in listed_names and (path.is_symlink() or not path.is_dir()):
            yield f"{name}: not in the manifest"


def _check_counts(manifest: dict[str, Any], gold: _GoldFiles) -> Iterator[str]:
    counts = manifest.get("counts", {})
    private = (manifest.get("splits") or {}).get("private", {})
    for name, public_count, private_count in (
        ("released", gold.questions, private.get("questions", 0)),
        ("corrections", gold.corrections, private.get("corrections", 0)),
    ):
        if counts.get(name) != public_count + private_count:
            yield (
                f"{MANIFEST}: counts.{name} is {counts.get(name)}, but the files contain "
                f"{public_count + private_count}"
            )
    if gold.private != private.get("questions", 0):
        yield f"{PRIVATE}: {gold.private} questions; the manifest states {private.get('questions', 0)}"


class _GoldFiles:
    """Compares gold.jsonl, corrections.jsonl, left_out.jsonl and the private questions with each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.questions = self.private = 0
        self.corrections = 0

    def check(self) -> list[str]:
        """Return one sentence per contradiction between the files."""
        faults: list[str] = []
        corrections: dict[str, dict[str, Any]] = defaultdict(dict)
        for line, record in self._read_records("corrections.jsonl", faults):
            self.corrections += 1
            try:
                corrections[record["question_id"]][record["field"]] = record["after"]
            except (KeyError, TypeError):
                faults.append(f"corrections.jsonl, line {line}: is not a valid correction")
        public_ids: set[str] = set()
        for line, record in self._read_records("gold.jsonl", faults):
            self.questions += 1
            try:
                question = question_from_plain(record)
            except InvalidValue as error:
                faults.append(f"gold.jsonl, line {line}: is not a valid question: {error}")
                continue
            if question.id in public_ids:
                faults.append(f"gold.jsonl, line {line}: question {question.id!r} appears twice")
            public_ids.add(question.id)
            faults.extend(_check_corrections(record, corrections.pop(question.id, {})))
        private_ids: set[str] = set()
        faults += self._check_private(public_ids, private_ids)
        faults += self._check_splits(public_ids | private_ids)
        faults += [
            f"corrections.jsonl: question {question_id!r} is corrected, but is not in gold.jsonl"
            for question_id in corrections
        ]
        faults += [
            f"left_out.jsonl, line {line}: question {record.get('question_id')!r} is in gold.jsonl too"
            for line, record in self._read_records("left_out.jsonl", faults)
            if record.get("question_id") in public_ids
        ]
        return faults

    def _check_splits(self, question_ids: set[str]) -> list[str]:
        """Check that every question is in one split, and all questions of an exam in the same split."""
        faults: list[str] = []
        if not (self._folder / SPLIT_TABLE).is_file():
            return faults
        split_by_exam: dict[str, str] = {}
        unseen_ids = set(question_ids)
        for line, record in self._read_records(SPLIT_TABLE, faults):
            question_id, exam, split = (record.get(name) for name in ("question_id", "exam_id", "split"))
            if question_id not in unseen_ids:
                faults.append(f"{SPLIT_TABLE}, line {line}: question {question_id!r} is unknown or repeated")
            unseen_ids.discard(str(question_id))
            if split_by_exam.setdefault(str(exam), str(split)) != split:
                faults.append(
                    f"{SPLIT_TABLE}, line {line}: exam {exam!r} is in {split_by_exam[str(exam)]} too"
                )
        faults += [
            f"{SPLIT_TABLE}: question {question_id!r} is missing" for question_id in sorted(unseen_ids)
        ]
        return faults

    def _check_private(self, public_ids: set[str], private_ids: set[str]) -> list[str]:
        """Check that private questions reveal no answer and are not public; fill ``private_ids``."""
        faults: list[str] = []
        if not (self._folder / PRIVATE).is_file():
            return faults
        for line, record in self._read_records(PRIVATE, faults):
            self.private += 1
            private_ids.add(str(record.get("id")))
            if record.get("id") in public_ids:
                faults.append(f"{PRIVATE}, line {line}: question {record['id']!r} is in gold.jsonl too")
            revealing_fields = sorted(REVEALING_FIELDS & record.keys())
            if revealing_fields:
                faults.append(f"{PRIVATE}, line {line}: reveals {', '.join(revealing_fields)}")
        return faults

    def _read_records(self, name: str, faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        path = self._folder / name
        if not path.is_file():
            faults.append(f"{name}: not in the release")
            return
        with path.open("rb") as file:
            for line, text in enumerate(file, start=1):
                try:
                    record = msgspec.json.decode(text)
                except (msgspec.DecodeError, RecursionError) as error:
                    faults.append(f"{name}, line {line}: is not valid JSON: {error}")
                    continue
                if isinstance(record, dict):
                    yield line, record
                else:
                    faults.append(f"{name}, line {line}: is not a record")


def _check_corrections(record: dict[str, Any], corrections: dict[str, Any]) -> Iterator[str]:
    for field, corrected_value in corrections.items():
        if field not in CORRECTABLE_FIELDS:
            yield f"corrections.jsonl: question {record['id']!r}: {field!r} is not a correctable field"
            continue
        value = record.get(field)
        # Records omit empty fields, so a missing and an empty value are equal.
        if (value or None) != (corrected_value or None):
            yield f"gold.jsonl: question {record['id']!r}: {field} differs from corrections.jsonl"
