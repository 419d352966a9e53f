"""Negation questions: which findings are absent, and which negative statement is correct."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import Draft, DraftSubject, DraftWriter
from demo.facts import VisibleFinding, lung_zone_names
from demo.phantom import FindingKind
from demo.questions_presence import subject_of_absence, subject_of_finding
from demo.terms import TERMS, describe_absence, describe_finding, name_with_location

_FREE_OF_FINDING = {
    FindingKind.EFFUSION: "Are both pleural spaces free of fluid?",
    FindingKind.PNEUMOTHORAX: "Do the lung markings reach the chest wall on both sides?",
    FindingKind.NODULE: "Are both lungs free of nodules?",
    FindingKind.CONSOLIDATION: "Are both lungs free of consolidation?",
    FindingKind.CARDIOMEGALY: "Is the heart of normal size?",
    FindingKind.ENDOTRACHEAL_TUBE: "Is the trachea free of any tube?",
    FindingKind.NASOGASTRIC_TUBE: "Is the examination free of any enteric tube?",
    FindingKind.PACEMAKER: "Is the chest wall free of any implanted device?",
}
#: Findings in whose presence the question in _FREE_OF_FINDING would be ambiguous.
_AMBIGUOUS_WITH = {
    FindingKind.PACEMAKER: frozenset({FindingKind.CENTRAL_VENOUS_CATHETER}),
    FindingKind.PNEUMOTHORAX: frozenset({FindingKind.EFFUSION}),
    FindingKind.ENDOTRACHEAL_TUBE: frozenset({FindingKind.NASOGASTRIC_TUBE}),
}
_REPORT_SENTENCES = (
    "Would “No {no}.” be a correct sentence in the report?",
    "A report says “There is no {no}.” Do the images support this?",
)
_STATEMENTS = (
    "Which statement about this examination is correct?",
    "Which of these sentences could stand in the report as it is?",
    "Which of the following statements do the images support?",
)
_ABSENT = (
    "Which of the following are NOT present? Select all that apply.",
    "Which of these are absent on this examination? Select all that apply.",
    "Which of these findings do the images not show? Select all that apply.",
)
_FREE_ZONES = "Which of these lung zones are free of focal opacity? Select all that apply."


def draft_negation(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all negation questions that the exam allows."""
    yield from _draft_absence(writer)
    yield from _draft_free_zones(writer)
    yield from _draft_statements(writer)
    yield from _draft_absent_kinds(writer)
    yield from _draft_pertinent_negatives(writer)


def _to_negation_subject(subject: DraftSubject) -> DraftSubject:
    return DraftSubject(
        category="Negation",
        subcategory="Absence of Disease",
        boxes=subject.boxes,
        conspicuity=subject.conspicuity,
    )


