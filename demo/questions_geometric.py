"""Geometric questions: ratios, diameters, distances and heights that can be measured on the radiograph."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import Draft, DraftSubject, DraftWriter
from demo.facts import VisibleFinding
from demo.phantom import FindingKind
from demo.questions_presence import subject_of_finding

#: Minimum distance of a ratio from the limit of 0.5. Readers would disagree on closer ratios.
_MIN_RATIO_MARGIN = 0.02
#: Minimum height difference of the hemidiaphragms, in mm, for questions about which is higher.
_MIN_DOME_DIFFERENCE_MM = 6.0
_OBSCURES_DOME = (FindingKind.EFFUSION, FindingKind.CONSOLIDATION)


def draft_geometric(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all geometric questions that the exam allows."""
    yield from _draft_heart(writer)
    yield from _draft_domes(writer)
    for finding in writer.facts.visible:
        if finding.kind is FindingKind.NODULE and len(writer.facts.visible_of_kind(finding.kind)) == 1:
            yield from _draft_diameter(writer, finding)
        if finding.kind is FindingKind.ENDOTRACHEAL_TUBE:
            yield from _draft_tip(writer, finding)


def _draft_heart(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    if facts.frontal != "pa" or abs(facts.ctr - 0.5) < _MIN_RATIO_MARGIN:
        return
    subject = DraftSubject(
        category="Heart",
        subcategory="Heart Size",
        boxes=facts.region_boxes(("cardiac silhouette",)),
        conspicuity=0.6,
    )
    explanation = (
        f"The greatest transverse diameter of the heart is about {facts.ctr:.2f} of the greatest inner "
        "diameter of the thorax."
    )
    is_enlarged = facts.ctr > 0.5
    yield writer.write_closed(
        "Is the cardiothoracic ratio above 0.50?", yes=is_enlarged, explanation=explanation, subject=subject
    )
    yield writer.write_closed(
        "Is the heart narrower than half the inner width of the thorax?",
        yes=not is_enlarged,
        explanation=explanation,
        subject=subject,
    )
    # Neighbouring options differ by 0.08, so the nearest one is unambiguous.
    correct_index = writer.random.randrange(4)
    for stem in (
        "To which value does the cardiothoracic ratio come closest?",
        "Measure heart and thorax on the PA radiograph: what is their ratio, about?",
    ):
        values = [facts.ctr + 0.08 * (step - correct_index) for step in range(4)]
        correct = f"{values[correct_index]:.2f}"
        yield writer.write_single(
            stem,
            correct,
            [f"{value:.2f}" for value in values if f"{value:.2f}" != correct],
            explanation=explanation,
            subject=subject,
        )
        correct_index = writer.random.randrange(4)
    yield writer.write_open(
        "Estimate the cardiothoracic ratio to two decimals.",
        f"{facts.ctr:.2f}",
        explanation=explanation,
        subject=subject,
    )


def _draft_domes(writer: DraftWriter) -> Iterator[Draft]:
    facts = writer.facts
    if any(finding.kind in _OBSCURES_DOME for finding in (*facts.visible, *facts.unreported)):
        return
    names = ("right hemidiaphragm", "left hemidiaphragm")
    tops = [facts.regions[name][facts.frontal].y_min for name in names]
    difference_mm = (tops[1] - tops[0]) * facts.spacing
    if difference_mm < _MIN_DOME_DIFFERENCE_MM:
        return
    subject = DraftSubject(
        category="Diaphragm", subcategory="Position", boxes=facts.region_boxes(names), conspicuity=0.6
    )
    explanation = (
        f"The dome of the right hemidiaphragm stands about {difference_mm:.0f} mm higher than the left one,"
        " as is usual."
    )
    yield writer.write_closed(
        "Does the right hemidiaphragm stand higher than the left?",
        yes=True,
        explanation=explanation,
        subject=subject,
    )
    yield writer.write_closed(
        "Is the left hemidiaphragm raised?", yes=False, explanation=explanation, subject=subject
    )
    yield writer.write_single(
        "How do the heights of the two hemidiaphragms compare?",
        "The right is slightly higher",
        (
            "The left is slightly higher",
            "The left is more than 5 cm higher",
            "The right is more than 5 cm higher",
        ),
        explanation=explanation,
        subject=subject,
    )


def _draft_diameter(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    size = round(finding.size_mm)
    # Each option is at least 1.5 times the previous one.
    factor_sets = ((0.4, 1.0, 1.9, 3.2), (1.0, 1.7, 2.8, 4.2), (0.28, 0.55, 1.0, 1.8))
    explanation = (
        f"The nodule in the {finding.region} measures about {size} mm across on the frontal radiograph."
    )
    for stem, factors in zip(
        (
            "About how large is the nodule across?",
            "To which diameter does the nodule come closest on the frontal radiograph?",
        ),
        writer.random.sample(factor_sets, 2),
        strict=True,
    ):
        options = [f"{round(size * factor)} mm" for factor in factors if factor != 1.0]
        yield writer.write_single(
            stem, f"{size} mm", options, explanation=explanation, subject=subject_of_finding(finding)
        )
    yield writer.write_closed(
        "Is the nodule larger than 30 mm, and so by definition a mass?",
        yes=size > 30,
        explanation=explanation + " A mass is larger than 30 mm.",
        subject=subject_of_finding(finding),
    )
    yield writer.write_open(
        "Estimate the diameter of the nodule in millimetres.",
        f"About {size} mm",
        explanation=explanation,
        subject=subject_of_finding(finding),
    )


def _draft_tip(writer: DraftWriter, finding: VisibleFinding) -> Iterator[Draft]:
    if writer.facts.tip_mm is None:
        return
    distance_cm = round(writer.facts.tip_mm / 10)
    explanation = f"The tip of the endotracheal tube is about {distance_cm} cm above the carina."
    yield writer.write_single(
        "How far above the carina does the endotracheal tube end?",
        f"About {distance_cm} cm",
        ("Less than 1 cm", "About 9 cm", "About 12 cm"),
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
    yield writer.write_closed(
        "Is the tip of the endotracheal tube at least 2 cm above the carina?",
        yes=True,
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
    yield writer.write_open(
        "Estimate how far above the carina the endotracheal tube ends, in centimetres.",
        f"About {distance_cm} cm",
        explanation=explanation,
        subject=subject_of_finding(finding),
    )
