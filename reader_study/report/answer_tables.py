"""Tables that explain accuracies: confusion, positions of chosen options, reading times, and learning.

Positions of options are counted for single-choice questions only. The tables exclude hidden repeats, training
cases and unanswered questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from domain.questions import option_letter
from domain.vocabulary import AnswerFormat
from measures.proportions import wilson, wilson_by_cluster
from measures.rating_values import REPEAT, TRAINING, UNDETERMINED
from reader_study.report.report_data import ReportData
from reader_study.report.tables import (
    ConfidenceLevel,
    ConfusionCell,
    LearningQuarter,
    OptionPosition,
    ReadingTimes,
)

#: The number of quarters of a reader's order of cases, for the learning curve.
N_QUARTERS = 4


def select_counted_answers(ratings: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return columns of the answers that count: no training cases, repeats or unanswered questions."""
    return ratings.loc[_is_counted(ratings), list(columns)]


def _is_counted(ratings: pd.DataFrame) -> pd.Series:
    return ~ratings["arm"].isin([TRAINING, REPEAT]) & (ratings["answer"] != "")


def compute_confusion(ratings: pd.DataFrame) -> tuple[ConfusionCell, ...]:
    """Compute the confusion matrix (key, answer) of each rater over single-choice and closed questions."""
    formats = [
        format_.value for format_ in AnswerFormat if not (format_.allows_multiple or format_.is_free_text)
    ]
    is_counted = _is_counted(ratings) & ratings["format"].isin(formats)
    is_key = ratings["kind"] == "reference"
    key = ratings.loc[is_counted & is_key, ["question_id", "answer"]].set_index("question_id")["answer"]
    # Only the needed columns are selected, so that a large table is copied only once.
    answers = ratings.loc[is_counted & ~is_key, ["rater", "question_id", "answer"]]
    codes, questions = pd.factorize(answers.pop("question_id"))
    answers["key"] = key.reindex(questions).to_numpy()[codes]
    counts = answers.groupby(["rater", "key", "answer"], sort=True).size()
    totals = counts.groupby(level=["rater", "key"]).transform("sum")
    return tuple(
        ConfusionCell(
            rater=str(rater), key=str(label), answer=str(answer), count=count, n=total, share=count / total
        )
        for (rater, label, answer), count, total in zip(
            counts.index, counts.tolist(), totals.tolist(), strict=True
        )
    )


def compute_option_positions(data: ReportData, ratings: pd.DataFrame) -> tuple[OptionPosition, ...]:
    """Count how often each rater chose the option at each position, and how often the key was there.

    For readers, positions are counted in the displayed order; for models, in the question's own order.
    ``accuracy`` is the accuracy on the questions whose key is at the position.
    """
    key_by_question = {
        case.question.id: key
        for case in data.cases
        if case.question.format is AnswerFormat.SINGLE and isinstance(key := case.question.answer[0], int)
    }
    reader_ids = {reader.name: reader.id for reader in data.readers}
    question_id_by_case = {case.blind_case.id: case.question.id for case in data.cases}
    option_orders = {
        (slot.reader_id, question_id_by_case[slot.case_id]): slot.option_order
        for slot in data.slots
        if not slot.repeat and slot.option_order
    }
    positions: list[OptionPosition] = []
    rows = select_counted_answers(ratings, "rater", "kind", "question_id", "answer", "correct")
    rows = rows[rows["question_id"].isin(key_by_question) & (rows["kind"] != "reference")]
    for rater, rater_rows in rows.groupby("rater", sort=True):
        chosen: Counter[int] = Counter()
        correct_by_position: dict[int, Counter[bool]] = {}
        reader_id = reader_ids.get(str(rater), 0)  # no reader has the id 0: models have no displayed order
        for question_id, answer, correct, count in _count_choices(rater_rows, key_by_question, reader_id):
            order = option_orders.get((reader_id, question_id))
            key = key_by_question[question_id]
            position = order.index(key) if order else key
            correct_by_position.setdefault(position, Counter())[correct == "yes"] += count
            if len(answer) == 1 and answer != UNDETERMINED:
                option_index = ord(answer) - ord(option_letter(0))
                chosen[order.index(option_index) if order else option_index] += count
        total = sum(chosen.values())
        for position in sorted({*chosen, *correct_by_position}):
            results = correct_by_position.get(position, Counter())
            proportion = wilson(results[True], results.total())
            positions.append(
                OptionPosition(
                    rater=str(rater),
                    place=position + 1,
                    chosen=chosen[position],
                    chosen_share=chosen[position] / total if total else None,
                    key_here=results.total(),
                    key_share=results.total() / len(rater_rows),
                    n=len(rater_rows),
                    accuracy=proportion.estimate,
                    low=proportion.low,
                    high=proportion.high,
                )
            )
    return tuple(positions)


