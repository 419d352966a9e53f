"""The private side of a release: questions without anything that reveals the answer; keys in another folder.

The folder of a release can be distributed as it is. The keys are in ``<folder>-keys``, for the person who
scores predictions; the manifest has their SHA-256.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from records.questions import REVEALING_FIELDS, QuestionRecord
from release.folder import HashedFile
from release.manifest import Entry

#: Within the release's folder.
QUESTIONS = "private/questions.jsonl"
#: Within the folder of the keys.
KEYS = "keys.jsonl"
CORRECTIONS = "corrections.jsonl"


def keys_folder_of(folder: Path) -> Path:
    """The folder of the keys of a release."""
    return folder.with_name(f"{folder.name}-keys")


class PrivateWriter:
    """Writes questions and keys of the private side in one pass."""

    def __init__(self, folder: Path, keys: Path) -> None:
        """``folder`` is that of the release, ``keys`` that of the keys; both exist."""
        (folder / "private").mkdir()
        self._questions = HashedFile(folder / QUESTIONS)
        self._keys = HashedFile(keys / KEYS)
        self._corrections = HashedFile(keys / CORRECTIONS)
        self.count = self.corrections = 0

    def add(self, record: QuestionRecord, *, corrections: list[dict[str, Any]]) -> None:
        """Write a question as it would be in ``gold.jsonl``, and its lines of ``corrections.jsonl``."""
        self.count += 1
        self.corrections += len(corrections)
        for correction in corrections:
            self._corrections.write_json_line(correction)
        self._keys.write_json_line(record)
        fields = msgspec.to_builtins(record)
        blind_fields = {name: value for name, value in fields.items() if name not in REVEALING_FIELDS}
        self._questions.write_json_line(blind_fields)

    def close(self, kind: type[BaseException] | None) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        for file in (self._questions, self._keys, self._corrections):
            file.__exit__(kind, None, None)

    @property
    def entry(self) -> Entry:
        """The manifest's entry of the file of questions."""
        return Entry(path=QUESTIONS, bytes=self._questions.bytes, sha256=self._questions.sha256)

    @property
    def keys_sha256(self) -> str:
        return self._keys.sha256
