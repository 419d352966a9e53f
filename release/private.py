"""The private split of a release: its questions without any field that reveals the answer.

Their keys, corrections, origins and errata are written to the separate folder ``<folder>-keys``, for the
person who scores predictions, so the folder of the release can be distributed as it is. The manifest has the
SHA-256 of the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from records.questions import REVEALING_FIELDS, QuestionRecord
from release.folder import HashedFile
from release.manifest import Entry
from release.optional_file import OptionalFile

#: The path of the private questions within the folder of the release.
QUESTIONS = "private/questions.jsonl"
#: The path of the keys within their folder.
KEYS = "keys.jsonl"
CORRECTIONS = "corrections.jsonl"
PROVENANCE = "provenance.jsonl"
ERRATA = "errata.jsonl"


def keys_folder_of(folder: Path) -> Path:
    """Return the folder of the private keys for the folder of a release."""
    return folder.with_name(f"{folder.name}-keys")


class PrivateWriter:
    """Writes the questions and keys of the private split in one pass."""

    def __init__(self, folder: Path, keys: Path) -> None:
        """``folder`` is the folder of the release and ``keys`` the folder of its keys; both must exist."""
        (folder / "private").mkdir()
        self._questions = HashedFile(folder / QUESTIONS)
        self._keys = HashedFile(keys / KEYS)
        self._corrections = HashedFile(keys / CORRECTIONS)
        self._provenance = OptionalFile(keys / PROVENANCE)
        self.errata = OptionalFile(keys / ERRATA)
        self.count = self.corrections = 0

    def add(
        self,
        record: QuestionRecord,
        *,
        corrections: list[dict[str, Any]],
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a record of ``gold.jsonl`` as a private question.

        Its key, its correction records and its origin go into the folder of the keys.
        """
        self.count += 1
        self.corrections += len(corrections)
        for correction in corrections:
            self._corrections.write_json_line(correction)
        self._keys.write_json_line(record)
        self._provenance.add(provenance)
        fields = msgspec.to_builtins(record)
        blind_fields = {name: value for name, value in fields.items() if name not in REVEALING_FIELDS}
        self._questions.write_json_line(blind_fields)

    def close(self, kind: type[BaseException] | None) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        for file in (self._questions, self._keys, self._corrections):
            file.__exit__(kind, None, None)
        self._provenance.close(kind)
        self.errata.close(kind)

    @property
    def entry(self) -> Entry:
        """The manifest's entry for the file of private questions."""
        return Entry(path=QUESTIONS, bytes=self._questions.bytes, sha256=self._questions.sha256)

    @property
    def keys_sha256(self) -> str:
        return self._keys.sha256
