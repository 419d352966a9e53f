"""Tables that explain accuracies: confusion, places of chosen options, times, and learning.

Places are counted over single-choice questions only. Hidden repeats and training cases are in none of the
tables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from domain.questions import letter
from domain.vocabulary import AnswerFormat
from measures.proportions import wilson
from measures.ratings import REPEAT, TRAINING
from reader_study.report.material import Material
from reader_study.report.tables import ConfusionCell, LearningQuarter, OptionPlace, ReadingTimes

#: The number of parts into which a reader's order is divided.
PARTS = 4


def counted(ratings: pd.DataFrame) -> pd.DataFrame:
    """The answers that count: without training cases, repeats and unanswered questions."""
    return ratings[~ratings["arm"].isin([TRAINING, REPEAT]) & (ratings["answer"] != "")]


def confusion(ratings: pd.DataFrame) -> tuple[ConfusionCell, ...]:
    """Key against answer of each rater, over single-choice and closed questions."""
    from sklearn.metrics import confusion_matrix  # noqa: PLC0415 - loading it takes 0.5 s of the start

    rows = counted(ratings)
    one_of_few = [each.value for each in AnswerFormat if not (each.takes_several or each.is_free_text)]
    rows = rows[rows["format"].isin(one_of_few)]
    key = rows[rows["kind"] == "reference"].set_index("question_id")["answer"]
    cells: list[ConfusionCell] = []
    for rater, own in rows[rows["kind"] != "reference"].groupby("rater", sort=True):
        truth, said = key.loc[own["question_id"]].to_numpy(), own["answer"].to_numpy()
        labels = sorted({*truth, *said})
        # scikit-learn warns if there is only one value, hence one cell.
        table = confusion_matrix(truth, said, labels=labels) if len(labels) > 1 else np.array([[len(truth)]])
        for at, by in zip(*np.nonzero(table), strict=True):
            count = int(table[at, by])
            cells.append(
                ConfusionCell(
                    rater=str(rater),
                    key=labels[at],
                    answer=labels[by],
                    count=count,
                    n=int(table[at].sum()),
                    share=count / int(table[at].sum()),
                )
            )
    return tuple(cells)


def positions(material: Material, ratings: pd.DataFrame) -> tuple[OptionPlace, ...]:
    """How often each rater chose the option at each place, compared with how often the key was there.

    Places are those in the order shown to a reader; a model saw the question's own order. ``accuracy`` is
    over the questions whose key is at the place.
    """
    single = {
        case.question.id: case for case in material.cases if case.question.format is AnswerFormat.SINGLE
    }
    reader_ids = {reader.name: reader.id for reader in material.readers}
    case_of = {case.shown.id: case.question.id for case in material.cases}
    shown = {
        (slot.reader_id, case_of[slot.case_id]): slot.option_order
        for slot in material.slots
        if not slot.repeat and slot.option_order
    }
    places: list[OptionPlace] = []
    rows = counted(ratings)
    rows = rows[rows["question_id"].isin(single) & (rows["kind"] != "reference")]
    for rater, own in rows.groupby("rater", sort=True):
        chosen: dict[int, int] = {}
        keyed: dict[int, list[bool]] = {}
        for row in own.itertuples():
            case = single[str(row.question_id)]
            order = shown.get((reader_ids.get(str(rater), 0), case.question.id))
            key = case.question.answer[0]
            assert isinstance(key, int)  # noqa: S101  # a single-choice key is an index
            place = order.index(key) if order else key
            keyed.setdefault(place, []).append(bool(row.correct == "yes"))
            if len(str(row.answer)) == 1 and row.answer != "?":
                said = ord(str(row.answer)) - ord(letter(0))
                at = order.index(said) if order else said
                chosen[at] = chosen.get(at, 0) + 1
        total = sum(chosen.values())
        for place in sorted({*chosen, *keyed}):
            right = keyed.get(place, [])
            found = wilson(sum(right), len(right))
            places.append(
                OptionPlace(
                    rater=str(rater),
                    place=place + 1,
                    chosen=chosen.get(place, 0),
                    chosen_share=chosen.get(place, 0) / total if total else None,
                    key_here=len(right),
                    key_share=len(right) / len(own),
                    n=len(own),
                    accuracy=found.estimate,
                    low=found.low,
                    high=found.high,
                )
            )
    return tuple(places)


def times(ratings: pd.DataFrame) -> tuple[ReadingTimes, ...]:
    """Seconds per case of each rater with known times: median, quartiles, and by correctness."""
    rows = counted(ratings)
    rows = rows[rows["seconds"].notna() & (rows["kind"] != "reference")]
    return tuple(_times(str(rater), own) for rater, own in rows.groupby("rater", sort=True))


def _times(rater: str, own: pd.DataFrame) -> ReadingTimes:
    low, middle, high = (
        float(value) for value in np.quantile(own["seconds"].to_numpy(dtype=float), [0.25, 0.5, 0.75])
    )
    return ReadingTimes(
        rater=rater,
        n=len(own),
        median=middle,
        quarter_1=low,
        quarter_3=high,
        median_right=_median(own.loc[own["correct"] == "yes", "seconds"]),
        median_wrong=_median(own.loc[own["correct"] == "no", "seconds"]),
    )


def learning(ratings: pd.DataFrame) -> tuple[LearningQuarter, ...]:
    """Accuracy and median seconds of each reader in each quarter of their reading order."""
    return tuple(_learning(counted(ratings)))


def _learning(rows: pd.DataFrame) -> Iterator[LearningQuarter]:
    for rater, own in rows[rows["position"].notna()].groupby("rater", sort=True):
        ordered = own.sort_values(["position", "question_id"])
        for number, part in enumerate(np.array_split(np.arange(len(ordered)), PARTS), start=1):
            some = ordered.iloc[part]
            found = wilson(int((some["correct"] == "yes").sum()), len(some))
            yield LearningQuarter(
                rater=str(rater),
                quarter=number,
                n=found.n,
                correct=found.count,
                estimate=found.estimate,
                low=found.low,
                high=found.high,
                median_seconds=_median(some["seconds"].dropna()),
            )


def _median(seconds: pd.Series) -> float | None:
    return float(np.median(seconds.to_numpy(dtype=float))) if len(seconds) else None
