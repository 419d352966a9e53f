"""Fills reporting checklists from the protocol and the data: GRRAS (2011), CLAIM (2024) and STARD-AI (2025).

The items are paraphrased. An item that only the authors can answer is left open.

Sources: Kottner J et al., J Clin Epidemiol 2011;64:96-106 (GRRAS); Tejani AS et al., Radiol Artif Intell
2024;6:e240300 (CLAIM, 2024 update); Bossuyt PM et al., BMJ 2015;351:h5527 (STARD); Sounderajah V et al., Nat
Med 2025;31:3283-3289 (STARD-AI).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.count_texts import count_text
from domain.protocols import protocol_from_plain
from reader_study.report.methods import (
    describe_cases,
    describe_hypothesis,
    describe_independence,
    describe_missing_answers,
    describe_timing,
    write_methods,
)
from reader_study.report.study_report import StudyReport

CHECKLIST_TITLES = {
    "grras": "GRRAS checklist",
    "claim": "CLAIM checklist",
    "stard_ai": "STARD-AI checklist",
}
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
    """Return the items of each checklist, by the name of the checklist."""
    content = _write_content(report)
    items = {"grras": _GRRAS, "claim": _CLAIM, "stard_ai": _STARD_AI}
    return {name: _fill(items[name], content) for name in CHECKLIST_TITLES}


_Item = tuple[str, str, str, str]


def _fill(items: Sequence[_Item], content: dict[str, str]) -> tuple[ChecklistItem, ...]:
    return tuple(
        ChecklistItem(
            number=number,
            section=section,
            item=item,
            status=_find_status(status, content.get(key, "")),
            text=content.get(key, ""),
        )
        for number, (section, item, status, key) in enumerate(items, start=1)
    )


def _find_status(status: str, text: str) -> str:
    """Return the status: an item without a text is open, an item that refers to the authors partly filled."""
    if status == AUTHOR or not text:
        return AUTHOR
    return PARTLY if status == FILLED and "the authors describe" in text else status


def _write_content(report: StudyReport) -> dict[str, str]:
    facts, design, tables = report.facts, report.facts.design, report.tables
    protocol = protocol_from_plain(facts.protocol)
    cases, reading, scoring, analysis = write_methods(report)
    levels = sorted({row.level for row in tables.raters if row.kind == "reader" and row.level})
    hypothesis, exams = describe_hypothesis(protocol), _describe_exams(report)
    n_missing = sum(row.missing for row in tables.participation)
    n_assigned = sum(row.assigned for row in tables.participation)
    key_contributors = [row.rater for row in tables.raters if row.set_reference]
    patients = "" if design.patients is None else f", {count_text(design.patients, 'patient')}"
    software = f"Overread {facts.software} ({facts.settings.version})"
    return {
        "device": f"{count_text(facts.models, 'model')}: "
        + (", ".join(row.rater for row in tables.raters if row.kind == "model") or "none"),
        "hypothesis": f"{protocol.primary_comparison.strip().rstrip('.')}; hypothesis: {hypothesis}.",
        "timing": f"{describe_timing(report)} When the images were made: authors.",
        "population": f"{facts.source}: {count_text(design.exams, 'exam')}{patients}.",
        "raters": f"{count_text(facts.readers, 'reader')}; levels: {', '.join(levels) or 'not stated'}.",
        "size": f"{count_text(facts.readers, 'reader')}, {count_text(facts.cases, 'case')}, "
        f"{_describe_repeats(report)}. Reason for the size: authors.",
        "sampling": cases,
        "selection": f"{cases} How readers were recruited: authors.",
        "process": reading,
        "independence": describe_independence(report),
        "scoring": scoring,
        "analysis": analysis,
        "missing": describe_missing_answers(protocol),
        "counts": f"{describe_cases(report)} {n_missing:,} of {n_assigned:,} assigned answers are missing; "
        f"see tables/participation.csv and figures/flow.svg. {count_text(facts.repeat_answers, 'answer')} to "
        "hidden repeats.",
        "sensitivity": f"{'tables/missing_answers.csv (tipping point), ' if tables.missing_answers else ''}"
        "tables/coverage.csv (without “cannot determine”), tables/mrmc.csv (readers random and fixed)",
        "flow": "figures/flow.svg, tables/participation.csv, tables/exclusions.csv",
        "characteristics": f"tables/raters.csv (level, years, subspecialty). {exams}",
        "demographics": exams if tables.exams else "",
        "estimates": "tables/agreement.csv, tables/group_agreement.csv, tables/repeats.csv, with intervals.",
        "performance": "tables/accuracy.csv, tables/reader_means.csv, tables/mrmc.csv, tables/paired.csv, "
        f"{'tables/leave_one_out.csv, ' if tables.leave_one_out else ''}"
        f"{'tables/diagnostic.csv, ' if tables.diagnostic else ''}"
        f"{'tables/calibration.csv, ' if tables.calibration else ''}with intervals.",
        "errors": "tables/confusion.csv, tables/agreement.csv (both wrong), tables/failed.csv, "
        "tables/case_differences.csv (cases on which readers and models differ). Medical context: authors.",
        "crosstab": "tables/confusion.csv (key and answer of each rater)" if tables.confusion else "",
        "subgroups": "tables/by_category.csv, tables/by_difficulty.csv, tables/by_format.csv. "
        "Patient subgroups: authors.",
        "details": "All tables and figures of this report.",
        "protocol": f"report.html and report.json have version {facts.protocol_version} in full, SHA-256 "
        f"{facts.protocol_sha256}. {describe_timing(report)}",
        "registration": f"The protocol, SHA-256 {facts.protocol_sha256}, is in report.html. Registration: "
        "authors.",
        "software": f"{software}; seed {facts.settings.seed}. Software of the models: authors.",
        "availability": f"Analysis: {software}, Apache-2.0. Models, their code and data: authors.",
        "partition": f"All cases are test data, of {facts.source}; nothing was trained or tuned on them in "
        "this study. Partitions of the models' development: authors.",
        "reference": f"The reference is the answer key of {facts.source}. {scoring} How the key was made: "
        "authors.",
        "annotators": f"Readers who contributed to the answer key: {', '.join(key_contributors) or 'none'}"
        f"{'; levels in tables/raters.csv' if key_contributors else ''}. Others: authors.",
        "annotation": f"Answers were recorded with {software}. Tools of the answer key: authors.",
        "variability": "Of the readers: tables/agreement.csv, tables/group_agreement.csv, "
        "tables/repeats.csv. How discrepancies of the answer key were resolved: authors.",
    }


def _describe_repeats(report: StudyReport) -> str:
    """Return the numbers of hidden repeats by design, and of answers to repeats."""
    facts = report.facts
    answers = f"{count_text(facts.repeat_answers, 'answer')} to repeats"
    if facts.design.repeats:
        return f"{count_text(facts.design.repeats, 'hidden repeat')} per reader by design, {answers}"
    return f"{answers}, in imported readings" if facts.repeat_answers else "no repeats"


def _describe_exams(report: StudyReport) -> str:
    """Return the analysed exams by sex and age, and the note on what the authors add."""
    parts: dict[str, list[str]] = {}
    for row in report.tables.exams:
        parts.setdefault(row.characteristic, []).append(f"{row.value} {row.exams:,}")
    counts_text = "; ".join(f"{name}: {', '.join(counts)}" for name, counts in parts.items())
    sentence = f"Exams by {counts_text} (tables/exams.csv). " if counts_text else ""
    return f"{sentence}{'Clinical characteristics' if counts_text else 'Patients'}: authors."


_GRRAS: tuple[_Item, ...] = (
    ("Title and abstract", "Agreement or reliability is named in title or abstract", AUTHOR, ""),
    ("Introduction", "Device or instrument of interest", PARTLY, "device"),
    ("Introduction", "Population of subjects", PARTLY, "population"),
    ("Introduction", "Population of raters", PARTLY, "raters"),
    ("Introduction", "What is known, and rationale", AUTHOR, ""),
    ("Methods", "Sample size: raters, subjects, replicates, and how it was chosen", PARTLY, "size"),
    ("Methods", "Sampling method", PARTLY, "selection"),
    (
        "Methods",
        "Rating process: interval between repeats, clinical information, blinding",
        FILLED,
        "process",
    ),
    ("Methods", "Independence of the ratings", FILLED, "independence"),
    ("Methods", "Statistical analysis", FILLED, "analysis"),
    ("Results", "Actual numbers of raters, subjects and replicates", FILLED, "counts"),
    ("Results", "Characteristics of raters and subjects", PARTLY, "characteristics"),
    ("Results", "Estimates of agreement with their uncertainty", FILLED, "estimates"),
    ("Discussion", "Practical relevance of the results", AUTHOR, ""),
    ("Auxiliary material", "Detailed results", FILLED, "details"),
)

_CLAIM: tuple[_Item, ...] = (
    ("Title and abstract", "Title names AI and the category of its technique", AUTHOR, ""),
    ("Title and abstract", "Structured summary", AUTHOR, ""),
    ("Introduction", "Background, intended use and clinical role", AUTHOR, ""),
    ("Introduction", "Aims, objectives and hypotheses", PARTLY, "hypothesis"),
    ("Methods: design", "Prospective or retrospective", PARTLY, "timing"),
    ("Methods: design", "Goal of the study", PARTLY, "hypothesis"),
    ("Methods: data", "Data sources", PARTLY, "population"),
    ("Methods: data", "Inclusion and exclusion criteria, and how cases were selected", PARTLY, "sampling"),
    ("Methods: data", "Preprocessing", AUTHOR, ""),
    ("Methods: data", "Selection of subsets", FILLED, "sampling"),
    ("Methods: data", "De-identification", AUTHOR, ""),
    ("Methods: data", "Handling of missing data", FILLED, "missing"),
    ("Methods: data", "Acquisition of the images", AUTHOR, ""),
    ("Methods: reference", "How the reference standard was obtained", PARTLY, "reference"),
    ("Methods: reference", "Rationale for the reference standard", AUTHOR, ""),
    ("Methods: reference", "Source of the reference, qualifications of annotators", PARTLY, "annotators"),
    ("Methods: reference", "Annotation of the test set, and its tools", PARTLY, "annotation"),
    ("Methods: reference", "Inter- and intra-rater variability, and discrepancies", PARTLY, "variability"),
    ("Methods: partitions", "Assignment of data to partitions", PARTLY, "partition"),
    ("Methods: partitions", "Level at which partitions are disjoint", AUTHOR, ""),
    ("Methods: test data", "Intended sample size, and how it was determined", PARTLY, "size"),
    ("Methods: model", "Description of the model", PARTLY, "device"),
    ("Methods: model", "Software and its versions", PARTLY, "software"),
    ("Methods: model", "Initialisation of the parameters", AUTHOR, ""),
    ("Methods: training", "Training approach", AUTHOR, ""),
    ("Methods: training", "Selection of the final model", AUTHOR, ""),
    ("Methods: training", "Ensembling", AUTHOR, ""),
    ("Methods: evaluation", "Metrics of performance", FILLED, "analysis"),
    ("Methods: evaluation", "Measures of significance and uncertainty", FILLED, "analysis"),
    ("Methods: evaluation", "Robustness or sensitivity analysis", PARTLY, "sensitivity"),
    ("Methods: evaluation", "Explainability", AUTHOR, ""),
    ("Methods: evaluation", "Testing on internal data", AUTHOR, ""),
    ("Methods: evaluation", "Testing on external data, or why not", AUTHOR, ""),
    ("Methods: evaluation", "Registration of a clinical trial", AUTHOR, ""),
    ("Results: data", "Cases included and excluded, as a diagram", FILLED, "flow"),
    ("Results: data", "Demographic and clinical characteristics", PARTLY, "demographics"),
    ("Results: performance", "Performance against the reference standard", FILLED, "performance"),
    ("Results: performance", "Accuracy estimates with their precision", FILLED, "performance"),
    ("Results: performance", "Failure analysis", PARTLY, "errors"),
    ("Discussion", "Limitations, bias, generalisability", AUTHOR, ""),
    ("Discussion", "Implications for practice", AUTHOR, ""),
    ("Other information", "Access to the full protocol", FILLED, "protocol"),
    ("Other information", "Availability of software, model and data", PARTLY, "availability"),
    ("Other information", "Funding", AUTHOR, ""),
)

_STARD_AI: tuple[_Item, ...] = (
    (
        "Title and abstract",
        "Title names a study of diagnostic accuracy, AI, and a measure of accuracy",
        AUTHOR,
        "",
    ),
    ("Title and abstract", "Structured abstract", AUTHOR, ""),
    ("Introduction", "Background, intended use and clinical role of the AI", AUTHOR, ""),
    ("Introduction", "Objectives and hypotheses", PARTLY, "hypothesis"),
    ("Methods: ethics", "Approval by an ethics committee, or why none was needed", AUTHOR, ""),
    ("Methods: design", "Data collected before or after index test and reference standard", PARTLY, "timing"),
    ("Methods: participants", "Eligibility criteria, of patients and of data", PARTLY, "population"),
    ("Methods: participants", "How eligible patients or data were identified", AUTHOR, ""),
    ("Methods: participants", "Setting, location and dates", AUTHOR, ""),
    ("Methods: participants", "Consecutive, random or convenience series", PARTLY, "sampling"),
    ("Methods: data", "Source, acquisition and preprocessing of the data", AUTHOR, ""),
    ("Methods: data", "Annotation of the data, and who annotated", PARTLY, "reference"),
    ("Methods: data", "Partitions for development and test, and that they are disjoint", AUTHOR, ""),
    ("Methods: data", "Training data of the AI, and overlap with the test data", AUTHOR, ""),
    ("Methods: test", "Index test: model, version, input and output", PARTLY, "device"),
    ("Methods: test", "Software and hardware of the index test", PARTLY, "software"),
    ("Methods: test", "How people used the output of the AI", PARTLY, "process"),
    ("Methods: test", "Reference standard, in enough detail to repeat it", PARTLY, "reference"),
    ("Methods: test", "Reason for the choice of the reference standard", AUTHOR, ""),
    (
        "Methods: test",
        "Cut-offs of the index test, set before or after the data were seen",
        PARTLY,
        "scoring",
    ),
    ("Methods: test", "Cut-offs of the reference standard", AUTHOR, ""),
    ("Methods: test", "Information available to the readers of the index test", FILLED, "process"),
    ("Methods: test", "Information available to those who set the reference standard", AUTHOR, ""),
    ("Methods: analysis", "Methods to estimate and compare accuracy", FILLED, "analysis"),
    ("Methods: analysis", "Handling of indeterminate results", FILLED, "scoring"),
    ("Methods: analysis", "Handling of missing data", FILLED, "missing"),
    ("Methods: analysis", "Analyses of variability and of errors", PARTLY, "errors"),
    ("Methods: analysis", "Evaluation of bias and fairness between subgroups", AUTHOR, ""),
    ("Methods: analysis", "Sample size, and how it was determined", PARTLY, "size"),
    ("Results: participants", "Flow of participants or cases, as a diagram", FILLED, "flow"),
    ("Results: participants", "Demographic and clinical characteristics", PARTLY, "demographics"),
    ("Results: participants", "Severity of disease, and alternative diagnoses", AUTHOR, ""),
    ("Results: participants", "Time and interventions between index test and reference standard", AUTHOR, ""),
    ("Results: test", "Cross tabulation of the index test with the reference standard", FILLED, "crosstab"),
    ("Results: test", "Estimates of accuracy with their precision", FILLED, "performance"),
    ("Results: test", "Results by subgroup", PARTLY, "subgroups"),
    ("Results: test", "Adverse events", AUTHOR, ""),
    ("Discussion", "Limitations: bias, uncertainty, generalisability", AUTHOR, ""),
    ("Discussion", "Implications for practice: intended use and role of the AI", AUTHOR, ""),
    ("Other information", "Registration, and where the full protocol is", PARTLY, "registration"),
    ("Other information", "Funding, and interests of the developers", AUTHOR, ""),
    ("Other information", "Availability of the model, its code and the data", PARTLY, "availability"),
)
