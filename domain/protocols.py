"""The protocol of a reader study: what is compared and how. It is fixed before the first reading."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.errors import InvalidValue

#: Fields that affect how readers read. They can't be amended after the first answer.
READING_CONDITIONS = (
    "going_back",
    "shuffle_options",
    "ask_confidence",
    "show_own_result",
    "idle_seconds",
    "guideline",
)


#: The default of :attr:`Protocol.minimum_cases`.
DEFAULT_MINIMUM_CASES = 30
#: Fields that older protocols do not have. They stay absent there, because the hash covers the stored fields.
_ADDED_LATER = (
    "models", "minimum_cases", "helpers", "missing_answers", "adjustment", "open_answers", "partly_right",
    "agreement_basis", "failed_replies",
)  # fmt: skip


class ReaderEffect(StrEnum):
    """Whether the result holds for similar readers too (random) or for these readers only (fixed)."""

    RANDOM = "random"
    FIXED = "fixed"


class Hypothesis(StrEnum):
    """The hypothesis of the primary comparison."""

    SUPERIORITY = "superiority"
    NON_INFERIORITY = "non-inferiority"


class CannotDetermineRule(StrEnum):
    """How "cannot determine" counts in the primary analysis. The report also shows the other two ways."""

    WRONG = "wrong"
    EXCLUDED = "left out"
    CATEGORY = "a category of its own"

    @property
    def label(self) -> str:
        """The text that people see; the value is stored."""
        return {
            CannotDetermineRule.WRONG: "wrong",
            CannotDetermineRule.EXCLUDED: "excluded",
            CannotDetermineRule.CATEGORY: "separate category",
        }[self]


class HelperRule(StrEnum):
    """Whether readers who helped to set the answer key are in the primary comparison.

    The report shows the results without and with them. LEAVE_ONE_OUT: they are included, and as a third
    result, each of them is compared with a reference made from the answers of the other helpers.
    """

    EXCLUDED = "excluded"
    INCLUDED = "included"
    LEAVE_ONE_OUT = "leave-one-reader-out"


class MissingAnswers(StrEnum):
    """How a question without a model's answer counts; the value is also the option of ``cli.py measure``.

    COMMON: readers and model are compared on the questions that both answered. WRONG: the answer counts as
    incorrect.
    """

    COMMON = "common"
    WRONG = "wrong"

    @property
    def label(self) -> str:
        """The text that people see."""
        return {
            MissingAnswers.COMMON: "excluded (cases both answered)",
            MissingAnswers.WRONG: "wrong",
        }[self]


class Adjustment(StrEnum):
    """The adjustment of the p values of a family.

    HOLM controls the probability of any false rejection, BENJAMINI_HOCHBERG the expected share of false
    rejections. The value is also the option of ``cli.py measure``.
    """

    HOLM = "holm"
    BENJAMINI_HOCHBERG = "bh"

    @property
    def label(self) -> str:
        """The name of the method."""
        return {Adjustment.HOLM: "Holm", Adjustment.BENJAMINI_HOCHBERG: "Benjamini-Hochberg"}[self]


class AgreementBasis(StrEnum):
    """The categories of agreement; the value is also the option of ``cli.py measure``.

    ANSWERS: raters agree if they give the same answer. CORRECTNESS: raters agree if both are correct or both
    are incorrect.
    """

    ANSWERS = "answers"
    CORRECTNESS = "correctness"


class FailedReplyRule(StrEnum):
    """How a model's reply without a recognised answer counts in agreement. In accuracy, it is incorrect."""

    CATEGORY = "a category of its own"
    MISSING = "missing"

    @property
    def label(self) -> str:
        """The text that people see; the value is stored."""
        return "separate category" if self is FailedReplyRule.CATEGORY else self.value


class OpenAnswerRule(StrEnum):
    """How open answers are scored: by marks of an expert, or as right only if they equal the answer key."""

    MARKED = "marked by an expert"
    EXACT_MATCH = "exact match"


