"""Location questions: the side, the zone, and the position of a tube's tip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demo.drafts import Draft, DraftWriter
from demo.facts import VisibleFinding, lung_zone_names
from demo.phantom import DEVICES, FindingKind, Side
from demo.questions_presence import subject_of_finding
from demo.terms import describe_finding, short_name

_FOCAL_KINDS = (FindingKind.NODULE, FindingKind.CONSOLIDATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DevicePosition:
    """The position of a device: a stem with its correct answer and distractors, and closed questions."""

    stem: str
    correct: str
    distractors: tuple[str, ...]
    closed: tuple[tuple[str, bool], ...]


_DEVICE_POSITIONS: dict[FindingKind, _DevicePosition] = {
    FindingKind.ENDOTRACHEAL_TUBE: _DevicePosition(
        stem="Where does the tip of the endotracheal tube lie?",
        correct="In the trachea, above the carina",
        distractors=("In the right main bronchus", "In the left main bronchus", "In the oesophagus",
               "In the pharynx, above the larynx"),
        closed=(("Does the tip of the endotracheal tube lie above the carina?", True),
                ("Has the endotracheal tube entered the right main bronchus?", False)),
    ),
    FindingKind.CENTRAL_VENOUS_CATHETER: _DevicePosition(
        stem="Where is the tip of the central venous catheter projected?",
        correct="Near the cavoatrial junction",
        distractors=("Over the right ventricle", "Over the right subclavian vein",
               "Over the left brachiocephalic vein", "Over the pulmonary trunk"),
        closed=(("Does the central venous catheter come from the right side?", True),
                ("Does the central venous catheter cross the midline to the left?", False)),
    ),
    FindingKind.NASOGASTRIC_TUBE: _DevicePosition(
        stem="Where does the nasogastric tube end?",
        correct="Over the stomach, below the left hemidiaphragm",
        distractors=("In the right lower lobe bronchus", "In the mid oesophagus", "In the left main bronchus",
               "Looped in the pharynx"),
        closed=(("Does the tip of the nasogastric tube lie below the diaphragm?", True),
                ("Does the nasogastric tube follow a main bronchus?", False)),
    ),
    FindingKind.PACEMAKER: _DevicePosition(
        stem="Where is the generator of the pacemaker?",
        correct="Over the left upper chest",
        distractors=("Over the right upper chest", "Over the left upper abdomen", "Over the sternum",
               "Over the right lower chest"),
        closed=(("Is the pacemaker's generator on the left?", True),
                ("Does a pacemaker lead end over the left atrium?", False)),
    ),
}  # fmt: skip


def draft_location(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all location questions that the exam allows."""
    for finding in writer.facts.visible:
        if finding.kind in DEVICES:
            yield from _draft_device_position(writer, finding)
        elif finding.side is not Side.MIDLINE and len(writer.facts.visible_of_kind(finding.kind)) == 1:
            yield from _draft_side(writer, finding)
            if finding.kind in _FOCAL_KINDS:
                yield from _draft_zone(writer, finding)
            else:
                yield from _draft_pleura(writer, finding)
    yield from _draft_all_zones(writer)


