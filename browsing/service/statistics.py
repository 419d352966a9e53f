"""Statistics of a dataset, as in the papers on ReXVQA (Table 1) and GEMeX (Table 3 and figures)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlmodel import Session

from browsing.words import TextCounts, binned, mean
from domain.people import Action, Person, require
from domain.vocabulary import AnswerFormat, Task
from storage.browsing import statistics
from storage.sampling.frames import dataset_number

_WORDS, _OBSERVATIONS = 40, 200
_CHARACTERS, _IN_WORDS = 10, 2  # the widths of the histograms' bins
#: The columns that are counted, in the order of display.
COUNTED = statistics.COLUMNS
_Kinds = Mapping[tuple[str, ...], Mapping[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatLine:
    """Counts of one answer format, or of "all": questions, questions with boxes, boxes."""

    name: str
    questions: int
    with_boxes: int
    boxes: int

    @property
    def boxes_a_question(self) -> float | None:
        """Mean number of boxes per question; None without a question."""
        return self.boxes / self.questions if self.questions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Lengths of ``n`` texts in characters and words.

    The histograms are (from, to, number of texts). ``words`` are the most frequent ones: (word, number of
    texts that contain it).
    """

    n: int
    mean_characters: float | None
    mean_words: float | None
    characters: tuple[tuple[int, int, int], ...]
    in_words: tuple[tuple[int, int, int], ...]
    words: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetStatistics:
    """All statistics of a dataset.

    ``counts`` are (value, questions) by column, the most frequent first (tasks in their own order); "" if a
    question has no value. ``boxes`` are (boxes per question, questions). ``observations`` are the labels of
    boxes: (label, questions, boxes), the most frequent first. ``splits`` are questions by (side, task) of the
    newest release, empty without one.
    """

    dataset: str
    questions: int
    exams: int
    counts: Mapping[str, tuple[tuple[str, int], ...]]
    formats: tuple[FormatLine, ...]
    boxes: tuple[tuple[int, int], ...]
    observations: tuple[tuple[str, int, int], ...]
    splits: Mapping[tuple[str, str], int]
    stems: Lengths
    explanations: Lengths


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
        counts={column: _counted(kinds, column) for column in COUNTED},
        formats=_formats(kinds),
        boxes=_boxes(kinds),
        observations=tuple(statistics.observations(db, dataset_id=number, most=_OBSERVATIONS)),
        splits=statistics.by_split(db, dataset_id=number, column="task"),
        stems=_lengths(stems),
        explanations=_lengths(explanations),
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


def _counted(kinds: _Kinds, column: str) -> tuple[tuple[str, int], ...]:
    place, found = COUNTED.index(column), Counter[str]()
    for kind, by_boxes in kinds.items():
        found[kind[place]] += sum(by_boxes.values())
    order = [each.value for each in Task] if column == "task" else []
    rank = {value: index for index, value in enumerate(order)}
    return tuple(sorted(found.items(), key=lambda each: (rank.get(each[0], 99), -each[1], each[0])))


def _boxes(kinds: _Kinds) -> tuple[tuple[int, int], ...]:
    found = Counter[int]()
    for by_boxes in kinds.values():
        found.update(by_boxes)
    return tuple(sorted(found.items()))


def _formats(kinds: _Kinds) -> tuple[FormatLine, ...]:
    place, by_format = COUNTED.index("format"), defaultdict[str, Counter[int]](Counter)
    for kind, by_boxes in kinds.items():
        by_format[kind[place]].update(by_boxes)
    lines = [
        FormatLine(
            name=each.value,
            questions=by_format[each.value].total(),
            with_boxes=sum(questions for boxes, questions in by_format[each.value].items() if boxes),
            boxes=sum(boxes * questions for boxes, questions in by_format[each.value].items()),
        )
        for each in AnswerFormat
        if each.value in by_format
    ]
    whole = FormatLine(
        name="all",
        questions=sum(each.questions for each in lines),
        with_boxes=sum(each.with_boxes for each in lines),
        boxes=sum(each.boxes for each in lines),
    )
    return (*lines, whole)


def _lengths(counted: TextCounts) -> Lengths:
    return Lengths(
        n=counted.n,
        mean_characters=mean(counted.characters),
        mean_words=mean(counted.words),
        characters=tuple(binned(counted.characters, width=_CHARACTERS)),
        in_words=tuple(binned(counted.words, width=_IN_WORDS)),
        words=tuple(counted.most_frequent(_WORDS)),
    )
