"""Questions as a machine wrote them or an expert corrected them: one type for both."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.vocabulary import AnswerFormat, Difficulty, Task

#: What counts as right: the indices of the options that belong together (sorted), or text ("yes", "no",
#: or an open answer).
Answer = tuple[int, ...] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who wrote the question: a generator, its version, the version of its prompt."""

    generator: str | None = None
    version: str | None = None
    prompt_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about one exam, with its answer key.

    ``id`` is its own within a dataset. ``options`` are texts without their letters; empty for closed and
    open questions. ``also_right`` are further answers that are right by themselves ("A or C" is
    ``answer=(0,), also_right=((2,),)``). ``task`` is one of :class:`Task` or ``None``; what a file names
    otherwise is kept in ``content_type``.
    """

    id: str
    exam_id: str
    format: AnswerFormat
    stem: str
    answer: Answer
    options: tuple[str, ...] = ()
    also_right: tuple[tuple[int, ...], ...] = ()
    explanation: str = ""
    boxes: tuple[LabelledBox, ...] = ()
    task: Task | None = None
    content_type: str | None = None
    category: str | None = None
    subcategory: str | None = None
    difficulty: Difficulty | None = None
    source: Source = field(default_factory=Source)

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidValue("id", "is empty")
        if not self.exam_id:
            raise InvalidValue("exam.id", "is empty")
        if not self.stem.strip():
            raise InvalidValue("stem", "is empty")
        check_answer(self.answer, format_=self.format, options=self.options, field_name="answer")
        for other in self.also_right:
            check_answer(other, format_=self.format, options=self.options, field_name="also_right")


def check_answer(answer: Answer, *, format_: AnswerFormat, options: tuple[str, ...], field_name: str) -> None:
    """Check that ``answer`` can be the key of a question of that format and options.

    Args:
        answer: sorted indices of the options, counted from 0, or text.
        format_: of the question.
        options: their texts; empty for a format without options.
        field_name: the field that an error names.

    Raises:
        InvalidValue: the answer or the options do not fit the format.

    >>> check_answer((1,), format_=AnswerFormat.SINGLE, options=("Left", "Right"), field_name="answer")
    """
    if not format_.has_options:
        one = f"{'an' if format_[0] in 'aeiou' else 'a'} {format_} question"
        if options:
            raise InvalidValue("options", f"{one} has no options, this one has {len(options)}")
        if not isinstance(answer, str) or not answer.strip():
            raise InvalidValue(field_name, f"{one} needs its answer as text, not {answer!r}")
        if format_.words and answer not in format_.words:
            words = " or ".join(f'"{word}"' for word in format_.words)
            raise InvalidValue(field_name, f"must be {words}, not {answer!r}")
        return
    if len(options) < 2:
        raise InvalidValue("options", f"a {format_} question needs two options or more, not {len(options)}")
    if not all(map(str.strip, options)):
        raise InvalidValue("options", "one of them is empty")
    if isinstance(answer, str) or not answer:
        raise InvalidValue(field_name, "names no option")
    if min(answer) < 0 or max(answer) >= len(options):
        raise InvalidValue(
            field_name, f"{list(answer)} is no option; there are {len(options)}, counted from 0"
        )
    if len(answer) > 1 and list(answer) != sorted(set(answer)):
        raise InvalidValue(field_name, f"{list(answer)} must be in rising order, each option once")
    if not format_.takes_several and len(answer) != 1:
        raise InvalidValue(field_name, f"a {format_}-choice question has one right option, not {len(answer)}")


def letter(index: int) -> str:
    """The letter of an option, 0 to 25.

    >>> letter(2)
    'C'
    """
    return chr(ord("A") + index)


def answer_text(answer: Answer, options: tuple[str, ...]) -> str:
    """The answer as a person reads it: "B. Pleural effusion", "A. …; C. …", "yes", or the open text.

    >>> answer_text((1,), ("Normal", "Pleural effusion"))
    'B. Pleural effusion'
    """
    if isinstance(answer, str):
        return answer
    return "; ".join(f"{letter(index)}. {options[index]}" for index in answer)
