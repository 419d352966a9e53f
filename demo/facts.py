"""What the radiographs of an exam show: the findings, with those that its report omits, and measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from demo.cases import Case, Projections
from demo.phantom import FindingKind, PhantomExam, Side, View
from demo.phantom.exam import PhantomFinding
from domain.boxes import Box, LabelledBox

#: Distances in mm: from the tube's tip to the lower edge of its box, and from the carina to the lower edge of
#: the trachea's box.
_BELOW_TIP, _BELOW_CARINA = 2.0, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleFinding:
    """A visible finding. ``boxes`` are keyed by radiograph id; ``conspicuity`` is 0 to 1."""

    kind: FindingKind
    side: Side
    region: str
    size_mm: float
    conspicuity: float
    boxes: dict[str, Box]

    def to_labelled_boxes(self) -> tuple[LabelledBox, ...]:
        """The finding's boxes, labelled by its kind, to a tenth of a pixel."""
        return tuple(
            LabelledBox(radiograph=radiograph, label=str(self.kind), box=round_box(box))
            for radiograph, box in self.boxes.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamFacts:
    """The facts about one exam.

    The report names the findings in ``visible``. Those in ``unreported`` are visible but missing from the
    report, so no correct question mentions them. ``frontal`` is the id of the frontal radiograph, ``lateral``
    whether there is a lateral one. ``thorax`` holds the lowest and highest x of the widest inner thoracic
    width, in pixels. ``tip_mm`` is the distance from the tip of an endotracheal tube to the carina; None
    without a tube.
    """

    case: Case
    frontal: str
    lateral: bool
    visible: tuple[VisibleFinding, ...]
    unreported: tuple[VisibleFinding, ...]
    ctr: float
    columns: int
    thorax: tuple[float, float]
    tip_mm: float | None

    @property
    def exam_id(self) -> str:
        """The exam's id in the question file."""
        return self.case.exam_id

    @property
    def is_normal(self) -> bool:
        """Whether the exam shows no finding at all."""
        return not self.visible and not self.unreported

    def visible_of_kind(self, kind: FindingKind) -> tuple[VisibleFinding, ...]:
        """Return the findings of a kind that questions may ask about."""
        return tuple(finding for finding in self.visible if finding.kind is kind)


def collect_facts(case: Case, exam: PhantomExam) -> ExamFacts:
    """Collect the facts about a rendered exam."""
    id_by_view = {View.PA: "ap" if case.projections is Projections.AP else "pa"}
    if case.projections is Projections.PA_AND_LATERAL:
        id_by_view[View.LATERAL] = "lateral"
    findings = [_to_visible_finding(finding, id_by_view) for finding in exam.findings]
    regions = {
        region.name: {id_by_view[view]: box for view, box in region.boxes.items() if view in id_by_view}
        for region in exam.regions
    }
    image = exam.find_image(View.PA)
    return ExamFacts(
        case=case,
        frontal=id_by_view[View.PA],
        lateral=View.LATERAL in id_by_view,
        visible=tuple(finding for finding in findings if finding.kind not in case.unreported),
        unreported=tuple(finding for finding in findings if finding.kind in case.unreported),
        ctr=exam.ctr,
        columns=image.pixels.shape[1],
        thorax=exam.thorax,
        tip_mm=_measure_tip_to_carina_mm(
            findings, regions, frontal=id_by_view[View.PA], spacing=image.spacing
        ),
    )


def with_report_from(facts: ExamFacts, report_facts: ExamFacts) -> ExamFacts:
    """Return the facts with the findings of another exam's report, but the images of this exam."""
    findings = tuple(
        replace(
            finding,
            boxes={facts.frontal: finding.boxes[report_facts.frontal]}
            if report_facts.frontal in finding.boxes
            else {},
        )
        for finding in report_facts.visible
    )
    return replace(facts, visible=findings, unreported=(), tip_mm=report_facts.tip_mm)


def round_box(box: Box) -> Box:
    """Return the box to a tenth of a pixel, as question files have it."""
    x_min, y_min, x_max, y_max = (round(value, 1) for value in box.as_tuple())
    return Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)


def _to_visible_finding(finding: PhantomFinding, id_by_view: dict[View, str]) -> VisibleFinding:
    return VisibleFinding(
        kind=finding.spec.kind,
        side=finding.spec.resolved_side,
        region=finding.region,
        size_mm=finding.size_mm,
        conspicuity=finding.spec.conspicuity,
        boxes={id_by_view[view]: box for view, box in finding.boxes.items() if view in id_by_view},
    )


def _measure_tip_to_carina_mm(
    findings: Iterable[VisibleFinding], regions: dict[str, dict[str, Box]], *, frontal: str, spacing: float
) -> float | None:
    for finding in findings:
        if finding.kind is FindingKind.ENDOTRACHEAL_TUBE:
            tip = finding.boxes[frontal].y_max * spacing - _BELOW_TIP
            carina = regions["trachea"][frontal].y_max * spacing - _BELOW_CARINA
            return carina - tip
    return None