def _draft_side(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    noun, explanation = short_name(finding), describe_finding(finding, writer.facts)
    yield writer.write_single(
        f"On which side is the {noun}?",
        str(finding.side).capitalize(),
        [
            str(side).capitalize() for side in (Side.RIGHT, Side.LEFT) if side is not finding.side
        ] + ["On both sides", f"On neither side; there is no {noun}"],
        explanation=explanation,
        subject=subject_of_finding(finding),
    )  # fmt: skip
    asked_side = writer.random.choice((Side.RIGHT, Side.LEFT))
    stem = writer.random.choice(
        (f"Is the {noun} on the {asked_side}?", f"Does the {noun} lie on the {asked_side}?")
    )
    yield writer.write_closed(
        stem, yes=asked_side is finding.side, explanation=explanation, subject=subject_of_finding(finding)
    )
    yield writer.write_open(
        f"Name the side of the {noun}.",
        str(finding.side).capitalize(),
        explanation=explanation,
        subject=subject_of_finding(finding),
    )


def _draft_zone(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    noun, explanation = short_name(finding), describe_finding(finding, writer.facts)
    other_zones = [zone for zone in lung_zone_names() if zone != finding.region]
    mirrored_zone = (
        f"{Side.LEFT if finding.side is Side.RIGHT else Side.RIGHT} {finding.region.split(' ', 1)[1]}"
    )
    for stem in (
        f"In which lung zone does the {noun} lie?",
        f"Over which zone is the {noun} projected on the frontal radiograph?",
    ):
        distractors = [
            mirrored_zone,
            *writer.random.sample([zone for zone in other_zones if zone != mirrored_zone], 2),
        ]
        yield writer.write_single(
            stem,
            finding.region.capitalize(),
            [zone.capitalize() for zone in distractors],
            explanation=explanation,
            subject=subject_of_finding(finding),
        )
    for zone in (finding.region, writer.random.choice(other_zones)):
        yield writer.write_closed(
            f"Is the {noun} in the {zone}?",
            yes=zone == finding.region,
            explanation=explanation,
            subject=subject_of_finding(finding),
        )
    yield writer.write_open(
        f"Name the lung zone of the {noun}.",
        finding.region.capitalize(),
        explanation=explanation,
        subject=subject_of_finding(finding),
    )


def _draft_pleura(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    explanation = describe_finding(finding, writer.facts)
    other_side = Side.LEFT if finding.side is Side.RIGHT else Side.RIGHT
    if finding.kind is FindingKind.EFFUSION:
        stem, correct = "Which structure is obscured by fluid?", f"{finding.side} costophrenic angle"
        distractors = [
            f"{other_side} costophrenic angle",
            f"{finding.side} lung apex",
            f"{other_side} lung apex",
        ]
        closed_stem = f"Does the fluid lie at the {finding.side} lung base?"
    else:
        stem, correct = "Along which part of the chest wall is the pleural line seen?", f"{finding.side} apex"
        distractors = [
            f"{other_side} apex",
            f"{finding.side} costophrenic angle",
            f"{other_side} costophrenic angle",
        ]
        closed_stem = f"Is the pleural line seen at the {other_side} apex?"
    yield writer.write_single(
        stem,
        correct.capitalize(),
        [option.capitalize() for option in distractors],
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
    yield writer.write_closed(
        closed_stem,
        yes=finding.kind is FindingKind.EFFUSION,
        explanation=explanation,
        subject=subject_of_finding(finding),
    )


def _draft_device_position(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    position, explanation = _DEVICE_POSITIONS[finding.kind], describe_finding(finding, writer.facts)
    yield writer.write_single(
        position.stem,
        position.correct,
        position.distractors,
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
    for stem, yes in position.closed:
        yield writer.write_closed(stem, yes=yes, explanation=explanation, subject=subject_of_finding(finding))
    yield writer.write_open(
        f"{position.stem} Answer in a few words.",
        position.correct,
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
    if finding.kind is FindingKind.PACEMAKER:
        yield writer.write_multiple(
            "Over which chambers do the pacemaker leads end? Select all that apply.",
            ("Right atrium", "Right ventricle"),
            ("Left atrium", "Left ventricle"),
            explanation=explanation,
            subject=subject_of_finding(finding),
        )


def _draft_all_zones(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    focal = [finding for finding in facts.visible if finding.kind in _FOCAL_KINDS]
    free_zones = [zone for zone in lung_zone_names() if facts.is_zone_free(zone)]
    regions = sorted({finding.region for finding in focal})
    if not regions or len(free_zones) < 4 - len(regions):
        return
    for stem in (
        "Which lung zones contain a focal opacity? Select all that apply.",
        "Mark every zone with a nodule or consolidation. Select all that apply.",
    ):
        yield writer.write_multiple(
            stem,
            [zone.capitalize() for zone in regions],
            [zone.capitalize() for zone in free_zones],
            explanation=" ".join(describe_finding(finding, facts) for finding in focal),
            subject=subject_of_finding(focal[0]),
        )
