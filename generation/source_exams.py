"""What every source yields: an exam with its images, its report and its coded findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.vocabulary import View


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSections:
    """The sections of a report; a section that the report does not have is empty."""

    indication: str = ""
    comparison: str = ""
    findings: str = ""
    impression: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the report describes nothing: neither findings nor impression."""
        return not (self.findings or self.impression)

    def format_text(self, *, comparison: bool = True) -> str:
        """Return the report as text, one paragraph per section.

        Args:
            comparison: whether to include the section on prior exams.
        """
        sections = (
            ("INDICATION", self.indication),
            ("COMPARISON", self.comparison if comparison else ""),
            ("FINDINGS", self.findings),
            ("IMPRESSION", self.impression),
        )
        return "\n\n".join(f"{heading}: {text}" for heading, text in sections if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceImage:
    """An image of an exam; ``file`` is its path in the folder of images, with forward slashes."""

    id: str
    file: str
    view: View = View.UNKNOWN


class CodeSystem(StrEnum):
    """The vocabulary of a code: MeSH (Open-i), attributes (Chest ImaGenome), or names of a label table."""

    MESH = "mesh"
    SCENE_GRAPH = "scene_graph"
    LABEL = "label"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedFinding:
    """A finding as the source codes it.

    ``code`` is the text of the code, such as ``Opacity/lung/base/left``. ``present`` is False if the source
    states that the finding is absent. ``region`` is one of GEMeX's regions. ``sentence`` is the sentence of
    the report that the code was derived from.
    """

    system: CodeSystem
    code: str
    present: bool = True
    region: str | None = None
    sentence: str = ""
    boxes: tuple[LabelledBox, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceExam:
    """An exam of a source.

    ``file`` and ``record`` name its place in the source, for messages. ``labels_searched`` are the labels for
    which the annotators searched every image: such a label without a code is absent. ``region_boxes`` are the
    boxes of GEMeX's regions, by region.

    Raises:
        InvalidValue: there is no image.
    """

    id: str
    file: str
    record: str
    images: tuple[SourceImage, ...]
    patient: str | None = None
    age: str | None = None
    sex: str | None = None
    report: ReportSections = field(default_factory=ReportSections)
    codes: tuple[CodedFinding, ...] = ()
    labels_searched: frozenset[str] = frozenset()
    region_boxes: Mapping[str, tuple[LabelledBox, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidValue("exam.id", "is empty")
        if not self.images:
            raise InvalidValue(
                "images", "the exam has none; add it to the list of images, or skip the record"
            )

    @property
    def frontal(self) -> SourceImage | None:
        """The first image that is not known to be another view; None if there is none."""
        return next((image for image in self.images if image.view not in {View.LATERAL, View.OTHER}), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContent:
    """The exams of a source, the refused records with reasons, and what was ignored, by reason."""

    exams: tuple[SourceExam, ...]
    refusals: tuple[Refusal, ...] = ()
    ignored: dict[str, int] = field(default_factory=dict)
