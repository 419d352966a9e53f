"""Texts of questions that no radiologist would accept. The demo plants them in place of correct ones.

Texts are (stem, options, answer, explanation) by kind of finding; ``None`` is an exam without findings.
Closed questions have no options. The answer to all other questions is the first option.
"""

from __future__ import annotations

from demo.phantom import FindingKind

K = FindingKind
QuestionText = tuple[str, tuple[str, ...], str, str]

NOT_VALID: dict[FindingKind | None, tuple[QuestionText, ...]] = {
    K.NODULE: (
        ("Does the density of the nodule show that it is malignant?", (), "yes",
         "The nodule is as dense as the ribs, and dense nodules are malignant."),
        ("Which stage of lung cancer does the nodule have?",
         ("Stage IIIB", "Stage IA", "Stage IIA", "Stage IVA"), "",
         "A nodule of this size corresponds to stage IIIB."),
    ),
    K.EFFUSION: (
        ("Does the homogeneous density prove that the fluid is an exudate?", (), "yes",
         "Fluid of homogeneous density is always an exudate."),
        ("Which protein content does the pleural fluid have?",
         ("Above 30 g/l", "Below 10 g/l", "10 to 20 g/l", "20 to 30 g/l"), "",
         "The opacity is dense, so the protein content is above 30 g/l."),
    ),
    K.CARDIOMEGALY: (
        ("Does a heart of this width mean that the ejection fraction is below 35 %?", (), "yes",
         "The heart is wide, so its ejection fraction is below 35 %."),
    ),
    K.PNEUMOTHORAX: (
        ("Must every pneumothorax be operated on the same day?", (), "yes",
         "A pleural line is seen; pneumothorax is always treated by surgery on the same day."),
    ),
    K.CONSOLIDATION: (
        ("Does this consolidation call for a carbapenem?", (), "yes",
         "Consolidation on a radiograph is treated with a carbapenem."),
    ),
    K.ENDOTRACHEAL_TUBE: (
        ("Is the tube to be pushed on into the right main bronchus?", (), "yes",
         "The tip lies above the carina, so the tube is not deep enough."),
    ),
    K.PACEMAKER: (
        ("Must the pacemaker be switched off before a further chest radiograph?", (), "yes",
         "X-rays stop pacemakers, so it must be switched off."),
    ),
    None: (
        ("Does this examination show that the patient will live longer than ten years?", (), "yes",
         "Lungs and heart are normal, so the patient will live longer than ten years."),
    ),
}  # fmt: skip

NOT_ANSWERABLE: dict[FindingKind | None, tuple[QuestionText, ...]] = {
    K.NODULE: (
        ("Does the nodule take up FDG?", (), "yes", "A nodule of this size takes up FDG."),
        ("Which histological type does the nodule have?",
         ("Adenocarcinoma", "Squamous cell carcinoma", "Small-cell carcinoma", "Carcinoid"), "",
         "A peripheral nodule is an adenocarcinoma."),
    ),
    K.EFFUSION: (
        ("Does the pleural fluid contain blood?", (), "no",
         "The fluid is of homogeneous density, so it holds no blood."),
    ),
    K.CARDIOMEGALY: (
        ("How thick is the wall of the left ventricle?",
         ("15 mm", "8 mm", "10 mm", "22 mm"), "", "The heart is wide; its wall is 15 mm thick."),
    ),
    K.PNEUMOTHORAX: (
        ("How many hours ago did the pneumothorax begin?",
         ("About 6 hours", "About 1 hour", "About 24 hours", "About 72 hours"), "",
         "The lung has come off the chest wall, which takes about 6 hours."),
    ),
    K.CONSOLIDATION: (
        ("Which organism causes the consolidation?",
         ("Streptococcus pneumoniae", "Klebsiella pneumoniae", "Legionella pneumophila",
          "Mycoplasma pneumoniae"), "",
         "A consolidation of one zone is caused by Streptococcus pneumoniae."),
    ),
    K.CENTRAL_VENOUS_CATHETER: (
        ("How many lumina does the central venous catheter have?", ("Three", "One", "Two", "Five"), "",
         "Catheters of this kind have three lumina."),
    ),
    K.ENDOTRACHEAL_TUBE: (
        ("How many days ago was the endotracheal tube placed?", ("Two", "One", "Five", "Nine"), "",
         "The tube lies well, as it does after two days."),
    ),
    None: (
        ("Is the oxygen saturation of this patient normal?", (), "yes",
         "The lungs are clear, so the saturation is normal."),
    ),
}  # fmt: skip

#: For exams without a lateral radiograph: (stem, answer, explanation).
WITHOUT_LATERAL = (
    "Are the posterior costophrenic recesses free on the lateral radiograph?",
    "yes",
    "On the lateral radiograph both posterior recesses are sharp.",
)

#: True of nearly every chest radiograph, and irrelevant to any key.
IRRELEVANT_EXPLANATIONS = (
    "The scapulae are projected clear of the lungs, and the clavicles are symmetrical.",
    "The arms are outside the image, and the chin does not cover the lung apices.",
    "The side marker is in an upper corner and can be read.",
    "The soft tissues of the chest wall are symmetrical and show no swelling.",
)

INCIDENTAL_FINDINGS = (
    "an azygos lobe",
    "a cervical rib on the right",
    "a calcified hilar lymph node",
    "a pectus excavatum",
)
