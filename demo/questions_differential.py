"""Differential questions: possible causes of a finding, and what a chest radiograph cannot exclude.

The categories and subcategories of the diagnoses are those of ReXVQA, Table 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demo.drafts import Draft, DraftSubject, DraftWriter
from demo.facts import VisibleFinding
from demo.phantom import FindingKind
from demo.terms import describe_finding, name_with_location

K = FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Differential:
    """Possible and impossible causes of a finding. ``closing_sentence`` ends every explanation."""

    leading: str
    further: tuple[str, ...]
    impossible: tuple[str, ...]
    next_step: str
    wrong_next_steps: tuple[str, ...]
    closing_sentence: str
    category: str
    subcategory: str


_DIFFERENTIALS: dict[FindingKind, _Differential] = {
    K.NODULE: _Differential(
        leading="Primary lung cancer",
        further=("Solitary metastasis", "Granuloma", "Hamartoma"),
        impossible=(
            "Bullous emphysema",
            "Pulmonary embolism without infarction",
            "Pericardial effusion",
            "Tension pneumothorax",
            "Bronchial asthma",
        ),
        next_step="CT of the chest",
        wrong_next_steps=(
            "Ultrasound of the abdomen",
            "Ventilation-perfusion scan",
            "Barium swallow",
            "Echocardiography",
        ),
        closing_sentence="A nodule that is not known to be stable counts as cancer until shown to be "
        "something else.",
        category="Pulmonary Neoplasm",
        subcategory="Primary Lung Cancer",
    ),
    K.EFFUSION: _Differential(
        leading="Congestive heart failure",
        further=("Parapneumonic effusion", "Malignant effusion", "Pulmonary embolism with infarction"),
        impossible=(
            "Bronchial asthma",
            "Bullous emphysema",
            "Pulmonary hamartoma",
            "Tracheal stenosis",
            "Hiatal hernia",
        ),
        next_step="Ultrasound of the pleural space",
        wrong_next_steps=("Bone scintigraphy", "Barium swallow", "Mammography", "Bronchial provocation test"),
        closing_sentence="Fluid in the pleural space comes from the heart, from inflammation or "
        "from a tumour.",
        category="Cardiac Disease",
        subcategory="Congestive Heart Failure",
    ),
    K.CARDIOMEGALY: _Differential(
        leading="Dilated cardiomyopathy",
        further=("Pericardial effusion", "Valvular heart disease", "Ischaemic heart disease"),
        impossible=(
            "Bronchial asthma",
            "Spontaneous pneumothorax",
            "Emphysema with hyperinflation",
            "Pulmonary granuloma",
            "Tracheal stenosis",
        ),
        next_step="Echocardiography",
        wrong_next_steps=("Bronchoscopy", "Barium swallow", "Ventilation-perfusion scan", "Lung biopsy"),
        closing_sentence="A wide silhouette means dilated chambers or fluid in the pericardium.",
        category="Cardiac Disease",
        subcategory="Myocardial Disease",
    ),
    K.PNEUMOTHORAX: _Differential(
        leading="Rupture of a subpleural bleb",
        further=(
            "Injury of the chest wall",
            "Puncture of a central vein",
            "Rupture of an emphysematous bulla",
        ),
        impossible=(
            "Left heart failure",
            "Lobar pneumonia",
            "Pulmonary embolism without infarction",
            "Pericarditis",
            "Hiatal hernia",
        ),
        next_step="Clinical assessment at once; drainage if symptoms or size call for it",
        wrong_next_steps=(
            "Follow-up radiograph after three months",
            "Barium swallow",
            "Lung function test at once",
            "Diuretics",
        ),
        closing_sentence="Air reaches the pleural space from the lung or through the chest wall.",
        category="Other Pulmonary Diagnosis",
        subcategory="Miscellaneous Pulmonary Disease",
    ),
    K.CONSOLIDATION: _Differential(
        leading="Pneumonia",
        further=("Aspiration", "Organising pneumonia", "Pulmonary haemorrhage"),
        impossible=(
            "Spontaneous pneumothorax",
            "Emphysema",
            "Bronchial asthma",
            "Pericardial effusion",
            "Primary pulmonary hypertension",
        ),
        next_step="Radiograph after treatment, to see it clear",
        wrong_next_steps=("Barium swallow", "Bone scintigraphy", "Mammography", "Coronary angiography"),
        closing_sentence="Airspace opacity means alveoli filled with pus, fluid, blood or cells.",
        category="Infectious Disease",
        subcategory="Pneumonia",
    ),
}

_DEVICE_REASONS: dict[FindingKind, tuple[str, tuple[str, ...], str]] = {
    K.ENDOTRACHEAL_TUBE: (
        "Mechanical ventilation",
        ("Feeding", "Drainage of pleural fluid", "Pacing of the heart", "Measurement of the oesophageal pH"),
        "A tube in the trachea serves ventilation.",
    ),
    K.CENTRAL_VENOUS_CATHETER: (
        "Giving drugs that must not go through a peripheral vein",
        (
            "Mechanical ventilation",
            "Drainage of the stomach",
            "Drainage of pleural fluid",
            "Pacing of the heart",
        ),
        "A catheter whose tip is near the right atrium gives access to a large vein.",
    ),
    K.NASOGASTRIC_TUBE: (
        "Feeding, or drainage of the stomach",
        ("Mechanical ventilation", "Drainage of pleural fluid", "Pacing of the heart", "Dialysis"),
        "A tube that ends over the stomach feeds or drains it.",
    ),
    K.PACEMAKER: (
        "Symptomatic bradycardia",
        (
            "Chronic renal failure",
            "Chronic obstructive pulmonary disease",
            "Ventilation at home",
            "Long-term chemotherapy",
        ),
        "Two leads in right atrium and right ventricle pace the heart.",
    ),
}

#: (question, explanation, category, subcategory): a normal radiograph excludes none of these.
_NOT_EXCLUDED = (
    (
        "Does this examination exclude pulmonary embolism?",
        (
            "The radiograph is normal, as it often is in pulmonary embolism; that needs CT angiography or "
            "a scan."
        ),
        "Other Pulmonary Diagnosis",
        "Pulmonary Thromboembolic Disease",
    ),
    (
        "Does this examination exclude early interstitial lung disease?",
        (
            "The lungs look clear, but early interstitial disease can be seen on CT while the radiograph "
            "is normal."
        ),
        "Other Pulmonary Diagnosis",
        "Interstitial Lung Disease",
    ),
    (
        "Does this examination exclude coronary artery disease?",
        "A heart of normal size and clear lungs say nothing of the coronary arteries.",
        "Cardiac Disease",
        "Myocardial Disease",
    ),
    (
        "Does this examination exclude mild asthma?",
        "Between attacks the chest radiograph in asthma is usually normal, as it is here.",
        "Other Pulmonary Diagnosis",
        "Miscellaneous Pulmonary Disease",
    ),
)


def draft_differential(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all differential questions that the exam allows."""
    finding_by_kind = {finding.kind: finding for finding in writer.facts.visible}
    for finding in finding_by_kind.values():
        if finding.kind in _DIFFERENTIALS:
            yield from _draft_causes(writer, finding)
        else:
            yield from _draft_device_reason(writer, finding)
    if writer.facts.is_normal:
        yield from _draft_not_excluded(writer)


