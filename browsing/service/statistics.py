"""Services for dataset statistics, as in the papers on ReXVQA (Table 1) and GEMeX (Table 3, figures)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlmodel import Session

from browsing.dataset_statistics import (
    DatasetStatistics,
    compute_lengths,
    count_derived_values,
    count_formats,
    count_questions_by_boxes,
    count_questions_by_value,
)
from browsing.finding_counts import FindingCounts, count_findings
from browsing.text_counts import TextCounts
from domain.people import Action, Person, require
from domain.vocabulary import NOT_MAPPED, Task
from storage.browsing import statistics
from storage.quality.name_mappings import load_mapping, load_newest_mapping
from storage.release.gold import iterate_exam_contents
from storage.sampling.frames import load_dataset_row_id
from terminology.taxonomy import DERIVED_FEATURES, NamedField, NameMapping, derive_feature, get_column

_MAX_OBSERVATIONS = 200
_MAX_LABELS = 10_000  # each takes two parameters of an SQL statement; SQLite allows 32,766
#: The columns that are counted, in the order of display.
COUNTED_COLUMNS = (*statistics.COLUMNS, *DERIVED_FEATURES)
#: The columns that are also counted by split of the newest release.
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
    dataset_id = load_dataset_row_id(db, name=dataset)
    questions, exams, images = statistics.count_questions(db, dataset_id=dataset_id)
    stems, explanations, texts_read = TextCounts(), TextCounts(), 0
    for block in statistics.iterate_texts(db, dataset_id=dataset_id):
        stems.add_texts(stem for stem, _ in block)
        explanations.add_texts(explanation for _, explanation in block)
        texts_read += len(block)
        report_progress(texts_read)
    kinds = statistics.count_kinds(db, dataset_id=dataset_id)
    mapping = load_mapping(db, dataset_id=dataset_id)
    counts = {
        column: count_questions_by_value(kinds, index, _TASKS if column == "task" else ())
        for index, column in enumerate(statistics.COLUMNS)
    }
    counts |= {
        feature: count_derived_values(
            counts[get_column(feature)], partial(derive_feature, feature, mapping=mapping)
        )
        for feature in DERIVED_FEATURES
    }
    return DatasetStatistics(
        dataset=dataset,
        questions=questions,
        exams=exams,
        images=images,
        counts=counts,
        formats=count_formats(kinds, statistics.COLUMNS.index("format")),
        boxes=count_questions_by_boxes(kinds),
        observations=tuple(statistics.count_observations(db, dataset_id=dataset_id, limit=_MAX_OBSERVATIONS)),
        regions=_count_regions(db, dataset_id, mapping),
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


def _count_regions(db: Session, dataset_id: int, mapping: NameMapping) -> tuple[tuple[str, int, int], ...]:
    """Count questions and boxes by controlled region; empty if no label has a controlled name."""
    labels = statistics.count_observations(db, dataset_id=dataset_id, limit=_MAX_LABELS)
    name_by_label = {
        label: mapping.find_controlled(NamedField.REGION, label) for label, _, _ in labels if label
    }
    if set(name_by_label.values()) <= {NOT_MAPPED}:
        return ()
    return tuple(
        statistics.count_observations(db, dataset_id=dataset_id, limit=_MAX_OBSERVATIONS, names=name_by_label)
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
    dataset_id = load_dataset_row_id(db, name=dataset)

    def iterate_reports() -> Iterator[str | None]:
        for count, content in enumerate(iterate_exam_contents(db, dataset_id=dataset_id), start=1):
            report_progress(count)
            yield content.report

    return count_findings(iterate_reports())


def load_statistics_version(db: Session, *, by: Person, dataset: str) -> tuple[int, int, int]:
    """Load the ids of the newest question, release and mapping of a name.

    The statistics change only if one of these changes.

    Returns:
        The ids; 0 where there is none.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.BROWSE)
    dataset_id = load_dataset_row_id(db, name=dataset)
    return (
        statistics.load_newest_question(db, dataset_id=dataset_id),
        statistics.load_newest_release(db, dataset_id=dataset_id),
        load_newest_mapping(db, dataset_id=dataset_id),
    )
