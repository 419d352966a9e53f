"""A search for questions: words and filters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue
from domain.problems import Check
from domain.vocabulary import AnswerFormat, Difficulty, Task

MAX_LENGTH = 500  # longest search text, in characters


class QuestionStatus(StrEnum):
    """The status of a question."""

    NOT_DRAWN = "not drawn"
    DRAWN = "drawn, not judged"
    ACCEPTED = "accepted by somebody"
    REVISED = "revised by somebody"
    REJECTED = "rejected by somebody"
    SKIPPED = "skipped by somebody"
    RELEASED = "in a release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The criteria of a search, which must all hold; None or empty is no criterion.

    All ``words`` must be in id, stem, options or explanation. Words in quotation marks must be consecutive,
    and a star at the end matches the beginning of a word (``effus*``).

    Raises:
        InvalidValue: a value is not allowed; names the field.
    """

    dataset: str
    words: str = ""
    format: AnswerFormat | None = None
    task: Task | None = None
    difficulty: Difficulty | None = None
    category: str | None = None
    content_type: str | None = None
    generator: str | None = None
    prompt_version: str | None = None
    with_boxes: bool = False
    standing: QuestionStatus | None = None
    batch: str | None = None
    check: Check | None = None

    def __post_init__(self) -> None:
        if len(self.words) > MAX_LENGTH:
            raise InvalidValue("words", f"are {len(self.words):,} characters; {MAX_LENGTH} are the most")

    @property
    def has_criteria(self) -> bool:
        """Whether there is a criterion other than the dataset."""
        return self != Search(dataset=self.dataset)
