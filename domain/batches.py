"""Batches: questions that were drawn together, their sampling plan, and the settings of their review."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.checks import Check
from domain.errors import InvalidValue
from domain.ratings import RATING_IDS, RATINGS, Anchors
from domain.vocabulary import Choice, Difficulty

#: The fields by which a plan may stratify within a tier. The dataset's mapping of names derives the last two
#: from the category.
STRATA = ("task", "category", "controlled_category", "domain")
#: For each derived field: its value by raw name of the category. Names that are not mapped are missing.
DerivedNames = Mapping[str, Mapping[str, str]]
#: The maximum number of exams of a balanced selection.
MAX_BALANCED_EXAMS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamBalance:
    """A selection of ``exams`` exams: a share of healthy ones (0 to 1), the others evenly over findings.

    Raises:
        InvalidValue: a value is outside its range.
    """

    exams: int
    healthy_share: float

    def __post_init__(self) -> None:
        if not 1 <= self.exams <= MAX_BALANCED_EXAMS:
            raise InvalidValue("exams", f"must be 1 to {MAX_BALANCED_EXAMS:,}, not {self.exams}")
        if not 0 <= self.healthy_share <= 1:
            raise InvalidValue("healthy", f"must be a share from 0 to 1, not {self.healthy_share}")

    @property
    def healthy_exams(self) -> int:
        """The number of healthy exams, rounded half up."""
        return math.floor(self.exams * self.healthy_share + 0.5)


class RiskSource(Choice):
    """What indicates that a question may have an error."""

    CHECKS = ("checks", "Problems of checks")
    CONTRADICTIONS = ("twins", "Contradicting questions")
    KEY = ("key", "Models against the key")
    MODELS = ("models", "Models against each other")
    TEXT_ONLY = ("text-only", "Model right without the image")


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskDesign:
    """A draw in which questions with a higher risk of an error have a higher inclusion probability.

    ``uniform_share`` (0.05 to 1) of the drawn questions are drawn with equal chances. ``weights`` has the
    sources of the risk with their relative weights, above 0.

    Raises:
        InvalidValue: a value is outside its range.
    """

    uniform_share: float = 0.5
    weights: Mapping[RiskSource, float] = field(default_factory=lambda: dict.fromkeys(RiskSource, 1.0))

    def __post_init__(self) -> None:
        if not 0.05 <= self.uniform_share <= 1:
            raise InvalidValue("uniform_share", f"must be a share from 0.05 to 1, not {self.uniform_share:g}")
        if not self.weights:
            raise InvalidValue("risk", "choose at least one source of risk")
        if any(not (math.isfinite(weight) and weight > 0) for weight in self.weights.values()):
            raise InvalidValue("risk", "weights must be finite numbers above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingPlan:
    """The size and strata of a draw: either ``per_1000`` of every 1,000 questions, or ``n`` in total.

    ``shares`` contains the relative shares of the tiers, 0 or more. The key ``None`` stands for questions
    without a tier. A tier that is missing has share 1. ``strata`` contains further fields to stratify by
    within a tier, of :data:`STRATA`. ``names`` has the values of the fields derived from the category, as of
    the first draw, so that a later change of the mapping changes no stratum. With ``exclude_drawn``,
    questions in another batch of the dataset are not part of the frame. Questions with a problem of one of
    the ``checks``, as reported at the time of the draw, are never part of the frame. With ``balance``, only
    the questions of the selected exams are part of the frame, and the batch is no random sample of the
    dataset. With ``risk``, the size of the draw is random, and ``per_1000`` or ``n`` gives its mean. The same
    plan and seed draw the same questions on each machine and for each order of rows.

    Raises:
        InvalidValue: a value is outside its range, or not exactly one of ``per_1000`` and ``n`` is set.
    """

    seed: int
    per_1000: int | None = 100
    n: int | None = None
    shares: dict[Difficulty | None, float] = field(default_factory=dict)
    strata: tuple[str, ...] = ()
    exclude_drawn: bool = False
    checks: tuple[Check, ...] = ()
    balance: ExamBalance | None = None
    risk: RiskDesign | None = None
    names: DerivedNames = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.balance is not None and self.risk is not None:
            raise InvalidValue("risk", "exams balanced by findings cannot be drawn by risk")
        if (self.per_1000 is None) == (self.n is None):
            raise InvalidValue("n", "give either the number per 1,000 or the total")
        if self.per_1000 is not None and not 1 <= self.per_1000 <= 1000:
            raise InvalidValue("per_1000", f"must be 1 to 1,000, not {self.per_1000}")
        if self.n is not None and self.n < 1:
            raise InvalidValue("n", f"must be 1 or more, not {self.n}")
        if not -(2**63) <= self.seed < 2**63:
            raise InvalidValue("seed", f"must be an integer of 64 bits, not {self.seed}")
        if not set(self.strata) <= set(STRATA) or len(set(self.strata)) != len(self.strata):
            raise InvalidValue(
                "strata", f"may contain {', '.join(STRATA)}, each once, not {list(self.strata)}"
            )
        if len(set(self.checks)) != len(self.checks):
            raise InvalidValue("checks", f"may contain each check once, not {list(self.checks)}")
        if any(not (math.isfinite(share) and share >= 0) for share in self.shares.values()):
            raise InvalidValue("shares", "must be finite numbers, 0 or more")
        if not any(self.share(tier) > 0 for tier in (*Difficulty, None)):
            raise InvalidValue("shares", "must contain at least one value above 0")

    def share(self, tier: Difficulty | None) -> float:
        """Return the relative share of a tier, 0 or more.

        Args:
            tier: the tier; ``None`` for questions without a tier.
        """
        return self.shares.get(tier, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One stratum of a draw.

    ``tier`` is None for questions without a tier. ``further`` contains the values of the fields in the
    plan's ``strata``, in that order. ``drawn`` of the ``size`` questions were drawn.
    """

    tier: Difficulty | None
    further: tuple[str, ...] = ()
    size: int
    drawn: int

    @property
    def name(self) -> str:
        """The name on screen and in files, such as "hard", "no tier" or "hard / location"."""
        return " / ".join([self.tier or "no tier", *(value or "none" for value in self.further)])

    @property
    def inclusion_probability(self) -> float:
        """``drawn`` / ``size``, 0 to 1; 0 for an empty stratum."""
        return self.drawn / self.size if self.size else 0.0


