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
from domain.ratings import RATING_NAMES, VALUES, Ratings
from domain.verdicts import FLAG_NAMES, Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import Difficulty, Task

Text = Annotated[str, msgspec.Meta(max_length=20_000)]
Short = Annotated[str, msgspec.Meta(max_length=500)]
Number = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10_000_000)]
Rating = Annotated[int, msgspec.Meta(ge=VALUES[0], le=VALUES[-1])]
Options = Annotated[list[Text], msgspec.Meta(min_length=2, max_length=26)]
PlainAnswer = Annotated[list[int], msgspec.Meta(max_length=26)] | Text
#: The default for pages loaded before the form reported whether the radiographs are on screen.
NOT_SAID = ImageDisplay.NOT_DRAWN
Objects = Annotated[list[dict[str, Any]], msgspec.Meta(max_length=1000)]


class Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of every request of the form: batch and question."""

    batch: Number
    question: Number


class LookForm(Form, frozen=True):
    """Time spent on the question so far."""

    seconds: Seconds
    seconds_looking: Seconds
    seconds_away: Seconds


class DraftForm(Form, frozen=True):
    """One part of the unsaved input; ``revision`` is the latest one that the form knows."""

    part: Annotated[str, msgspec.Meta(pattern="^(form|own|boxes)$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    body: dict[str, Any]


class DrawingsForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a draft of boxes: the drawn objects of each radiograph's canvas."""

    drawings: dict[str, Objects]


class OwnAnswerForm(Form, frozen=True):
    """The reviewer's own answer; None is "cannot determine"."""

    answer: PlainAnswer | None
    confidence: Rating
    image: ImageDisplay = NOT_SAID


class SkipForm(Form, frozen=True):
    """The reason for skipping the question."""

    reason: Short


class ReportForm(Form, frozen=True):
    """A request to open the report, with the rating that this fixes."""

    image_alignment: Rating
    image: ImageDisplay = NOT_SAID


class TurnForm(Form, frozen=True):
    """A request for another question; ``question`` is the one that the person leaves.

    See ``web.review.requested_question.Where``.
    """

    to: Literal["next", "last"] | Number


if TYPE_CHECKING:  # mypy needs classes; the real fields come from the declarations

    class RatingsForm(msgspec.Struct, frozen=True, kw_only=True):
        """A value or None for each of ``RATING_NAMES``."""

    class FlagsForm(msgspec.Struct, frozen=True, kw_only=True):
        """True, False or None for each of ``FLAG_NAMES``."""

else:
    #: The ratings and the yes/no fields, built from their declarations in the domain.
    RatingsForm = msgspec.defstruct(
        "RatingsForm",
        [(name, Rating | None, None) for name in RATING_NAMES],
        frozen=True, kw_only=True, forbid_unknown_fields=True,
    )  # fmt: skip
    FlagsForm = msgspec.defstruct("FlagsForm", [(name, bool | None) for name in FLAG_NAMES], kw_only=True)


class CorrectionForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The corrected fields, except for the boxes, which are sent separately as drawings."""

    stem: Text | None = None
    options: Options | None = None
    answer: PlainAnswer | None = None
    explanation: Text | None = None
    task: Task | None = None
    category: Short | None = None
    difficulty: Difficulty | None = None


class OpinionForm(FlagsForm, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a verdict apart from its decision."""

    ratings: RatingsForm
    difficulty: Difficulty | None
    errors: Annotated[list[ErrorKind], msgspec.Meta(max_length=len(ErrorKind))]
    correction: CorrectionForm
    clinical_reasoning: Text
    comment: Text


class VerdictForm(LookForm, frozen=True):
    """A verdict as the form sends it; ``revision`` is its new revision."""

    revision: Number
    decision: Decision
    opinion: OpinionForm
    drawings: dict[str, Objects] | None
    why: Text = ""
    image: ImageDisplay = NOT_SAID


F = TypeVar("F")


def form_from(plain: object, kind: type[F]) -> F:
    """Validate a request's body and convert it to ``kind``.

    Raises:
        InvalidValue: a field is missing, unknown, of another type, too long or out of range; names the field.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise InvalidValue("request", str(error)) from error


def answer_of(plain: list[int] | str | None) -> Answer | None:
    """Convert an answer key to the type of the domain."""
    return tuple(plain) if isinstance(plain, list) else plain


def corrected_values(form: CorrectionForm) -> dict[str, Any]:
    """The corrected values by field, in the types of the domain."""
    values = msgspec.structs.asdict(form)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def verdict_of(
    form: VerdictForm, *, person: Person, boxes: tuple[LabelledBox, ...] | None, now: datetime
) -> Verdict:
    """Convert the form to a verdict; ``boxes`` are the corrected ones, None if they are unchanged.

    Raises:
        InvalidValue: the decision contradicts the other fields.
    """
    said, correction = form.opinion, form.opinion.correction
    return Verdict(
        batch_id=form.batch,
        question_id=form.question,
        person_id=person.id,
        revision=form.revision,
        decision=form.decision,
        opinion=Opinion(
            ratings=Ratings(**msgspec.structs.asdict(said.ratings)),
            **{name: getattr(said, name) for name in FLAG_NAMES},
            difficulty=said.difficulty,
            errors=frozenset(said.errors),
            correction=Correction(**corrected_values(correction), boxes=boxes),
            clinical_reasoning=said.clinical_reasoning,
            comment=said.comment,
        ),
        seconds=form.seconds,
        seconds_looking=form.seconds_looking,
        seconds_away=form.seconds_away,
        given_at=now,
        why=form.why,
        image=form.image,
    )