def _draft_absence(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    finding_by_kind = {finding.kind: finding for finding in facts.visible}
    present_kinds = {finding.kind for finding in (*facts.visible, *facts.unreported)}
    for kind in (*finding_by_kind, *facts.absent_kinds()):
        finding = finding_by_kind.get(kind)
        subject = _to_negation_subject(
            subject_of_finding(finding) if finding else subject_of_absence(kind, writer)
        )
        explanation = describe_finding(finding, facts) if finding else describe_absence(kind, facts)
        stem = writer.random.choice(_REPORT_SENTENCES).format(no=TERMS[kind].after_no)
        yield writer.write_closed(stem, yes=finding is None, explanation=explanation, subject=subject)
        if kind in _FREE_OF_FINDING and not _AMBIGUOUS_WITH.get(kind, frozenset()) & present_kinds:
            yield writer.write_closed(
                _FREE_OF_FINDING[kind], yes=finding is None, explanation=explanation, subject=subject
            )


def _draft_free_zones(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    focal_findings = [
        finding
        for finding in facts.visible
        if finding.kind in (FindingKind.NODULE, FindingKind.CONSOLIDATION)
    ]
    # is_zone_free also considers unreported findings, and fluid and free air, which extend over several
    # zones.
    free_zones = [zone for zone in lung_zone_names() if facts.is_zone_free(zone)]
    for zone in writer.random.sample(free_zones, min(2, len(free_zones))):
        yield writer.write_closed(
            f"Is the {zone} free of focal opacity?",
            yes=True,
            explanation=f"Vessels can be followed through the {zone}; no opacity is projected over it.",
            subject=DraftSubject(
                category="Negation",
                subcategory="Absence of Disease",
                boxes=facts.region_boxes((zone,)),
            ),
        )
    for finding in focal_findings:
        yield writer.write_closed(
            f"Is the {finding.region} free of focal opacity?",
            yes=False,
            explanation=describe_finding(finding, facts),
            subject=_to_negation_subject(subject_of_finding(finding)),
        )
    regions = sorted({finding.region for finding in focal_findings})
    if focal_findings and len(free_zones) >= 4 - len(regions):
        yield writer.write_multiple(
            _FREE_ZONES,
            [zone.capitalize() for zone in writer.random.sample(free_zones, 4 - min(len(regions), 2))],
            [zone.capitalize() for zone in regions],
            explanation=" ".join(describe_finding(finding, facts) for finding in focal_findings)
            + " The other zones named show no opacity.",
            subject=_to_negation_subject(subject_of_finding(focal_findings[0])),
        )


def _draft_statements(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    absent = facts.absent_kinds()
    finding_by_kind = {finding.kind: finding for finding in facts.visible}
    for stem in _STATEMENTS:
        kind = writer.random.choice(absent)
        wrong_positive = [
            f"There is {TERMS[other_kind].with_article}." for other_kind in absent if other_kind is not kind
        ]
        wrong_negative = [f"There is no {TERMS[other_kind].after_no}." for other_kind in finding_by_kind]
        explanation = describe_absence(kind, facts)
        if wrong_negative:
            explanation += " " + describe_finding(next(iter(finding_by_kind.values())), facts)
        yield writer.write_single(
            stem,
            f"There is no {TERMS[kind].after_no}.",
            [*wrong_negative, *writer.random.sample(wrong_positive, 3)],
            explanation=explanation,
            subject=_to_negation_subject(subject_of_absence(kind, writer)),
        )
    if len(finding_by_kind) >= 3:
        kind = writer.random.choice(absent)
        yield writer.write_single(
            "Which of the following is NOT present on this examination?",
            TERMS[kind].option,
            [TERMS[other_kind].option for other_kind in finding_by_kind],
            explanation=f"{describe_absence(kind, facts)} The other three are seen.",
            subject=_to_negation_subject(subject_of_absence(kind, writer)),
        )


def _draft_absent_kinds(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    finding_by_kind: dict[FindingKind, VisibleFinding] = {finding.kind: finding for finding in facts.visible}
    if not finding_by_kind:
        return
    for stem in _ABSENT:
        present = writer.random.sample(
            list(finding_by_kind), min(len(finding_by_kind), writer.random.choice((1, 2, 3)))
        )
        chosen = writer.random.sample(facts.absent_kinds(), 4 - len(present))
        yield writer.write_multiple(
            stem,
            [TERMS[kind].option for kind in chosen],
            [TERMS[kind].option for kind in present],
            explanation=" ".join(
                [
                    *(describe_absence(kind, facts) for kind in chosen[:2]),
                    f"What is there: {_list_findings(finding_by_kind, present)}.",
                ]
            ),
            subject=_to_negation_subject(subject_of_finding(finding_by_kind[present[0]])),
        )


def _draft_pertinent_negatives(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    absent = set(facts.absent_kinds())
    open_questions = (
        (
            "How do the pleural spaces appear?",
            {FindingKind.EFFUSION, FindingKind.PNEUMOTHORAX},
            "No pleural effusion and no pneumothorax",
        ),
        (
            "Which lines, tubes and devices are present?",
            {
                FindingKind.ENDOTRACHEAL_TUBE,
                FindingKind.NASOGASTRIC_TUBE,
                FindingKind.CENTRAL_VENOUS_CATHETER,
                FindingKind.PACEMAKER,
            },
            "None is present",
        ),
        (
            "How does the lung parenchyma appear?",
            {FindingKind.NODULE, FindingKind.CONSOLIDATION},
            "No nodule and no consolidation",
        ),
    )
    for stem, kinds, answer in open_questions:
        if kinds <= absent:
            first = sorted(kinds)[0]
            yield writer.write_open(
                stem,
                answer,
                explanation=" ".join(describe_absence(kind, facts) for kind in sorted(kinds)),
                subject=_to_negation_subject(subject_of_absence(first, writer)),
            )


def _list_findings(finding_by_kind: dict[FindingKind, VisibleFinding], kinds: list[FindingKind]) -> str:
    return ", ".join(name_with_location(finding_by_kind[kind]) for kind in kinds)
