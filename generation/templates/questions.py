"""The templates: all questions that the facts of an exam allow, by task.

A distractor is false by a fact of the exam: a finding that is ruled out, or the negation of one that is
present. Findings of one group never occur in the same question, since they overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from domain.provenance import Evidence, EvidenceKind
from domain.vocabulary import AnswerFormat, Task
from generation.templates.drafts import OPTION_COUNT, Draft, DraftWriter
from generation.templates.exam_facts import LUNG_ZONES, PresentFinding
from terminology.findings import FindingTerm, capitalise, load_findings

CLOSED, OPEN = AnswerFormat.CLOSED, AnswerFormat.OPEN

_SIDES = {"right": "Only on the right", "left": "Only on the left", "both": "On both sides"}
_NEITHER_SIDE = "On neither side"
#: The answers to open questions on the side.
_OPEN_SIDE = {"right": "On the right", "left": "On the left", "both": "On both sides"}
_LOCATIONS = {
    "lobe": ("right upper lobe", "right lower lobe", "left upper lobe", "left lower lobe"),
    "base": ("right base", "left base", "right apex", "left apex"),
}
#: Open questions on a structure: stem, task, findings that must be known, the answer by their presence.
_STRUCTURES: tuple[tuple[str, Task, tuple[str, ...], dict[tuple[bool, ...], str]], ...] = (
    ("Describe the size of the heart.", Task.GEOMETRIC, ("cardiomegaly",),
     {(True,): "Enlarged", (False,): "Not enlarged"}),
    ("Do the pleural spaces contain fluid, gas or neither?", Task.PRESENCE,
     ("pleural_effusion", "pneumothorax"),
     {(False, False): "Neither fluid nor gas", (True, False): "Fluid, no gas", (False, True): "Gas, no fluid",
      (True, True): "Fluid and gas"}),
    ("Describe the width of the mediastinum.", Task.GEOMETRIC, ("wide_mediastinum",),
     {(True,): "Widened", (False,): "Not widened"}),
    ("Where is the trachea in relation to the midline?", Task.LOCATION, ("tracheal_deviation",),
     {(False,): "In the midline"}),
    ("Describe the lung volumes.", Task.GEOMETRIC, ("low_lung_volumes", "hyperinflation"),
     {(True, False): "Low", (False, True): "Increased (hyperinflation)", (False, False): "Normal"}),
    ("Describe the caliber of the pulmonary vessels.", Task.PRESENCE, ("pulmonary_congestion",),
     {(True,): "Increased (congestion)", (False,): "Normal, no congestion"}),
    ("Which acute fracture, if any, is seen?", Task.NEGATION, ("acute_fracture",), {(False,): "None"}),
    ("Which focal airspace disease, if any, is seen?", Task.NEGATION, ("consolidation",), {(False,): "None"}),
    ("Which nodule or mass, if any, is seen?", Task.NEGATION, ("nodule", "mass"), {(False, False): "None"}),
    ("What is the course of the thoracic aorta?", Task.GEOMETRIC, ("tortuous_aorta",), {(True,): "Tortuous"}),
)  # fmt: skip


def draft_questions(writer: DraftWriter) -> Iterator[Draft]:
    """Yield all questions that the facts allow."""
    for draft in (
        *_draft_closed(writer),
        *_draft_structures(writer),
        *_draft_presence(writer),
        *_draft_statements(writer),
        *_draft_location(writer),
        *_draft_diagnoses(writer),
    ):
        if draft is not None:
            yield draft


def _draft_closed(writer: DraftWriter) -> Iterator[Draft]:
    """Ask whether a finding is there, and whether the examination is free of it."""
    for name in (*writer.facts.present, *writer.facts.absent):
        term, is_present = load_findings()[name], writer.is_present(name)
        task = Task.GEOMETRIC if Task.GEOMETRIC in term.tasks else Task.PRESENCE
        yield writer.write("closed", task, CLOSED, term.ask, "yes" if is_present else "no", findings=[name])
        yield writer.write(
            "closed negation",
            Task.NEGATION,
            CLOSED,
            f"Is it correct that {term.absent[0].lower()}{term.absent[1:]}?",
            "no" if is_present else "yes",
            findings=[name],
        )
        if Task.DIFFERENTIAL in term.tasks:
            yield writer.write(
                "closed diagnosis",
                Task.DIFFERENTIAL,
                CLOSED,
                f"Does this examination support a diagnosis of {term.noun}?",
                "yes" if is_present else "no",
                findings=[name],
            )


def _draft_structures(writer: DraftWriter) -> Iterator[Draft]:
    """Ask for the state of a structure in free text."""
    for stem, task, names, answers in _STRUCTURES:
        presence = tuple(writer.is_present(name) for name in names)
        answer = answers.get(tuple(bool(value) for value in presence)) if None not in presence else None
        if answer is not None:
            yield writer.write("open structure", task, OPEN, stem, answer, findings=names)


def _draft_presence(writer: DraftWriter) -> Iterator[Draft | None]:
    """Ask which findings are present (distractors are ruled out) or absent (distractors are present)."""
    present = writer.list_present()
    for finding in present:
        absent = writer.list_absent(without=[finding.term.id])
        yield writer.write_choice(
            "single presence",
            Task.PRESENCE,
            "Which of these findings is present?",
            [finding.term.option],
            [term.option for term in absent],
            findings=[finding.term.id, *(term.id for term in absent[:3])],
            explanation=writer.explain(finding.term.id),
        )
    if len(present) >= 2:
        chosen = present[:3]
        absent = writer.list_absent(without=[finding.term.id for finding in chosen])
        yield writer.write_choice(
            "multiple presence",
            Task.PRESENCE,
            "Which of these findings are present? Select all that apply.",
            [finding.term.option for finding in chosen],
            [term.option for term in absent],
            findings=[
                *(finding.term.id for finding in chosen),
                *(term.id for term in absent[: OPTION_COUNT - len(chosen)]),
            ],
            multiple=True,
            explanation=writer.explain(
                *(finding.term.id for finding in chosen),
                others=[term.id for term in absent[: OPTION_COUNT - len(chosen)]],
            ),
        )
    for count in (1, 2):
        absent = writer.list_absent(without=[finding.term.id for finding in present])
        if len(present) >= count and len(absent) >= OPTION_COUNT - count:
            chosen_absent = absent[: OPTION_COUNT - count]
            yield writer.write_choice(
                "multiple absence",
                Task.NEGATION,
                "Which of these findings are absent? Select all that apply.",
                [term.option for term in chosen_absent],
                [finding.term.option for finding in present[:count]],
                findings=[term.id for term in chosen_absent]
                + [finding.term.id for finding in present[:count]],
                multiple=True,
                explanation=writer.explain(
                    *(finding.term.id for finding in present[:count]),
                    others=[term.id for term in chosen_absent],
                ),
            )
    if len(present) >= 3:
        for term in writer.list_absent(without=[finding.term.id for finding in present])[:1]:
            yield writer.write_choice(
                "single absence",
                Task.NEGATION,
                "Which of these findings is absent?",
                [term.option],
                [finding.term.option for finding in present],
                findings=[term.id, *(finding.term.id for finding in present[:3])],
                explanation=writer.explain(term.id),
            )


def _draft_statements(writer: DraftWriter) -> Iterator[Draft | None]:
    """Ask which statements are correct. A wrong statement is the negation of a fact."""
    stems = (
        "Which of these statements is correct?",
        "Which of these statements does the examination support?",
        "Which description fits this examination?",
    )
    for stem in stems:
        names = _choose_known(writer)
        yield _draft_statement(writer, stem, names, task=_choose_task(writer, names[:1]))
    for count, stem in (
        (2, "Which of these statements are correct? Select all that apply."),
        (3, "Which statements does the examination support? Select all that apply."),
        (2, "Which descriptions fit this examination? Select all that apply."),
    ):
        names = _choose_known(writer)
        right, wrong = names[:count], names[count:OPTION_COUNT]
        yield writer.write_choice(
            "multiple statements",
            _choose_task(writer, right),
            stem,
            [writer.state(name) for name in right],
            [writer.state_wrongly(name) for name in wrong],
            findings=names[:OPTION_COUNT] or ["pneumothorax"],
            multiple=True,
            explanation=_explain_statements(writer, right, wrong),
        )
    names = [name for name in _choose_known(writer) if Task.GEOMETRIC in load_findings()[name].tasks]
    yield _draft_statement(
        writer, "Which statement on size, shape or position is correct?", names, task=Task.GEOMETRIC
    )


def _draft_statement(writer: DraftWriter, stem: str, names: list[str], *, task: Task) -> Draft | None:
    return writer.write_choice(
        "single statement",
        task,
        stem,
        [writer.state(name) for name in names[:1]],
        [writer.state_wrongly(name) for name in names[1:]],
        findings=names[:OPTION_COUNT] or ["cardiomegaly"],
        explanation=_explain_statements(writer, names[:1], names[1:OPTION_COUNT]),
    )


def _explain_statements(writer: DraftWriter, right: list[str], wrong: list[str]) -> str:
    """Explain the findings of correct statements and the present ones; correct the other wrong statements."""
    present = [name for name in wrong if name in writer.facts.present]
    return writer.explain(*right, *present, others=[name for name in wrong if name not in present])


def _choose_known(writer: DraftWriter) -> list[str]:
    """Choose known findings, one per group. The first four, with up to two present ones, are shuffled."""
    present = [finding.term.id for finding in writer.list_present()]
    names = [*present[:2], *(term.id for term in writer.list_absent(without=present))]
    head = names[:OPTION_COUNT]
    writer.random.shuffle(head)
    return [*head, *names[OPTION_COUNT:]]


def _choose_task(writer: DraftWriter, names: list[str]) -> Task:
    """Return the task of a question whose correct statements are on these findings."""
    if names and all(Task.GEOMETRIC in load_findings()[name].tasks for name in names):
        return Task.GEOMETRIC
    present_count = sum(name in writer.facts.present for name in names)
    return Task.PRESENCE if present_count * 2 > len(names) else Task.NEGATION


def _draft_location(writer: DraftWriter) -> Iterator[Draft | None]:
    """Ask for side and lobe of a finding at a single location."""
    for finding in writer.facts.present.values():
        term = finding.term
        if Task.LOCATION not in term.tasks:
            continue
        if not finding.side:
            writer.not_built["location: the side is not certain"] += 1
            continue
        yield from _draft_side(writer, finding, term)
        if finding.location in LUNG_ZONES:
            yield from _draft_zone(writer, finding, term)
        elif finding.location:
            yield _draft_place(writer, finding, term)


def _draft_side(writer: DraftWriter, finding: PresentFinding, term: FindingTerm) -> Iterator[Draft | None]:
    side = _OPEN_SIDE[finding.side]
    explanation = f"{term.sign} {_state_location(term, side)}."
    stem = f"On which side {'are' if term.plural else 'is'} there {term.with_article}?"
    yield writer.write(
        "open side", Task.LOCATION, OPEN, stem, side, findings=[term.id], explanation=explanation
    )
    yield writer.write_choice(
        "single side",
        Task.LOCATION,
        stem,
        [_SIDES[finding.side]],
        [*(text for key, text in _SIDES.items() if key != finding.side), _NEITHER_SIDE],
        findings=[term.id],
        explanation=explanation,
    )
    if finding.side != "both":
        for asked_side in ("right", "left"):
            yield writer.write(
                "closed side",
                Task.LOCATION,
                CLOSED,
                f"{'Are' if term.plural else 'Is'} there {term.with_article} on the {asked_side}?",
                "yes" if asked_side == finding.side else "no",
                findings=[term.id],
                explanation=explanation,
            )


def _draft_place(writer: DraftWriter, finding: PresentFinding, term: FindingTerm) -> Draft | None:
    locations = next((locations for locations in _LOCATIONS.values() if finding.location in locations), None)
    if locations is None:
        writer.not_built["location: the place has no three alternatives"] += 1
        return None
    options = {
        location: f"In the {location}" if "lobe" in location else f"At the {location}"
        for location in locations
    }
    key = options.pop(finding.location)
    return writer.write_choice(
        "single place",
        Task.LOCATION,
        f"Where is the {term.noun}?",
        [key],
        list(options.values()),
        findings=[term.id],
        explanation=f"{term.sign} {_state_location(term, key)}.",
    )


def _draft_zone(writer: DraftWriter, finding: PresentFinding, term: FindingTerm) -> Iterator[Draft | None]:
    """Ask for the lung zone. Zones next to the zone of the finding are not offered as options."""
    key = f"In the {finding.location}"
    explanation = f"{term.sign} {_state_location(term, key)}."
    height = LUNG_ZONES.index(finding.location) % 3
    same_side = [zone for zone in LUNG_ZONES if zone.startswith(finding.side)]
    opposite_side = [zone for zone in LUNG_ZONES if not zone.startswith(finding.side)]
    distractors = [zone for number, zone in enumerate(same_side) if abs(number - height) > 1]
    other_heights = [zone for number, zone in enumerate(opposite_side) if number != height]
    writer.random.shuffle(other_heights)
    distractors = [opposite_side[height], *distractors, *other_heights]
    yield writer.write_choice(
        "single zone",
        Task.LOCATION,
        f"Where {'are' if term.plural else 'is'} the {term.noun}?",
        [key],
        [f"In the {zone}" for zone in distractors],
        findings=[term.id],
        explanation=explanation,
    )
    yield writer.write(
        "open zone",
        Task.LOCATION,
        OPEN,
        f"In which lung zone {'are' if term.plural else 'is'} the {term.noun}?",
        capitalise(finding.location),
        findings=[term.id],
        explanation=explanation,
    )


def _state_location(term: FindingTerm, location: str) -> str:
    """State where a finding is, such as "A pleural effusion is seen on the left"."""
    verb = "are" if term.plural else "is"
    return f"{capitalise(term.with_article)} {verb} seen {location[0].lower()}{location[1:]}"


def _draft_diagnoses(writer: DraftWriter) -> Iterator[Draft | None]:
    """Ask which diagnosis the examination supports."""
    terms = load_findings()
    for finding in writer.list_present():
        if Task.DIFFERENTIAL in finding.term.tasks:
            absent = [
                term
                for term in writer.list_absent(without=[finding.term.id])
                if Task.DIFFERENTIAL in term.tasks or term.id in _ACUTE_CONDITIONS
            ]
            yield writer.write_choice(
                "single diagnosis",
                Task.DIFFERENTIAL,
                "Which of these diagnoses does the examination support?",
                [finding.term.option],
                [term.option for term in absent],
                findings=[finding.term.id, *(term.id for term in absent[:3])],
                explanation=writer.explain(finding.term.id),
            )
    if writer.facts.no_acute_disease and not writer.facts.present.keys() & _NOT_WITH_NO_ACUTE:
        acute = [term for term in writer.list_absent() if term.id in _ACUTE_CONDITIONS]
        conclusion = Evidence(kind=EvidenceKind.SENTENCE, text=writer.facts.no_acute_disease)
        explanation = (
            f"{writer.explain(others=[term.id for term in acute])} No acute cardiopulmonary disease is seen."
        )
        if acute:
            yield writer.write_choice(
                "single conclusion",
                Task.DIFFERENTIAL,
                "Which conclusion does the examination support?",
                ["No acute cardiopulmonary disease"],
                [term.option for term in acute],
                findings=[term.id for term in acute[:3]],
                explanation=explanation,
                category=_NO_DISEASE,
                evidence=[conclusion],
            )
            yield writer.write(
                "open conclusion",
                Task.DIFFERENTIAL,
                OPEN,
                "Which acute cardiopulmonary disease, if any, does the examination show?",
                "None",
                findings=[term.id for term in acute[:3]],
                explanation=explanation,
                category=_NO_DISEASE,
                evidence=[conclusion],
            )
    ruled_out = [term for term in writer.list_absent() if Task.DIFFERENTIAL in term.tasks]
    supported = [
        finding.term
        for finding in writer.list_present()
        if Task.DIFFERENTIAL in finding.term.tasks
        and finding.term.group not in {terms[term.id].group for term in ruled_out[:3]}
    ]
    if supported and len(ruled_out) >= 3:
        yield writer.write_choice(
            "multiple diagnoses",
            Task.DIFFERENTIAL,
            "Which of these diagnoses does the examination not support? Select all that apply.",
            [term.option for term in ruled_out[:3]],
            [supported[0].option],
            findings=[*(term.id for term in ruled_out[:3]), supported[0].id],
            multiple=True,
            explanation=writer.explain(supported[0].id, others=[term.id for term in ruled_out[:3]]),
        )


#: ReXVQA's category and subcategory of a normal examination (its Table 5).
_NO_DISEASE = ("Negation", "Absence of Disease")
#: Conditions whose absence belongs to the conclusion that there is no acute disease.
_ACUTE_CONDITIONS = frozenset(
    ["pleural_effusion", "pneumothorax", "consolidation", "pulmonary_edema", "pneumonia"]
)
#: Findings with which no question has this conclusion as its answer.
_NOT_WITH_NO_ACUTE = frozenset(["cardiomegaly", "nodule", "cavity"])