class PartlyRightRule(StrEnum):
    """How many points an answer marked "partly right" gets.

    In analyses of right and wrong answers (accuracies, comparisons), HALF counts as wrong. The table of open
    answers shows the mean of the points.
    """

    WRONG = "wrong"
    HALF = "half"
    RIGHT = "right"

    @property
    def points(self) -> float:
        """The points of a partly right answer, 0 to 1."""
        return {PartlyRightRule.WRONG: 0.0, PartlyRightRule.HALF: 0.5, PartlyRightRule.RIGHT: 1.0}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The protocol of a reader study.

    ``margin`` is a difference of accuracies, 0 to below 1 (0.05 is 5 percentage points); it is above 0 for
    non-inferiority. ``family`` contains the comparisons that the ``adjustment`` of p values covers: "a : b",
    "readers : b", "readers-models" or "all"; if it is empty, all pairs are covered. Time stops counting after
    ``idle_seconds`` (10 to 3,600) without activity. ``seed`` is the seed of all bootstraps and permutations
    of the analysis. ``bootstrap`` is the number of resamples, 0 to 100,000. ``models`` are the models that
    take part besides ``model``; it is None in older protocols, where all models with predictions take part. A
    comparison on fewer than ``minimum_cases`` cases (1 to 100,000) is not reported. ``open_answers`` states
    how open answers are scored, ``partly_right`` how many points a partly right one gets. ``agreement_basis``
    and ``failed_replies`` define the categories of agreement. Older protocols have None for fields that were
    added later; the ``used_…`` and ``effective_…`` properties then give the value that applies.

    Raises:
        InvalidValue: a value is outside its range.
    """

    primary_comparison: str = "Mean accuracy of the readers minus that of the model"
    model: str = ""
    hypothesis: Hypothesis = Hypothesis.SUPERIORITY
    margin: float = 0.0
    confidence: float = 0.95
    readers: ReaderEffect = ReaderEffect.RANDOM
    family: tuple[str, ...] = ()
    cannot_determine: CannotDetermineRule = CannotDetermineRule.WRONG
    exclusions: str = ""
    seed: int = 1
    bootstrap: int = 2000
    going_back: bool = False
    shuffle_options: bool = True
    ask_confidence: bool = True
    show_own_result: bool = False
    idle_seconds: int = 300
    guideline: str = ""
    notes: str = ""
    models: tuple[str, ...] | None = ()
    minimum_cases: int | None = DEFAULT_MINIMUM_CASES
    helpers: HelperRule | None = HelperRule.EXCLUDED
    missing_answers: MissingAnswers | None = MissingAnswers.COMMON
    adjustment: Adjustment | None = Adjustment.HOLM
    open_answers: OpenAnswerRule | None = OpenAnswerRule.MARKED
    partly_right: PartlyRightRule | None = PartlyRightRule.WRONG
    agreement_basis: AgreementBasis | None = AgreementBasis.ANSWERS
    failed_replies: FailedReplyRule | None = FailedReplyRule.CATEGORY

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 1:
            raise InvalidValue(
                "margin", f"must be a difference of accuracies from 0 to below 1, not {self.margin}"
            )
        if self.hypothesis is Hypothesis.NON_INFERIORITY and not self.margin:
            raise InvalidValue("margin", "must be above 0 for non-inferiority")
        if not 0.5 <= self.confidence < 1:
            raise InvalidValue("confidence", f"must be at least 0.5 and below 1, not {self.confidence}")
        if not 10 <= self.idle_seconds <= 3600:
            raise InvalidValue("idle_seconds", f"must be 10 to 3,600, not {self.idle_seconds}")
        if not 0 <= self.bootstrap <= 100_000:
            raise InvalidValue("bootstrap", f"must be 0 to 100,000, not {self.bootstrap}")
        if not -(2**63) <= self.seed < 2**63:
            raise InvalidValue("seed", f"must be a 64-bit integer, not {self.seed}")
        if not self.primary_comparison.strip():
            raise InvalidValue("primary_comparison", "enter what is compared")
        if self.minimum_cases is not None and not 1 <= self.minimum_cases <= 100_000:
            raise InvalidValue("minimum_cases", f"must be 1 to 100,000, not {self.minimum_cases}")
        if self.models is not None and len(set(self.models)) != len(self.models):
            raise InvalidValue("models", "must not contain a model twice")

    def includes_model(self, name: str) -> bool:
        """Whether the model with this name takes part."""
        return self.models is None or name == self.model or name in self.models

    @property
    def needed_cases(self) -> int:
        """The number of cases that a comparison needs."""
        return DEFAULT_MINIMUM_CASES if self.minimum_cases is None else self.minimum_cases

    @property
    def used_helpers(self) -> HelperRule:
        """Whether readers who helped to set the key are in the primary comparison."""
        return self.helpers or HelperRule.EXCLUDED

    @property
    def used_missing_answers(self) -> MissingAnswers:
        """How a question without a model's answer counts."""
        return self.missing_answers or MissingAnswers.COMMON

    @property
    def used_adjustment(self) -> Adjustment:
        """The adjustment of p values."""
        return self.adjustment or Adjustment.HOLM

    @property
    def used_open_answers(self) -> OpenAnswerRule:
        """How open answers are scored. Studies that are older than marking keep exact match."""
        return self.open_answers or OpenAnswerRule.EXACT_MATCH

    @property
    def marks_open_answers(self) -> bool:
        """Whether experts mark the open answers that differ from the answer key."""
        return self.used_open_answers is OpenAnswerRule.MARKED

    @property
    def effective_partly_right_rule(self) -> PartlyRightRule:
        """The rule for the points of a partly right answer."""
        return self.partly_right or PartlyRightRule.WRONG

    @property
    def used_agreement_basis(self) -> AgreementBasis:
        """The categories of agreement."""
        return self.agreement_basis or AgreementBasis.ANSWERS

    @property
    def used_failed_replies(self) -> FailedReplyRule:
        """How replies without a recognised answer count in agreement."""
        return self.failed_replies or FailedReplyRule.CATEGORY

    def to_canonical_json(self) -> str:
        """Convert the protocol to canonical JSON: sorted keys, no spaces, characters not escaped."""
        return canonical_json(protocol_to_plain(self))

    def sha256(self) -> str:
        """Compute the SHA-256 of :meth:`to_canonical_json` in lower-case hex."""
        return hashlib.sha256(self.to_canonical_json().encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolVersion:
    """A stored version of a protocol; ``version`` counts from 1, and a later version supersedes earlier ones.

    ``answers_before`` is the number of readings that existed when the version was written. If it is above 0,
    the version is an amendment.
    """

    study_id: int
    version: int
    protocol: Protocol
    sha256: str
    reason: str
    answers_before: int
    written_by: int | None
    written_at: datetime


def canonical_json(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Convert a value to JSON with sorted keys and without spaces, for example to compute its hash.

    Unlike :func:`domain.audit.canonical` it only accepts JSON values.

    Args:
        value: a JSON value; tuples become lists.

    Returns:
        The text; equal values have equal texts.

    Raises:
        ValueError: the value contains NaN or infinity.
        TypeError: the value is not a JSON value.

    >>> canonical_json({"b": 1, "a": [True]})
    '{"a":[true],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def protocol_to_plain(protocol: Protocol) -> dict[str, Any]:
    """Convert a protocol to JSON values.

    Args:
        protocol: the protocol.

    Returns:
        One entry per field, with tuples as lists. Fields that an older protocol does not have are left out.

    >>> protocol_from_plain(protocol_to_plain(Protocol(seed=7))).seed
    7
    """
    plain = asdict(protocol)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in plain.items()
        if value is not None
    }


def protocol_from_plain(plain: dict[str, Any]) -> Protocol:
    """Restore a protocol from JSON values; the inverse of :func:`protocol_to_plain`.

    Args:
        plain: JSON values by field. A missing field has its default, or None if older protocols do not have
            it.

    Returns:
        The protocol.

    Raises:
        InvalidValue: a field is unknown, or its value has the wrong type or is out of range.
    """
    defaults = {protocol_field.name: protocol_field.default for protocol_field in fields(Protocol)}
    values: dict[str, Any] = dict.fromkeys(_ADDED_LATER)
    for name, value in plain.items():
        if name not in defaults:
            raise InvalidValue(name, f"is not a field of a protocol. Fields: {', '.join(defaults)}")
        values[name] = _parse_value(name, value, default=defaults[name])
    return Protocol(**values)


def _parse_value(name: str, value: Any, *, default: Any) -> Any:  # noqa: ANN401  # a field's value of any type
    if isinstance(default, StrEnum):
        try:
            return type(default)(value)
        except ValueError as error:
            raise InvalidValue(name, f"must be one of {', '.join(type(default))}, not {value!r}") from error
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise InvalidValue(name, "must be a list of texts")
        return tuple(value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        raise InvalidValue(name, f"must be {_TYPE_DESCRIPTIONS[type(default)]}, not {value!r}")
    return value


_TYPE_DESCRIPTIONS = {bool: "true or false", int: "an integer", float: "a number", str: "text"}


def diff_protocols(before: Protocol, after: Protocol) -> tuple[tuple[str, Any, Any], ...]:
    """List the fields in which two protocols differ.

    Args:
        before: the old protocol.
        after: the new protocol.

    Returns:
        Tuples (field, value before, value after), in the order of the fields.

    >>> diff_protocols(Protocol(seed=1), Protocol(seed=2))
    (('seed', 1, 2),)
    """
    return tuple(
        (protocol_field.name, getattr(before, protocol_field.name), getattr(after, protocol_field.name))
        for protocol_field in fields(Protocol)
        if getattr(before, protocol_field.name) != getattr(after, protocol_field.name)
    )
