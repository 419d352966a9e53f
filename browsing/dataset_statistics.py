"""The statistics of a dataset, and their computation from counts of questions with equal column values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from browsing.text_counts import QUESTION_WORDS, STOP_WORDS, TextCounts, bin_lengths, mean_length
from domain.vocabulary import AnswerFormat

_MAX_WORDS = 40
_CHARACTER_BIN, _WORD_BIN = 10, 2  # widths of the histogram bins
#: For each kind of question, the number of questions by number of boxes. A kind is a combination of values,
#: one for each counted column.
BoxCountsByKind = Mapping[tuple[str, ...], Mapping[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatLine:
    """The counts of one answer format or of all ("all"): questions, questions with boxes, boxes."""

    name: str
    questions: int
    with_boxes: int
    boxes: int

    @property
    def boxes_per_question(self) -> float | None:
        """The mean number of boxes per question; None if there are no questions."""
        return self.boxes / self.questions if self.questions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The lengths of ``n`` texts in characters and words.

    ``characters`` and ``in_words`` are histograms of (from, to, number of texts). ``words`` contains the most
    frequent words as (word, number of texts that contain it).
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

    ``counts`` contains (value, questions) by column, the most frequent first, but tasks in the order of Task.
    The value "" stands for questions without a value. ``boxes`` contains (boxes per question, questions).
    ``observations`` contains the labels of boxes as (label, questions, boxes), the most frequent first;
    ``regions`` the same for the labels' controlled names, empty if no label has one.
    ``splits`` contains the counts of the newest release by (split, value) under "task", "content_type" and
    "observations", where the value is the label of a box; they are empty if there is no release. ``images``
    is the number of radiographs of the exams.
    """

    dataset: str
    questions: int
    exams: int
    images: int
    counts: Mapping[str, tuple[tuple[str, int], ...]]
    formats: tuple[FormatLine, ...]
    boxes: tuple[tuple[int, int], ...]
    observations: tuple[tuple[str, int, int], ...]
    splits: Mapping[str, Mapping[tuple[str, str], int]]
    stems: Lengths
    explanations: Lengths
    regions: tuple[tuple[str, int, int], ...] = ()


def count_questions_by_value(
    kinds: BoxCountsByKind, column_index: int, order: Sequence[str] = ()
) -> tuple[tuple[str, int], ...]:
    """Count the questions of each value of a column: values of ``order`` first, then the most frequent.

    Args:
        kinds: the number of questions by number of boxes, for each kind.
        column_index: the index of the column in a kind.
        order: the values that come first, in this order.
    """
    totals = Counter[str]()
    for kind, by_boxes in kinds.items():
        totals[kind[column_index]] += sum(by_boxes.values())
    rank = {value: index for index, value in enumerate(order)}
    return tuple(sorted(totals.items(), key=lambda item: (rank.get(item[0], 99), -item[1], item[0])))


def count_derived_values(
    counts: Sequence[tuple[str, int]], derive: Callable[[str], str]
) -> tuple[tuple[str, int], ...]:
    """Count the questions by derived value, the most frequent first.

    Args:
        counts: the number of questions by value of a column.
        derive: returns the derived value of a value.
    """
    totals = Counter[str]()
    for value, questions in counts:
        totals[derive(value)] += questions
    return tuple(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def count_questions_by_boxes(kinds: BoxCountsByKind) -> tuple[tuple[int, int], ...]:
    """Count questions by their number of boxes; return (boxes per question, questions)."""
    totals = Counter[int]()
    for by_boxes in kinds.values():
        totals.update(by_boxes)
    return tuple(sorted(totals.items()))


def count_formats(kinds: BoxCountsByKind, column_index: int) -> tuple[FormatLine, ...]:
    """Count questions and boxes of each answer format that occurs, then of all formats.

    Args:
        kinds: the number of questions by number of boxes, for each kind.
        column_index: the index of the answer format in a kind.
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


def compute_lengths(text_counts: TextCounts, *, are_questions: bool = False) -> Lengths:
    """Compute the means, histograms and frequent words of counted texts.

    With ``are_questions``, question words such as "which" may be among the frequent words.
    """
    stop_words = STOP_WORDS - QUESTION_WORDS if are_questions else STOP_WORDS
    return Lengths(
        n=text_counts.n,
        mean_characters=mean_length(text_counts.characters),
        mean_words=mean_length(text_counts.words),
        characters=tuple(bin_lengths(text_counts.characters, width=_CHARACTER_BIN)),
        in_words=tuple(bin_lengths(text_counts.words, width=_WORD_BIN)),
        words=tuple(text_counts.list_most_frequent(_MAX_WORDS, stop_words=stop_words)),
    )
