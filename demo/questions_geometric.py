"""Geometric questions: ratios, diameters, distances and heights that can be measured on the radiograph."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import About, Draft, Pen
from demo.facts import Seen
from demo.phantom import FindingKind
from demo.questions_presence import about

#: No question is asked about a ratio closer to the limit than this, because readers would disagree.
_CLEAR_OF_LIMIT = 0.02
#: Minimum difference of height of the hemidiaphragms for a question on which is higher, in mm.
_CLEARLY_HIGHER = 6.0
_SIDE_COVERED = (FindingKind.EFFUSION, FindingKind.CONSOLIDATION)


def geometric(pen: Pen) -> Iterator[Draft]:
    """Yield all geometric questions that the exam allows."""
    yield from _heart(pen)
    yield from _domes(pen)
    for seen in pen.facts.seen:
        if seen.kind is FindingKind.NODULE and len(pen.facts.of(seen.kind)) == 1:
            yield from _diameter(pen, seen)
        if seen.kind is FindingKind.ENDOTRACHEAL_TUBE:
            yield from _tip(pen, seen)


def _heart(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    if facts.frontal != "pa" or abs(facts.ctr - 0.5) < _CLEAR_OF_LIMIT:
        return
    where = About(
        category="Heart",
        subcategory="Heart Size",
        boxes=facts.boxes_of(("cardiac silhouette",)),
        conspicuity=0.6,
    )
    because = (
        f"The greatest transverse diameter of the heart is about {facts.ctr:.2f} of the greatest inner "
        "diameter of the thorax."
    )
    high = facts.ctr > 0.5
    yield pen.closed("Is the cardiothoracic ratio above 0.50?", yes=high, explanation=because, about=where)
    yield pen.closed(
        "Is the heart narrower than half the inner width of the thorax?",
        yes=not high,
        explanation=because,
        about=where,
    )
    # Neighbouring options differ by 0.08, so the nearest one is unambiguous.
    place = pen.random.randrange(4)
    for stem in (
        "To which value does the cardiothoracic ratio come closest?",
        "Measure heart and thorax on the PA radiograph: what is their ratio, about?",
    ):
        values = [facts.ctr + 0.08 * (step - place) for step in range(4)]
        right = f"{values[place]:.2f}"
        yield pen.single(
            stem, right, [f"{value:.2f}" for value in values if f"{value:.2f}" != right], explanation=because,
            about=where,
        )  # fmt: skip
        place = pen.random.randrange(4)
    yield pen.open(
        "Estimate the cardiothoracic ratio to two decimals.",
        f"{facts.ctr:.2f}",
        explanation=because,
        about=where,
    )


def _domes(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    if any(each.kind in _SIDE_COVERED for each in (*facts.seen, *facts.quiet)):
        return
    names = ("right hemidiaphragm", "left hemidiaphragm")
    tops = [facts.regions[name][facts.frontal].y_min for name in names]
    higher = (tops[1] - tops[0]) * facts.spacing
    if higher < _CLEARLY_HIGHER:
        return
    where = About(category="Diaphragm", subcategory="Position", boxes=facts.boxes_of(names), conspicuity=0.6)
    because = (
        f"The dome of the right hemidiaphragm stands about {higher:.0f} mm higher than the left one, as is "
        "usual."
    )
    yield pen.closed(
        "Does the right hemidiaphragm stand higher than the left?", yes=True, explanation=because, about=where
    )
    yield pen.closed("Is the left hemidiaphragm raised?", yes=False, explanation=because, about=where)
    yield pen.single(
        "How do the domes of the diaphragm stand to each other?",
        "The right is slightly higher",
        (
            "The left is slightly higher",
            "The left is more than 5 cm higher",
            "The right is more than 5 cm higher",
        ),
        explanation=because,
        about=where,
    )


def _diameter(pen: Pen, seen: Seen) -> Iterator[Draft]:
    size = round(seen.size_mm)
    # Each option is at least 1.5 times the previous one.
    ladders = ((0.4, 1.0, 1.9, 3.2), (1.0, 1.7, 2.8, 4.2), (0.28, 0.55, 1.0, 1.8))
    because = f"The nodule in the {seen.region} measures about {size} mm across on the frontal radiograph."
    for stem, ladder in zip(
        (
            "About how large is the nodule across?",
            "To which diameter does the nodule come closest on the frontal radiograph?",
        ),
        pen.random.sample(ladders, 2),
        strict=True,
    ):
        options = [f"{round(size * step)} mm" for step in ladder if step != 1.0]
        yield pen.single(stem, f"{size} mm", options, explanation=because, about=about(seen))
    yield pen.closed(
        "Is the nodule larger than 30 mm, and so by definition a mass?",
        yes=size > 30,
        explanation=because + " A mass is larger than 30 mm.",
        about=about(seen),
    )
    yield pen.open(
        "Estimate the diameter of the nodule in millimetres.",
        f"About {size} mm",
        explanation=because,
        about=about(seen),
    )


def _tip(pen: Pen, seen: Seen) -> Iterator[Draft]:
    if pen.facts.tip_mm is None:
        return
    above = round(pen.facts.tip_mm / 10)
    because = f"The tip of the endotracheal tube is about {above} cm above the carina."
    yield pen.single(
        "How far above the carina does the endotracheal tube end?",
        f"About {above} cm",
        ("Less than 1 cm", "About 9 cm", "About 12 cm"),
        explanation=because,
        about=about(seen),
    )
    yield pen.closed(
        "Is the tip of the endotracheal tube at least 2 cm above the carina?",
        yes=True,
        explanation=because,
        about=about(seen),
    )
    yield pen.open(
        "Estimate how far above the carina the endotracheal tube ends, in centimetres.",
        f"About {above} cm",
        explanation=because,
        about=about(seen),
    )
