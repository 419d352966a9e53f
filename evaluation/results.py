"""Results of an evaluation: accuracy and its floors, image reliance, consistency, position bias, calibration.

Questions with a fixed set of possible answers are scored; open answers need marks or a judge. A question
without an answer counts as wrong. Intervals are clustered by patient, or by exam if no patient is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from domain.evaluations import Condition, EvaluationCase
from domain.questions import Answer, Question, option_letter
from domain.vocabulary import AnswerFormat
from evaluation.calibration import ConditionCalibration, compute_calibration, select_stated
from evaluation.cases import EvaluatedQuestion
from measures.paired import compare_paired
from measures.records.accuracy import compute_share_correct

CONFIDENCE = 0.95
#: The conditions that are compared with "as given", and what the difference is called.
CONTRASTS = {
    Condition.NO_IMAGE: "image reliance",
    Condition.OTHER_IMAGE: "loss with another patient's image",
    Condition.SHUFFLED: "loss with options shuffled",
    Condition.PARAPHRASED: "loss with paraphrased stem",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionAnswers:
    """The cases of a condition and the answers to them, in the options of the release.

    ``answers`` has an entry for each stored answer; None if none could be extracted. ``probabilities`` has
    one for each answer whose model states the probability (0 to 1) that it is correct.
    """

    condition: Condition
    cases: Mapping[int, EvaluationCase]
    answers: Mapping[int, Answer | None]
    excluded: Mapping[str, int]
    probabilities: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionAccuracy:
    """The accuracy in one condition: ``correct`` of ``n`` scored questions.

    ``n`` is the sum of ``answered``, ``failed`` (no answer could be extracted) and ``missing`` (no reply).
    ``chance`` is the expected accuracy of guessing the same questions. ``text_only`` is the accuracy on the
    same questions in the condition "no image", None if that was not run. ``open_questions`` are not scored.
    """

    condition: Condition
    n: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    answered: int
    failed: int
    missing: int
    chance: float | None
    text_only: float | None
    open_questions: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The accuracy as given minus that in another condition, on the questions that both conditions have."""

    condition: Condition
    name: str
    n: int
    as_given: float | None
    other: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The share of questions with the same answer as given and in another condition.

    ``n`` counts the questions that were answered in both.
    """

    condition: Condition
    n: int
    same: int
    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionShare:
    """Counts for one position of the options, over answered single-choice questions that have it.

    ``chosen`` is the number of questions with the answer at the position, ``keys`` with the key, ``correct``
    with both. Without position bias the shares of chosen answers and keys agree, up to errors of the
    model.
    """

    condition: Condition
    letter: str
    n: int
    chosen: int
    keys: int
    correct: int

    @property
    def recall(self) -> float | None:
        """The share of keys at this position that were chosen."""
        return self.correct / self.keys if self.keys else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """The positions of a condition, and the standard deviation of their recalls (RStd), 0 without bias.

    Source: Zheng C et al., Large language models are not robust multiple choice selectors, ICLR 2024.
    """

    condition: Condition
    positions: tuple[PositionShare, ...]
    recall_sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResults:
    """All results of an evaluation. ``clusters`` is the number of patients (or exams) of its questions.

    ``calibrations`` has the conditions in which an answer has a probability. ``extraction`` is the signature
    of the judge that extracted answers where no rule could; "" without one.
    """

    questions: int
    clusters: int
    accuracies: tuple[ConditionAccuracy, ...]
    contrasts: tuple[Contrast, ...]
    consistencies: tuple[Consistency, ...]
    biases: tuple[PositionBias, ...]
    calibrations: tuple[ConditionCalibration, ...] = ()
    extraction: str = ""


def compute_results(
    questions: Sequence[EvaluatedQuestion], conditions: Sequence[ConditionAnswers]
) -> EvaluationResults:
    """Compute the results of an evaluation.

    Args:
        questions: the questions of the split with their keys.
        conditions: the answers of each condition.
    """
    by_row_id = {item.number: item for item in questions}
    clusters = number_clusters(questions)
    by_condition = {condition_answers.condition: condition_answers for condition_answers in conditions}
    as_given, without_image = by_condition.get(Condition.AS_GIVEN), by_condition.get(Condition.NO_IMAGE)
    accuracies = [
        _compute_accuracy(condition_answers, by_row_id, clusters, without_image)
        for condition_answers in conditions
    ]
    compared = [
        condition_answers
        for condition_answers in conditions
        if as_given is not None and condition_answers.condition in CONTRASTS
    ]
    return EvaluationResults(
        questions=len(questions),
        clusters=len(set(clusters.values())),
        accuracies=tuple(accuracies),
        contrasts=tuple(
            _compute_contrast(as_given, condition_answers, by_row_id, clusters)
            for condition_answers in compared
            if as_given
        ),
        consistencies=tuple(
            _compute_consistency(as_given, condition_answers, by_row_id, clusters)
            for condition_answers in compared
            if as_given and condition_answers.condition in (Condition.SHUFFLED, Condition.PARAPHRASED)
        ),
        biases=tuple(
            compute_position_bias(condition_answers, by_row_id)
            for condition_answers in conditions
            if condition_answers.condition in (Condition.AS_GIVEN, Condition.SHUFFLED)
        ),
        calibrations=tuple(
            calibration
            for condition_answers in conditions
            if (calibration := _compute_calibration(condition_answers, by_row_id, clusters)).calibration.n
        ),
    )


def compute_chance(question: Question) -> float | None:
    """Return the probability that a guess is correct; None for a question without a list of answers.

    A guess is one of the possible answers, each equally likely. For multiple choice, it is any non-empty set.

    >>> from domain.vocabulary import AnswerFormat
    >>> compute_chance(
    ...     Question(
    ...         id="1", exam_id="e", format=AnswerFormat.SINGLE, stem="?", options=("a", "b"), answer=(0,)
    ...     )
    ... )
    0.5
    """
    if question.format.fixed_answers:
        return 1 / len(question.format.fixed_answers)
    if not question.format.has_options:
        return None
    possible = 2 ** len(question.options) - 1 if question.format.allows_multiple else len(question.options)
    return len({question.answer, *question.also_right}) / possible


def compute_position_bias(
    condition_answers: ConditionAnswers, questions: Mapping[int, EvaluatedQuestion]
) -> PositionBias:
    """Count the positions of keys and chosen answers in single-choice questions, as shown to the model."""
    position_counts: list[int] = []
    chosen: list[int] = []
    keys: list[int] = []
    correct: list[int] = []
    for number, answer in condition_answers.answers.items():
        question, case = questions[number].question, condition_answers.cases[number]
        if question.format is not AnswerFormat.SINGLE or not isinstance(answer, tuple) or question.also_right:
            continue
        while len(position_counts) < len(question.options):
            for counts in (position_counts, chosen, keys, correct):
                counts.append(0)
        for position in range(len(question.options)):
            position_counts[position] += 1
        shown_answer, shown_key = case.to_shown_order(answer)[0], case.to_shown_order(question.answer)[0]
        chosen[int(shown_answer)] += 1
        keys[int(shown_key)] += 1
        correct[int(shown_key)] += shown_answer == shown_key
    positions = tuple(
        PositionShare(
            condition=condition_answers.condition,
            letter=option_letter(position),
            n=position_counts[position],
            chosen=chosen[position],
            keys=keys[position],
            correct=correct[position],
        )
        for position in range(len(position_counts))
    )
    recalls = [position.recall for position in positions if position.recall is not None]
    return PositionBias(
        condition=condition_answers.condition,
        positions=positions,
        recall_sd=float(np.std(recalls)) if len(recalls) > 1 else None,
    )


def number_clusters(questions: Sequence[EvaluatedQuestion]) -> dict[int, int]:
    """Number the patients (or exams without a patient); return each question's number by question id."""
    numbers: dict[str, int] = {}
    return {item.number: numbers.setdefault(item.exam.cluster, len(numbers)) for item in questions}


