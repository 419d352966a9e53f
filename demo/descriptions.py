"""How reports and explanations of planted errors describe the findings of a phantom."""

from __future__ import annotations

from demo.facts import ExamFacts, VisibleFinding
from demo.phantom import FindingKind

K = FindingKind


def name_with_location(finding: VisibleFinding) -> str:
    """Return the finding with its side or location, to follow "there is"."""
    match finding.kind:
        case K.NODULE:
            return f"a pulmonary nodule in the {finding.region}"
        case K.CONSOLIDATION:
            return f"airspace consolidation in the {finding.region}"
        case K.EFFUSION | K.PNEUMOTHORAX:
            return f"a {finding.side} {finding.kind}"
        case K.CARDIOMEGALY:
            return "an enlarged heart"
        case K.ENDOTRACHEAL_TUBE:
            return "an endotracheal tube"
        case K.CENTRAL_VENOUS_CATHETER:
            return "a right-sided central venous catheter"
        case K.NASOGASTRIC_TUBE:
            return "a nasogastric tube"
        case K.PACEMAKER:
            return "a left-sided dual-chamber pacemaker"


def short_name(finding: VisibleFinding) -> str:
    """Return the finding without side and location, to follow "the"."""
    return "enlargement of the heart" if finding.kind is K.CARDIOMEGALY else str(finding.kind)


def describe_finding(finding: VisibleFinding, facts: ExamFacts) -> str:
    """Describe a finding in a sentence that names it."""
    match finding.kind:
        case K.NODULE:
            lateral = "; it is seen on the lateral radiograph too" if "lateral" in finding.boxes else ""
            return (
                f"A well-defined nodule of about {round(finding.size_mm)} mm lies in the "
                f"{finding.region}{lateral}."
            )
        case K.EFFUSION:
            return f"A {finding.side} pleural effusion with a meniscus obliterates the costophrenic angle."
        case K.CARDIOMEGALY if facts.frontal == "ap":
            return "The heart is enlarged, more than AP magnification explains."
        case K.CARDIOMEGALY:
            return f"The heart is enlarged, with a cardiothoracic ratio of about {facts.ctr:.2f}."
        case K.PNEUMOTHORAX:
            return (
                f"There is a {finding.side} pneumothorax with a thin pleural line along the upper chest wall."
            )
        case K.CONSOLIDATION:
            return f"There is an ill-defined consolidation in the {finding.region}."
        case K.ENDOTRACHEAL_TUBE:
            distance = "" if facts.tip_mm is None else f" about {facts.tip_mm / 10:.0f} cm"
            return f"An endotracheal tube ends{distance} above the carina."
        case K.CENTRAL_VENOUS_CATHETER:
            return "A right-sided central venous catheter ends near the cavoatrial junction."
        case K.NASOGASTRIC_TUBE:
            return "A nasogastric tube crosses the diaphragm and ends over the stomach."
        case K.PACEMAKER:
            return (
                "A dual-chamber pacemaker lies over the left upper chest; its leads end over the right "
                "atrium and the right ventricle."
            )