def _draft_causes(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    differential = _DIFFERENTIALS[finding.kind]
    explanation = f"{describe_finding(finding, writer.facts)} {differential.closing_sentence}"
    subject = DraftSubject(
        category=differential.category,
        subcategory=differential.subcategory,
        boxes=finding.to_labelled_boxes(),
        conspicuity=finding.conspicuity,
    )
    finding_text, age = name_with_location(finding), writer.facts.case.age
    possible_cause = writer.random.choice((differential.leading, *differential.further))
    for stem, right in (
        (f"Which of the following can be the cause of {finding_text}?", possible_cause),
        (
            f"A patient of {age} years has {finding_text}. Which diagnosis belongs in the differential?",
            possible_cause,
        ),
        (
            f"Which of these would you name as a possible cause when {finding_text} is reported?",
            differential.further[0],
        ),
    ):
        yield writer.write_single(
            stem, right, differential.impossible, explanation=explanation, subject=subject
        )
    for stem in (
        f"Which of the following can lead to {finding_text}? Select all that apply.",
        f"Which diagnoses belong in the differential of {finding_text}? Select all that apply.",
    ):
        possible_causes = writer.random.sample(
            (differential.leading, *differential.further), writer.random.choice((2, 2, 3))
        )
        yield writer.write_multiple(
            stem, possible_causes, differential.impossible, explanation=explanation, subject=subject
        )
    possible = writer.random.choice(differential.further)
    impossible = writer.random.choice(differential.impossible)
    for diagnosis in (possible, impossible):
        yield writer.write_closed(
            f"Does the differential of {finding_text} include {_lower_first(diagnosis)}?",
            yes=diagnosis == possible,
            explanation=explanation,
            subject=subject,
        )
    yield writer.write_single(
        f"What is the most useful next step after {finding_text} has been found?",
        differential.next_step,
        differential.wrong_next_steps,
        explanation=explanation,
        subject=subject,
    )
    yield writer.write_open(
        f"Name one common cause of {finding_text}.",
        differential.leading,
        explanation=explanation,
        subject=subject,
    )


def _draft_device_reason(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    correct, distractors, closing_sentence = _DEVICE_REASONS[finding.kind]
    subject = DraftSubject(
        category="Miscellaneous Diagnosis",
        subcategory="Post-Treatment Change",
        boxes=finding.to_labelled_boxes(),
        conspicuity=finding.conspicuity,
    )
    finding_text = name_with_location(finding)
    explanation = f"{describe_finding(finding, writer.facts)} {closing_sentence}"
    yield writer.write_single(
        f"What is the usual reason for {finding_text}?",
        correct,
        distractors,
        explanation=explanation,
        subject=subject,
    )
    yield writer.write_open(
        f"Why would a patient have {finding_text}?", correct, explanation=explanation, subject=subject
    )


def _draft_not_excluded(writer: DraftWriter) -> Iterator[Draft]:
    boxes = writer.facts.region_boxes(("right lung", "left lung"))
    for stem, explanation, category, subcategory in _NOT_EXCLUDED:
        subject = DraftSubject(category=category, subcategory=subcategory, boxes=boxes)
        yield writer.write_closed(stem, yes=False, explanation=explanation, subject=subject)
    yield writer.write_single(
        "Which of these can be present although this examination looks as it does?",
        "Pulmonary embolism without infarction",
        ("Large pleural effusion", "Tension pneumothorax", "Lobar pneumonia", "Complete collapse of a lung"),
        explanation="The examination is normal. An embolism without infarction often leaves the radiograph "
        "normal; the other three would be seen.",
        subject=DraftSubject(
            category="Other Pulmonary Diagnosis",
            subcategory="Pulmonary Thromboembolic Disease",
            boxes=boxes,
            conspicuity=0.5,
        ),
    )


def _lower_first(diagnosis: str) -> str:
    return diagnosis[0].lower() + diagnosis[1:]


def list_alternative_diagnoses(diagnosis: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return other correct and wrong answers to the question to which a diagnosis is a correct answer.

    Both are empty if the diagnosis is never a correct answer.
    """
    for differential in _DIFFERENTIALS.values():
        right = (differential.leading, *differential.further)
        if diagnosis in right:
            return tuple(cause for cause in right if cause != diagnosis), differential.impossible
    return (), ()
