"""Services for dataset statistics, as in the papers on ReXVQA (Table 1) and GEMeX (Table 3, figures)."""

from __future__ import annotations

from collections.abc import Callable

from sqlmodel import Session

from browsing.dataset_statistics import (
    DatasetStatistics,
    compute_lengths,
    count_formats,
    count_questions_by_boxes,
    count_questions_by_value,
)
from browsing.text_counts import TextCounts
from domain.people import Action, Person, require
from domain.vocabulary import Task
from storage.browsing import statistics
from storage.sampling.frames import load_dataset_number

_MAX_OBSERVATIONS = 200
#: The columns that are counted, in the order of display.
COUNTED_COLUMNS = statistics.COLUMNS
_TASKS = tuple(task.value for task in Task)


def compute_dataset_statistics(
    db: Session, *, by: Person, dataset: str, report_progress: Callable[[int], None] = lambda _: None
) -> DatasetStatistics:
    """Compute the statistics of a dataset. This reads all questions, so callers should cache the result.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        report_progress: a function that is called with the number of questions read.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = load_dataset_number(db, name=dataset)
    questions, exams = statistics.count_questions(db, dataset_id=dataset_id)
    stems, explanations, texts_read = TextCounts(), TextCounts(), 0
    for block in statistics.iterate_texts(db, dataset_id=dataset_id):
        stems.add_texts(stem for stem, _ in block)
        explanations.add_texts(explanation for _, explanation in block)
        texts_read += len(block)
        report_progress(texts_read)
    kinds = statistics.count_kinds(db, dataset_id=dataset_id)
    return DatasetStatistics(
        dataset=dataset,
        questions=questions,
        exams=exams,
        counts={
            column: count_questions_by_value(kinds, index, _TASKS if column == "task" else ())
            for index, column in enumerate(COUNTED_COLUMNS)
        },
        formats=count_formats(kinds, COUNTED_COLUMNS.index("format")),
        boxes=count_questions_by_boxes(kinds),
        observations=tuple(statistics.count_observations(db, dataset_id=dataset_id, limit=_MAX_OBSERVATIONS)),
        splits=statistics.count_by_split(db, dataset_id=dataset_id, column="task"),
        stems=compute_lengths(stems),
        explanations=compute_lengths(explanations),
    )


def load_statistics_version(db: Session, *, by: Person, dataset: str) -> tuple[int, int]:
    """Load the ids of the newest question and release. The statistics only change if one of these changes.

    Returns:
        Both ids; 0 if there is no question or no release.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = load_dataset_number(db, name=dataset)
    return (
        statistics.load_newest_question(db, dataset_id=dataset_id),
        statistics.load_newest_release(db, dataset_id=dataset_id),
    )
