"""Finds one question in the folder of a release, without decoding the other questions."""

from __future__ import annotations

from pathlib import Path

import msgspec

from domain.errors import InvalidValue, NotFound, Refused
from domain.questions import Question
from records.questions import question_from_plain
from release.folder import MANIFEST, hash_file
from release.private import KEYS, keys_folder_of
from release.splits import Split
from release.verify import read_manifest

_GOLD = "gold.jsonl"


def find_released_question(folder: Path, *, manifest_sha256: str, question_id: str, split: Split) -> Question:
    """Return a question as a release has it, with its key.

    Args:
        folder: the folder of the release.
        manifest_sha256: the recorded SHA-256 of its manifest.
        question_id: the id of the question in the file.
        split: its split in the release.

    Raises:
        NotFound: the folder of the release or of its keys is missing.
        Refused: the manifest was changed.
        InvalidValue: the file of the questions was changed, or does not have the question.
    """
    if not (folder / MANIFEST).is_file():
        raise NotFound(f"The release is no longer in {folder}. Move it back, or create it there again.")
    if hash_file(folder / MANIFEST)[0] != manifest_sha256:
        raise Refused(f"{folder / MANIFEST} was changed after its creation. Restore it from a backup.")
    manifest = read_manifest(folder)
    if split is Split.PRIVATE:
        path, expected_sha256 = keys_folder_of(folder) / KEYS, manifest["splits"]["private"]["keys_sha256"]
    else:
        path = folder / _GOLD
        expected_sha256 = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == _GOLD)
    if not path.is_file():
        raise NotFound(f"{path} is missing. Restore it from a backup.")
    if hash_file(path)[0] != expected_sha256:
        raise InvalidValue("release", f"{path} does not match its SHA-256 in {MANIFEST}")
    id_text = msgspec.json.encode(question_id)
    with path.open("rb") as file:
        for line in file:
            if id_text in line:
                plain = msgspec.json.decode(line)
                if plain["id"] == question_id:
                    return question_from_plain(plain)
    raise InvalidValue("release", f"{path} has no question {question_id!r}")
