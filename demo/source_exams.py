"""The exams of the demo as a source of questions: coded findings, report and images.

A phantom shows only what was requested, so its annotation is complete for the findings of
``labels_searched``: if such a finding has no code, it is absent.
"""

from __future__ import annotations

from collections.abc import Mapping

from demo.cases import Projections
from demo.facts import ExamFacts
from demo.phantom import DEVICES, FindingKind
from demo.reports import write_report
from domain.vocabulary import View
from generation.source_exams import CodedFinding, CodeSystem, SourceExam, SourceImage

SOURCE_NAME = "phantoms"
#: The finding of `findings.toml` and its label, by kind of finding.
FINDINGS: dict[FindingKind, tuple[str, str]] = {
    FindingKind.NODULE: ("nodule", "Nodule"),
    FindingKind.EFFUSION: ("pleural_effusion", "Effusion"),
    FindingKind.CARDIOMEGALY: ("cardiomegaly", "Cardiomegaly"),
    FindingKind.PNEUMOTHORAX: ("pneumothorax", "Pneumothorax"),
    FindingKind.CONSOLIDATION: ("consolidation", "Consolidation"),
    FindingKind.ENDOTRACHEAL_TUBE: ("endotracheal_tube", "endotracheal tube"),
    FindingKind.CENTRAL_VENOUS_CATHETER: ("central_venous_catheter", "central venous catheter"),
    FindingKind.NASOGASTRIC_TUBE: ("enteric_tube", "enteric tube"),
    FindingKind.PACEMAKER: ("pacemaker", "pacemaker"),
}
#: Labels for which every phantom is known to be searched: its own findings, and some that none shows.
_SEARCHED = frozenset(label for kind, (_, label) in FINDINGS.items() if kind not in DEVICES) | {
    "Mass", "Edema", "scoliosis", "Hernia",
}  # fmt: skip
#: Free air rises below the diaphragm only in upright patients.
_SEARCHED_UPRIGHT = frozenset({"sub-diaphragmatic air"})
#: For portable exams and exams with a device. In other exams, nobody asks about absent devices.
_SEARCHED_DEVICES = frozenset(FINDINGS[kind][1] for kind in DEVICES)
#: Labels that can be judged unless one of the findings obscures the diaphragm or displaces the lung.
_SEARCHED_IF_SEEN: tuple[tuple[frozenset[str], frozenset[FindingKind]], ...] = (
    (frozenset({"elevated hemidiaphragm"}), frozenset({FindingKind.EFFUSION, FindingKind.CONSOLIDATION})),
    (
        frozenset({"hyperaeration", "low lung volumes"}),
        frozenset({FindingKind.EFFUSION, FindingKind.PNEUMOTHORAX}),
    ),
)


def make_source_exam(facts: ExamFacts, files: Mapping[str, str], *, seed: int) -> SourceExam:
    """Return the exam as a source of questions, with its report.

    Args:
        facts: what the exam shows; if it has another exam's report, what this report states.
        files: the image paths by radiograph id, relative to the image folder.
        seed: the seed of the report's wording.
    """
    case = facts.case
    findings = (*facts.visible, *facts.unreported)
    kinds = {finding.kind for finding in findings}
    is_portable = case.projections is Projections.AP
    searched_labels = _SEARCHED if is_portable else _SEARCHED | _SEARCHED_UPRIGHT
    if kinds & DEVICES or is_portable:
        searched_labels |= _SEARCHED_DEVICES
    for labels, obscuring in _SEARCHED_IF_SEEN:
        if not kinds & obscuring:
            searched_labels |= labels
    return SourceExam(
        id=case.exam_id,
        file=SOURCE_NAME,
        record=case.exam_id,
        patient=case.patient,
        age=f"{case.age:03d}Y",
        sex=case.sex,
        images=tuple(
            SourceImage(id=radiograph, file=file, view=View(radiograph.upper()))
            for radiograph, file in files.items()
        ),
        report=write_report(facts, seed=seed),
        codes=tuple(
            CodedFinding(
                system=CodeSystem.LABEL,
                code=FINDINGS[finding.kind][1],
                region=finding.region,
                boxes=finding.to_labelled_boxes(),
            )
            for finding in findings
        ),
        labels_searched=searched_labels,
    )
