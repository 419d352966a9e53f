"""Writes the reports of the demo's exams: findings and impression, which mostly agree with the images.

Depending on the case, a report omits a finding, mentions one that is not visible, compares with an earlier
examination, or belongs to another exam. Such reports cause errors in machine-written questions.
"""

from __future__ import annotations

import random

from demo.cases import Projections
from demo.descriptions import describe_finding, name_with_location
from demo.facts import ExamFacts, VisibleFinding
from demo.phantom import DEVICES, FindingKind
from generation.source_exams import ReportSections

K = FindingKind
_CLEAR = (
    "The lungs are clear.",
    "The lungs are clear, without nodule or consolidation.",
    "Both lungs are clear.",
)
_PLEURA = (
    "No pleural effusion or pneumothorax.",
    "The pleural spaces are clear. No pneumothorax.",
    "There is neither pleural effusion nor pneumothorax.",
)
_HEART = (
    "The heart is of normal size.",
    "Cardiac silhouette within normal limits.",
    "Heart size is normal; the mediastinum is not widened.",
)
_BONES = (
    "No acute bony abnormality.",
    "The bony thorax is unremarkable.",
    "Mild degenerative change of the thoracic spine.",
)
_TECHNIQUE = {
    Projections.PA_AND_LATERAL: "Chest, PA and lateral.",
    Projections.PA: "Chest, PA.",
    Projections.AP: "Chest, AP, portable.",
}


def write_report(facts: ExamFacts, *, seed: int) -> ReportSections:
    """Write a report. The same facts and seed give the same report."""
    rng = random.Random(f"{seed}/{facts.exam_id}/report")
    case = facts.case
    findings = [
        _TECHNIQUE[case.projections],
        *_lung_sentences(facts, rng),
        *_pleura_sentences(facts, rng),
        *_sentences_of_kind(facts, K.CARDIOMEGALY, rng.choice(_HEART)),
        *(describe_finding(finding, facts) for finding in facts.visible if finding.kind in DEVICES),
        rng.choice(_BONES),
    ]
    if case.only_reported:
        findings.append(f"There is {case.only_reported}.")
    if case.comparison:
        findings.append(case.comparison)
    impressions = [
        _to_sentence(name_with_location(finding)) for finding in _sort_for_impression(facts.visible)
    ]
    if case.only_reported:
        impressions.append(_to_sentence(case.only_reported))
    if not facts.visible:
        impressions.insert(0, "No acute cardiopulmonary abnormality.")
    numbered = impressions
    if len(impressions) > 1:
        numbered = [f"{number}. {line}" for number, line in enumerate(impressions, start=1)]
    return ReportSections(
        indication=case.indication, findings=" ".join(findings), impression="\n".join(numbered)
    )


def _lung_sentences(facts: ExamFacts, rng: random.Random) -> list[str]:
    lesions = [finding for finding in facts.visible if finding.kind in (K.NODULE, K.CONSOLIDATION)]
    if not lesions:
        return [rng.choice(_CLEAR)]
    return [*(describe_finding(finding, facts) for finding in lesions), "The lungs are otherwise clear."]


def _pleura_sentences(facts: ExamFacts, rng: random.Random) -> list[str]:
    lines = [
        describe_finding(finding, facts)
        for finding in facts.visible
        if finding.kind in (K.EFFUSION, K.PNEUMOTHORAX)
    ]
    if not lines:
        return [rng.choice(_PLEURA)]
    if not facts.visible_of_kind(K.PNEUMOTHORAX):
        lines.append("No pneumothorax.")
    if not facts.visible_of_kind(K.EFFUSION):
        lines.append("No pleural effusion.")
    return lines


def _sentences_of_kind(facts: ExamFacts, kind: FindingKind, normal_sentence: str) -> list[str]:
    return [describe_finding(finding, facts) for finding in facts.visible_of_kind(kind)] or [normal_sentence]


def _sort_for_impression(findings: tuple[VisibleFinding, ...]) -> list[VisibleFinding]:
    """Order the findings for the impression: air and fluid, lungs, heart, then devices."""
    order = (K.PNEUMOTHORAX, K.EFFUSION, K.CONSOLIDATION, K.NODULE, K.CARDIOMEGALY)
    return sorted(
        findings, key=lambda finding: order.index(finding.kind) if finding.kind in order else len(order)
    )


def _to_sentence(text: str) -> str:
    text_without_article = text.removeprefix("a ").removeprefix("an ")
    return text_without_article[0].upper() + text_without_article[1:] + "."
