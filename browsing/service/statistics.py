"""A dataset in numbers, as the papers on ReXVQA (Table 1) and GEMeX (Table 3, its figures) print theirs."""

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
#: What is counted, in the order in which it is shown.
COUNTED = statistics.COLUMNS
_Kinds = Mapping[tuple[str, ...], Mapping[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatLine:
    """Questions of one answer format ("all" for all), those with boxes, and their boxes."""

    name: str
    questions: int
    with_boxes: int
    boxes: int

    @property
    def boxes_a_question(self) -> float | None:
        """Boxes over questions; None for no question."""
        return self.boxes / self.questions if self.questions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Lengths of ``n`` texts; histograms as (from, to, texts); ``words`` (a word, texts that have it)."""

    n: int
    mean_characters: float | None
    mean_words: float | None
    characters: tuple[tuple[int, int, int], ...]
    in_words: tuple[tuple[int, int, int], ...]
    words: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetStatistics:
    """All of it. ``counts``: by column, (value, questions), the most first; "" where a question has none.

    ``boxes``: (boxes, questions that have so many). ``observations``: what boxes show, as (label, questions,
    boxes), those of the most questions first.
    ``splits``: of the newest release, (side, task) -> questions; empty where there is none.
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
    """Count the dataset. It reads every question, without keeping any: remember what it says.

    Raises:
        NotFound: no such dataset.
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
    """The newest question (0 for none) and release: as long as both stay, so do the statistics."""
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
