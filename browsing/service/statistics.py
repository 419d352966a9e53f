"""Services for dataset statistics, as in the papers on ReXVQA (Table 1) and GEMeX (Table 3, figures)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlmodel import Session

from browsing.dataset_statistics import (
    DatasetStatistics,
    compute_lengths,
    count_formats,
    count_questions_by_boxes,
    count_questions_by_value,
)
from browsing.finding_counts import FindingCounts, count_findings
from browsing.text_counts import TextCounts
from domain.people import Action, Person, require
from domain.vocabulary import Task
from storage.browsing import statistics
from storage.release.gold import iterate_exam_contents
from storage.sampling.frames import load_dataset_number

_MAX_OBSERVATIONS = 200
#: The columns that are counted, in the order of display.
COUNTED_COLUMNS = statistics.COLUMNS
#: The columns that are counted by split of the newest release, too.
SPLIT_COLUMNS = ("task", "content_type")
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
    questions, exams, images = statistics.count_questions(db, dataset_id=dataset_id)
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
        images=images,
        counts={
            column: count_questions_by_value(kinds, index, _TASKS if column == "task" else ())
            for index, column in enumerate(COUNTED_COLUMNS)
        },
        formats=count_formats(kinds, COUNTED_COLUMNS.index("format")),
        boxes=count_questions_by_boxes(kinds),
        observations=tuple(statistics.count_observations(db, dataset_id=dataset_id, limit=_MAX_OBSERVATIONS)),
        splits={
            **{
                column: statistics.count_by_split(db, dataset_id=dataset_id, column=column)
                for column in SPLIT_COLUMNS
            },
            "observations": statistics.count_observations_by_split(db, dataset_id=dataset_id),
        },
        stems=compute_lengths(stems, are_questions=True),
        explanations=compute_lengths(explanations),
    )


def count_report_findings(
    db: Session, *, by: Person, dataset: str, report_progress: Callable[[int], None] = lambda _: None
) -> FindingCounts:
    """Count the findings that the reports of a dataset's exams state. This reads all reports.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        report_progress: a function that is called with the number of exams read.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = load_dataset_number(db, name=dataset)

    def iterate_reports() -> Iterator[str | None]:
        for count, content in enumerate(iterate_exam_contents(db, dataset_id=dataset_id), start=1):
            report_progress(count)
            yield content.report

    return count_findings(iterate_reports())


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
