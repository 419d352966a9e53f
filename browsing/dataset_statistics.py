"""Statistics of a dataset, and their computation from counts by kind of question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from browsing.words import TextCounts, binned, mean
from domain.vocabulary import AnswerFormat

_WORDS = 40
_CHARACTERS, _IN_WORDS = 10, 2  # widths of the bins of the histograms
#: Questions by number of boxes, by kind. A kind has one value for each counted column.
Kinds = Mapping[tuple[str, ...], Mapping[int, int]]


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


def questions_by_value(kinds: Kinds, place: int, order: Sequence[str] = ()) -> tuple[tuple[str, int], ...]:
    """The number of questions of each value of a column: those of ``order`` first, then the most frequent.

    Args:
        kinds: questions by number of boxes, by kind.
        place: of the column in a kind.
        order: values that have an order of their own.
    """
    found = Counter[str]()
    for kind, by_boxes in kinds.items():
        found[kind[place]] += sum(by_boxes.values())
    rank = {value: index for index, value in enumerate(order)}
    return tuple(sorted(found.items(), key=lambda each: (rank.get(each[0], 99), -each[1], each[0])))


def questions_by_boxes(kinds: Kinds) -> tuple[tuple[int, int], ...]:
    """(Boxes per question, questions), by number of boxes."""
    found = Counter[int]()
    for by_boxes in kinds.values():
        found.update(by_boxes)
    return tuple(sorted(found.items()))


def format_lines(kinds: Kinds, place: int) -> tuple[FormatLine, ...]:
    """Counts of each answer format that occurs, then of all; ``place`` is that of the format in a kind."""
    by_format = defaultdict[str, Counter[int]](Counter)
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


def lengths_of(counted: TextCounts) -> Lengths:
    """Means, histograms and frequent words of counted texts."""
    return Lengths(
        n=counted.n,
        mean_characters=mean(counted.characters),
        mean_words=mean(counted.words),
        characters=tuple(binned(counted.characters, width=_CHARACTERS)),
        in_words=tuple(binned(counted.words, width=_IN_WORDS)),
        words=tuple(counted.most_frequent(_WORDS)),
    )
