"""Adjudications: decisions of a further expert on questions about which reviewers disagree."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.verdicts import Decision

#: The default of :attr:`AdjudicationRules.same_box_iou`.
DEFAULT_SAME_BOX_IOU = 0.5


class Dispute(StrEnum):
    """Why a question is adjudicated: the aspect on which two reviewers disagree, or a reported problem."""

    DECISION = "decision"
    KEY = "key"
    BOXES = "boxes"
    WORDING = "wording"
    REPORTED = "reported problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjudicationRules:
    """The rules by which disputes of a batch are adjudicated.

    ``adjudicators`` are sign-in names. ``hide_names`` hides the reviewers' names from the adjudicator.
    ``same_box_iou`` is the minimum IoU, above 0 and up to 1, at which two boxes count as the same.
    """

    adjudicators: tuple[str, ...] = ()
    hide_names: bool = True
    same_box_iou: float = DEFAULT_SAME_BOX_IOU

    def __post_init__(self) -> None:
        if not 0 < self.same_box_iou <= 1:
            raise InvalidValue("same_box_iou", f"must be above 0 and at most 1, not {self.same_box_iou}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """The adjudicator's decision on a question; it takes precedence over all verdicts of its batch.

    ``revision`` counts from 1 for each (batch, question); a higher revision supersedes a lower one.
    ``follows`` contains the ids of the reviewers whose verdict the adjudication adopts unchanged. It is empty
    if the adjudication combines several verdicts or differs from all. ``image`` states whether the
    radiographs were on screen; None if this was not recorded.

    Raises:
        InvalidValue: the revision is below 1, the reason is missing, or the decision does not fit the
            correction.
    """

    batch_id: int
    question_row_id: int
    revision: int
    person_id: int
    decision: Decision
    correction: Correction = field(default_factory=Correction)
    follows: tuple[int, ...] = ()
    reason: str
    given_at: datetime
    image: ImageDisplay | None = None

    def __post_init__(self) -> None:
        if self.revision < 1:
            raise InvalidValue("revision", f"must be 1 or more, not {self.revision}")
        if not self.reason.strip():
            raise InvalidValue("reason", "is empty; give a reason for the decision")
        if (self.decision is Decision.REVISE) == self.correction.is_empty():
            raise InvalidValue(
                "decision", "must be revise if there are corrections, and accept or reject if there are none"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjudicationSummary:
    """An adjudication without its texts.

    ``follows`` contains the ids of the reviewers whose verdict the adjudication adopts.
    """

    question_row_id: int
    batch_id: int
    decision: Decision
    follows: tuple[int, ...]
    key_changed: bool
    given_at: datetime
