"""Standard codes of box labels for structured reports: SNOMED CT, DICOM and RadLex codes, with laterality.

A label is coded only if the codes express its full meaning. SNOMED CT and DICOM codes are those that DICOM
PS3.16 lists, as in pydicom's dictionary. RadLex has codes of findings that PS3.16 does not list. Labels
without a code, such as "right upper lung zone", get a private code that has the label as its meaning.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from highdicom.sr.coding import CodedConcept
from pydicom.sr.codedict import codes

PRIVATE_SCHEME = "99OVERREAD"  # a private coding scheme (PS3.3 8.2)
_MAX_MEANING_LENGTH = 64  # characters of VR LO
_CHEST = CodedConcept("51185008", "SCT", "Chest")

#: Findings and devices by label: scheme and keyword of the code in pydicom's dictionary.
FINDINGS = {
    "air bronchogram": ("DCM", "AirBronchogram"),
    "cardiomegaly": ("SCT", "Cardiomegaly"),
    "catheter": ("SCT", "Catheter"),
    "central line": ("DCM", "CentralLine"),
    "chest tube": ("DCM", "ChestTube"),
    "edema": ("SCT", "Edema"),
    "effusion": ("SCT", "Effusion"),
    "endotracheal tube": ("SCT", "EndotrachealTube"),
    "feeding tube": ("SCT", "FeedingTube"),
    "fibrosis": ("SCT", "Fibrosis"),
    "ground glass opacity": ("DCM", "GroundGlassOpacity"),
    "infiltrate": ("DCM", "Infiltrate"),
    "infiltration": ("DCM", "Infiltrate"),
    "lymphadenopathy": ("SCT", "Lymphadenopathy"),
    "mass": ("SCT", "Mass"),
    "nodule": ("SCT", "Nodule"),
    "oedema": ("SCT", "Edema"),
    "opacity": ("DCM", "Opacity"),
    "pacemaker": ("SCT", "CardiacPacemaker"),
    "pericardial effusion": ("SCT", "PericardialEffusion"),
    "plate like atelectasis": ("SCT", "PlateLikeAtelectasis"),
    "pleural effusion": ("SCT", "PleuralEffusion"),
    "pneumomediastinum": ("SCT", "Pneumomediastinum"),
    "pneumothorax": ("SCT", "Pneumothorax"),
    "pulmonary edema": ("SCT", "PulmonaryEdema"),
    "pulmonary oedema": ("SCT", "PulmonaryEdema"),
}
#: Anatomical regions by label, GEMeX's names included.
REGIONS = {
    "abdomen": "Abdomen",
    "aorta": "Aorta",
    "aortic arch": "AorticArch",
    "cardiac region": "Heart",
    "cardiac silhouette": "Heart",
    "carina": "Carina",
    "clavicle": "Clavicle",
    "descending aorta": "DescendingAorta",
    "diaphragm": "Diaphragm",
    "heart": "Heart",
    "hemidiaphragm": "Diaphragm",
    "hilar structures": "HilumOfLung",
    "hilum": "HilumOfLung",
    "lung": "Lung",
    "lower lobe": "LowerLobeOfLung",
    "lower lobe of lung": "LowerLobeOfLung",
    "lungs": "Lung",
    "mediastinum": "Mediastinum",
    "rib": "Rib",
    "spine": "Spine",
    "sternum": "Sternum",
    "superior vena cava": "SuperiorVenaCava",
    "svc": "SuperiorVenaCava",
    "trachea": "Trachea",
    "upper lobe": "UpperLobeOfLung",
    "upper lobe of lung": "UpperLobeOfLung",
}
RADLEX_SCHEME = "RADLEX"  # the designator in PS3.16, table 8-1
#: Findings that PS3.16 lists no code for, by label: RadLex id and preferred name (RSNA, RadLex 4).
RADLEX_FINDINGS = {
    "atelectasis": ("RID28493", "atelectasis"),
    "consolidation": ("RID43255", "consolidation"),
    "pneumonia": ("RID5350", "pneumonia"),
}
LATERALITIES = {"left": "Left", "right": "Right", "bilateral": "Bilateral", "both": "Bilateral"}
_WORDS = re.compile(r"[\w]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCodes:
    """The codes of a label: what the box shows, where it is, and on which side."""

    finding: CodedConcept
    site: CodedConcept
    laterality: CodedConcept | None = None


def code_label(label: str) -> LabelCodes:
    """Return the codes of a box label; an empty label is a region.

    >>> codes_of_label = code_label("Right hemidiaphragm")
    >>> codes_of_label.finding.meaning, codes_of_label.site.meaning, codes_of_label.laterality.meaning
    ('Radiographic anatomy', 'Diaphragm', 'Right')
    """
    words = _WORDS.findall(label.casefold())
    sides = [word for word in words if word in LATERALITIES]
    label_without_side = " ".join(word for word in words if word not in LATERALITIES)
    laterality = _find_code("SCT", LATERALITIES[sides[0]]) if len(sides) == 1 else None
    if len(sides) <= 1 and label_without_side in FINDINGS:
        return LabelCodes(
            finding=_find_code(*FINDINGS[label_without_side]), site=_CHEST, laterality=laterality
        )
    if len(sides) <= 1 and label_without_side in REGIONS:
        site = _find_code("SCT", REGIONS[label_without_side])
        return LabelCodes(finding=_find_code("DCM", "RadiographicAnatomy"), site=site, laterality=laterality)
    if len(sides) <= 1 and label_without_side in RADLEX_FINDINGS:
        return LabelCodes(
            finding=_build_radlex_code(*RADLEX_FINDINGS[label_without_side]),
            site=_CHEST,
            laterality=laterality,
        )
    text = label.strip() or "Region"
    value = hashlib.sha256(text.encode()).hexdigest()[:16].upper()
    return LabelCodes(
        finding=CodedConcept(value, PRIVATE_SCHEME, text[:_MAX_MEANING_LENGTH]), site=_CHEST, laterality=None
    )


def _build_radlex_code(value: str, meaning: str) -> CodedConcept:
    return CodedConcept(value, RADLEX_SCHEME, meaning)


def _find_code(scheme: str, keyword: str) -> CodedConcept:
    return CodedConcept.from_code(getattr(getattr(codes, scheme), keyword))
