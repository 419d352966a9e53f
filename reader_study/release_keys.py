"""Loads the keys of a release for scoring, from its folder and the folder of its private keys."""

from __future__ import annotations

from pathlib import Path

import msgspec

from domain.errors import InvalidValue, Refused
from reader_study.scoring import KeyedQuestion
from records.questions import question_from_plain
from release.folder import MANIFEST, file_hash
from release.private import KEYS, keys_folder
from release.splits import Side
from release.verify import read_manifest

GOLD = "gold.jsonl"


def load_keys(release: Path, *, keys: Path | None = None) -> dict[str, KeyedQuestion]:
    """Load all questions of a release with their keys.

    Args:
        release: the folder of the release.
        keys: the folder of the private keys; None for ``<release>-keys``.

    Returns:
        The questions by id.

    Raises:
        InvalidValue: the folder is no release, or a file was changed.
        Refused: the release has a private side, but the folder of its keys is missing.
    """
    release = release.resolve()
    manifest = read_manifest(release)
    stated = {each["path"]: each["sha256"] for each in manifest["files"]}
    found = _questions(release / GOLD, sha256=stated.get(GOLD), side=Side.PUBLIC)
    private = (manifest.get("splits") or {}).get("private") or {}
    if not private.get("questions"):
        return found
    path = (keys or keys_folder(release)) / KEYS
    if not path.is_file():
        raise Refused(
            f"{private['questions']:,} questions of this release are private and {path} is not there. "
            "Whoever made the release has their keys: name their folder with --keys DIR."
        )
    return found | _questions(path, sha256=private.get("keys_sha256"), side=Side.PRIVATE)


def _questions(path: Path, *, sha256: str | None, side: Side) -> dict[str, KeyedQuestion]:
    if not path.is_file():
        raise InvalidValue("release", f"{path} is missing")
    if sha256 is None or file_hash(path)[0] != sha256:
        raise InvalidValue("release", f"{path} is not the file whose SHA-256 {MANIFEST} has")
    found: dict[str, KeyedQuestion] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                question = question_from_plain(msgspec.json.decode(line))
            except (msgspec.DecodeError, InvalidValue) as error:
                raise InvalidValue("release", f"{path}, line {number}: is no question: {error}") from error
            found[question.id] = KeyedQuestion(question=question, side=side.value)
    return found
