"""Fills reporting checklists from the protocol and the data: GRRAS (2011) and CLAIM (2020).

The items are paraphrased. An item that only the authors can answer is left open.

Sources: Kottner J et al., J Clin Epidemiol 2011;64:96-106 (GRRAS); Mongan J, Moy L, Kahn CE Jr, Radiol Artif
Intell 2020;2:e200029 (CLAIM).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.count_texts import count_text
from domain.protocols import protocol_from_plain
from reader_study.report.methods import (
    describe_cases,
    describe_missing_answers,
    write_methods,
)
from reader_study.report.study_report import StudyReport

CHECKLIST_TITLES = {"grras": "GRRAS checklist", "claim": "CLAIM checklist"}
FILLED, PARTLY, AUTHOR = "filled", "partly", "author"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """An item of a checklist. ``status`` is filled, partly (the authors complete it), or author (open)."""

    number: int
    section: str
    item: str
    status: str
    text: str


def build_checklists(report: StudyReport) -> dict[str, tuple[ChecklistItem, ...]]:
    """Return the items of each checklist, by its name."""
    content = _write_content(report)
    return {"grras": _fill(_GRRAS, content), "claim": _fill(_CLAIM, content)}


_Item = tuple[str, str, str, str]


def _fill(items: Sequence[_Item], content: dict[str, str]) -> tuple[ChecklistItem, ...]:
    return tuple(
        ChecklistItem(
            number=number,
            section=section,
            item=item,
            status=status if status == AUTHOR or content.get(key) else AUTHOR,
            text=content.get(key, ""),
        )
        for number, (section, item, status, key) in enumerate(items, start=1)
    )


def _write_content(report: StudyReport) -> dict[str, str]:
    facts, design, tables = report.facts, report.facts.design, report.tables
    protocol = protocol_from_plain(facts.protocol)
    cases, reading, scoring, analysis = write_methods(report)
    levels = sorted({row.level for row in tables.raters if row.kind == "reader" and row.level})
    missing = sum(row.missing for row in tables.participation)
    assigned = sum(row.assigned for row in tables.participation)
    patients = "" if design.patients is None else f", {count_text(design.patients, 'patient')}"
    return {
        "device": f"{count_text(facts.models, 'model')}: "
        + (", ".join(row.rater for row in tables.raters if row.kind == "model") or "none"),
        "hypothesis": protocol.primary_comparison,
        "population": f"{facts.source}: {count_text(design.exams, 'exam')}{patients}.",
        "raters": f"{count_text(facts.readers, 'reader')}; levels: {', '.join(levels) or 'not stated'}.",
        "size": f"{count_text(facts.readers, 'reader')}, {count_text(facts.cases, 'case')}, "
        f"{count_text(design.repeats, 'repeated case')} per reader. Reason for the size: authors.",
        "sampling": cases,
        "process": reading,
        "independent": reading,
        "scoring": scoring,
        "analysis": analysis,
        "missing": describe_missing_answers(protocol),
        "counts": f"{describe_cases(report)} {missing:,} of {assigned:,} assigned answers are missing; see "
        "tables/participation.csv and figures/flow.svg. "
        f"{count_text(facts.repeat_answers, 'answer')} to hidden repeats.",
        "sensitivity": "tables/missing_answers.csv (missing answers wrong or correct, tipping point)"
        if tables.missing_answers
        else "",
        "flow": "figures/flow.svg, tables/participation.csv, tables/exclusions.csv",
        "characteristics": "tables/raters.csv (level, years, subspecialty). Patients: authors.",
        "estimates": "tables/agreement.csv, tables/group_agreement.csv, tables/repeats.csv, with intervals.",
        "performance": "tables/accuracy.csv, tables/mrmc.csv, tables/paired.csv, with intervals.",
        "errors": "tables/confusion.csv, tables/agreement.csv (both wrong), tables/failed.csv",
        "details": f"All tables and figures of this report; protocol SHA-256 {facts.protocol_sha256}.",
        "software": f"Overread, {facts.settings.version}; seed {facts.settings.seed}.",
        "reference": scoring,
        "variability": "tables/agreement.csv, tables/group_agreement.csv, tables/repeats.csv",
    }


_GRRAS: tuple[_Item, ...] = (
    ("Title and abstract", "Agreement or reliability is named in title or abstract", AUTHOR, ""),
    ("Introduction", "Device or instrument of interest", PARTLY, "device"),
    ("Introduction", "Population of subjects", PARTLY, "population"),
    ("Introduction", "Population of raters", PARTLY, "raters"),
    ("Introduction", "What is known, and rationale", AUTHOR, ""),
    ("Methods", "Sample size: raters, subjects, replicates, and how it was chosen", PARTLY, "size"),
    ("Methods", "Sampling method", FILLED, "sampling"),
    (
        "Methods",
        "Rating process: interval between repeats, clinical information, blinding",
        FILLED,
        "process",
    ),
    ("Methods", "Independence of the ratings", FILLED, "independent"),
    ("Methods", "Statistical analysis", FILLED, "analysis"),
    ("Results", "Actual numbers of raters, subjects and replicates", FILLED, "counts"),
    ("Results", "Characteristics of raters and subjects", PARTLY, "characteristics"),
    ("Results", "Estimates of agreement with their uncertainty", FILLED, "estimates"),
    ("Discussion", "Practical relevance of the results", AUTHOR, ""),
    ("Auxiliary material", "Detailed results", FILLED, "details"),
)

_CLAIM: tuple[_Item, ...] = (
    ("Title and abstract", "Title names the use and the category of AI", AUTHOR, ""),
    ("Title and abstract", "Structured summary", AUTHOR, ""),
    ("Introduction", "Background, intended use and clinical role", AUTHOR, ""),
    ("Introduction", "Objectives and hypotheses", PARTLY, "hypothesis"),
    ("Methods: design", "Prospective or retrospective", AUTHOR, ""),
    ("Methods: design", "Goal of the study", PARTLY, "hypothesis"),
    ("Methods: data", "Data sources", PARTLY, "population"),
    ("Methods: data", "Eligibility criteria, and how cases were selected", PARTLY, "sampling"),
    ("Methods: data", "Preprocessing", AUTHOR, ""),
    ("Methods: data", "Selection of subsets", FILLED, "sampling"),
    ("Methods: data", "Definitions of data elements", PARTLY, "scoring"),
    ("Methods: data", "De-identification", AUTHOR, ""),
    ("Methods: data", "Handling of missing data", FILLED, "missing"),
    ("Methods: reference", "Definition of the reference standard", PARTLY, "reference"),
    ("Methods: reference", "Rationale for the reference standard", AUTHOR, ""),
    ("Methods: reference", "Source of the reference, qualifications of annotators", AUTHOR, ""),
    ("Methods: reference", "Annotation tools", PARTLY, "software"),
    ("Methods: reference", "Inter- and intra-rater variability", FILLED, "variability"),
    ("Methods: partitions", "Sample size, and how it was determined", PARTLY, "size"),
    ("Methods: partitions", "Assignment of data to partitions", AUTHOR, ""),
    ("Methods: partitions", "Level at which partitions are disjoint", AUTHOR, ""),
    ("Methods: model", "Description of the model", PARTLY, "device"),
    ("Methods: model", "Software and hardware", PARTLY, "software"),
    ("Methods: model", "Initialisation of the parameters", AUTHOR, ""),
    ("Methods: training", "Training approach", AUTHOR, ""),
    ("Methods: training", "Selection of the final model", AUTHOR, ""),
    ("Methods: training", "Ensembling", AUTHOR, ""),
    ("Methods: evaluation", "Metrics of performance", FILLED, "analysis"),
    ("Methods: evaluation", "Measures of significance and uncertainty", FILLED, "analysis"),
    ("Methods: evaluation", "Robustness or sensitivity analysis", PARTLY, "sensitivity"),
    ("Methods: evaluation", "Explainability", AUTHOR, ""),
    ("Methods: evaluation", "Validation on external data", AUTHOR, ""),
    ("Results: data", "Flow of participants or cases", FILLED, "flow"),
    ("Results: data", "Demographic and clinical characteristics", AUTHOR, ""),
    ("Results: performance", "Performance of the models", FILLED, "performance"),
    ("Results: performance", "Accuracy estimates with their precision", FILLED, "performance"),
    ("Results: performance", "Failure analysis", PARTLY, "errors"),
    ("Discussion", "Limitations, bias, generalisability", AUTHOR, ""),
    ("Discussion", "Implications for practice", AUTHOR, ""),
    ("Other information", "Registration number", AUTHOR, ""),
    ("Other information", "Access to the full protocol", PARTLY, "details"),
    ("Other information", "Funding", AUTHOR, ""),
)