def _list_scored(
    condition_answers: ConditionAnswers, questions: Mapping[int, EvaluatedQuestion]
) -> list[int]:
    return [
        number for number in condition_answers.cases if not questions[number].question.format.is_free_text
    ]


def _find_correct(
    condition_answers: ConditionAnswers, questions: Mapping[int, EvaluatedQuestion], numbers: Sequence[int]
) -> NDArray[np.bool_]:
    """Return whether each question was answered correctly, shape (number of questions,)."""
    return np.array(
        [questions[number].question.is_correct(condition_answers.answers.get(number)) for number in numbers],
        dtype=np.bool_,
    )


def _take_clusters(clusters: Mapping[int, int], numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array([clusters[number] for number in numbers], dtype=np.int64)


def _compute_accuracy(
    condition_answers: ConditionAnswers,
    questions: Mapping[int, EvaluatedQuestion],
    clusters: Mapping[int, int],
    without_image: ConditionAnswers | None,
) -> ConditionAccuracy:
    numbers = _list_scored(condition_answers, questions)
    correct = _find_correct(condition_answers, questions, numbers)
    share, _ = compute_share_correct(
        correct.astype(np.int64), _take_clusters(clusters, numbers), confidence=CONFIDENCE
    )
    chances = [compute_chance(questions[number].question) for number in numbers]
    text_only = None
    if without_image is not None and numbers:
        text_only = float(_find_correct(without_image, questions, numbers).mean())
    stored = [condition_answers.answers[number] for number in numbers if number in condition_answers.answers]
    return ConditionAccuracy(
        condition=condition_answers.condition,
        n=len(numbers),
        correct=int(correct.sum()),
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        answered=sum(answer is not None for answer in stored),
        failed=sum(answer is None for answer in stored),
        missing=len(numbers) - len(stored),
        chance=sum(chance for chance in chances if chance is not None) / len(numbers) if numbers else None,
        text_only=text_only,
        open_questions=len(condition_answers.cases) - len(numbers),
        excluded=condition_answers.excluded,
    )


def _compute_calibration(
    condition_answers: ConditionAnswers,
    questions: Mapping[int, EvaluatedQuestion],
    clusters: Mapping[int, int],
) -> ConditionCalibration:
    stated = select_stated(
        [questions[number] for number in _list_scored(condition_answers, questions)],
        condition_answers.answers,
        condition_answers.probabilities,
        clusters,
    )
    return compute_calibration(condition_answers.condition, stated, confidence=CONFIDENCE)


def _compute_contrast(
    baseline: ConditionAnswers,
    other: ConditionAnswers,
    questions: Mapping[int, EvaluatedQuestion],
    clusters: Mapping[int, int],
) -> Contrast:
    numbers = [number for number in _list_scored(baseline, questions) if number in other.cases]
    first, second = _find_correct(baseline, questions, numbers), _find_correct(other, questions, numbers)
    comparison = compare_paired(
        first,
        second,
        clusters=_take_clusters(clusters, numbers),
        cluster_unit="patient",
        confidence=CONFIDENCE,
    )
    return Contrast(
        condition=other.condition,
        name=CONTRASTS[other.condition],
        n=len(numbers),
        as_given=float(first.mean()) if numbers else None,
        other=float(second.mean()) if numbers else None,
        difference=comparison.difference,
        low=comparison.low,
        high=comparison.high,
        p=comparison.p_exact,
    )


def _compute_consistency(
    baseline: ConditionAnswers,
    other: ConditionAnswers,
    questions: Mapping[int, EvaluatedQuestion],
    clusters: Mapping[int, int],
) -> Consistency:
    numbers = [
        number
        for number in _list_scored(baseline, questions)
        if baseline.answers.get(number) is not None and other.answers.get(number) is not None
    ]
    same = np.array([baseline.answers[number] == other.answers[number] for number in numbers], dtype=np.int64)
    share, _ = compute_share_correct(same, _take_clusters(clusters, numbers), confidence=CONFIDENCE)
    return Consistency(
        condition=other.condition,
        n=len(numbers),
        same=int(same.sum()),
        estimate=share.estimate,
        low=share.low,
        high=share.high,
    )
