"""Negation questions: which findings are absent, and which negative statement is correct."""

from __future__ import annotations

from collections.abc import Iterator

from demo.drafts import About, Draft, Pen
from demo.facts import Seen, zones
from demo.phantom import FindingKind
from demo.questions_presence import about, about_absent
from demo.terms import TERMS, described, named, ruled_out

_FREE = {
    FindingKind.EFFUSION: "Are both pleural spaces free of fluid?",
    FindingKind.PNEUMOTHORAX: "Do the lung markings reach the chest wall on both sides?",
    FindingKind.NODULE: "Are both lungs free of nodules?",
    FindingKind.CONSOLIDATION: "Are both lungs free of consolidation?",
    FindingKind.CARDIOMEGALY: "Is the heart of normal size?",
    FindingKind.ENDOTRACHEAL_TUBE: "Is the trachea free of any tube?",
    FindingKind.NASOGASTRIC_TUBE: "Is the examination free of any enteric tube?",
    FindingKind.PACEMAKER: "Is the chest wall free of any implanted device?",
}
#: Findings in whose presence the question in _FREE would be ambiguous.
_BLURRED = {
    FindingKind.PACEMAKER: frozenset({FindingKind.CENTRAL_VENOUS_CATHETER}),
    FindingKind.PNEUMOTHORAX: frozenset({FindingKind.EFFUSION}),
    FindingKind.ENDOTRACHEAL_TUBE: frozenset({FindingKind.NASOGASTRIC_TUBE}),
}
_WOULD = (
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


def negation(pen: Pen) -> Iterator[Draft]:
    """Yield all negation questions that the exam allows."""
    yield from _free(pen)
    yield from _zones(pen)
    yield from _statements(pen)
    yield from _absent(pen)
    yield from _pertinent(pen)


def _negated(where: About) -> About:
    return About(
        category="Negation",
        subcategory="Absence of Disease",
        boxes=where.boxes,
        conspicuity=where.conspicuity,
    )


def _free(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    there = {each.kind: each for each in facts.seen}
    shown = {each.kind for each in (*facts.seen, *facts.quiet)}
    for kind in (*there, *facts.absent()):
        seen = there.get(kind)
        where = _negated(about(seen) if seen else about_absent(kind, pen))
        because = described(seen, facts) if seen else ruled_out(kind, facts)
        would = pen.random.choice(_WOULD).format(no=TERMS[kind].no)
        yield pen.closed(would, yes=seen is None, explanation=because, about=where)
        if kind in _FREE and not _BLURRED.get(kind, frozenset()) & shown:
            yield pen.closed(_FREE[kind], yes=seen is None, explanation=because, about=where)


def _zones(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    focal = [each for each in facts.seen if each.kind in (FindingKind.NODULE, FindingKind.CONSOLIDATION)]
    # zone_is_free also considers hidden findings, and fluid and free air, which spread over zones.
    free = [zone for zone in zones() if facts.zone_is_free(zone)]
    for zone in pen.random.sample(free, min(2, len(free))):
        yield pen.closed(
            f"Is the {zone} free of focal opacity?",
            yes=True,
            explanation=f"Vessels can be followed through the {zone}; no opacity is projected over it.",
            about=About(
                category="Negation",
                subcategory="Absence of Disease",
                boxes=facts.boxes_of((zone,)),
            ),
        )
    for seen in focal:
        yield pen.closed(
            f"Is the {seen.region} free of focal opacity?",
            yes=False,
            explanation=described(seen, facts),
            about=_negated(about(seen)),
        )
    regions = sorted({each.region for each in focal})
    if focal and len(free) >= 4 - len(regions):
        yield pen.multiple(
            _FREE_ZONES,
            [zone.capitalize() for zone in pen.random.sample(free, 4 - min(len(regions), 2))],
            [zone.capitalize() for zone in regions],
            explanation=" ".join(described(each, facts) for each in focal)
            + " The other zones named show no opacity.",
            about=_negated(about(focal[0])),
        )


def _statements(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    absent = facts.absent()
    there = {each.kind: each for each in facts.seen}
    for stem in _STATEMENTS:
        kind = pen.random.choice(absent)
        positive = [f"There is {TERMS[other].a}." for other in absent if other is not kind]
        denied = [f"There is no {TERMS[other].no}." for other in there]
        because = ruled_out(kind, facts)
        if denied:
            because += " " + described(next(iter(there.values())), facts)
        yield pen.single(
            stem,
            f"There is no {TERMS[kind].no}.",
            [*denied, *pen.random.sample(positive, 3)],
            explanation=because,
            about=_negated(about_absent(kind, pen)),
        )
    if len(there) >= 3:
        kind = pen.random.choice(absent)
        yield pen.single(
            "Which of the following is NOT present on this examination?",
            TERMS[kind].option,
            [TERMS[other].option for other in there],
            explanation=f"{ruled_out(kind, facts)} The other three are seen.",
            about=_negated(about_absent(kind, pen)),
        )


def _absent(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    there: dict[FindingKind, Seen] = {each.kind: each for each in facts.seen}
    if not there:
        return
    for stem in _ABSENT:
        present = pen.random.sample(list(there), min(len(there), pen.random.choice((1, 2, 3))))
        chosen = pen.random.sample(facts.absent(), 4 - len(present))
        yield pen.multiple(
            stem,
            [TERMS[kind].option for kind in chosen],
            [TERMS[kind].option for kind in present],
            explanation=" ".join(
                [
                    *(ruled_out(kind, facts) for kind in chosen[:2]),
                    f"What is there: {_listed(there, present)}.",
                ]
            ),
            about=_negated(about(there[present[0]])),
        )


def _pertinent(pen: Pen) -> Iterator[Draft]:
    facts = pen.facts
    absent = set(facts.absent())
    asked = (
        (
            "What is to be said of the pleural spaces?",
            {FindingKind.EFFUSION, FindingKind.PNEUMOTHORAX},
            "No pleural effusion and no pneumothorax",
        ),
        (
            "What is to be said of lines, tubes and devices?",
            {
                FindingKind.ENDOTRACHEAL_TUBE,
                FindingKind.NASOGASTRIC_TUBE,
                FindingKind.CENTRAL_VENOUS_CATHETER,
                FindingKind.PACEMAKER,
            },
            "None is present",
        ),
        (
            "What is to be said of the lung parenchyma?",
            {FindingKind.NODULE, FindingKind.CONSOLIDATION},
            "No nodule and no consolidation",
        ),
    )
    for stem, kinds, answer in asked:
        if kinds <= absent:
            first = sorted(kinds)[0]
            yield pen.open(
                stem,
                answer,
                explanation=" ".join(ruled_out(kind, facts) for kind in sorted(kinds)),
                about=_negated(about_absent(first, pen)),
            )


def _listed(there: dict[FindingKind, Seen], kinds: list[FindingKind]) -> str:
    return ", ".join(named(there[kind]) for kind in kinds)
