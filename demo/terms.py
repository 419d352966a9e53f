"""Radiological terms for the findings that a phantom shows or does not show."""

from __future__ import annotations

from dataclasses import dataclass

from demo.facts import Facts, Seen
from demo.phantom import FindingKind

K = FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The terms for a kind of finding, and its category.

    ``a`` has the indefinite article, ``option`` is an answer option, ``no`` follows the word "no".
    ``category`` and ``subcategory`` are those of ReXVQA (its Tables 3 and 6 list the categories of findings).
    """

    a: str
    option: str
    no: str
    category: str
    subcategory: str


TERMS: dict[FindingKind, Term] = {
    K.NODULE: Term(a="a pulmonary nodule", option="Pulmonary nodule", no="pulmonary nodule",
                   category="Lung and Pleural Opacity", subcategory="Nodule"),
    K.EFFUSION: Term(a="a pleural effusion", option="Pleural effusion", no="pleural effusion",
                     category="Pleural Effusion", subcategory="Pleural Effusion"),
    K.CARDIOMEGALY: Term(a="an enlarged heart", option="Enlarged cardiac silhouette",
                         no="enlargement of the heart", category="Heart", subcategory="Heart Size"),
    K.PNEUMOTHORAX: Term(a="a pneumothorax", option="Pneumothorax", no="pneumothorax",
                         category="Lung and Pleural Lucency", subcategory="Pneumothorax"),
    K.CONSOLIDATION: Term(a="a consolidation", option="Consolidation", no="consolidation",
                          category="Lung and Pleural Opacity", subcategory="Consolidation"),
    K.ENDOTRACHEAL_TUBE: Term(a="an endotracheal tube", option="Endotracheal tube", no="endotracheal tube",
                              category="Tubes and Lines", subcategory="Endotracheal Tube"),
    K.CENTRAL_VENOUS_CATHETER: Term(a="a central venous catheter", option="Central venous catheter",
                                    no="central venous catheter", category="Tubes and Lines",
                                    subcategory="Central Venous Catheter"),
    K.NASOGASTRIC_TUBE: Term(a="a nasogastric tube", option="Nasogastric tube", no="nasogastric tube",
                             category="Tubes and Lines", subcategory="Enteric Tube"),
    K.PACEMAKER: Term(a="a cardiac pacemaker", option="Cardiac pacemaker", no="cardiac pacemaker",
                      category="Implanted Devices", subcategory="Pacemaker"),
}  # fmt: skip

#: Findings that no phantom shows, so that they are always wrong options. Each can be excluded on any phantom.
NEVER_THERE = (
    "Dextrocardia",
    "Cavitating lung lesion",
    "Interstitial pulmonary oedema",
    "Complete opacification of one hemithorax",
    "Miliary nodules in both lungs",
    "Hydropneumothorax with an air-fluid level",
)

#: The regions to examine for the absence of a finding.
LOOKED_FOR_IN: dict[FindingKind, tuple[str, ...]] = {
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


def named(seen: Seen) -> str:
    """The finding with its side or location, as in "there is …"."""
    match seen.kind:
        case K.NODULE:
            return f"a nodule in the {seen.region}"
        case K.CONSOLIDATION:
            return f"consolidation in the {seen.region}"
        case K.EFFUSION | K.PNEUMOTHORAX:
            return f"a {seen.side} {'pleural effusion' if seen.kind is K.EFFUSION else 'pneumothorax'}"
        case K.PACEMAKER:
            return "a left-sided dual-chamber pacemaker"
        case K.CENTRAL_VENOUS_CATHETER:
            return "a right-sided central venous catheter"
        case _:
            return TERMS[seen.kind].a


def short(seen: Seen) -> str:
    """The finding without side and location, as it follows "the"."""
    return {
        K.NODULE: "nodule",
        K.EFFUSION: "pleural effusion",
        K.CARDIOMEGALY: "cardiac enlargement",
        K.CENTRAL_VENOUS_CATHETER: "central venous catheter",
        K.PACEMAKER: "pacemaker",
    }.get(seen.kind, str(seen.kind))


def described(seen: Seen, facts: Facts) -> str:
    """A description of the finding, for the explanation of a question or the findings of a report."""
    return {
        K.NODULE: _nodule,
        K.EFFUSION: _effusion,
        K.CARDIOMEGALY: _heart,
        K.PNEUMOTHORAX: _pneumothorax,
        K.CONSOLIDATION: _consolidation,
        K.ENDOTRACHEAL_TUBE: _tube,
        K.CENTRAL_VENOUS_CATHETER: _catheter,
        K.NASOGASTRIC_TUBE: _feeding,
        K.PACEMAKER: _pacemaker,
    }[seen.kind](seen, facts)


def ruled_out(kind: FindingKind, facts: Facts) -> str:
    """A description of the normal appearance where the finding is absent."""
    ratio = "the heart is not enlarged, though AP projection magnifies it"
    if facts.frontal == "pa":
        ratio = f"the cardiothoracic ratio is about {facts.ctr:.2f}, below 0.50"
    leads = "besides the pacemaker leads " if facts.of(K.PACEMAKER) else ""
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


def _nodule(seen: Seen, _facts: Facts) -> str:
    both = "; it is seen on the lateral radiograph too" if "lateral" in seen.boxes else ""
    return (
        f"A well-defined rounded opacity of about {round(seen.size_mm)} mm is projected over the "
        f"{seen.region}{both}."
    )


def _effusion(seen: Seen, _facts: Facts) -> str:
    return (
        f"The {seen.side} costophrenic angle is obliterated by a homogeneous opacity with a concave upper "
        "border, a meniscus."
    )


def _heart(_seen: Seen, facts: Facts) -> str:
    if facts.frontal == "ap":
        return "The cardiac silhouette is wide, more than AP magnification explains."
    return (
        f"The heart is about {facts.ctr:.2f} of the inner thoracic width on the PA radiograph, "
        "above the limit of 0.50."
    )


def _pneumothorax(seen: Seen, _facts: Facts) -> str:
    return (
        f"A thin pleural line runs parallel to the {seen.side} upper chest wall, and no lung markings are "
        "seen beyond it."
    )


def _consolidation(seen: Seen, _facts: Facts) -> str:
    return f"An ill-defined airspace opacity is seen in the {seen.region}."


def _tube(_seen: Seen, facts: Facts) -> str:
    if facts.tip_mm is None:
        return "A tube lies in the air column of the trachea, with its tip above the carina."
    return (
        f"A tube lies in the air column of the trachea; its tip is about {facts.tip_mm / 10:.0f} cm above "
        "the carina."
    )


def _catheter(_seen: Seen, _facts: Facts) -> str:
    return (
        "A thin catheter runs from the right side of the neck along the superior vena cava; its tip is "
        "projected near the cavoatrial junction."
    )


def _feeding(_seen: Seen, _facts: Facts) -> str:
    return "A tube follows the course of the oesophagus, crosses the diaphragm and ends over the stomach."


def _pacemaker(_seen: Seen, _facts: Facts) -> str:
    return (
        "A generator lies over the left upper chest; two leads end over the right atrium and the right "
        "ventricle."
    )
