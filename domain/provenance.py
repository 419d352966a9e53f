"""The origin of a generated question: the record of the source, the facts used, and the calls of models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class EvidenceKind(StrEnum):
    """What a piece of evidence is.

    A sentence is copied from the report. A bullet is a statement that a model wrote from the report. A code
    is a coded finding of the source. A rule is a row of the exclusion table with its citation.
    """

    SENTENCE = "sentence"
    BULLET = "bullet"
    CODE = "code"
    RULE = "rule"

    @property
    def is_report_text(self) -> bool:
        """Whether the text is that of the report, or was derived from it by a model."""
        return self in {EvidenceKind.SENTENCE, EvidenceKind.BULLET}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A fact on which a question is based.

    ``text`` is empty if it was left out, as report texts are in a release without reports. ``finding`` and
    ``present`` state which finding follows as present or absent, ``region`` where.
    """

    kind: EvidenceKind
    text: str = ""
    finding: str | None = None
    present: bool | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReference:
    """A reply of a model that was used.

    ``stage`` is the stage of the recipe, ``prompt`` the prompt version (``name@2``), ``model`` the model as
    returned by the server, ``run`` and ``request`` the model run and its request, and ``key`` the key of
    the call in the ledger.
    """

    stage: str
    prompt: str | None = None
    model: str | None = None
    run: str | None = None
    request: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a question.

    ``source`` is the kind of source, such as openi-csv, and ``record`` the id of the record in it. ``calls``
    are in the order of the stages; there is none if no model was used.
    """

    record: str
    source: str | None = None
    evidence: tuple[Evidence, ...] = ()
    calls: tuple[CallReference, ...] = ()

    def without_report_texts(self) -> Provenance:
        """Return the same origin without the texts of sentences and bullets."""
        return replace(
            self,
            evidence=tuple(
                replace(fact, text="") if fact.kind.is_report_text else fact for fact in self.evidence
            ),
        )
