"""Request schemas of the review form, with validation of every field and conversion to domain objects."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from domain.boxes import LabelledBox
from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.people import Person
from domain.questions import Answer
from domain.ratings import RATING_IDS, RATING_VALUES, Ratings
from domain.verdicts import FLAG_IDS, Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import CONFIDENCE_VALUES, Difficulty, Task
from records.decoding import convert_plain

Text = Annotated[str, msgspec.Meta(max_length=20_000)]
ShortText = Annotated[str, msgspec.Meta(max_length=500)]
Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10_000_000)]
Rating = Annotated[int, msgspec.Meta(ge=RATING_VALUES[0], le=RATING_VALUES[-1])]
Confidence = Annotated[int, msgspec.Meta(ge=CONFIDENCE_VALUES[0], le=CONFIDENCE_VALUES[-1])]
Options = Annotated[list[Text], msgspec.Meta(min_length=2, max_length=26)]
AnswerJson = Annotated[list[int], msgspec.Meta(max_length=26)] | Text
#: The default for pages of an older version, which do not report whether the radiographs are on screen.
DEFAULT_IMAGE_DISPLAY = ImageDisplay.NOT_DRAWN
CanvasObjects = Annotated[list[dict[str, Any]], msgspec.Meta(max_length=1000)]


class QuestionRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of every request of the form: batch and question."""

    batch: Number
    question: Number


class ViewingTimesRequest(QuestionRequest, frozen=True):
    """Time spent on the question so far."""

    seconds: Seconds
    seconds_looking: Seconds
    seconds_away: Seconds


class DraftRequest(QuestionRequest, frozen=True):
    """One part of the unsaved input. ``revision`` is the latest revision that the form has received."""

    part: Annotated[str, msgspec.Meta(pattern="^(form|own|boxes)$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    body: dict[str, Any]


#: The fields of a draft whose name in the form differs from the stored name.
_STORED_DRAFT_NAMES = {"change_reason": "why", "cannot_determine": "cannot"}
_FORM_DRAFT_NAMES = {stored_name: form_name for form_name, stored_name in _STORED_DRAFT_NAMES.items()}


def draft_to_stored(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a draft with the names of its stored fields."""
    return {_STORED_DRAFT_NAMES.get(name, name): value for name, value in body.items()}


def draft_from_stored(body: dict[str, Any]) -> dict[str, Any]:
    """Return the stored body of a draft with the names of the form's fields."""
    return {_FORM_DRAFT_NAMES.get(name, name): value for name, value in body.items()}


class DrawingsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a draft of boxes: the drawn objects of each radiograph's canvas."""

    drawings: dict[str, CanvasObjects]


class OwnAnswerRequest(QuestionRequest, frozen=True):
    """The reviewer's own answer; None means "cannot determine"."""

    answer: AnswerJson | None
    confidence: Confidence
    image_display: ImageDisplay = DEFAULT_IMAGE_DISPLAY


class CommentsRequest(QuestionRequest, frozen=True):
    """A request for the reviewer's thread on the question."""


class CommentRequest(QuestionRequest, frozen=True):
    """A comment of the reviewer to the coordinators."""

    text: Text


class SkipRequest(QuestionRequest, frozen=True):
    """The reason for skipping the question."""

    reason: ShortText


class ReportRequest(QuestionRequest, frozen=True):
    """A request to open the report, with the rating that cannot be changed afterwards."""

    image_alignment: Rating
    image_display: ImageDisplay = DEFAULT_IMAGE_DISPLAY


class NavigationRequest(QuestionRequest, frozen=True):
    """A request for another question, the ``target``. ``question`` is the question that the person leaves.

    See ``web.review.requested_question.QuestionTarget``.
    """

    target: Literal["next", "last"] | Number


if TYPE_CHECKING:  # mypy needs classes; at run time, the fields are built from the declarations

    class RatingsBody(msgspec.Struct, frozen=True, kw_only=True):
        """A value or None for each of ``RATING_IDS``."""

    class FlagsBody(msgspec.Struct, frozen=True, kw_only=True):
        """True, False or None for each of ``FLAG_IDS``."""

else:
    #: The ratings and the yes/no fields, built from their declarations in the domain.
    RatingsBody = msgspec.defstruct(
        "RatingsBody",
        [(name, Rating | None, None) for name in RATING_IDS],
        frozen=True, kw_only=True, forbid_unknown_fields=True,
    )  # fmt: skip
    FlagsBody = msgspec.defstruct("FlagsBody", [(name, bool | None) for name in FLAG_IDS], kw_only=True)


class CorrectionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The corrected fields, except for the boxes, which are sent separately as drawings."""

    stem: Text | None = None
    options: Options | None = None
    answer: AnswerJson | None = None
    explanation: Text | None = None
    task: Task | None = None
    category: ShortText | None = None
    difficulty: Difficulty | None = None


class OpinionBody(FlagsBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a verdict apart from its decision."""

    ratings: RatingsBody
    difficulty: Difficulty | None
    errors: Annotated[list[ErrorKind], msgspec.Meta(max_length=len(ErrorKind))]
    correction: CorrectionBody
    clinical_reasoning: Text
    comment: Text


class VerdictRequest(ViewingTimesRequest, frozen=True):
    """A verdict from the form. ``revision`` is its new revision."""

    revision: Number
    decision: Decision
    opinion: OpinionBody
    drawings: dict[str, CanvasObjects] | None
    change_reason: Text = ""
    image_display: ImageDisplay = DEFAULT_IMAGE_DISPLAY


F = TypeVar("F")


def parse_request(payload: object, schema: type[F]) -> F:
    """Validate a request's body and convert it to ``schema``.

    Raises:
        InvalidValue: a field is missing, unknown, of another type, too long or out of range. The message
            names the field.
    """
    try:
        return convert_plain(payload, schema)
    except msgspec.ValidationError as error:
        raise InvalidValue("request", str(error)) from error


def parse_answer(value: list[int] | str | None) -> Answer | None:
    """Convert an answer or an answer key to the type of the domain."""
    return tuple(value) if isinstance(value, list) else value


def parse_correction(body: CorrectionBody) -> dict[str, Any]:
    """Return the value of each field in the types of the domain; None for a field without correction."""
    values = msgspec.structs.asdict(body)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def build_verdict(
    request: VerdictRequest, *, person: Person, boxes: tuple[LabelledBox, ...] | None, now: datetime
) -> Verdict:
    """Convert the form to a verdict. ``boxes`` are the corrected boxes; None if they are unchanged.

    Raises:
        InvalidValue: the decision contradicts the other fields.
    """
    opinion, correction = request.opinion, request.opinion.correction
    return Verdict(
        batch_id=request.batch,
        question_row_id=request.question,
        person_id=person.id,
        revision=request.revision,
        decision=request.decision,
        opinion=Opinion(
            ratings=Ratings(**msgspec.structs.asdict(opinion.ratings)),
            **{name: getattr(opinion, name) for name in FLAG_IDS},
            difficulty=opinion.difficulty,
            errors=frozenset(opinion.errors),
            correction=Correction(**parse_correction(correction), boxes=boxes),
            clinical_reasoning=opinion.clinical_reasoning,
            comment=opinion.comment,
        ),
        seconds=request.seconds,
        seconds_looking=request.seconds_looking,
        seconds_away=request.seconds_away,
        given_at=now,
        why=request.change_reason,
        image=request.image_display,
    )
