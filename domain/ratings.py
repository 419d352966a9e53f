"""The ratings of a verdict. Each is declared once: id, label, meaning of each value, when it is requested.

Forms, tables, exports, statistics and columns are derived from :data:`RATINGS`. A new rating needs a field of
:class:`Ratings`, a column of the table ``verdict`` and a migration.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from domain.errors import InvalidValue

#: A rating is 1 (worst) to 5 (best), or ``None`` for "not judged"; it is never 0.
Rating = int | None
#: The values of a rating.
RATING_VALUES = (1, 2, 3, 4, 5)
#: The meaning of the values 1 to 5 of a rating.
Anchors = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScale:
    """The declaration of one rating.

    ``id`` is stored and exported and never changes. ``label`` is shown on screen. ``anchors`` are the
    default; a batch may have its own. A rating with ``requires_explanation`` is only requested if the
    question has an explanation. A rating with ``rates_image`` is requested in batches for image alignment,
    and it can't be changed after the report was opened.
    """

    id: str
    label: str
    anchors: Anchors
    requires_explanation: bool = False
    rates_image: bool = False

    @property
    def name(self) -> str:
        """The name in tables and files of statistics ("clinical quality"); it never changes."""
        return self.id.replace("_", " ")


def _scale_metadata(
    label: str, *, anchors: Anchors, requires_explanation: bool = False, rates_image: bool = False
) -> dict[str, Any]:
    return {
        "label": label,
        "anchors": anchors,
        "requires_explanation": requires_explanation,
        "rates_image": rates_image,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """The four ratings of ReXVQA's expert review (its section 3.3.3), each 1 to 5 or None (not judged).

    Raises:
        InvalidValue: a value is not 1 to 5.
    """

    clinical_quality: Rating = field(
        default=None,
        metadata=_scale_metadata(
            "Clinical quality",
            anchors=(
                "no clinical use, or misleading",
                "limited use; major error",
                "usable after correction",
                "good; minor errors only",
                "as a careful radiologist would ask it",
            ),
        ),
    )
    explanation_clarity: Rating = field(
        default=None,
        metadata=_scale_metadata(
            "Explanation clarity",
            requires_explanation=True,
            anchors=(
                "not understandable",
                "hard to follow; gaps",
                "understandable with effort",
                "clear; small gaps",
                "clear and complete",
            ),
        ),
    )
    factual_correctness: Rating = field(
        default=None,
        metadata=_scale_metadata(
            "Factual correctness",
            anchors=(
                "wrong in an essential point",
                "one serious error",
                "mostly correct; an error in a detail",
                "correct; imprecise wording",
                "correct in every detail",
            ),
        ),
    )
    image_alignment: Rating = field(
        default=None,
        metadata=_scale_metadata(
            "Image alignment",
            rates_image=True,
            anchors=(
                "wrong image",
                "mostly not visible",
                "partly visible",
                "visible; location or extent imprecise",
                "exactly what the image shows",
            ),
        ),
    )

    def __post_init__(self) -> None:
        for name in RATING_IDS:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value not in RATING_VALUES):
                raise InvalidValue(name, f"must be 1 to 5, not {value!r}")


RATINGS = tuple(
    RatingScale(id=rating_field.name, **rating_field.metadata) for rating_field in fields(Ratings)
)
#: The ids of the ratings, in the same order.
RATING_IDS = tuple(scale.id for scale in RATINGS)
