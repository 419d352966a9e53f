"""Reports of the demo's exams: findings and impression, which mostly agree with the images.

If the case says so, a report omits a finding, mentions one that is not visible, compares with an earlier
examination, or belongs to another exam. Such reports cause errors in machine-written questions.
"""

from __future__ import annotations

import random

from demo.cases import Projections
from demo.facts import Facts, Seen
from demo.phantom import DEVICES, FindingKind
from demo.terms import described, named

K = FindingKind
_CLEAR = ("The lungs are clear.", "No focal opacity is seen in the lungs.", "Both lungs are clear.")
_PLEURA = (
    "No pleural effusion or pneumothorax.",
    "The costophrenic angles are sharp. No pneumothorax.",
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


def report_of(facts: Facts, *, seed: int) -> str:
    """The text of the report. The same facts and seed give the same text."""
    source = random.Random(f"{seed}/{facts.exam_id}/report")
    case = facts.case
    findings = [
        _TECHNIQUE[case.projections],
        *_lungs(facts, source),
        *_pleura(facts, source),
        *_of(facts, K.CARDIOMEGALY, source.choice(_HEART)),
        *(described(each, facts) for each in facts.seen if each.kind in DEVICES),
        source.choice(_BONES),
    ]
    if case.only_reported:
        findings.append(f"There is {case.only_reported}.")
    if case.comparison:
        findings.append(case.comparison)
    impression = [_sentence(named(each)) for each in _by_weight(facts.seen)]
    if case.only_reported:
        impression.append(_sentence(case.only_reported))
    if not facts.seen:
        impression.insert(0, "No acute cardiopulmonary abnormality.")
    numbered = impression
    if len(impression) > 1:
        numbered = [f"{number}. {line}" for number, line in enumerate(impression, start=1)]
    return "\n".join(["FINDINGS:", " ".join(findings), "", "IMPRESSION:", *numbered])


def _lungs(facts: Facts, source: random.Random) -> list[str]:
    lesions = [each for each in facts.seen if each.kind in (K.NODULE, K.CONSOLIDATION)]
    if not lesions:
        return [source.choice(_CLEAR)]
    return [*(described(each, facts) for each in lesions), "The lungs are otherwise clear."]


def _pleura(facts: Facts, source: random.Random) -> list[str]:
    lines = [described(each, facts) for each in facts.seen if each.kind in (K.EFFUSION, K.PNEUMOTHORAX)]
    if not lines:
        return [source.choice(_PLEURA)]
    if not facts.of(K.PNEUMOTHORAX):
        lines.append("No pneumothorax.")
    if not facts.of(K.EFFUSION):
        lines.append("No pleural effusion.")
    return lines


def _of(facts: Facts, kind: FindingKind, otherwise: str) -> list[str]:
    return [described(each, facts) for each in facts.of(kind)] or [otherwise]


def _by_weight(seen: tuple[Seen, ...]) -> list[Seen]:
    """Order the findings for the impression: air and fluid, lungs, heart, then devices."""
    order = (K.PNEUMOTHORAX, K.EFFUSION, K.CONSOLIDATION, K.NODULE, K.CARDIOMEGALY)
    return sorted(seen, key=lambda each: order.index(each.kind) if each.kind in order else len(order))


def _sentence(text: str) -> str:
    bare = text.removeprefix("a ").removeprefix("an ")
    return bare[0].upper() + bare[1:] + "."
