"""The scores of each question: properties of the questions of a split, and the scores of one model.

Both are arrays in the same order of questions; a slice is an index into them. They are computed once and kept
as files (:mod:`storage.evaluation.score_files`), because extraction of texts and matching of boxes take
seconds and the dashboard has to answer at once.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from domain.exams import compute_age_in_years
from domain.questions import Answer
from domain.readings import Prediction
from evaluation.answer_extraction import BY_JUDGE
from evaluation.answer_texts import build_candidate, build_reference
from evaluation.cases import EvaluatedQuestion
from evaluation.results import compute_chance
from measures.text_overlap import count_bleu, rouge_l
from reader_study.extraction import GIVEN
from review.corrected_versions import compute_box_overlap

#: The version of the files. It changes when a score is computed differently.
TABLE_VERSION = 3
NOT_STATED = "not stated"
#: The properties by which scores can be divided, with their names on screen.
DIMENSIONS = {
    "task": "Task",
    "category": "Category",
    "format": "Format",
    "tier": "Difficulty",
    "view": "View",
    "sex": "Sex",
    "age": "Age",
}
_AGE_GROUPS = ((18, "under 18"), (40, "18 to 39"), (60, "40 to 59"), (80, "60 to 79"))


class AnswerState(IntEnum):
    """Where the answer to a question comes from.

    NOT_ASKED: the question has no case in the evaluation. MISSING: no reply. FAILED: a reply from which no
    answer could be extracted. GIVEN: the file states the answer. BY_RULE: extracted by a rule. BY_JUDGE:
    extracted by a judge.
    """

    NOT_ASKED = -1
    MISSING = 0
    FAILED = 1
    GIVEN = 2
    BY_RULE = 3
    BY_JUDGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A property of the questions: its sorted values, and each question's index into them, shape (q,)."""

    values: tuple[str, ...]
    codes: NDArray[np.int16]

    def find_rows(self, value: str) -> NDArray[np.bool_]:
        """Return whether each question has a value, shape (q,)."""
        return np.asarray(self.codes == self.values.index(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTable:
    """The questions of a split, ordered by their id in the database (``numbers``).

    ``clusters`` numbers patients, or exams without a patient. ``chance`` is the probability that a guess is
    correct; NaN for open questions, which have no accuracy here. All arrays have shape (q,).
    """

    numbers: NDArray[np.int64]
    clusters: NDArray[np.int64]
    chance: NDArray[np.float64]
    dimensions: Mapping[str, Dimension]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScores:
    """The scores of a model's answers to the questions of a :class:`QuestionTable`. Arrays have shape (q,).

    Attributes:
        state: an :class:`AnswerState`.
        correct: 1 or 0; -1 if the question was not asked or is open.
        answer: a number that is equal for equal answers to a question; -1 without an answer or if open.
        overlap: the V-score (over the larger number of boxes); NaN if the key has no box.
        overlap_per_truth: the mean overlap per box of the key.
        overlap_per_match: the mean overlap per matched pair; NaN without one.
        has_boxes: whether the answer has a box.
        common: the number of words in common with the reference (BLEU).
        candidate: the number of words of the model's text; -1 if not asked.
        reference: the number of words of the reference.
        rouge: ROUGE-L, 0 to 1; NaN if not asked.
    """

    state: NDArray[np.int8]
    correct: NDArray[np.int8]
    answer: NDArray[np.int64]
    overlap: NDArray[np.float64]
    overlap_per_truth: NDArray[np.float64]
    overlap_per_match: NDArray[np.float64]
    has_boxes: NDArray[np.bool_]
    common: NDArray[np.int32]
    candidate: NDArray[np.int32]
    reference: NDArray[np.int32]
    rouge: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """An external score, or the score of a judge, for each question, with its name and version.

    ``values`` has shape (q,); NaN where there is none.
    """

    name: str
    version: str
    values: NDArray[np.float64]


def build_question_table(
    questions: Sequence[EvaluatedQuestion], demographics: Mapping[int, tuple[str | None, str | None]]
) -> QuestionTable:
    """Build the table of the questions of a split.

    Args:
        questions: the questions with their keys.
        demographics: sex and age of each exam as in the file, by its id in the database.
    """
    ordered = sorted(questions, key=lambda item: item.number)
    cluster_numbers: dict[str, int] = {}
    clusters = [cluster_numbers.setdefault(item.exam.cluster, len(cluster_numbers)) for item in ordered]
    chances = [compute_chance(item.question) for item in ordered]
    values: dict[str, list[str | None]] = {
        "task": [item.question.task or item.question.content_type for item in ordered],
        "category": [item.question.category for item in ordered],
        "format": [item.question.format.value for item in ordered],
        "tier": [item.question.difficulty for item in ordered],
        "view": [" + ".join(sorted(set(item.exam.views))) for item in ordered],
        "sex": [demographics[item.exam.number][0] for item in ordered],
        "age": [group_age(demographics[item.exam.number][1]) for item in ordered],
    }
    return QuestionTable(
        numbers=np.array([item.number for item in ordered], dtype=np.int64),
        clusters=np.array(clusters, dtype=np.int64),
        chance=np.array([np.nan if chance is None else chance for chance in chances]),
        dimensions={name: _build_dimension(column) for name, column in values.items()},
    )


def group_age(age: str | None) -> str | None:
    """Return the age group of an age as in a file; None if it is not stated.

    >>> group_age("058Y"), group_age("61"), group_age("240M"), group_age(None)
    ('40 to 59', '60 to 79', '18 to 39', None)
    """
    years = compute_age_in_years(age or "")
    if years is None:
        return None
    return next((name for limit, name in _AGE_GROUPS if years < limit), "80 and over")


def score_model(
    questions: Sequence[EvaluatedQuestion],
    asked: Iterable[int],
    predictions: Iterable[Prediction],
    *,
    report: Callable[[int], None] = lambda _: None,
) -> ModelScores:
    """Score the answers of a model.

    Args:
        questions: the questions with their keys.
        asked: the ids in the database of the questions with a case.
        predictions: the answers, as indices into the options of the release.
        report: called every 1,000 questions with the number of scored questions.
    """
    ordered = sorted(questions, key=lambda item: item.number)
    by_row_id = {prediction.question_row_id: prediction for prediction in predictions}
    asked_row_ids = set(asked)
    n = len(ordered)
    state = np.full(n, AnswerState.NOT_ASKED, dtype=np.int8)
    correct, answer = np.full(n, -1, dtype=np.int8), np.full(n, -1, dtype=np.int64)
    overlap, per_truth, per_match, rouge = np.full((4, n), np.nan)
    has_boxes = np.zeros(n, dtype=np.bool_)
    common, candidate, reference = np.full((3, n), -1, dtype=np.int32)
    for row, item in enumerate(ordered):
        if row % 1_000 == 0:
            report(row)
        if item.number not in asked_row_ids:
            continue
        question, prediction = item.question, by_row_id.get(item.number)
        state[row] = _find_state(prediction)
        if not question.format.is_free_text:
            given_answer = None if prediction is None else prediction.answer
            correct[row] = question.is_correct(given_answer)
            answer[row] = _encode_answer(given_answer)
        if question.boxes:
            boxes = () if prediction is None else prediction.boxes
            has_boxes[row] = bool(boxes)
            match = compute_box_overlap(question.boxes, boxes, by_label=False)
            for column, value in (
                (overlap, match.score), (per_truth, match.per_truth), (per_match, match.per_match),
            ):  # fmt: skip
                column[row] = np.nan if value is None else value
        model_text, key_text = build_candidate(prediction, question), build_reference(question)
        counts = count_bleu(model_text, key_text)
        common[row], candidate[row], reference[row] = counts.common, counts.candidate, counts.reference
        rouge[row] = rouge_l(model_text, key_text)
    report(n)
    return ModelScores(
        state=state, correct=correct, answer=answer, overlap=overlap, overlap_per_truth=per_truth,
        overlap_per_match=per_match, has_boxes=has_boxes, common=common, candidate=candidate,
        reference=reference, rouge=rouge,
    )  # fmt: skip


def encode_question_table(table: QuestionTable) -> bytes:
    """Encode a table for a file."""
    values = {name: dimension.values for name, dimension in table.dimensions.items()}
    return _encode(
        {
            "numbers": table.numbers,
            "clusters": table.clusters,
            "chance": table.chance,
            "values": np.frombuffer(json.dumps(values).encode(), dtype=np.uint8),
            **{f"codes {name}": dimension.codes for name, dimension in table.dimensions.items()},
        }
    )


def decode_question_table(content: bytes) -> QuestionTable:
    """Decode the output of :func:`encode_question_table`."""
    arrays = _decode(content)
    values = json.loads(arrays["values"].tobytes())
    return QuestionTable(
        numbers=arrays["numbers"],
        clusters=arrays["clusters"],
        chance=arrays["chance"],
        dimensions={
            name: Dimension(values=tuple(labels), codes=arrays[f"codes {name}"])
            for name, labels in values.items()
        },
    )


def encode_scores(scores: ModelScores) -> bytes:
    """Encode scores for a file."""
    return _encode({name: getattr(scores, name) for name in ModelScores.__dataclass_fields__})


def decode_scores(content: bytes) -> ModelScores:
    """Decode the output of :func:`encode_scores`."""
    return ModelScores(**_decode(content))


def encode_column(column: ScoreColumn) -> bytes:
    """Encode a column for a file."""
    texts = json.dumps([column.name, column.version]).encode()
    return _encode({"values": column.values, "texts": np.frombuffer(texts, dtype=np.uint8)})


def decode_column(content: bytes) -> ScoreColumn:
    """Decode the output of :func:`encode_column`."""
    arrays = _decode(content)
    name, version = json.loads(arrays["texts"].tobytes())
    return ScoreColumn(name=name, version=version, values=arrays["values"])


def _encode(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _decode(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def _build_dimension(column: Sequence[str | None]) -> Dimension:
    labels = [value or NOT_STATED for value in column]
    values = tuple(sorted(set(labels), key=lambda value: (value == NOT_STATED, value)))
    code_by_value = {value: code for code, value in enumerate(values)}
    return Dimension(
        values=values, codes=np.array([code_by_value[value] for value in labels], dtype=np.int16)
    )


def _find_state(prediction: Prediction | None) -> AnswerState:
    if prediction is None:
        return AnswerState.MISSING
    if prediction.failed:
        return AnswerState.FAILED
    states = {GIVEN: AnswerState.GIVEN, BY_JUDGE: AnswerState.BY_JUDGE}
    return states.get(prediction.rule, AnswerState.BY_RULE)


def _encode_answer(answer: Answer | None) -> int:
    """Return a number of an answer: one bit per option, or the checksum of a text."""
    if answer is None:
        return -1
    return crc32(answer.encode()) if isinstance(answer, str) else sum(1 << index for index in answer)