class Mode(StrEnum):
    """Whether the key is shown at once, or only after the reviewer's own answer."""

    JUDGE = "judge"
    ANSWER_FIRST = "answer first"


class FormScope(StrEnum):
    """The fields of the review form that a batch requests."""

    ALL = "all"
    IMAGE_ALIGNMENT = "image alignment"
    KEY = "key"


#: The default meaning of each value of each rating, by the rating's id.
DEFAULT_ANCHORS: dict[str, Anchors] = {scale.id: scale.anchors for scale in RATINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """The settings of a batch's review.

    With ``one_key_accept``, accepting fills every field that the reviewer left empty with its best value: the
    top rating, or yes. The difficulty may stay not judged. ``parts`` are the requested fields of the form.
    ``guideline`` is Markdown. ``anchors`` contains five texts for each rating, by the rating's id.

    Raises:
        InvalidValue: ``anchors`` does not have five texts for each rating.
    """

    mode: Mode = Mode.JUDGE
    parts: FormScope = FormScope.ALL
    show_report: bool = False
    one_key_accept: bool = False
    guideline: str = ""
    anchors: dict[str, Anchors] = field(default_factory=lambda: dict(DEFAULT_ANCHORS))

    def __post_init__(self) -> None:
        if set(self.anchors) != set(RATING_IDS) or any(len(texts) != 5 for texts in self.anchors.values()):
            raise InvalidValue("anchors", f"must have five texts for each of {', '.join(RATING_IDS)}")


class BatchState(StrEnum):
    """The state of a batch. A closed batch accepts no verdicts; it can be reopened."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Questions of one dataset that were drawn together, in one or several draws with the same plan."""

    id: int
    name: str
    dataset_id: int
    plan: SamplingPlan
    settings: BatchSettings
    state: BatchState
    revision: int
    created_at: datetime


class AssignmentState(StrEnum):
    """The state of one person's assignment of one question."""

    OPEN = "open"
    DONE = "done"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"
