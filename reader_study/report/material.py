"""What a report is made from: the study's cases, readers, readings, models, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass

from domain.protocols import ProtocolVersion
from domain.readings import Prediction, Reading
from domain.studies import Case, Exclusion, Reader, ReaderStudy, Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """A model and its predictions on the study's cases, by the number of the question."""

    name: str
    simulated: bool
    predictions: dict[int, Prediction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All that a report needs; the last revision of each reading."""

    study: ReaderStudy
    versions: tuple[ProtocolVersion, ...]
    cases: tuple[Case, ...]
    readers: tuple[Reader, ...]
    slots: tuple[Slot, ...]
    readings: tuple[Reading, ...]
    models: tuple[ModelAnswers, ...]
    exclusions: tuple[Exclusion, ...]

    def left_out(self, *, case_id: int, reader_id: int | None) -> bool:
        """Whether the analysis leaves out that case, or that reader, or that reader's readings of it."""
        return any(
            (each.case_id is None or each.case_id == case_id)
            and (each.reader_id is None or each.reader_id == reader_id)
            for each in self.exclusions
        )
