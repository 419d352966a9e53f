"""Statistics of a dataset, and their computation from counts by kind of question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from browsing.text_counts import TextCounts, bin_lengths, mean_length
from domain.vocabulary import AnswerFormat

_MAX_WORDS = 40
_CHARACTER_BIN, _WORD_BIN = 10, 2  # widths of the bins of the histograms
#: Questions by number of boxes, by kind. A kind has one value for each counted column.
BoxCountsByKind = Mapping[tuple[str, ...], Mapping[int, int]]


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


def count_questions_by_value(
    kinds: BoxCountsByKind, column_index: int, order: Sequence[str] = ()
) -> tuple[tuple[str, int], ...]:
    """The number of questions of each value of a column: those of ``order`` first, then the most frequent.

    Args:
        kinds: questions by number of boxes, by kind.
        column_index: of the column in a kind.
        order: values that have an order of their own.
    """
    totals = Counter[str]()
    for kind, by_boxes in kinds.items():
        totals[kind[column_index]] += sum(by_boxes.values())
    rank = {value: index for index, value in enumerate(order)}
    return tuple(sorted(totals.items(), key=lambda item: (rank.get(item[0], 99), -item[1], item[0])))


def count_questions_by_boxes(kinds: BoxCountsByKind) -> tuple[tuple[int, int], ...]:
    """(Boxes per question, questions), by number of boxes."""
    totals = Counter[int]()
    for by_boxes in kinds.values():
        totals.update(by_boxes)
    return tuple(sorted(totals.items()))


def count_formats(kinds: BoxCountsByKind, column_index: int) -> tuple[FormatLine, ...]:
    """Counts of each answer format that occurs, then of all; ``column_index`` is that of the format in a
    kind.
    """
    by_format = defaultdict[str, Counter[int]](Counter)
    for kind, by_boxes in kinds.items():
        by_format[kind[column_index]].update(by_boxes)
    lines = [
        FormatLine(
            name=answer_format.value,
            questions=by_format[answer_format.value].total(),
            with_boxes=sum(questions for boxes, questions in by_format[answer_format.value].items() if boxes),
            boxes=sum(boxes * questions for boxes, questions in by_format[answer_format.value].items()),
        )
        for answer_format in AnswerFormat
        if answer_format.value in by_format
    ]
    total_line = FormatLine(
        name="all",
        questions=sum(line.questions for line in lines),
        with_boxes=sum(line.with_boxes for line in lines),
        boxes=sum(line.boxes for line in lines),
    )
    return (*lines, total_line)


def compute_lengths(text_counts: TextCounts) -> Lengths:
    """Means, histograms and frequent words of counted texts."""
    return Lengths(
        n=text_counts.n,
        mean_characters=mean_length(text_counts.characters),
        mean_words=mean_length(text_counts.words),
        characters=tuple(bin_lengths(text_counts.characters, width=_CHARACTER_BIN)),
        in_words=tuple(bin_lengths(text_counts.words, width=_WORD_BIN)),
        words=tuple(text_counts.list_most_frequent(_MAX_WORDS)),
    )
