"""Radiological terms for the findings that a phantom shows or does not show."""

from __future__ import annotations

from dataclasses import dataclass

from demo.facts import ExamFacts, VisibleFinding
from demo.phantom import FindingKind

K = FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The terms for a kind of finding, and its category.

    ``with_article`` includes the indefinite article, ``option`` is used as an answer option, and ``after_no``
    follows the word "no". ``category`` and ``subcategory`` are those of ReXVQA (its Tables 3 and 6 list the
    categories of findings).
    """

    with_article: str
    option: str
    after_no: str
    category: str
    subcategory: str


TERMS: dict[FindingKind, Term] = {
    K.NODULE: Term(
        with_article="a pulmonary nodule",
        option="Pulmonary nodule",
        after_no="pulmonary nodule",
        category="Lung and Pleural Opacity",
        subcategory="Nodule",
    ),
    K.EFFUSION: Term(
        with_article="a pleural effusion",
        option="Pleural effusion",
        after_no="pleural effusion",
        category="Pleural Effusion",
        subcategory="Pleural Effusion",
    ),
    K.CARDIOMEGALY: Term(
        with_article="an enlarged heart",
        option="Enlarged cardiac silhouette",
        after_no="enlargement of the heart",
        category="Heart",
        subcategory="Heart Size",
    ),
    K.PNEUMOTHORAX: Term(
        with_article="a pneumothorax",
        option="Pneumothorax",
        after_no="pneumothorax",
        category="Lung and Pleural Lucency",
        subcategory="Pneumothorax",
    ),
    K.CONSOLIDATION: Term(
        with_article="a consolidation",
        option="Consolidation",
        after_no="consolidation",
        category="Lung and Pleural Opacity",
        subcategory="Consolidation",
    ),
    K.ENDOTRACHEAL_TUBE: Term(
        with_article="an endotracheal tube",
        option="Endotracheal tube",
        after_no="endotracheal tube",
        category="Tubes and Lines",
        subcategory="Endotracheal Tube",
    ),
    K.CENTRAL_VENOUS_CATHETER: Term(
        with_article="a central venous catheter",
        option="Central venous catheter",
        after_no="central venous catheter",
        category="Tubes and Lines",
        subcategory="Central Venous Catheter",
    ),
    K.NASOGASTRIC_TUBE: Term(
        with_article="a nasogastric tube",
        option="Nasogastric tube",
        after_no="nasogastric tube",
        category="Tubes and Lines",
        subcategory="Enteric Tube",
    ),
    K.PACEMAKER: Term(
        with_article="a cardiac pacemaker",
        option="Cardiac pacemaker",
        after_no="cardiac pacemaker",
        category="Implanted Devices",
        subcategory="Pacemaker",
    ),
}

#: Findings that no phantom shows. They are always wrong options, because every phantom excludes them.
NEVER_PRESENT = (
    "Dextrocardia",
    "Cavitating lung lesion",
    "Interstitial pulmonary oedema",
    "Complete opacification of one hemithorax",
    "Miliary nodules in both lungs",
    "Hydropneumothorax with an air-fluid level",
)

#: The regions to examine for the absence of a finding.
REGIONS_TO_EXAMINE: dict[FindingKind, tuple[str, ...]] = {
    K.NODULE: ("right lung", "left lung"),
    K.EFFUSION: ("right lower lung zone", "left lower lung zone"),
    K.CARDIOMEGALY: ("cardiac silhouette",),
    K.PNEUMOTHORAX: ("right upper lung zone", "left upper lung zone"),
    K.CONSOLIDATION: ("right lung", "left lung"),
    K.ENDOTRACHEAL_TUBE: ("trachea",),
    K.CENTRAL_VENOUS_CATHETER: ("svc",),
    K.NASOGASTRIC_TUBE: ("mediastinum",),
    K.PACEMAKER: (),
}


def name_with_location(finding: VisibleFinding) -> str:
    """Return the finding with its side or location, to follow "there is"."""
    match finding.kind:
        case K.NODULE:
            return f"a nodule in the {finding.region}"
        case K.CONSOLIDATION:
            return f"consolidation in the {finding.region}"
        case K.EFFUSION | K.PNEUMOTHORAX:
            return f"a {finding.side} {'pleural effusion' if finding.kind is K.EFFUSION else 'pneumothorax'}"
        case K.PACEMAKER:
            return "a left-sided dual-chamber pacemaker"
        case K.CENTRAL_VENOUS_CATHETER:
            return "a right-sided central venous catheter"
        case _:
            return TERMS[finding.kind].with_article


def short_name(finding: VisibleFinding) -> str:
    """Return the finding without side and location, to follow "the"."""
    return {
        K.NODULE: "nodule",
        K.EFFUSION: "pleural effusion",
        K.CARDIOMEGALY: "cardiac enlargement",
        K.CENTRAL_VENOUS_CATHETER: "central venous catheter",
        K.PACEMAKER: "pacemaker",
    }.get(finding.kind, str(finding.kind))


def describe_finding(finding: VisibleFinding, facts: ExamFacts) -> str:
    """Describe a finding, for the explanation of a question or the findings of a report."""
    return {
        K.NODULE: _describe_nodule,
        K.EFFUSION: _describe_effusion,
        K.CARDIOMEGALY: _describe_heart,
        K.PNEUMOTHORAX: _describe_pneumothorax,
        K.CONSOLIDATION: _describe_consolidation,
        K.ENDOTRACHEAL_TUBE: _describe_tube,
        K.CENTRAL_VENOUS_CATHETER: _describe_catheter,
        K.NASOGASTRIC_TUBE: _describe_nasogastric_tube,
        K.PACEMAKER: _describe_pacemaker,
    }[finding.kind](finding, facts)


def describe_absence(kind: FindingKind, facts: ExamFacts) -> str:
    """Describe the normal appearance where a finding is absent."""
    ratio = "the heart is not enlarged, though AP projection magnifies it"
    if facts.frontal == "pa":
        ratio = f"the cardiothoracic ratio is about {facts.ctr:.2f}, below 0.50"
    leads = "besides the pacemaker leads " if facts.visible_of_kind(K.PACEMAKER) else ""
    sentence = {
        K.NODULE: "no rounded focal opacity is seen in either lung",
        K.EFFUSION: "both costophrenic angles are sharp",
        K.CARDIOMEGALY: ratio,
        K.PNEUMOTHORAX: "lung markings reach the chest wall on both sides and no pleural line is seen",
        K.CONSOLIDATION: "neither lung shows airspace opacity or an air bronchogram",
        K.ENDOTRACHEAL_TUBE: "the air column of the trachea holds no tube",
        K.CENTRAL_VENOUS_CATHETER: f"{leads}no catheter is projected over the superior vena cava",
        K.NASOGASTRIC_TUBE: "no tube follows the course of the oesophagus",
        K.PACEMAKER: "no generator and no leads are projected over the chest",
    }[kind]
    return sentence[0].upper() + sentence[1:] + "."


def _describe_nodule(finding: VisibleFinding, _facts: ExamFacts) -> str:
    lateral_remark = "; it is seen on the lateral radiograph too" if "lateral" in finding.boxes else ""
    return (
        f"A well-defined rounded opacity of about {round(finding.size_mm)} mm is projected over the "
        f"{finding.region}{lateral_remark}."
    )


def _describe_effusion(finding: VisibleFinding, _facts: ExamFacts) -> str:
    return (
        f"The {finding.side} costophrenic angle is obliterated by a homogeneous opacity with a concave upper "
        "border, a meniscus."
    )


def _describe_heart(_finding: VisibleFinding, facts: ExamFacts) -> str:
    if facts.frontal == "ap":
        return "The cardiac silhouette is wide, more than AP magnification explains."
    return (
        f"The heart is about {facts.ctr:.2f} of the inner thoracic width on the PA radiograph, "
        "above the limit of 0.50."
    )


def _describe_pneumothorax(finding: VisibleFinding, _facts: ExamFacts) -> str:
    return (
        f"A thin pleural line runs parallel to the {finding.side} upper chest wall, and no lung markings are "
        "seen beyond it."
    )


def _describe_consolidation(finding: VisibleFinding, _facts: ExamFacts) -> str:
    return f"An ill-defined airspace opacity is seen in the {finding.region}."


def _describe_tube(_finding: VisibleFinding, facts: ExamFacts) -> str:
    if facts.tip_mm is None:
        return "A tube lies in the air column of the trachea, with its tip above the carina."
    return (
        f"A tube lies in the air column of the trachea; its tip is about {facts.tip_mm / 10:.0f} cm above "
        "the carina."
    )


def _describe_catheter(_finding: VisibleFinding, _facts: ExamFacts) -> str:
    return (
        "A thin catheter runs from the right side of the neck along the superior vena cava; its tip is "
        "projected near the cavoatrial junction."
    )


def _describe_nasogastric_tube(_finding: VisibleFinding, _facts: ExamFacts) -> str:
    return "A tube follows the course of the oesophagus, crosses the diaphragm and ends over the stomach."


def _describe_pacemaker(_finding: VisibleFinding, _facts: ExamFacts) -> str:
    return (
        "A generator lies over the left upper chest; two leads end over the right atrium and the right "
        "ventricle."
    )
