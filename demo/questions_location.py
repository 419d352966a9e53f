"""Location questions: the side, the zone, and the position of a tube's tip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demo.drafts import Draft, Pen
from demo.facts import Seen, zones
from demo.phantom import DEVICES, FindingKind, Side
from demo.questions_presence import about
from demo.terms import described, short

_FOCAL = (FindingKind.NODULE, FindingKind.CONSOLIDATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Course:
    """The course of a device: the right phrase for its tip, three wrong ones, and closed questions."""

    stem: str
    right: str
    wrong: tuple[str, ...]
    closed: tuple[tuple[str, bool], ...]


_COURSES: dict[FindingKind, _Course] = {
    FindingKind.ENDOTRACHEAL_TUBE: _Course(
        stem="Where does the tip of the endotracheal tube lie?",
        right="In the trachea, above the carina",
        wrong=("In the right main bronchus", "In the left main bronchus", "In the oesophagus",
               "In the pharynx, above the larynx"),
        closed=(("Does the tip of the endotracheal tube lie above the carina?", True),
                ("Has the endotracheal tube entered the right main bronchus?", False)),
    ),
    FindingKind.CENTRAL_VENOUS_CATHETER: _Course(
        stem="Where is the tip of the central venous catheter projected?",
        right="Near the cavoatrial junction",
        wrong=("Over the right ventricle", "Over the right subclavian vein",
               "Over the left brachiocephalic vein", "Over the pulmonary trunk"),
        closed=(("Does the central venous catheter come from the right side?", True),
                ("Does the central venous catheter cross the midline to the left?", False)),
    ),
    FindingKind.NASOGASTRIC_TUBE: _Course(
        stem="Where does the nasogastric tube end?",
        right="Over the stomach, below the left hemidiaphragm",
        wrong=("In the right lower lobe bronchus", "In the mid oesophagus", "In the left main bronchus",
               "Looped in the pharynx"),
        closed=(("Does the tip of the nasogastric tube lie below the diaphragm?", True),
                ("Does the nasogastric tube follow a main bronchus?", False)),
    ),
    FindingKind.PACEMAKER: _Course(
        stem="Where is the generator of the pacemaker?",
        right="Over the left upper chest",
        wrong=("Over the right upper chest", "Over the left upper abdomen", "Over the sternum",
               "Over the right lower chest"),
        closed=(("Is the pacemaker's generator on the left?", True),
                ("Does a pacemaker lead end over the left atrium?", False)),
    ),
}  # fmt: skip


def location(pen: Pen) -> Iterator[Draft]:
    """Yield all location questions that the exam allows."""
    for seen in pen.facts.seen:
        if seen.kind in DEVICES:
            yield from _course(pen, seen)
        elif seen.side is not Side.MIDLINE and len(pen.facts.of(seen.kind)) == 1:
            yield from _side(pen, seen)
            if seen.kind in _FOCAL:
                yield from _zone(pen, seen)
            else:
                yield from _pleura(pen, seen)
    yield from _many(pen)


def _side(pen: Pen, seen: Seen) -> Iterator[Draft]:
    noun, because = short(seen), described(seen, pen.facts)
    yield pen.single(
        f"On which side is the {noun}?",
        str(seen.side).capitalize(),
        [
            str(side).capitalize() for side in (Side.RIGHT, Side.LEFT) if side is not seen.side
        ] + ["On both sides", f"On neither side; there is no {noun}"],
        explanation=because,
        about=about(seen),
    )  # fmt: skip
    asked = pen.random.choice((Side.RIGHT, Side.LEFT))
    stem = pen.random.choice((f"Is the {noun} on the {asked}?", f"Does the {noun} lie on the {asked}?"))
    yield pen.closed(stem, yes=asked is seen.side, explanation=because, about=about(seen))
    yield pen.open(
        f"Name the side of the {noun}.", str(seen.side).capitalize(), explanation=because, about=about(seen)
    )


def _zone(pen: Pen, seen: Seen) -> Iterator[Draft]:
    noun, because = short(seen), described(seen, pen.facts)
    free = [zone for zone in zones() if zone != seen.region]
    other = f"{Side.LEFT if seen.side is Side.RIGHT else Side.RIGHT} {seen.region.split(' ', 1)[1]}"
    for stem in (
        f"In which lung zone does the {noun} lie?",
        f"Over which zone is the {noun} projected on the frontal radiograph?",
    ):
        wrong = [other, *pen.random.sample([zone for zone in free if zone != other], 2)]
        yield pen.single(
            stem,
            seen.region.capitalize(),
            [zone.capitalize() for zone in wrong],
            explanation=because,
            about=about(seen),
        )
    for zone in (seen.region, pen.random.choice(free)):
        yield pen.closed(
            f"Is the {noun} in the {zone}?", yes=zone == seen.region, explanation=because, about=about(seen)
        )
    yield pen.open(
        f"Name the lung zone of the {noun}.", seen.region.capitalize(), explanation=because, about=about(seen)
    )


def _pleura(pen: Pen, seen: Seen) -> Iterator[Draft]:
    because = described(seen, pen.facts)
    other = Side.LEFT if seen.side is Side.RIGHT else Side.RIGHT
    if seen.kind is FindingKind.EFFUSION:
        stem, right = "Which structure is obscured by fluid?", f"{seen.side} costophrenic angle"
        wrong = [f"{other} costophrenic angle", f"{seen.side} lung apex", f"{other} lung apex"]
        asked = f"Does the fluid lie at the {seen.side} lung base?"
    else:
        stem, right = "Along which part of the chest wall is the pleural line seen?", f"{seen.side} apex"
        wrong = [f"{other} apex", f"{seen.side} costophrenic angle", f"{other} costophrenic angle"]
        asked = f"Is the pleural line seen at the {other} apex?"
    yield pen.single(
        stem,
        right.capitalize(),
        [each.capitalize() for each in wrong],
        explanation=because,
        about=about(seen),
    )
    yield pen.closed(asked, yes=seen.kind is FindingKind.EFFUSION, explanation=because, about=about(seen))


def _course(pen: Pen, seen: Seen) -> Iterator[Draft]:
    course, because = _COURSES[seen.kind], described(seen, pen.facts)
    yield pen.single(course.stem, course.right, course.wrong, explanation=because, about=about(seen))
    for stem, yes in course.closed:
        yield pen.closed(stem, yes=yes, explanation=because, about=about(seen))
    yield pen.open(
        f"{course.stem} Answer in a few words.", course.right, explanation=because, about=about(seen)
    )
    if seen.kind is FindingKind.PACEMAKER:
        yield pen.multiple(
            "Over which chambers do the pacemaker leads end? Select all that apply.",
            ("Right atrium", "Right ventricle"),
            ("Left atrium", "Left ventricle"),
            explanation=because,
            about=about(seen),
        )


def _many(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    focal = [each for each in facts.seen if each.kind in _FOCAL]
    free = [zone for zone in zones() if facts.zone_is_free(zone)]
    regions = sorted({each.region for each in focal})
    if not regions or len(free) < 4 - len(regions):
        return
    for stem in (
        "Which lung zones contain a focal opacity? Select all that apply.",
        "Mark every zone with a nodule or consolidation. Select all that apply.",
    ):
        yield pen.multiple(
            stem,
            [zone.capitalize() for zone in regions],
            [zone.capitalize() for zone in free],
            explanation=" ".join(described(each, facts) for each in focal),
            about=about(focal[0]),
        )
