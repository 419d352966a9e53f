"""How often a plain classifier finds the answer key without the image, from the text of the question alone.

A logistic regression rates each candidate answer by its words, its words combined with the stem's words, its
position and its length. It is trained on the questions of other patients (5-fold cross-validation), so it
cannot remember an exam. If it beats guessing, the text has a shortcut that a model without image could use.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from domain.compliance import ExaminedQuestion, TextOnlyAccuracy
from domain.vocabulary import AnswerFormat
from measures.clusters import renumber_clusters
from measures.proportions import wilson_by_cluster

FOLDS = 5
#: The maximum number of questions that a fold is trained on; more did not help on generated questions.
MAX_TRAINING = 20_000
#: The minimum number of questions; fewer say nothing about a shortcut.
MIN_QUESTIONS = 20
_FEATURES = 2**16
_WORD = re.compile(r"[a-z]+")
ALL_TASKS = "all"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextOnlyResult:
    """The probability that the classifier gives to the key of each question, by question id.

    ``accuracies`` has all tasks together and each task. Both are empty, with the reason in ``note``, if there
    are too few questions.
    """

    probabilities: dict[int, float]
    accuracies: tuple[TextOnlyAccuracy, ...]
    note: str = ""


def examine_text_only(
    questions: Sequence[ExaminedQuestion],
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> TextOnlyResult:
    """Predict the key of each question from its text, by cross-validation over patients.

    Args:
        questions: the questions; those without candidates or without a key among them are left out.
        seed: determines which questions are used for training if there are many.
        progress: called with the number of finished folds and of all folds.
    """
    usable = [question for question in questions if question.has_one_answer]
    folds = np.array([zlib.crc32(question.patient.encode()) % FOLDS for question in usable], dtype=np.int64)
    if len(usable) < MIN_QUESTIONS or len(set(folds.tolist())) < 2:
        return TextOnlyResult(
            probabilities={},
            accuracies=(),
            note=f"needs at least {MIN_QUESTIONS} questions with one answer, of several patients",
        )
    rng = np.random.default_rng(seed)
    vectorizer = HashingVectorizer(
        n_features=_FEATURES, analyzer=_identity, alternate_sign=False, norm=None, binary=True
    )
    key_probability = np.zeros(len(usable))
    is_right = np.zeros(len(usable), dtype=np.bool_)
    used_folds = sorted(set(folds.tolist()))
    for done, fold in enumerate(used_folds, start=1):
        training_indices = np.flatnonzero(folds != fold)
        if len(training_indices) > MAX_TRAINING:
            training_indices = np.sort(rng.choice(training_indices, MAX_TRAINING, replace=False))
        test_indices = np.flatnonzero(folds == fold)
        model = LogisticRegression(solver="liblinear").fit(
            vectorizer.transform(_iterate_features(usable, training_indices)),
            _label_candidates(usable, training_indices),
        )
        scores = model.decision_function(vectorizer.transform(_iterate_features(usable, test_indices)))
        start = 0
        for index in test_indices.tolist():
            question = usable[index]
            end = start + len(question.candidates)
            shares = np.exp(scores[start:end] - scores[start:end].max())
            shares /= shares.sum()
            key_probability[index] = shares[sorted(question.correct)].sum()
            is_right[index] = int(shares.argmax()) in question.correct
            start = end
        progress(done, len(used_folds))
    return TextOnlyResult(
        probabilities={
            question.number: float(probability)
            for question, probability in zip(usable, key_probability, strict=True)
        },
        accuracies=tuple(_measure_accuracies(usable, is_right)),
    )


def _measure_accuracies(
    questions: Sequence[ExaminedQuestion], is_right: NDArray[np.bool_]
) -> Iterator[TextOnlyAccuracy]:
    tasks = np.array([question.task or "no task" for question in questions])
    chances = np.array([len(question.correct) / len(question.candidates) for question in questions])
    patients, _ = renumber_clusters(np.array([question.patient for question in questions]))
    for task in (ALL_TASKS, *sorted(set(tasks.tolist()))):
        is_included = np.ones(len(tasks), dtype=np.bool_) if task == ALL_TASKS else tasks == task
        share = wilson_by_cluster(is_right[is_included], patients[is_included])
        chance = float(chances[is_included].mean())
        if share.estimate is None or share.low is None or share.high is None:
            continue
        yield TextOnlyAccuracy(
            task=task,
            n=int(is_included.sum()),
            accuracy=share.estimate,
            chance=chance,
            gain=share.estimate - chance,
            low=share.low - chance,
            high=share.high - chance,
        )


def _iterate_features(
    questions: Sequence[ExaminedQuestion], indices: NDArray[np.int64]
) -> Iterator[list[str]]:
    for index in indices.tolist():
        yield from list_features(questions[index])


def list_features(question: ExaminedQuestion) -> list[list[str]]:
    """Return the features of each candidate: its words alone and with the stem's, its position and length."""
    stem_words = _WORD.findall(question.stem.casefold())
    lengths = [len(candidate) for candidate in question.candidates]
    longest, shortest = max(lengths), min(lengths)
    is_fixed = question.format is not AnswerFormat.SINGLE
    features = []
    for position, candidate in enumerate(question.candidates):
        words = _WORD.findall(candidate.casefold())
        shared_count = len(set(words) & set(stem_words))
        features.append(
            [
                *words,
                *(f"{first} {second}" for first, second in itertools.pairwise(words)),
                *(f"{candidate}|{word}" for word in stem_words if is_fixed),
                *(f"{question.task}|{word}" for word in words),
                f"#position {position} of {len(lengths)}",
                f"#shared {min(shared_count, 3)}",
                *(["#longest"] if lengths[position] == longest > shortest else []),
                *(["#shortest"] if lengths[position] == shortest < longest else []),
            ]
        )
    return features


def _label_candidates(questions: Sequence[ExaminedQuestion], indices: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.array(
        [
            position in questions[index].correct
            for index in indices.tolist()
            for position in range(len(questions[index].candidates))
        ],
        dtype=np.bool_,
    )


def _identity(features: list[str]) -> list[str]:
    return features
