"""Scores predictions against the keys of a release, by side (split), task and category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.questions import Answer, Question
from domain.vocabulary import AnswerFormat
from measures.overall import average_over_tasks
from measures.proportions import wilson
from measures.records.accuracy import compute_share_correct
from reader_study.extraction import FAILED
from reader_study.predictions_file import PredictionRecord, resolve_answer
from reader_study.report.overlaps import AnsweredQuestion, compute_overlap_by_format
from reader_study.stated_probabilities import StatedAnswer, compute_yes_no_auc, measure_stated_probabilities

NOT_STATED = "not stated"
#: Values of ``ScoreResult.by`` for the results about stated probabilities.
CALIBRATION, RELIABILITY = "calibration", "reliability"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedQuestion:
    """A question of a release with its key; ``side`` is its split, such as "public" or "private"."""

    question: Question
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult:
    """The accuracy in one group of questions: ``correct`` of ``n``, with intervals.

    ``by`` is the kind of the group and ``name`` its value. ``n`` counts all questions of the group on the
    ``side``. It is the sum of ``answered`` (an answer was given or extracted), ``failed`` (the extraction
    failed) and ``missing`` (no prediction); the last two count as incorrect. A side without predictions has
    no results. ``low`` and ``high`` are the Wilson interval; ``clustered_low`` and ``clustered_high`` are
    clustered by exam. If predictions have boxes, there are results with ``by`` "boxes (mean IoU)": GEMeX's
    V-score over the questions whose key has a box, of which ``answered`` have a predicted box. Their
    ``correct`` is None.

    If answers have probabilities, there are results with ``by`` "calibration" (ECE, Brier score and, on
    yes/no questions, AUC; without ``correct``) and "reliability" (the accuracy by stated probability). Open
    questions do not count. ``n`` counts the answers with a probability (AUC: to yes/no questions;
    reliability: in the bin), and ``missing`` the other questions (AUC: yes/no questions; reliability: 0).
    """

    side: str
    by: str
    name: str
    n: int
    correct: int | None
    estimate: float | None
    low: float | None
    high: float | None
    clustered_low: float | None
    clustered_high: float | None
    answered: int
    failed: int | None
    missing: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The results of a file of predictions.

    ``refusals`` has the lines with an unknown question or an answer that does not fit. If there is a refusal,
    nothing is scored. ``rules`` counts the uses of each extraction rule.
    """

    results: tuple[ScoreResult, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    rules: dict[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuestion:
    """A question with the answer to it; ``state`` is "answered", "failed" or "missing"."""

    keyed: KeyedQuestion
    is_correct: bool
    state: str
    answer: Answer | None = None
    boxes: tuple[LabelledBox, ...] = ()
    probability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFile:
    """The questions of the keys by id, each with its answer in a file, and the file's refused lines."""

    questions: dict[str, ScoredQuestion]
    rules: dict[str, int]
    refusals: tuple[Refusal, ...]


def score_predictions(
    records: Iterable[PredictionRecord | Refusal],
    *,
    keys: Mapping[str, KeyedQuestion],
    file: str,
    confidence: float = 0.95,
) -> Score:
    """Score predictions against keys.

    Args:
        records: the records from :func:`reader_study.predictions_file.read_predictions`.
        keys: the questions from :func:`reader_study.release_keys.load_keys`, by id.
        file: the file name, used in refusals.
        confidence: the confidence level of the intervals.
    """
    scored_file = score_questions(records, keys=keys, file=file)
    if scored_file.refusals:
        return Score(refusals=scored_file.refusals)
    return Score(
        results=tuple(_score_groups(list(scored_file.questions.values()), confidence)),
        rules=dict(sorted(scored_file.rules.items())),
    )


def score_questions(
    records: Iterable[PredictionRecord | Refusal],
    *,
    keys: Mapping[str, KeyedQuestion],
    file: str,
    scope: str = "the release",
    max_refusals: int | None = None,
) -> ScoredFile:
    """Score the answer to each question by the key, and return the result of each question.

    Args:
        records: the records from :func:`reader_study.predictions_file.read_predictions`.
        keys: the questions from :func:`reader_study.release_keys.load_keys`, by id.
        file: the file name, used in refusals.
        scope: the source of the keys, used in refusals, such as "the release".
        max_refusals: the number of refusals at which reading stops; None reads the whole file.
    """
    refusals: list[Refusal] = []
    scored_questions: dict[str, ScoredQuestion] = {
        question_id: ScoredQuestion(keyed=keyed, is_correct=False, state="missing")
        for question_id, keyed in keys.items()
    }
    rules: dict[str, int] = {}
    for record in records:
        if max_refusals is not None and len(refusals) >= max_refusals:
            break
        if isinstance(record, Refusal):
            refusals.append(record)
            continue
        keyed = keys.get(record.question_id)
        try:
            if keyed is None:
                raise InvalidValue("question_id", f"{record.question_id!r} is not a question of {scope}")
            question = keyed.question
            extraction = resolve_answer(record, format_=question.format, options=question.options)
        except InvalidValue as error:
            refusals.append(
                Refusal(file=file, record=str(record.line), field=error.field, reason=error.reason)
            )
            continue
        rules[extraction.rule] = rules.get(extraction.rule, 0) + 1
        scored_questions[record.question_id] = replace(
            scored_questions[record.question_id],
            is_correct=question.is_correct(extraction.answer),
            state="failed" if extraction.rule == FAILED else "answered",
            answer=extraction.answer,
            boxes=record.boxes,
            probability=record.probability,
        )
    return ScoredFile(questions=scored_questions, rules=rules, refusals=tuple(refusals))


def _score_groups(scored_questions: list[ScoredQuestion], confidence: float) -> Iterable[ScoreResult]:
    sides = sorted({scored.keyed.side for scored in scored_questions if scored.state != "missing"})
    for side in sides:
        side_questions = [scored for scored in scored_questions if scored.keyed.side == side]
        yield _score_group(side, "overall (micro)", "all", side_questions, confidence)
        tasks = _group_by_field(side_questions, "task")
        shares = [
            sum(scored.is_correct for scored in group_questions) / len(group_questions)
            for group_questions in tasks.values()
        ]
        yield replace(
            _score_group(side, "overall (macro)", "all", side_questions, confidence),
            estimate=average_over_tasks(
                shares, [len(group_questions) for group_questions in tasks.values()]
            ).macro,
            low=None,
            high=None,
            clustered_low=None,
            clustered_high=None,
            note=f"plain mean of {len(tasks)} tasks",
        )
        for by, groups in (
            ("task", tasks),
            ("format", _group_by_field(side_questions, "format")),
            ("category", _group_by_field(side_questions, "category")),
        ):
            for name, group_questions in groups.items():
                yield _score_group(side, by, name, group_questions, confidence)
        yield from _score_boxes(side, side_questions, confidence)
        yield from _score_probabilities(side, side_questions, confidence)


def _score_boxes(
    side: str, scored_questions: list[ScoredQuestion], confidence: float
) -> Iterable[ScoreResult]:
    answered_questions = [
        AnsweredQuestion(
            scored.keyed.question.format,
            scored.keyed.question.exam_id,
            scored.keyed.question.boxes,
            scored.boxes,
        )
        for scored in scored_questions
    ]
    for name, with_boxes, overlap in compute_overlap_by_format(
        answered_questions, seed=0, confidence=confidence
    ):
        other_scores = "; ".join(
            f"{label} {value:.4f}"
            for value, label in (
                (overlap.per_truth, "over the key's boxes"),
                (overlap.per_match, "over matched pairs"),
            )
            if value is not None
        )
        yield ScoreResult(
            side=side,
            by="boxes (mean IoU)",
            name=name,
            n=overlap.n,
            correct=None,
            estimate=overlap.score,
            low=overlap.low,
            high=overlap.high,
            clustered_low=overlap.low,
            clustered_high=overlap.high,
            answered=with_boxes,
            failed=None,
            missing=overlap.n - with_boxes,
            note="; ".join(filter(None, ["over the larger number of boxes", other_scores, overlap.note])),
        )


def _score_probabilities(
    side: str, scored_questions: list[ScoredQuestion], confidence: float
) -> Iterable[ScoreResult]:
    exam_numbers = _number_exams(scored_questions)
    not_open = [
        scored for scored in scored_questions if scored.keyed.question.format is not AnswerFormat.OPEN
    ]
    stated_answers = [
        StatedAnswer(
            question=scored.keyed.question,
            answer=scored.answer,
            probability=scored.probability,
            cluster=exam_numbers[scored.keyed.question.exam_id],
        )
        for scored in not_open
        if scored.answer is not None and scored.probability is not None
    ]
    if not stated_answers:
        return
    calibration = measure_stated_probabilities(stated_answers, confidence=confidence)
    auc = compute_yes_no_auc(stated_answers, confidence=confidence)
    n_closed = sum(scored.keyed.question.format is AnswerFormat.CLOSED for scored in not_open)
    expected = calibration.expected_if_calibrated
    expected_note = "" if expected is None else f"{expected:.4f} expected if calibrated"
    for name, n, n_total, estimate, low, high, note in (
        (
            "ECE",
            calibration.n,
            len(not_open),
            calibration.ece,
            calibration.low,
            calibration.high,
            "; ".join(filter(None, [expected_note, calibration.note])),
        ),
        ("Brier score", calibration.n, len(not_open), calibration.brier, None, None, ""),
        ("AUC (yes/no)", auc.n, n_closed, auc.value, auc.low, auc.high, auc.note),
    ):
        yield ScoreResult(
            side=side,
            by=CALIBRATION,
            name=name,
            n=n,
            correct=None,
            estimate=estimate,
            low=low,
            high=high,
            clustered_low=low,
            clustered_high=high,
            answered=n,
            failed=None,
            missing=n_total - n,
            note=note,
        )
    for bin_ in calibration.bins:
        unclustered = wilson(bin_.share.count, bin_.share.n, confidence=confidence)
        yield ScoreResult(
            side=side,
            by=RELIABILITY,
            name=f"{100 * bin_.lower:.0f} to {100 * bin_.upper:.0f} %",
            n=bin_.share.n,
            correct=bin_.share.count,
            estimate=bin_.share.estimate,
            low=unclustered.low,
            high=unclustered.high,
            clustered_low=bin_.share.low,
            clustered_high=bin_.share.high,
            answered=bin_.share.n,
            failed=None,
            missing=0,
            note=f"mean stated probability {bin_.mean_confidence:.4f}",
        )


def _number_exams(scored_questions: list[ScoredQuestion]) -> dict[str, int]:
    """Return consecutive numbers of the exams, in the order of the questions."""
    exam_ids = dict.fromkeys(scored.keyed.question.exam_id for scored in scored_questions)
    return {exam_id: index for index, exam_id in enumerate(exam_ids)}


def _group_by_field(scored_questions: list[ScoredQuestion], field: str) -> dict[str, list[ScoredQuestion]]:
    groups: dict[str, list[ScoredQuestion]] = {}
    for scored in scored_questions:
        value = getattr(scored.keyed.question, field)
        groups.setdefault(str(value) if value else NOT_STATED, []).append(scored)
    return dict(sorted(groups.items()))


def _score_group(
    side: str, by: str, name: str, scored_questions: list[ScoredQuestion], confidence: float
) -> ScoreResult:
    n_correct = sum(scored.is_correct for scored in scored_questions)
    unclustered = wilson(n_correct, len(scored_questions), confidence=confidence)
    exam_numbers = _number_exams(scored_questions)
    clustered, is_clustered = compute_share_correct(
        np.array([scored.is_correct for scored in scored_questions], dtype=np.int64),
        np.array(
            [exam_numbers[scored.keyed.question.exam_id] for scored in scored_questions], dtype=np.int64
        ),
        confidence=confidence,
    )
    return ScoreResult(
        side=side,
        by=by,
        name=name,
        n=len(scored_questions),
        correct=n_correct,
        estimate=unclustered.estimate,
        low=unclustered.low,
        high=unclustered.high,
        clustered_low=clustered.low if is_clustered else unclustered.low,
        clustered_high=clustered.high if is_clustered else unclustered.high,
        answered=sum(scored.state == "answered" for scored in scored_questions),
        failed=sum(scored.state == "failed" for scored in scored_questions),
        missing=sum(scored.state == "missing" for scored in scored_questions),
        note="",
    )
