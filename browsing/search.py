"""The criteria of a search for questions: words and filters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from domain.checks import Check
from domain.errors import InvalidValue
from domain.vocabulary import AnswerFormat, Difficulty, Task

MAX_LENGTH = 500  # maximum length of the search text in characters


class QuestionStatus(StrEnum):
    """The status of a question in review."""

    NOT_DRAWN = "not drawn"
    DRAWN = "drawn, not judged"
    ACCEPTED = "accepted by somebody"
    REVISED = "revised by somebody"
    REJECTED = "rejected by somebody"
    SKIPPED = "skipped by somebody"
    RELEASED = "in a release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The criteria of a search. A question must meet all of them; None or empty means no criterion.

    All ``words`` must occur in the id, stem, options or explanation. Words in quotation marks must be
    consecutive. A star at the end of a word matches all words that begin with it (``effus*``). ``status``
    is the status of the question. ``controlled_category``, ``domain`` and ``controlled_content_type`` follow
    from the raw names (:data:`terminology.taxonomy.DERIVED_FEATURES`).

    Raises:
        InvalidValue: a value is not allowed.
    """

    dataset: str
    words: str = ""
    format: AnswerFormat | None = None
    task: Task | None = None
    difficulty: Difficulty | None = None
    category: str | None = None
    content_type: str | None = None
    controlled_category: str | None = None
    domain: str | None = None
    controlled_content_type: str | None = None
    generator: str | None = None
    prompt_version: str | None = None
    with_boxes: bool = False
    status: QuestionStatus | None = None
    batch: str | None = None
    check: Check | None = None

    def __post_init__(self) -> None:
        if len(self.words) > MAX_LENGTH:
            raise InvalidValue("words", f"must have at most {MAX_LENGTH} characters, not {len(self.words):,}")

    @property
    def has_criteria(self) -> bool:
        """Whether there is a criterion besides the dataset."""
        return self != Search(dataset=self.dataset)
