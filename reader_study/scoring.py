"""Scores predictions against the keys of a release, by side, task and category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.questions import Answer, Question
from measures.overall import over_tasks
from measures.proportions import wilson
from measures.records.accuracy import share_of
from reader_study.extraction import FAILED
from reader_study.predictions_file import PredictionRecord, answer_in
from reader_study.report.overlaps import by_format

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedQuestion:
    """A question of a release with its key; ``side`` is "public" or "private"."""

    question: Question
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreResult:
    """The accuracy in one group of questions: ``correct`` of ``n``, with intervals.

    ``by`` is the kind of the group and ``name`` its value. ``n`` counts all questions of the group on the
    ``side``: a question without a prediction, or whose extraction failed, counts as incorrect. ``answered``,
    ``failed`` and ``missing`` count them. A side without any prediction has no record. ``low`` and ``high``
    are Wilson's interval; ``clustered_low`` and ``clustered_high`` are clustered by exam. If predictions have
    boxes, there are records with ``by`` "boxes (mean IoU)": GEMeX's V-score over the questions whose key has
    a box; ``answered`` of them have a predicted box, ``correct`` is None.
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

    ``refusals``: lines about no question of the release, or with an answer that does not fit; if there is
    one, nothing is scored. ``rules``: how often each extraction rule matched.
    """

    results: tuple[ScoreResult, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    rules: dict[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    keyed: KeyedQuestion
    right: bool
    state: str
    boxes: tuple[LabelledBox, ...] = ()


def is_right(question: Question, answer: Answer | None) -> bool:
    """Whether an answer is correct: the key, or one of the other correct answers; texts without case."""
    if answer is None:
        return False
    if isinstance(answer, str) and isinstance(question.answer, str):
        return " ".join(answer.split()).casefold() == " ".join(question.answer.split()).casefold()
    return answer == question.answer or answer in question.also_right


def score(
    records: Iterable[PredictionRecord | Refusal],
    *,
    keys: Mapping[str, KeyedQuestion],
    file: str,
    confidence: float = 0.95,
) -> Score:
    """Score predictions against keys.

    Args:
        records: of :func:`reader_study.predictions_file.prediction_lines`.
        keys: of :func:`reader_study.release_keys.load_keys`.
        file: name of the file, for refusals.
        confidence: of the intervals.
    """
    refusals: list[Refusal] = []
    judged: dict[str, _Judged] = {
        name: _Judged(keyed=keyed, right=False, state="missing") for name, keyed in keys.items()
    }
    rules: dict[str, int] = {}
    for each in records:
        if isinstance(each, Refusal):
            refusals.append(each)
            continue
        keyed = keys.get(each.question_id)
        try:
            if keyed is None:
                raise InvalidValue("question_id", f"{each.question_id!r} is no question of the release")
            asked = keyed.question
            found = answer_in(each, format_=asked.format, options=asked.options)
        except InvalidValue as error:
            refusals.append(Refusal(file=file, record=str(each.line), field=error.field, reason=error.reason))
            continue
        rules[found.rule] = rules.get(found.rule, 0) + 1
        judged[each.question_id] = replace(
            judged[each.question_id],
            right=is_right(asked, found.answer),
            state="failed" if found.rule == FAILED else "answered",
            boxes=each.boxes,
        )
    if refusals:
        return Score(refusals=tuple(refusals))
    return Score(
        results=tuple(_results(list(judged.values()), confidence)), rules=dict(sorted(rules.items()))
    )


def _results(judged: list[_Judged], confidence: float) -> Iterable[ScoreResult]:
    sides = sorted({each.keyed.side for each in judged if each.state != "missing"})
    for side in sides:
        of_side = [each for each in judged if each.keyed.side == side]
        yield _result(side, "overall (micro)", "all", of_side, confidence)
        tasks = _groups(of_side, "task")
        shares = [sum(each.right for each in some) / len(some) for some in tasks.values()]
        yield replace(
            _result(side, "overall (macro)", "all", of_side, confidence),
            estimate=over_tasks(shares, [len(some) for some in tasks.values()]).macro,
            low=None,
            high=None,
            clustered_low=None,
            clustered_high=None,
            note=f"plain mean of {len(tasks)} tasks",
        )
        for by, groups in (
            ("task", tasks),
            ("format", _groups(of_side, "format")),
            ("category", _groups(of_side, "category")),
        ):
            for name, some in groups.items():
                yield _result(side, by, name, some, confidence)
        yield from _box_results(side, of_side, confidence)


def _box_results(side: str, judged: list[_Judged], confidence: float) -> Iterable[ScoreResult]:
    drawn = [
        (each.keyed.question.format, each.keyed.question.exam_id, each.keyed.question.boxes, each.boxes)
        for each in judged
    ]
    for name, with_boxes, found in by_format(drawn, seed=0, confidence=confidence):
        others = "; ".join(
            f"{said} {value:.4f}"
            for value, said in (
                (found.per_truth, "over the key's boxes"),
                (found.per_match, "over matched pairs"),
            )
            if value is not None
        )
        yield ScoreResult(
            side=side,
            by="boxes (mean IoU)",
            name=name,
            n=found.n,
            correct=None,
            estimate=found.score,
            low=found.low,
            high=found.high,
            clustered_low=found.low,
            clustered_high=found.high,
            answered=with_boxes,
            failed=None,
            missing=found.n - with_boxes,
            note="; ".join(filter(None, ["over the larger number of boxes", others, found.note])),
        )


def _groups(judged: list[_Judged], field: str) -> dict[str, list[_Judged]]:
    groups: dict[str, list[_Judged]] = {}
    for each in judged:
        value = getattr(each.keyed.question, field)
        groups.setdefault(str(value) if value else NOT_STATED, []).append(each)
    return dict(sorted(groups.items()))


def _result(side: str, by: str, name: str, judged: list[_Judged], confidence: float) -> ScoreResult:
    right = sum(each.right for each in judged)
    plain = wilson(right, len(judged), confidence=confidence)
    exams = {
        exam: at for at, exam in enumerate(dict.fromkeys(each.keyed.question.exam_id for each in judged))
    }
    clustered, differs = share_of(
        np.array([each.right for each in judged], dtype=np.int64),
        np.array([exams[each.keyed.question.exam_id] for each in judged], dtype=np.int64),
        confidence=confidence,
    )
    return ScoreResult(
        side=side,
        by=by,
        name=name,
        n=len(judged),
        correct=right,
        estimate=plain.estimate,
        low=plain.low,
        high=plain.high,
        clustered_low=clustered.low if differs else plain.low,
        clustered_high=clustered.high if differs else plain.high,
        answered=sum(each.state == "answered" for each in judged),
        failed=sum(each.state == "failed" for each in judged),
        missing=sum(each.state == "missing" for each in judged),
        note="",
    )
