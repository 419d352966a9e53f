"""Differential questions: possible causes of a finding, and what a chest radiograph cannot exclude.

Categories and subcategories of the diagnoses: ReXVQA, Table 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demo.drafts import About, Draft, Pen
from demo.facts import Seen
from demo.phantom import FindingKind
from demo.terms import described, named

K = FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Causes:
    """Possible and impossible causes of a finding. ``why`` ends every explanation."""

    leading: str
    further: tuple[str, ...]
    not_these: tuple[str, ...]
    next_step: str
    not_next: tuple[str, ...]
    why: str
    category: str
    subcategory: str


_CAUSES: dict[FindingKind, _Causes] = {
    K.NODULE: _Causes(
        leading="Primary lung cancer",
        further=("Solitary metastasis", "Granuloma", "Hamartoma"),
        not_these=("Bullous emphysema", "Pulmonary embolism without infarction", "Pericardial effusion",
                   "Tension pneumothorax", "Bronchial asthma"),
        next_step="CT of the chest",
        not_next=("Ultrasound of the abdomen", "Ventilation-perfusion scan", "Barium swallow",
                  "Echocardiography"),
        why="A nodule that is not known to be stable counts as cancer until shown to be something else.",
        category="Pulmonary Neoplasm", subcategory="Primary Lung Cancer",
    ),
    K.EFFUSION: _Causes(
        leading="Congestive heart failure",
        further=("Parapneumonic effusion", "Malignant effusion", "Pulmonary embolism with infarction"),
        not_these=("Bronchial asthma", "Bullous emphysema", "Pulmonary hamartoma",
                   "Tracheal stenosis", "Hiatal hernia"),
        next_step="Ultrasound of the pleural space",
        not_next=("Bone scintigraphy", "Barium swallow", "Mammography", "Bronchial provocation test"),
        why="Fluid in the pleural space comes from the heart, from inflammation or from a tumour.",
        category="Cardiac Disease", subcategory="Congestive Heart Failure",
    ),
    K.CARDIOMEGALY: _Causes(
        leading="Dilated cardiomyopathy",
        further=("Pericardial effusion", "Valvular heart disease", "Ischaemic heart disease"),
        not_these=("Bronchial asthma", "Spontaneous pneumothorax", "Emphysema with hyperinflation",
                   "Pulmonary granuloma", "Tracheal stenosis"),
        next_step="Echocardiography",
        not_next=("Bronchoscopy", "Barium swallow", "Ventilation-perfusion scan", "Lung biopsy"),
        why="A wide silhouette means dilated chambers or fluid in the pericardium.",
        category="Cardiac Disease", subcategory="Myocardial Disease",
    ),
    K.PNEUMOTHORAX: _Causes(
        leading="Rupture of a subpleural bleb",
        further=("Injury of the chest wall", "Puncture of a central vein",
                 "Rupture of an emphysematous bulla"),
        not_these=("Left heart failure", "Lobar pneumonia", "Pulmonary embolism without infarction",
                   "Pericarditis", "Hiatal hernia"),
        next_step="Clinical assessment at once; drainage if symptoms or size call for it",
        not_next=("Follow-up radiograph after three months", "Barium swallow", "Lung function test at once",
                  "Diuretics"),
        why="Air reaches the pleural space from the lung or through the chest wall.",
        category="Other Pulmonary Diagnosis", subcategory="Miscellaneous Pulmonary Disease",
    ),
    K.CONSOLIDATION: _Causes(
        leading="Pneumonia",
        further=("Aspiration", "Organising pneumonia", "Pulmonary haemorrhage"),
        not_these=("Spontaneous pneumothorax", "Emphysema", "Bronchial asthma", "Pericardial effusion",
                   "Primary pulmonary hypertension"),
        next_step="Radiograph after treatment, to see it clear",
        not_next=("Barium swallow", "Bone scintigraphy", "Mammography", "Coronary angiography"),
        why="Airspace opacity means alveoli filled with pus, fluid, blood or cells.",
        category="Infectious Disease", subcategory="Pneumonia",
    ),
}  # fmt: skip

_REASONS: dict[FindingKind, tuple[str, tuple[str, ...], str]] = {
    K.ENDOTRACHEAL_TUBE: (
        "Mechanical ventilation",
        ("Feeding", "Drainage of pleural fluid", "Pacing of the heart", "Measurement of the oesophageal pH"),
        "A tube in the trachea serves ventilation.",
    ),
    K.CENTRAL_VENOUS_CATHETER: (
        "Giving drugs that must not go through a peripheral vein",
        ("Mechanical ventilation", "Drainage of the stomach", "Drainage of pleural fluid",
         "Pacing of the heart"),
        "A catheter whose tip is near the right atrium gives access to a large vein.",
    ),
    K.NASOGASTRIC_TUBE: (
        "Feeding, or drainage of the stomach",
        ("Mechanical ventilation", "Drainage of pleural fluid", "Pacing of the heart", "Dialysis"),
        "A tube that ends over the stomach feeds or drains it.",
    ),
    K.PACEMAKER: (
        "Symptomatic bradycardia",
        ("Chronic renal failure", "Chronic obstructive pulmonary disease", "Ventilation at home",
         "Long-term chemotherapy"),
        "Two leads in right atrium and right ventricle pace the heart.",
    ),
}  # fmt: skip

#: (question, explanation, category, subcategory): a normal radiograph excludes none of these.
_NOT_EXCLUDED = (
    ("Does this examination exclude pulmonary embolism?",
     "The radiograph is normal, as it often is in pulmonary embolism; that needs CT angiography or a scan.",
     "Other Pulmonary Diagnosis", "Pulmonary Thromboembolic Disease"),
    ("Does this examination exclude early interstitial lung disease?",
     "The lungs look clear, but early interstitial disease can be seen on CT while the radiograph is normal.",
     "Other Pulmonary Diagnosis", "Interstitial Lung Disease"),
    ("Does this examination exclude coronary artery disease?",
     "A heart of normal size and clear lungs say nothing of the coronary arteries.",
     "Cardiac Disease", "Myocardial Disease"),
    ("Does this examination exclude mild asthma?",
     "Between attacks the chest radiograph in asthma is usually normal, as it is here.",
     "Other Pulmonary Diagnosis", "Miscellaneous Pulmonary Disease"),
)  # fmt: skip


def differential(pen: Pen) -> Iterator[Draft]:
    """Yield all differential questions that the exam allows."""
    seen_kinds = {each.kind: each for each in pen.facts.seen}
    for seen in seen_kinds.values():
        if seen.kind in _CAUSES:
            yield from _causes(pen, seen)
        else:
            yield from _reason(pen, seen)
    if pen.facts.normal:
        yield from _not_excluded(pen)


def _causes(pen: Pen, seen: Seen) -> Iterator[Draft]:
    causes = _CAUSES[seen.kind]
    because = f"{described(seen, pen.facts)} {causes.why}"
    where = About(
        category=causes.category,
        subcategory=causes.subcategory,
        boxes=seen.labelled(),
        conspicuity=seen.conspicuity,
    )
    what, age = named(seen), pen.facts.case.age
    one = pen.random.choice((causes.leading, *causes.further))
    for stem, right in (
        (f"Which of the following can be the cause of {what}?", one),
        (f"A patient of {age} years has {what}. Which diagnosis belongs in the differential?", one),
        (f"Which of these would you name as a possible cause when {what} is reported?", causes.further[0]),
    ):
        yield pen.single(stem, right, causes.not_these, explanation=because, about=where)
    for stem in (
        f"Which of the following can lead to {what}? Select all that apply.",
        f"Which diagnoses belong in the differential of {what}? Select all that apply.",
    ):
        several = pen.random.sample((causes.leading, *causes.further), pen.random.choice((2, 2, 3)))
        yield pen.multiple(stem, several, causes.not_these, explanation=because, about=where)
    possible = pen.random.choice(causes.further)
    impossible = pen.random.choice(causes.not_these)
    for diagnosis in (possible, impossible):
        yield pen.closed(
            f"Does the differential of {what} include {_lower(diagnosis)}?",
            yes=diagnosis == possible,
            explanation=because,
            about=where,
        )
    yield pen.single(
        f"What is the most useful next step after {what} has been found?",
        causes.next_step,
        causes.not_next,
        explanation=because,
        about=where,
    )
    yield pen.open(
        f"Name one common cause of {what}.",
        causes.leading,
        explanation=because,
        about=where,
    )


def _reason(pen: Pen, seen: Seen) -> Iterator[Draft]:
    right, wrong, why = _REASONS[seen.kind]
    where = About(
        category="Miscellaneous Diagnosis",
        subcategory="Post-Treatment Change",
        boxes=seen.labelled(),
        conspicuity=seen.conspicuity,
    )
    what = named(seen)
    because = f"{described(seen, pen.facts)} {why}"
    yield pen.single(f"What is the usual reason for {what}?", right, wrong, explanation=because, about=where)
    yield pen.open(f"Why would a patient have {what}?", right, explanation=because, about=where)


def _not_excluded(pen: Pen) -> Iterator[Draft]:
    boxes = pen.facts.boxes_of(("right lung", "left lung"))
    for stem, because, category, subcategory in _NOT_EXCLUDED:
        where = About(category=category, subcategory=subcategory, boxes=boxes)
        yield pen.closed(stem, yes=False, explanation=because, about=where)
    yield pen.single(
        "Which of these can be present although this examination looks as it does?",
        "Pulmonary embolism without infarction",
        ("Large pleural effusion", "Tension pneumothorax", "Lobar pneumonia", "Complete collapse of a lung"),
        explanation="The examination is normal. An embolism without infarction often leaves the radiograph "
        "normal; the other three would be seen.",
        about=About(
            category="Other Pulmonary Diagnosis",
            subcategory="Pulmonary Thromboembolic Disease",
            boxes=boxes,
            conspicuity=0.5,
        ),
    )


def _lower(diagnosis: str) -> str:
    return diagnosis[0].lower() + diagnosis[1:]


def diagnoses_beside(diagnosis: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Other right answers, and wrong ones, of the question to which that diagnosis is a right answer.

    Both are empty if the diagnosis is never a right answer.
    """
    for causes in _CAUSES.values():
        right = (causes.leading, *causes.further)
        if diagnosis in right:
            return tuple(each for each in right if each != diagnosis), causes.not_these
    return (), ()
