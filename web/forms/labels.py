"""Labels of the forms: suggested box labels (others can be typed), and the names of views and sexes."""

from __future__ import annotations

from domain.vocabulary import Sex, View

#: Anatomical regions of GEMeX (its Table 8).
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

#: The names of views on screen; the values in files are different.
VIEW_LABELS = {
    View.PA: "PA",
    View.AP: "AP",
    View.LATERAL: "LATERAL",
    View.OTHER: "other view",
    View.UNKNOWN: "view not stated",
}
SEX_LABELS = {Sex.FEMALE: "female", Sex.MALE: "male", Sex.OTHER: "other"}
