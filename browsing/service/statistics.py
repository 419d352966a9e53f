"""Statistics of a dataset, as in the papers on ReXVQA (Table 1) and GEMeX (Table 3 and figures)."""

from __future__ import annotations

from collections.abc import Callable

from sqlmodel import Session

from browsing.dataset_statistics import (
    DatasetStatistics,
    format_lines,
    lengths_of,
    questions_by_boxes,
    questions_by_value,
)
from browsing.words import TextCounts
from domain.people import Action, Person, require
from domain.vocabulary import Task
from storage.browsing import statistics
from storage.sampling.frames import dataset_number

_OBSERVATIONS = 200
#: The columns that are counted, in the order of display.
COUNTED = statistics.COLUMNS
_TASKS = tuple(each.value for each in Task)


def dataset_statistics(
    db: Session, *, by: Person, dataset: str, progress: Callable[[int], None] = lambda _: None
) -> DatasetStatistics:
    """Compute the statistics of a dataset. It reads every question, so callers should cache the result.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        progress: called with the number of questions read.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    number = dataset_number(db, name=dataset)
    questions, exams = statistics.count_questions(db, dataset_id=number)
    stems, explanations, read = TextCounts(), TextCounts(), 0
    for block in statistics.texts_of(db, dataset_id=number):
        stems.add(stem for stem, _ in block)
        explanations.add(explanation for _, explanation in block)
        read += len(block)
        progress(read)
    kinds = statistics.count_kinds(db, dataset_id=number)
    return DatasetStatistics(
        dataset=dataset,
        questions=questions,
        exams=exams,
        counts={
            column: questions_by_value(kinds, place, _TASKS if column == "task" else ())
            for place, column in enumerate(COUNTED)
        },
        formats=format_lines(kinds, COUNTED.index("format")),
        boxes=questions_by_boxes(kinds),
        observations=tuple(statistics.observations(db, dataset_id=number, most=_OBSERVATIONS)),
        splits=statistics.by_split(db, dataset_id=number, column="task"),
        stems=lengths_of(stems),
        explanations=lengths_of(explanations),
    )


def statistics_version(db: Session, *, by: Person, dataset: str) -> tuple[int, int]:
    """The numbers of the newest question and release; the statistics change only if one of them does.

    Returns:
        0 for a number without a question or release.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    number = dataset_number(db, name=dataset)
    return (
        statistics.newest_question(db, dataset_id=number),
        statistics.newest_release(db, dataset_id=number),
    )
