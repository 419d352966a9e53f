"""The data of a report: the study's cases, readers, readings, models and exclusions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.audit import AuditHead
from domain.marks import ExtractionMark, MarkRevision
from domain.protocols import ProtocolVersion
from domain.readings import Prediction, Reading
from domain.studies import Case, Exclusion, Reader, ReaderStudy, Slot, is_excluded
from reader_study.open_answers import AnswerScoring, build_scoring
from terminology.taxonomy import NameMapping


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """A model and its predictions on the study's cases, by the database id of the question."""

    name: str
    simulated: bool
    predictions: dict[int, Prediction]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """The data of a report. ``readings`` has the latest revisions.

    ``models`` has the models of the protocol that answered a case, and ``models_without_answers`` the names
    of the models that did not. ``marks`` and ``extraction_marks`` have the latest revisions. ``audit_head``
    is the last audit entry about the data. ``mapping`` has the controlled names of categories.
    ``demographics`` has the (sex, age) that the files of the exams state, by id in the database; None if not
    stated.
    ``keys_of_release`` is the release whose keys replace the keys of the cases; "" if there is none.
    """

    study: ReaderStudy
    versions: tuple[ProtocolVersion, ...]
    cases: tuple[Case, ...]
    readers: tuple[Reader, ...]
    slots: tuple[Slot, ...]
    readings: tuple[Reading, ...]
    models: tuple[ModelAnswers, ...]
    exclusions: tuple[Exclusion, ...]
    models_without_answers: tuple[str, ...] = ()
    marks: tuple[MarkRevision, ...] = ()
    extraction_marks: tuple[ExtractionMark, ...] = ()
    audit_head: AuditHead | None = None
    keys_of_release: str = ""
    mapping: NameMapping = field(default_factory=NameMapping)
    demographics: Mapping[int, tuple[str | None, str | None]] = field(default_factory=dict)

    @property
    def scoring(self) -> AnswerScoring:
        """The scoring of answers by the current protocol and the marks."""
        return build_scoring(self.versions[-1].protocol, self.marks)

    def is_excluded(self, *, case_id: int, reader_id: int | None) -> bool:
        """Whether a case, a reader, or the reader's readings of the case are excluded from the analysis."""
        return is_excluded(self.exclusions, case_id=case_id, reader_id=reader_id)
