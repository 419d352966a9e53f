"""Presence questions: whether a finding is present, and which findings are present."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import Draft, DraftSubject, DraftWriter
from demo.facts import VisibleFinding
from demo.phantom import CATALOGUE, DEVICES, FindingKind, Side
from demo.terms import (
    NEVER_PRESENT,
    REGIONS_TO_EXAMINE,
    TERMS,
    describe_absence,
    describe_finding,
    name_with_location,
    short_name,
)

_NORMAL = "No acute cardiopulmonary abnormality"
_NORMAL_EXPLANATION = (
    "Both lungs are clear, the costophrenic angles are sharp, the heart is of normal size and no line, tube "
    "or device is projected over the chest."
)
_ABNORMAL_STATEMENTS = (
    "Pleural effusion on the right", "Left-sided pneumothorax", "Enlarged cardiac silhouette",
    "Consolidation in the right lower lung zone", "Pulmonary nodule in the left upper lung zone",
    "Malpositioned endotracheal tube",
)  # fmt: skip
_PRESENCE_STEMS = ("Is there {a} on this examination?", "Does this examination show {a}?", "Can {a} be seen?",
         "Is {a} present?", "Is there radiographic evidence of {a}?")  # fmt: skip
_SINGLE_STEMS = (
    "Which of the following is present on this examination?",
    "Which of these findings would you report?",
    "What does this examination show?",
    "Which of the following is seen on the frontal radiograph?",
)
_MULTIPLE_STEMS = (
    "Which of the following are present? Select all that apply.",
    "Which of these findings belong in the report of this examination? Select all that apply.",
    "What is to be seen on the frontal radiograph? Select all that apply.",
)


def subject_of_finding(finding: VisibleFinding) -> DraftSubject:
    """Return category, subcategory, boxes and conspicuity of a finding that is present."""
    term = TERMS[finding.kind]
    return DraftSubject(
        category=term.category,
        subcategory=term.subcategory,
        boxes=finding.to_labelled_boxes(),
        conspicuity=finding.conspicuity,
    )


def subject_of_absence(kind: FindingKind, writer: DraftWriter) -> DraftSubject:
    """Return category and subcategory of an absent finding. Its boxes are the regions to examine for it."""
    term = TERMS[kind]
    boxes = writer.facts.region_boxes(REGIONS_TO_EXAMINE[kind]) if writer.random.random() < 0.6 else ()
    return DraftSubject(category=term.category, subcategory=term.subcategory, boxes=boxes)


def draft_presence(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all presence questions that the exam allows."""
    yield from _draft_whether_present(writer)
    yield from _draft_sides(writer)
    yield from _draft_single_choice(writer)
    yield from _draft_multiple_choice(writer)
    yield from _draft_open(writer)


def _draft_whether_present(writer: DraftWriter) -> Iterator[Draft]:
    for finding in {finding.kind: finding for finding in writer.facts.visible}.values():
        for stem in writer.random.sample(_PRESENCE_STEMS, 2):
            yield writer.write_closed(
                stem.format(a=TERMS[finding.kind].with_article),
                yes=True,
                explanation=describe_finding(finding, writer.facts),
                subject=subject_of_finding(finding),
            )
    for kind in writer.facts.absent_kinds():
        yield writer.write_closed(
            writer.random.choice(_PRESENCE_STEMS).format(a=TERMS[kind].with_article),
            yes=False,
            explanation=describe_absence(kind, writer.facts),
            subject=subject_of_absence(kind, writer),
        )


def _draft_sides(writer: DraftWriter) -> Iterator[Draft]:
    """Ask whether the finding is on a side, once for its own side and once for the other."""
    for finding in writer.facts.visible:
        if (
            finding.side is Side.MIDLINE
            or finding.kind in DEVICES
            or len(writer.facts.visible_of_kind(finding.kind)) > 1
        ):
            continue
        noun = TERMS[finding.kind].after_no
        for side in (Side.RIGHT, Side.LEFT):
            is_present = side is finding.side
            stem = {
                FindingKind.EFFUSION: f"Is the {side} costophrenic angle obscured by fluid?",
                FindingKind.PNEUMOTHORAX: f"Is there free air in the {side} pleural space?",
            }.get(finding.kind, f"Is there a {noun} in the {side} lung?")
            explanation = describe_finding(finding, writer.facts)
            yield writer.write_closed(
                stem,
                yes=is_present,
                explanation=explanation
                if is_present
                else f"{explanation} The {side} side shows no such finding.",
                subject=subject_of_finding(finding),
            )


