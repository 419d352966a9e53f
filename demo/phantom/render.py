"""Render one exam from a seed: patient, findings, projections, boxes."""

from collections.abc import Sequence

from demo.phantom.catalogue import FindingSpec
from demo.phantom.exam import PhantomExam, PhantomFinding, PhantomImage
from demo.phantom.frame import FIELD_WIDTH_MM, Frame, View
from demo.phantom.habitus import Habitus
from demo.phantom.projection import project_scene
from demo.phantom.regions import find_regions, thorax_edges
from demo.phantom.scene import build_scene
from demo.phantom.visibility import find_finding_boxes

ROWS, COLUMNS = 1250, 1024


def render_exam(
    seed: int,
    *,
    findings: Sequence[FindingSpec] = (),
    sex: str = "M",
    age: int = 55,
    rows: int = ROWS,
    columns: int = COLUMNS,
    views: Sequence[View] = tuple(View),
) -> PhantomExam:
    """Render a frontal and a lateral chest radiograph of a fictitious patient, or one of the two.

    The same arguments give the same pixels. Anatomy, exposure and noise depend only on ``seed``, ``sex`` and
    ``age``, so two exams with and without a finding differ only by that finding.

    Args:
        seed: any integer from 0.
        findings: the findings to show; at most one effusion, pneumothorax or consolidation per side.
        sex: "M" or "F".
        age: years, 18 to 100.
        rows: height of both images in pixels. The field is 350 mm wide, so the usual ratio is about 5 : 4.
        columns: width of both images in pixels.
        views: the radiographs to render; boxes are given for both views in any case.

    Raises:
        ValueError: an argument is out of its range.
    """
    if seed < 0 or sex not in ("M", "F") or not 18 <= age <= 100:
        raise ValueError(f"no such patient: seed {seed}, sex {sex!r}, age {age}")
    if rows < 64 or columns < 64 or not 0.9 <= rows / columns <= 1.6:
        raise ValueError(f"no chest radiograph has {rows} rows and {columns} columns")
    scene = build_scene(seed, findings=findings, sex=sex, age=age)
    frames = {view: create_frame(scene.habitus, view, rows=rows, columns=columns) for view in View}
    images = tuple(
        PhantomImage(view=view, pixels=project_scene(scene, frames[view]), spacing=frames[view].spacing)
        for view in views
    )
    phantom_findings = tuple(
        PhantomFinding(
            spec=placed_finding.spec,
            region=placed_finding.region,
            size_mm=placed_finding.size_mm,
            boxes=find_finding_boxes(scene, placed_finding, frames),
        )
        for placed_finding in scene.findings
    )
    return PhantomExam(
        seed=seed,
        sex=sex,
        age=age,
        images=images,
        findings=phantom_findings,
        regions=find_regions(scene, frames),
        ctr=scene.habitus.ctr,
        thorax=thorax_edges(scene.habitus, frames[View.PA]),
    )


def create_frame(habitus: Habitus, view: View, *, rows: int, columns: int) -> Frame:
    """The detector matrix of one view; only the frontal view has the patient's rotation."""
    is_frontal = view is View.PA
    return Frame(
        view=view,
        rows=rows,
        columns=columns,
        spacing=FIELD_WIDTH_MM / columns,
        turn=habitus.turn if is_frontal else 0.0,
        centre=habitus.shift if is_frontal else habitus.shift - 14,
    )