def _count_choices(
    rows: pd.DataFrame, key_by_question: Mapping[str, int], reader_id: int
) -> Iterator[tuple[str, str, str, int]]:
    """Yield a question, an answer, whether it is correct ("yes" or "no"), and the number of such answers.

    Equal answers of a model to questions with the same key are counted together, under one of the questions.
    """
    names = ["question_id", "answer", "correct"]
    if reader_id:
        for question_id, answer, correct in zip(*(rows[name].tolist() for name in names), strict=True):
            yield question_id, answer, correct, 1
        return
    groups = rows[names].assign(key=rows["question_id"].map(key_by_question)).groupby(["key", *names[1:]])
    counted = groups["question_id"].agg(["first", "size"])
    for (_, answer, correct), (question_id, count) in zip(
        counted.index, counted.itertuples(index=False), strict=True
    ):
        yield question_id, answer, correct, count


def compute_reading_times(ratings: pd.DataFrame) -> tuple[ReadingTimes, ...]:
    """Compute the seconds per case of each rater with known times: quartiles, and medians by correctness."""
    rows = select_counted_answers(ratings, "rater", "kind", "correct", "seconds")
    rows = rows[rows["seconds"].notna() & (rows["kind"] != "reference")]
    return tuple(
        _summarise_times(str(rater), rater_rows) for rater, rater_rows in rows.groupby("rater", sort=True)
    )


def _summarise_times(rater: str, rater_rows: pd.DataFrame) -> ReadingTimes:
    seconds, correct = rater_rows["seconds"].to_numpy(dtype=float), rater_rows["correct"].to_numpy()
    quartile_1, median, quartile_3 = (float(value) for value in np.quantile(seconds, [0.25, 0.5, 0.75]))
    return ReadingTimes(
        rater=rater,
        n=len(rater_rows),
        median=median,
        quartile_1=quartile_1,
        quartile_3=quartile_3,
        median_right=_median(seconds[correct == "yes"]),
        median_wrong=_median(seconds[correct == "no"]),
    )


def compute_learning(ratings: pd.DataFrame) -> tuple[LearningQuarter, ...]:
    """Compute the accuracy and the median seconds of each reader in each quarter of the reading order."""
    return tuple(
        _iterate_quarters(
            select_counted_answers(ratings, "rater", "question_id", "position", "correct", "seconds")
        )
    )


def _iterate_quarters(rows: pd.DataFrame) -> Iterator[LearningQuarter]:
    for rater, rater_rows in rows[rows["position"].notna()].groupby("rater", sort=True):
        rows_in_order = rater_rows.sort_values(["position", "question_id"])
        is_correct = (rows_in_order["correct"] == "yes").to_numpy()
        seconds = rows_in_order["seconds"].to_numpy(dtype=float)
        for number, part in enumerate(np.array_split(np.arange(len(rows_in_order)), N_QUARTERS), start=1):
            proportion = wilson(int(is_correct[part].sum()), len(part))
            yield LearningQuarter(
                rater=str(rater),
                quarter=number,
                n=proportion.n,
                correct=proportion.count,
                estimate=proportion.estimate,
                low=proportion.low,
                high=proportion.high,
                median_seconds=_median(seconds[part]),
            )


def compute_confidence_levels(ratings: pd.DataFrame, confidence: float) -> tuple[ConfidenceLevel, ...]:
    """Compute each reader's accuracy at each stated confidence, with intervals clustered by patient or exam.

    Args:
        ratings: the ratings; they have no column ``confidence`` if no reader stated one.
        confidence: the confidence level of the intervals.
    """
    if "confidence" not in ratings:
        return ()
    rows = select_counted_answers(ratings, "rater", "correct", "confidence", "patient", "exam")
    rows = rows[(rows["confidence"] != "") & rows["correct"].isin(["yes", "no"])]
    levels = []
    for (rater, level), level_rows in rows.groupby(["rater", "confidence"], sort=True):
        share = wilson_by_cluster(
            (level_rows["correct"] == "yes").tolist(),
            level_rows["patient"].where(level_rows["patient"] != "", level_rows["exam"]).tolist(),
            confidence=confidence,
        )
        levels.append(
            ConfidenceLevel(
                rater=str(rater), confidence=int(str(level)), n=share.n, correct=share.count,
                estimate=share.estimate, low=share.low, high=share.high,
            )
        )  # fmt: skip
    return tuple(levels)


def _median(seconds: NDArray[np.float64]) -> float | None:
    """Return the median of the known times; unknown times are NaN. Return None if no time is known."""
    known_seconds = seconds[~np.isnan(seconds)]
    return float(np.median(known_seconds)) if len(known_seconds) else None
