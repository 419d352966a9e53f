"""Presence questions: whether a finding is present, which ones are, and what a given finding is."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import About, Draft, Pen
from demo.facts import Seen
from demo.phantom import CATALOGUE, DEVICES, FindingKind, Side
from demo.terms import LOOKED_FOR_IN, NEVER_THERE, TERMS, described, named, ruled_out, short

_NORMAL = "No acute cardiopulmonary abnormality"
_NORMAL_BECAUSE = (
    "Both lungs are clear, the costophrenic angles are sharp, the heart is of normal size and no line, tube "
    "or device is projected over the chest."
)
_NOT_NORMAL = (
    "Pleural effusion on the right", "Left-sided pneumothorax", "Enlarged cardiac silhouette",
    "Consolidation in the right lower lung zone", "Pulmonary nodule in the left upper lung zone",
    "Malpositioned endotracheal tube",
)  # fmt: skip
_HERE = ("Is there {a} on this examination?", "Does this examination show {a}?", "Can {a} be seen?",
         "Is {a} present?", "Is there radiographic evidence of {a}?")  # fmt: skip
_WHICH_ONE = (
    "Which of the following is present on this examination?",
    "Which of these findings would you report?",
    "What does this examination show?",
    "Which of the following is seen on the frontal radiograph?",
)
_WHICH_ONES = (
    "Which of the following are present? Select all that apply.",
    "Which of these findings belong in the report of this examination? Select all that apply.",
    "What is to be seen on the frontal radiograph? Select all that apply.",
)


def about(seen: Seen) -> About:
    """Category, subcategory, boxes and conspicuity of a finding that is present."""
    term = TERMS[seen.kind]
    return About(
        category=term.category,
        subcategory=term.subcategory,
        boxes=seen.labelled(),
        conspicuity=seen.conspicuity,
    )


def about_absent(kind: FindingKind, pen: Pen) -> About:
    """Category and subcategory of a finding that is absent. Its boxes are the regions to examine for it."""
    term = TERMS[kind]
    boxes = pen.facts.boxes_of(LOOKED_FOR_IN[kind]) if pen.random.random() < 0.6 else ()
    return About(category=term.category, subcategory=term.subcategory, boxes=boxes)


def presence(pen: Pen) -> Iterator[Draft]:
    """Yield all presence questions that the exam allows."""
    yield from _whether(pen)
    yield from _sides(pen)
    yield from _which_one(pen)
    yield from _which_ones(pen)
    yield from _what(pen)


def _whether(pen: Pen) -> Iterator[Draft]:
    for seen in {each.kind: each for each in pen.facts.seen}.values():
        for stem in pen.random.sample(_HERE, 2):
            yield pen.closed(
                stem.format(a=TERMS[seen.kind].a),
                yes=True,
                explanation=described(seen, pen.facts),
                about=about(seen),
            )
    for kind in pen.facts.absent():
        yield pen.closed(
            pen.random.choice(_HERE).format(a=TERMS[kind].a),
            yes=False,
            explanation=ruled_out(kind, pen.facts),
            about=about_absent(kind, pen),
        )


def _sides(pen: Pen) -> Iterator[Draft]:
    """Ask whether the finding is on a named side: once for its own side, once for the other."""
    for seen in pen.facts.seen:
        if seen.side is Side.MIDLINE or seen.kind in DEVICES or len(pen.facts.of(seen.kind)) > 1:
            continue
        noun = TERMS[seen.kind].no
        for side in (Side.RIGHT, Side.LEFT):
            there = side is seen.side
            place = {
                FindingKind.EFFUSION: f"Is the {side} costophrenic angle obscured by fluid?",
                FindingKind.PNEUMOTHORAX: f"Is there free air in the {side} pleural space?",
            }.get(seen.kind, f"Is there a {noun} in the {side} lung?")
            because = described(seen, pen.facts)
            yield pen.closed(
                place,
                yes=there,
                explanation=because if there else f"{because} The {side} side shows no such finding.",
                about=about(seen),
            )


def _which_one(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    absent = [TERMS[kind].option for kind in facts.absent()]
    for seen, stem in zip(facts.seen, pen.random.sample(_WHICH_ONE, len(_WHICH_ONE)), strict=False):
        wrong = [*absent, *pen.random.sample(NEVER_THERE, 2)]
        yield pen.single(
            stem, TERMS[seen.kind].option, wrong, explanation=described(seen, facts), about=about(seen)
        )
    devices = [each for each in facts.seen if each.kind in DEVICES]
    if len(devices) == 1 and not facts.quiet:
        wrong = [TERMS[kind].option for kind in facts.absent() if kind in DEVICES]
        yield pen.single(
            "Which line, tube or device is projected over the chest?",
            TERMS[devices[0].kind].option,
            [*wrong, "Intercostal chest drain"],
            explanation=described(devices[0], facts),
            about=about(devices[0]),
        )
    if facts.normal:
        stems = ("Which sentence sums up this examination best?", "What is the overall impression?")
        for stem in stems:
            yield pen.single(stem, _NORMAL, _NOT_NORMAL, explanation=_NORMAL_BECAUSE, about=_whole(pen))


def _which_ones(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    kinds = list({each.kind: each for each in facts.seen}.values())
    if not kinds:
        return
    wrong = [*(TERMS[kind].option for kind in facts.absent()), *pen.random.sample(NEVER_THERE, 1)]
    for stem in _WHICH_ONES:
        chosen = pen.random.sample(kinds, min(len(kinds), 3))
        term = TERMS[chosen[0].kind]
        yield pen.multiple(
            stem,
            [TERMS[each.kind].option for each in chosen],
            wrong,
            explanation=" ".join(described(each, facts) for each in chosen),
            about=About(
                category=term.category,
                subcategory=term.subcategory,
                boxes=tuple(box for each in chosen for box in each.labelled()),
                conspicuity=min(each.conspicuity for each in chosen),
            ),
        )


def _what(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    for seen in facts.seen:
        if CATALOGUE[seen.kind].sides == (Side.MIDLINE,) or len(facts.of(seen.kind)) > 1:
            continue
        side = [each for each in facts.seen if each.side is seen.side]
        if seen.kind in DEVICES or len(side) > 1 or facts.quiet:
            continue
        yield pen.open(
            f"What abnormality is seen in the {seen.side} hemithorax?",
            named(seen)[0].upper() + named(seen)[1:],
            explanation=described(seen, facts),
            about=about(seen),
        )
    for seen in facts.seen:
        if seen.kind in DEVICES:
            course = {
                FindingKind.ENDOTRACHEAL_TUBE: "Name the tube that lies in the trachea.",
                FindingKind.NASOGASTRIC_TUBE: "Name the tube that crosses the diaphragm.",
                FindingKind.CENTRAL_VENOUS_CATHETER: "What is the line that follows the superior vena cava?",
                FindingKind.PACEMAKER: "What device lies over the left upper chest?",
            }[seen.kind]
            answer = TERMS[seen.kind].option
            yield pen.open(course, answer, explanation=described(seen, facts), about=about(seen))
    if len(facts.seen) == 1 and not facts.quiet:
        (seen,) = facts.seen
        answer = named(seen)
        yield pen.open(
            "Give the one finding of this examination that has to be reported.",
            answer[0].upper() + answer[1:],
            explanation=f"{described(seen, facts)} Nothing else abnormal is seen beside the {short(seen)}.",
            about=about(seen),
        )
    if facts.normal:
        for stem in ("Give the impression of this examination in one line.", "What abnormality is seen?"):
            answer = _NORMAL if "line" in stem else "None"
            yield pen.open(stem, answer, explanation=_NORMAL_BECAUSE, about=_whole(pen))


def _whole(pen: Pen) -> About:
    boxes = pen.facts.boxes_of(("right lung", "left lung", "cardiac silhouette"))
    return About(category="Negation", subcategory="Absence of Disease", boxes=boxes)
