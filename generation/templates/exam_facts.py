"""The facts of an exam that questions may use: findings that are present, and findings that are ruled out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from domain.boxes import LabelledBox
from domain.provenance import Evidence, EvidenceKind
from generation.source_exams import CodedFinding, CodeSystem, SourceExam
from generation.templates.exclusions import FindingExclusionRule, is_coded_by, load_exclusions
from terminology.findings import FindingTerm, load_findings
from terminology.mentions import Mention, Polarity, find_mentions, split_sentences
from terminology.sides import BOTH, LEFT, RIGHT

#: GEMeX's regions for the place of a focal finding, which is in one of them only; each side from top to
#: bottom.
LUNG_ZONES = tuple(
    f"{side} {height} lung zone" for side in ("right", "left") for height in ("upper", "mid", "lower")
)
#: Findings of the lung that can be limited to one zone. Fluid and gas in the pleural space spread with
#: gravity.
_IN_ONE_ZONE = frozenset(
    [
        "consolidation", "airspace_opacity", "infiltrate", "opacity", "atelectasis", "pneumonia", "nodule",
        "mass", "calcified_granuloma", "cavity", "scarring",
    ]
)  # fmt: skip

_EXCEPTION = re.compile(r"\b(?:otherwise|except|apart|aside|other than)\b", re.IGNORECASE)
_NO_ACUTE_DISEASE = re.compile(
    r"^(?:no|negative\s+for|no\s+(?:radiographic\s+)?evidence\s+(?:of|for))\s+(?:acute|active)"
    r"(?:\s+radiographic)?\s+"
    r"(?:cardiopulmonary\s+|pulmonary\s+|intrathoracic\s+|cardiac\s+)?(?:disease|process|abnormalit\w+|findings?)\b"
    r"(?:\s+(?:identified|seen|detected|demonstrated))?\.?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentFinding:
    """A finding that is present. ``side`` is right, left, both or "" if it is not known for certain.

    ``location`` is the lobe, base, apex or lung zone if there is exactly one, such as "right lower lobe".
    ``evidence`` contains the codes and the sentences that state the finding.
    """

    term: FindingTerm
    side: str = ""
    location: str = ""
    boxes: tuple[LabelledBox, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamFacts:
    """What is known of an exam.

    ``absent`` maps each ruled-out finding to the evidence against it. Findings that are neither present nor
    absent are unknown and never used. ``no_acute_disease`` is the sentence that states that there is no acute
    disease, or "". ``unused`` counts findings that could not be used, by reason.
    """

    exam: SourceExam
    present: dict[str, PresentFinding]
    absent: dict[str, tuple[Evidence, ...]]
    no_acute_disease: str
    unused: Counter[str]

    def list_evidence(self, name: str) -> tuple[Evidence, ...]:
        """List what states that a finding is present or rules it out; empty if it is not known."""
        return self.present[name].evidence if name in self.present else self.absent.get(name, ())


def collect_facts(exam: SourceExam) -> ExamFacts:
    """Collect the facts of an exam from its codes and, if it has one, its report.

    A coded finding is present. If there is a report, the report must also state the finding without doubt
    and nowhere negate it. A finding is absent if the source states so, if the report negates it, or if a rule
    of the exclusion table rules it out. In addition, no code or sentence may suggest the finding, and no
    similar finding may be present or suggested.
    """
    terms = load_findings()
    sentences = split_sentences(exam.report.findings, exam.report.impression)
    mentions = [
        mention
        for sentence in sentences
        for term in terms.values()
        for mention in find_mentions(sentence, term)
    ]
    by_finding: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_finding[mention.finding].append(mention)
    codes = {name: [code for code in exam.codes if is_coded_by(term, code)] for name, term in terms.items()}
    unused: Counter[str] = Counter()
    present = {}
    for name, term in terms.items():
        stating_codes = [code for code in codes[name] if code.present]
        if not stating_codes:
            continue
        reason = _find_reason_against(
            stating_codes, codes[name], by_finding[name], has_report=bool(sentences)
        )
        if reason:
            unused[reason] += 1
        else:
            present[name] = _describe_presence(
                term,
                stating_codes,
                by_finding[name],
                similar=[
                    mention.sentence
                    for similar_name in term.blocked_by
                    for mention in by_finding[similar_name]
                    if mention.polarity in {Polarity.STATED, Polarity.UNCERTAIN}
                ],
                is_searched=bool(term.labels & exam.labels_searched),
            )
    possible_findings = {
        name
        for name in terms
        if any(code.present for code in codes[name])
        or any(mention.polarity in {Polarity.STATED, Polarity.UNCERTAIN} for mention in by_finding[name])
    }
    candidates = _find_excluded(exam, sentences, by_finding, codes, present)
    contradictory = present.keys() & candidates.keys()
    unused["coded, but the report also negates it"] += len(contradictory)
    present = {name: finding for name, finding in present.items() if name not in contradictory}
    absent = {
        name: evidence
        for name, evidence in candidates.items()
        if name not in possible_findings
        and not (terms[name].blocked_by & (possible_findings | present.keys()))
        and not any(mention.exact and mention.polarity is Polarity.RESTRICTED for mention in by_finding[name])
    }
    unused["ruled out, but a similar finding or a restriction is mentioned"] += len(candidates) - len(absent)
    return ExamFacts(
        exam=exam,
        present=present,
        absent=absent,
        no_acute_disease=""
        if possible_findings & _ACUTE
        else next((sentence for sentence in sentences if _NO_ACUTE_DISEASE.match(sentence)), ""),
        unused=+unused,
    )


#: Findings that contradict the conclusion that there is no acute disease.
_ACUTE = frozenset(
    [
        "pleural_effusion", "pneumothorax", "consolidation", "infiltrate", "pulmonary_edema", "pneumonia",
        "airspace_opacity",
        "heart_failure", "pulmonary_congestion", "acute_fracture", "free_air", "mass", "opacity", "cavity",
        "atelectasis",
    ]
)  # fmt: skip


def _find_reason_against(
    stating_codes: list[CodedFinding], codes: list[CodedFinding], mentions: list[Mention], *, has_report: bool
) -> str:
    """Return why a coded finding does not count as present; "" if it does."""
    # Scene graphs code regions: a finding of one region may be absent in another.
    if len(stating_codes) < len(codes) and stating_codes[0].system is not CodeSystem.SCENE_GRAPH:
        return "coded as present and as absent"
    if not has_report:
        return ""
    polarities = {mention.polarity for mention in mentions if mention.exact}
    if polarities & {Polarity.NEGATED, Polarity.RESTRICTED}:
        return "coded, but the report also negates it"
    if Polarity.STATED in polarities:
        return ""
    return "coded, but the report only suggests it" if polarities else "coded, but not named in the report"


def _find_excluded(
    exam: SourceExam,
    sentences: list[str],
    by_finding: dict[str, list[Mention]],
    codes: dict[str, list[CodedFinding]],
    present: dict[str, PresentFinding],
) -> dict[str, tuple[Evidence, ...]]:
    """Map each finding that the record negates or the exclusion table rules out to the evidence for this."""
    table, excluded = load_exclusions(), dict[str, tuple[Evidence, ...]]()
    for name, term in load_findings().items():
        negation = _find_negation(exam, term, by_finding[name], codes[name])
        if negation:
            excluded[name] = (negation,)
    for sentence in sentences:
        for row in table.statements:
            if _contains_statement(sentence, row):
                _exclude(excluded, row, [Evidence(kind=EvidenceKind.SENTENCE, text=sentence)])
    for row in table.negated:
        if row.finding in excluded:
            _exclude(excluded, row, excluded[row.finding])
    for row in table.present:
        if row.finding in present:
            _exclude(excluded, row, present[row.finding].evidence)
    return excluded


def _exclude(
    excluded: dict[str, tuple[Evidence, ...]], row: FindingExclusionRule, evidence: Sequence[Evidence]
) -> None:
    """Add the findings that a row excludes, with the evidence for the row and the rule itself."""
    for name in row.excludes:
        rule = Evidence(kind=EvidenceKind.RULE, text=row.reason, finding=name, present=False)
        excluded.setdefault(name, (*evidence, rule))


def _find_negation(
    exam: SourceExam, term: FindingTerm, mentions: list[Mention], codes: list[CodedFinding]
) -> Evidence | None:
    """Return the evidence that the report, a code or a search of the images negates a finding, or None."""
    kind, text = None, ""
    negating = next((m for m in mentions if m.exact and m.polarity is Polarity.NEGATED), None)
    if negating:
        kind, text = EvidenceKind.SENTENCE, negating.sentence
    elif codes:
        regions = {code.region for code in codes}
        # A negated region says nothing about other regions, unless both lungs are negated.
        covers_lungs = bool(regions & {None, "bilateral lung"}) or {"left lung", "right lung"} <= regions
        if covers_lungs and not any(code.present for code in codes):
            kind, text = EvidenceKind.CODE, f"{codes[0].code}: no"
    elif term.labels & exam.labels_searched:
        kind, text = EvidenceKind.CODE, f"{min(term.labels & exam.labels_searched)}: searched for, not marked"
    return Evidence(kind=kind, text=text, finding=term.id, present=False) if kind else None


def _contains_statement(sentence: str, row: FindingExclusionRule) -> bool:
    """Return whether a sentence, or one of its clauses, is a statement that excludes findings."""
    if row.pattern is None or _EXCEPTION.search(sentence) or (row.unless and row.unless.search(sentence)):
        return False
    text = sentence.rstrip(".")
    clauses = [text, *re.split(r"\s*,\s*|\s+and\s+|\s+without\s+", text)]
    return any(row.pattern.search(clause.strip()) for clause in clauses)


def _describe_presence(
    term: FindingTerm,
    codes: list[CodedFinding],
    mentions: list[Mention],
    *,
    similar: list[str],
    is_searched: bool,
) -> PresentFinding:
    """Describe a finding. ``similar`` are the sentences on findings that could be taken for it."""
    # Boxes state the side only if all places were marked. NIH marked only one place per finding.
    sides = {_find_side(code) if is_searched or code.system is not CodeSystem.LABEL else "" for code in codes}
    side = "both" if sides == {"right", "left"} else sides.pop() if len(sides) == 1 else ""
    # If a similar finding is on another side, both answers could be right.
    if side and _contradicts(side, [*(mention.sentence for mention in mentions), *similar]):
        side = ""
    return PresentFinding(
        term=term,
        side=side,
        location=_find_location(term, side, codes[0])
        if side in {"right", "left"} and len(codes) == 1
        else "",
        boxes=tuple(dict.fromkeys(box for code in codes for box in code.boxes)),
        evidence=_list_presence_evidence(term, codes, mentions),
    )


def _find_location(term: FindingTerm, side: str, code: CodedFinding) -> str:
    """Return the lobe, base, apex or lung zone that the only code of a finding names; "" if it names none."""
    if code.system is CodeSystem.MESH:
        words = code.code.casefold().split("/")
        places = [
            word for word in ("upper lobe", "middle lobe", "lower lobe", "base", "apex") if word in words
        ]
        return f"{side} {places[0]}" if len(places) == 1 and "multiple" not in code.code else ""
    return code.region if code.region in LUNG_ZONES and term.id in _IN_ONE_ZONE else ""


def _list_presence_evidence(
    term: FindingTerm, codes: list[CodedFinding], mentions: list[Mention]
) -> tuple[Evidence, ...]:
    """List the codes that state a finding, and the sentences of the report or of the codes."""
    coded = [
        Evidence(kind=EvidenceKind.CODE, text=code.code, finding=term.id, present=True, region=code.region)
        for code in codes
    ]
    stated = [m.sentence for m in mentions if m.exact and m.polarity is Polarity.STATED]
    sentences = dict.fromkeys([*(code.sentence for code in codes if code.sentence), *stated])
    return (
        *coded,
        *(
            Evidence(kind=EvidenceKind.SENTENCE, text=text, finding=term.id, present=True)
            for text in sentences
        ),
    )


def _find_side(code: CodedFinding) -> str:
    """Return right, left, both or "" as the code states it, by its words, its region or its boxes."""
    if code.system is CodeSystem.MESH:
        words = code.code.casefold().split("/")
        return next(
            (side for side in ("right", "left") if side in words), "both" if "bilateral" in words else ""
        )
    if code.region:
        return next((side for side in ("right", "left") if code.region.startswith(side)), "")
    sides = {_find_side_of_box(box) for box in code.boxes}
    if sides == {"right", "left"}:
        return "both"
    return sides.pop() if len(sides) == 1 else ""


def _find_side_of_box(box: LabelledBox) -> str:
    """Return the patient's side of a box; "" near the midline, or without a grid, whose width is needed.

    A frontal radiograph shows the patient's right on the left. The middle of the image stands for the
    midline, so a box closer to it than a tenth of the width has no certain side.
    """
    if box.grid is None:
        return ""
    middle, margin = box.grid.width / 2, box.grid.width / 10
    if box.box.x_max < middle - margin:
        return "right"
    return "left" if box.box.x_min > middle + margin else ""


def _contradicts(side: str, sentences: list[str]) -> bool:
    """Return whether sentences on a finding name another side or, if ``side`` is "both", only one or none."""
    text = " ".join(sentences)
    if not text:
        return False
    right, left, both = RIGHT.search(text), LEFT.search(text), BOTH.search(text)
    if side == "both":
        return not both and not (right and left)
    return bool(both or (left if side == "right" else right))
