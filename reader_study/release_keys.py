"""Loads the questions of a release with their keys, from its folder and the folder of its private keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from domain.errors import InvalidValue, Refused
from reader_study.scores import KeyedQuestion
from records.questions import question_from_plain
from release.folder import MANIFEST, hash_file
from release.private import KEYS, keys_folder_of
from release.splits import SPLIT_TABLE, Split
from release.verify import read_manifest

GOLD = "gold.jsonl"


def load_keys(
    release: Path, *, keys: Path | None = None, split: Split | None = None
) -> dict[str, KeyedQuestion]:
    """Load the questions of a release with their keys.

    Args:
        release: the folder of the release.
        keys: the folder of the private keys; None for ``<release>-keys``.
        split: load the questions of this split only; None for all.

    Returns:
        The questions by id.

    Raises:
        InvalidValue: the folder is not a release, or a file was changed.
        Refused: the release has private questions, but the folder of its keys is missing.
    """
    release = release.resolve()
    manifest = read_manifest(release)
    sha256_by_path = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    questions: dict[str, KeyedQuestion] = {}
    if split is not Split.PRIVATE:
        questions = _load_questions(release / GOLD, sha256=sha256_by_path.get(GOLD), split=Split.PUBLIC)
    if questions and SPLIT_TABLE in sha256_by_path:
        split_by_id = _load_splits(release / SPLIT_TABLE, sha256=sha256_by_path[SPLIT_TABLE])
        questions = {
            question_id: replace(keyed, side=split_by_id[question_id])
            for question_id, keyed in questions.items()
        }
    if split is not None:
        questions = {
            question_id: keyed for question_id, keyed in questions.items() if keyed.side == split.value
        }
    private = (manifest.get("splits") or {}).get("private") or {}
    if split not in (None, Split.PRIVATE) or not private.get("questions"):
        return questions
    path = (keys or keys_folder_of(release)) / KEYS
    if not path.is_file():
        raise Refused(
            f"{private['questions']:,} questions of this release are private, and {path} does not exist. Ask "
            "the person who created the release for the keys and state their folder with --keys DIR."
        )
    return questions | _load_questions(path, sha256=private.get("keys_sha256"), split=Split.PRIVATE)


def _load_questions(path: Path, *, sha256: str | None, split: Split) -> dict[str, KeyedQuestion]:
    _check_file(path, sha256=sha256)
    questions: dict[str, KeyedQuestion] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                question = question_from_plain(msgspec.json.decode(line))
            except (msgspec.DecodeError, InvalidValue) as error:
                raise InvalidValue(
                    "release", f"{path}, line {number}: is not a valid question: {error}"
                ) from error
            questions[question.id] = KeyedQuestion(question=question, side=split.value)
    return questions


def _load_splits(path: Path, *, sha256: str) -> dict[str, str]:
    """Return the split of each question, by its id."""
    _check_file(path, sha256=sha256)
    with path.open("rb") as file:
        records = [msgspec.json.decode(line) for line in file]
    return {record["question_id"]: record["split"] for record in records}


def _check_file(path: Path, *, sha256: str | None) -> None:
    if not path.is_file():
        raise InvalidValue("release", f"{path} is missing")
    if sha256 is None or hash_file(path)[0] != sha256:
        raise InvalidValue("release", f"{path} does not match its SHA-256 in {MANIFEST}")
