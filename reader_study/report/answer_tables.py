"""Tables that explain accuracies: confusion, positions of chosen options, reading times, and learning.

Positions of options are counted for single-choice questions only. The tables exclude hidden repeats, training
cases and unanswered questions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from domain.questions import option_letter
from domain.vocabulary import AnswerFormat
from measures.proportions import wilson
from measures.rating_values import REPEAT, TRAINING, UNDETERMINED
from reader_study.report.report_data import ReportData
from reader_study.report.tables import ConfusionCell, LearningQuarter, OptionPosition, ReadingTimes

#: The number of parts into which a reader's order is divided.
N_QUARTERS = 4


def select_counted_answers(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that count: without training cases, repeats and unanswered questions."""
    return ratings[~ratings["arm"].isin([TRAINING, REPEAT]) & (ratings["answer"] != "")]


def compute_confusion(ratings: pd.DataFrame) -> tuple[ConfusionCell, ...]:
    """Compute the confusion matrix (key, answer) of each rater over single-choice and closed questions."""
    from sklearn.metrics import confusion_matrix  # noqa: PLC0415 - importing it would add 0.5 s to start-up

    rows = select_counted_answers(ratings)
    formats = [
        format_.value for format_ in AnswerFormat if not (format_.allows_multiple or format_.is_free_text)
    ]
    rows = rows[rows["format"].isin(formats)]
    key = rows[rows["kind"] == "reference"].set_index("question_id")["answer"]
    cells: list[ConfusionCell] = []
    for rater, rater_rows in rows[rows["kind"] != "reference"].groupby("rater", sort=True):
        truth, chosen = key.loc[rater_rows["question_id"]].to_numpy(), rater_rows["answer"].to_numpy()
        labels = sorted({*truth, *chosen})
        # With a single label, scikit-learn warns; the matrix then has one cell.
        table = (
            confusion_matrix(truth, chosen, labels=labels) if len(labels) > 1 else np.array([[len(truth)]])
        )
        for row_index, column_index in zip(*np.nonzero(table), strict=True):
            count = int(table[row_index, column_index])
            cells.append(
                ConfusionCell(
                    rater=str(rater),
                    key=labels[row_index],
                    answer=labels[column_index],
                    count=count,
                    n=int(table[row_index].sum()),
                    share=count / int(table[row_index].sum()),
                )
            )
    return tuple(cells)


def compute_option_positions(data: ReportData, ratings: pd.DataFrame) -> tuple[OptionPosition, ...]:
    """Count how often each rater chose the option at each position, and how often the key was there.

    Positions are those of the displayed order for readers, and of the question's own order for models.
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
    rows = select_counted_answers(ratings)
    rows = rows[rows["question_id"].isin(key_by_question) & (rows["kind"] != "reference")]
    for rater, rater_rows in rows.groupby("rater", sort=True):
        chosen: dict[int, int] = {}
        correct_by_position: dict[int, list[bool]] = {}
        reader_id = reader_ids.get(str(rater), 0)  # no reader has the id 0: models have no displayed order
        columns = (rater_rows[name].tolist() for name in ("question_id", "answer", "correct"))
        for question_id, answer, correct in zip(*columns, strict=True):
            order = option_orders.get((reader_id, question_id))
            key = key_by_question[question_id]
            position = order.index(key) if order else key
            correct_by_position.setdefault(position, []).append(correct == "yes")
            if len(answer) == 1 and answer != UNDETERMINED:
                option_index = ord(answer) - ord(option_letter(0))
                chosen_position = order.index(option_index) if order else option_index
                chosen[chosen_position] = chosen.get(chosen_position, 0) + 1
        total = sum(chosen.values())
        for position in sorted({*chosen, *correct_by_position}):
            results = correct_by_position.get(position, [])
            proportion = wilson(sum(results), len(results))
            positions.append(
                OptionPosition(
                    rater=str(rater),
                    place=position + 1,
                    chosen=chosen.get(position, 0),
                    chosen_share=chosen.get(position, 0) / total if total else None,
                    key_here=len(results),
                    key_share=len(results) / len(rater_rows),
                    n=len(rater_rows),
                    accuracy=proportion.estimate,
                    low=proportion.low,
                    high=proportion.high,
                )
            )
    return tuple(positions)


def compute_reading_times(ratings: pd.DataFrame) -> tuple[ReadingTimes, ...]:
    """Compute the seconds per case of each rater with known times: median, quartiles, and by correctness."""
    rows = select_counted_answers(ratings)
    rows = rows[rows["seconds"].notna() & (rows["kind"] != "reference")]
    return tuple(
        _reading_times(str(rater), rater_rows) for rater, rater_rows in rows.groupby("rater", sort=True)
    )


def _reading_times(rater: str, rater_rows: pd.DataFrame) -> ReadingTimes:
    quartile_1, median, quartile_3 = (
        float(value) for value in np.quantile(rater_rows["seconds"].to_numpy(dtype=float), [0.25, 0.5, 0.75])
    )
    return ReadingTimes(
        rater=rater,
        n=len(rater_rows),
        median=median,
        quarter_1=quartile_1,
        quarter_3=quartile_3,
        median_right=_median(rater_rows.loc[rater_rows["correct"] == "yes", "seconds"]),
        median_wrong=_median(rater_rows.loc[rater_rows["correct"] == "no", "seconds"]),
    )


def compute_learning(ratings: pd.DataFrame) -> tuple[LearningQuarter, ...]:
    """Compute the accuracy and the median seconds of each reader in each quarter of the reading order."""
    return tuple(_iterate_quarters(select_counted_answers(ratings)))


def _iterate_quarters(rows: pd.DataFrame) -> Iterator[LearningQuarter]:
    for rater, rater_rows in rows[rows["position"].notna()].groupby("rater", sort=True):
        rows_in_order = rater_rows.sort_values(["position", "question_id"])
        for number, part in enumerate(np.array_split(np.arange(len(rows_in_order)), N_QUARTERS), start=1):
            quarter_rows = rows_in_order.iloc[part]
            proportion = wilson(int((quarter_rows["correct"] == "yes").sum()), len(quarter_rows))
            yield LearningQuarter(
                rater=str(rater),
                quarter=number,
                n=proportion.n,
                correct=proportion.count,
                estimate=proportion.estimate,
                low=proportion.low,
                high=proportion.high,
                median_seconds=_median(quarter_rows["seconds"].dropna()),
            )


def _median(seconds: pd.Series) -> float | None:
    return float(np.median(seconds.to_numpy(dtype=float))) if len(seconds) else None
