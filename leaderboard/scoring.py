"""Checks a file of predictions for a leaderboard and scores it, with the code of ``cli.py score``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.errors import Refused
from domain.problems import Refusal
from domain.questions import Answer, Question
from domain.version import VERSION
from intake.guarded_process import ParsingStopped
from measures.proportions import Proportion
from measures.records.accuracy import compute_share_correct
from reader_study.predictions_process import read_predictions_in_process
from reader_study.scores import KeyedQuestion, score_questions
from release.folder import hash_file

CONFIDENCE = 0.95
#: The number of refusals at which the file is not read further: a million invalid lines take half a minute.
MAX_REFUSALS = 100
#: The largest number of questions without an answer that the refusals name.
_MAX_NAMED_QUESTIONS = 20
#: The modules that decide whether an answer is correct; a receipt contains their hash.
_SCORING_MODULES = (
    "domain.questions",
    "leaderboard.scoring",
    "reader_study.extraction",
    "reader_study.harness_files",
    "reader_study.predictions_file",
    "reader_study.predictions_process",
    "reader_study.reply_values",
    "reader_study.scores",
    "reader_study.stated_options",
    "reader_study.yes_no_replies",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file of predictions after the check.

    If there are ``refusals``, the file is not scored and the other fields are empty. ``answers`` and
    ``outcomes`` are in the order of the sorted ids of the closed questions. ``failed`` counts replies without
    a recognised answer, which are wrong. ``repr`` leaves out the data of single cases.
    """

    file_sha256: str
    file_bytes: int
    refusals: tuple[Refusal, ...] = ()
    answers: tuple[Answer | None, ...] = field(default=(), repr=False)
    outcomes: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_), repr=False)
    failed: int = 0


def is_scored(question: Question) -> bool:
    """Whether a leaderboard scores a question: free text is not, since a correct answer has many wordings."""
    return not question.format.is_free_text


def check_file(path: Path, *, file_name: str, keys: Mapping[str, KeyedQuestion]) -> CheckedFile:
    """Read, check and score a file of predictions.

    The file must have one answer to each closed private question. Answers to open ones are permitted and
    ignored; there must be no other line. The score of a partial file would reveal the keys of its questions.
    A process with limits on time and memory reads the file, because everybody with an account may submit one.

    Args:
        path: the file, in a format that :func:`reader_study.predictions_file.read_predictions` reads.
        file_name: the name that refusals state.
        keys: the private questions with their keys, by id.

    Raises:
        Refused: reading took too long or too much memory.
    """
    sha256, length = hash_file(path)
    with closing(read_predictions_in_process(path, model=None, file=file_name)) as predictions:
        try:
            scored = score_questions(
                (record for record, _ in predictions),
                keys=keys,
                file=file_name,
                scope="the private split of the release",
                max_refusals=MAX_REFUSALS,
            )
        except ParsingStopped as error:
            raise Refused(f"Not submitted, nothing was charged. {error.reason}") from None
    refusals = scored.refusals
    closed_questions = {
        key: scored_question
        for key, scored_question in sorted(scored.questions.items())
        if is_scored(scored_question.keyed.question)
    }
    if not refusals:
        total = count_text(len(closed_questions), "question")
        missing = [
            question_id
            for question_id, scored_question in closed_questions.items()
            if scored_question.state == "missing"
        ]
        refusals = tuple(
            Refusal(
                file=file_name,
                record="",
                field="question_id",
                reason=f"{question_id!r} has no answer ({len(missing):,} of "
                f"{total} {'has' if len(missing) == 1 else 'have'} none)",
            )
            for question_id in missing[:_MAX_NAMED_QUESTIONS]
        )
    if refusals:
        return CheckedFile(file_sha256=sha256, file_bytes=length, refusals=refusals)
    scored_questions = list(closed_questions.values())
    return CheckedFile(
        file_sha256=sha256,
        file_bytes=length,
        answers=tuple(scored_question.answer for scored_question in scored_questions),
        outcomes=np.array(
            [scored_question.is_correct for scored_question in scored_questions], dtype=np.bool_
        ),
        failed=sum(scored_question.state == "failed" for scored_question in scored_questions),
    )


def score_answers(questions: Sequence[Question], answers: Sequence[Answer | None]) -> NDArray[np.bool_]:
    """Return whether each answer to the question at the same position is correct, shape (questions,)."""
    return np.array(
        [question.is_correct(answer) for question, answer in zip(questions, answers, strict=True)],
        dtype=np.bool_,
    )


def compute_accuracy(outcomes: NDArray[np.bool_], clusters: Sequence[int]) -> Proportion:
    """Compute the accuracy with its 95 % interval, clustered by patient."""
    share, _ = compute_share_correct(
        outcomes.astype(np.int64), np.asarray(clusters, dtype=np.int64), confidence=CONFIDENCE
    )
    return share


@cache
def code_version() -> str:
    """Return the version of the software and the SHA-256 of the modules that score answers."""
    digest = hashlib.sha256()
    for name in _SCORING_MODULES:
        file = import_module(name).__file__
        if file is None:
            raise ValueError(f"{name} has no file")
        digest.update(Path(file).read_bytes())
    return f"{VERSION} {digest.hexdigest()}"
