"""Loads the questions of a release with their keys, from its folder and the folder of its private keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from domain.errors import InvalidValue, Refused
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from reader_study.scores import KeyedQuestion
from records.decoding import make_decoder
from records.questions import question_from_plain
from release.folder import MANIFEST, hash_file
from release.private import KEYS, keys_folder_of
from release.splits import SPLIT_TABLE, Split
from release.verify import read_manifest

GOLD = "gold.jsonl"


class QuestionOptions(msgspec.Struct, gc=False):
    """The fields of a released question that are needed to read an answer; the others are not decoded."""

    id: str
    format: AnswerFormat
    options: tuple[str, ...] = ()


_Decoded = TypeVar("_Decoded", Question, QuestionOptions)
_options_decoder = make_decoder(QuestionOptions)


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
    questions_by_id = _load_with_split(release, keys=keys, split=split, decode=_decode_question)
    return {
        question_id: KeyedQuestion(question=question, side=side)
        for question_id, (question, side) in questions_by_id.items()
    }


def load_options(release: Path, *, split: Split) -> dict[str, QuestionOptions]:
    """Load formats and options of a split, five times as fast as :func:`load_keys`.

    Raises:
        InvalidValue: the folder is not a release, or a file was changed.
        Refused: the split is private, but the folder of its keys is missing.
    """
    questions_by_id = _load_with_split(release, keys=None, split=split, decode=_options_decoder.decode)
    return {question_id: question for question_id, (question, _) in questions_by_id.items()}


def _decode_question(line: bytes) -> Question:
    return question_from_plain(msgspec.json.decode(line))


def _load_with_split(
    release: Path, *, keys: Path | None, split: Split | None, decode: Callable[[bytes], _Decoded]
) -> dict[str, tuple[_Decoded, str]]:
    """Return the decoded questions with their split, by id."""
    release = release.resolve()
    manifest = read_manifest(release)
    sha256_by_path = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    questions: dict[str, tuple[_Decoded, str]] = {}
    if split is not Split.PRIVATE:
        public_questions = _load_questions(release / GOLD, sha256=sha256_by_path.get(GOLD), decode=decode)
        split_by_id = dict.fromkeys(public_questions, Split.PUBLIC.value)
        if public_questions and SPLIT_TABLE in sha256_by_path:
            split_by_id = _load_splits(release / SPLIT_TABLE, sha256=sha256_by_path[SPLIT_TABLE])
        wanted_splits = {side.value for side in Split} if split is None else {split.value}
        questions = {
            question_id: (question, side)
            for question_id, question in public_questions.items()
            if (side := split_by_id[question_id]) in wanted_splits
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
    private_questions = _load_questions(path, sha256=private.get("keys_sha256"), decode=decode)
    return questions | {
        question_id: (question, Split.PRIVATE.value) for question_id, question in private_questions.items()
    }


def _load_questions(
    path: Path, *, sha256: str | None, decode: Callable[[bytes], _Decoded]
) -> dict[str, _Decoded]:
    _check_file(path, sha256=sha256)
    questions: dict[str, _Decoded] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                question = decode(line)
            except (msgspec.DecodeError, InvalidValue) as error:
                raise InvalidValue(
                    "release", f"{path}, line {number}: is not a valid question: {error}"
                ) from error
            questions[question.id] = question
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
