"""Words of the form: labels that are offered for boxes (any other may be typed), and how views are called."""

from __future__ import annotations

from domain.vocabulary import Sex, View

#: Regions as GEMeX names them (its Table 8).
REGIONS = (
    "right lung", "right upper lung zone", "right mid lung zone", "right lower lung zone",
    "right mid-to-upper lung zone", "right mid-to-lower lung zone", "right hilar structures",
    "right hemidiaphragm", "left lung", "left upper lung zone", "left mid lung zone", "left lower lung zone",
    "left mid-to-upper lung zone", "left mid-to-lower lung zone", "left hilar structures",
    "left hemidiaphragm", "bilateral lung", "bilateral upper lung zone", "bilateral mid lung zone",
    "bilateral lower lung zone", "bilateral mid-to-upper lung zone", "bilateral mid-to-lower lung zone",
    "bilateral hilar structures", "bilateral hemidiaphragm", "cardiac silhouette", "mediastinum", "trachea",
    "svc", "spine", "abdomen",
)  # fmt: skip

FINDINGS = (
    "atelectasis", "cardiomegaly", "consolidation", "edema", "emphysema", "fibrosis", "fracture",
    "hernia", "mass", "nodule", "pleural effusion", "pleural thickening", "pneumonia", "pneumothorax",
    "central venous line", "chest tube", "endotracheal tube", "nasogastric tube", "pacemaker",
)  # fmt: skip

BOX_LABELS = (*FINDINGS, *REGIONS)

#: As a radiologist says it; a file's own word is for the file.
VIEWS = {
    View.PA: "PA",
    View.AP: "AP",
    View.LATERAL: "LATERAL",
    View.OTHER: "other view",
    View.UNKNOWN: "view not stated",
}
SEX = {Sex.FEMALE: "female", Sex.MALE: "male", Sex.OTHER: "other"}
