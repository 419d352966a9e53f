"""A prompt bench: versions of a prompt answer the same reports, and experts score the outputs blinded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.vocabulary import Choice


class BenchScale(Choice):
    """The scales on which an expert scores an output, each from 1 (poor) to 5 (excellent)."""

    QUALITY = "question_quality", "question quality"
    ACCURACY = "clinical_accuracy", "clinical accuracy"
    EDUCATION = "educational_value", "educational value"


#: The values of each scale.
BENCH_SCORES = range(1, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchVersion:
    """A version of a prompt in a bench: ``position`` from 1, its label such as ``mcq@2``, and its run."""

    position: int
    label: str
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBench:
    """A bench: ``reports`` reports of a dataset, the versions, and the seed of all random orders."""

    id: int
    name: str
    dataset: str
    seed: int
    reports: int
    versions: tuple[BenchVersion, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchExpert:
    """A person who scores the outputs of a bench, or marks the sentences of a region check."""

    person_id: int
    name: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class BenchCell:
    """What one score is about: the position of the report and of the version, both from 1, and the scale."""

    report: int
    version: int
    scale: BenchScale


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchScore:
    """A stored score. ``revision`` counts from 1 for each expert and cell; the latest one counts.

    ``score`` is None if the score was undone: the cell is then not scored.
    """

    cell: BenchCell
    person_id: int
    revision: int
    score: int | None
    scored_at: datetime