def _draft_single_choice(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    absent = [TERMS[kind].option for kind in facts.absent_kinds()]
    for finding, stem in zip(
        facts.visible, writer.random.sample(_SINGLE_STEMS, len(_SINGLE_STEMS)), strict=False
    ):
        distractors = [*absent, *writer.random.sample(NEVER_PRESENT, 2)]
        yield writer.write_single(
            stem,
            TERMS[finding.kind].option,
            distractors,
            explanation=describe_finding(finding, facts),
            subject=subject_of_finding(finding),
        )
    devices = [finding for finding in facts.visible if finding.kind in DEVICES]
    if len(devices) == 1 and not facts.unreported:
        distractors = [TERMS[kind].option for kind in facts.absent_kinds() if kind in DEVICES]
        yield writer.write_single(
            "Which line, tube or device is projected over the chest?",
            TERMS[devices[0].kind].option,
            [*distractors, "Intercostal chest drain"],
            explanation=describe_finding(devices[0], facts),
            subject=subject_of_finding(devices[0]),
        )
    if facts.is_normal:
        stems = ("Which sentence sums up this examination best?", "What is the overall impression?")
        for stem in stems:
            yield writer.write_single(
                stem,
                _NORMAL,
                _ABNORMAL_STATEMENTS,
                explanation=_NORMAL_EXPLANATION,
                subject=_normal_subject(writer),
            )


def _draft_multiple_choice(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    one_per_kind = list({finding.kind: finding for finding in facts.visible}.values())
    if not one_per_kind:
        return
    distractors = [
        *(TERMS[kind].option for kind in facts.absent_kinds()),
        *writer.random.sample(NEVER_PRESENT, 1),
    ]
    for stem in _MULTIPLE_STEMS:
        chosen = writer.random.sample(one_per_kind, min(len(one_per_kind), 3))
        term = TERMS[chosen[0].kind]
        yield writer.write_multiple(
            stem,
            [TERMS[finding.kind].option for finding in chosen],
            distractors,
            explanation=" ".join(describe_finding(finding, facts) for finding in chosen),
            subject=DraftSubject(
                category=term.category,
                subcategory=term.subcategory,
                boxes=tuple(box for finding in chosen for box in finding.to_labelled_boxes()),
                conspicuity=min(finding.conspicuity for finding in chosen),
            ),
        )


def _draft_open(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    for finding in facts.visible:
        if CATALOGUE[finding.kind].sides == (Side.MIDLINE,) or len(facts.visible_of_kind(finding.kind)) > 1:
            continue
        same_side = [other for other in facts.visible if other.side is finding.side]
        if finding.kind in DEVICES or len(same_side) > 1 or facts.unreported:
            continue
        yield writer.write_open(
            f"What abnormality is seen in the {finding.side} hemithorax?",
            name_with_location(finding)[0].upper() + name_with_location(finding)[1:],
            explanation=describe_finding(finding, facts),
            subject=subject_of_finding(finding),
        )
    for finding in facts.visible:
        if finding.kind in DEVICES:
            question_stem = {
                FindingKind.ENDOTRACHEAL_TUBE: "Name the tube that lies in the trachea.",
                FindingKind.NASOGASTRIC_TUBE: "Name the tube that crosses the diaphragm.",
                FindingKind.CENTRAL_VENOUS_CATHETER: "What is the line that follows the superior vena cava?",
                FindingKind.PACEMAKER: "What device lies over the left upper chest?",
            }[finding.kind]
            answer = TERMS[finding.kind].option
            yield writer.write_open(
                question_stem,
                answer,
                explanation=describe_finding(finding, facts),
                subject=subject_of_finding(finding),
            )
    if len(facts.visible) == 1 and not facts.unreported:
        (finding,) = facts.visible
        answer = name_with_location(finding)
        yield writer.write_open(
            "Give the one finding of this examination that has to be reported.",
            answer[0].upper() + answer[1:],
            explanation=(
                f"{describe_finding(finding, facts)} Nothing else abnormal is seen beside the"
                f" {short_name(finding)}."
            ),
            subject=subject_of_finding(finding),
        )
    if facts.is_normal:
        for stem in ("Give the impression of this examination in one line.", "What abnormality is seen?"):
            answer = _NORMAL if "line" in stem else "None"
            yield writer.write_open(
                stem, answer, explanation=_NORMAL_EXPLANATION, subject=_normal_subject(writer)
            )


def _normal_subject(writer: DraftWriter) -> DraftSubject:
    boxes = writer.facts.region_boxes(("right lung", "left lung", "cardiac silhouette"))
    return DraftSubject(category="Negation", subcategory="Absence of Disease", boxes=boxes)
