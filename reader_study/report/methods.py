"""Writes the methods paragraphs of a report from the protocol, the design and the settings."""

from __future__ import annotations

from domain.count_texts import count_text
from domain.protocols import (
    AgreementBasis,
    CannotDetermineRule,
    FailedReplyRule,
    HelperRule,
    Hypothesis,
    MissingAnswers,
    Protocol,
    ReaderEffect,
    protocol_from_plain,
)
from reader_study.report.study_report import StudyReport


def render_methods(report: StudyReport) -> str:
    """Return the methods as plain text, one paragraph per line with empty lines between them."""
    return "\n\n".join(write_methods(report)) + "\n"


def write_methods(report: StudyReport) -> tuple[str, ...]:
    """Return the methods: cases and reading, scoring, and statistical analysis."""
    protocol = protocol_from_plain(report.facts.protocol)
    paragraphs = (
        _write_cases(report),
        _write_reading(report, protocol),
        _write_scoring(report, protocol),
        _write_analysis(report, protocol),
    )
    return tuple(" ".join(filter(None, sentences)) for sentences in paragraphs)


def describe_cases(report: StudyReport) -> str:
    """Return the numbers of scored and of analysed cases, and the rule for exclusions."""
    facts, design = report.facts, report.facts.design
    text = f"{facts.cases_analysed:,} of {count_text(facts.cases, 'scored case')} are analysed"
    rule = protocol_from_plain(facts.protocol).exclusions.strip()
    rule_text = f" Rule for exclusions: {rule.rstrip('.')}." if rule else ""
    if not design.excluded_cases:
        return f"{text}; no case is excluded.{rule_text}"
    verb = "is" if design.excluded_cases == 1 else "are"
    return (
        f"{text}; {count_text(design.excluded_cases, 'case')} {verb} excluded for all raters, with the "
        f"reasons in the list of exclusions.{rule_text}"
    )


def describe_missing_answers(protocol: Protocol) -> str:
    """Return how missing answers, failed replies and "cannot determine" are counted."""
    undetermined = {
        CannotDetermineRule.WRONG: "counts as wrong",
        CannotDetermineRule.EXCLUDED: "counts as no answer",
        CannotDetermineRule.CATEGORY: "counts as wrong, and is a category of its own in agreement",
    }[protocol.cannot_determine]
    missing = {
        MissingAnswers.COMMON: "readers and model are compared on the cases that both answered",
        MissingAnswers.WRONG: "a case without a prediction counts as wrong for the model",
    }[protocol.used_missing_answers]
    failed = {
        FailedReplyRule.CATEGORY: "is a category of its own in agreement",
        FailedReplyRule.MISSING: "is missing in agreement",
    }[protocol.used_failed_replies]
    return (
        f"“Cannot determine” {undetermined}. A reply of a model without a recognised answer counts as wrong, "
        f"and {failed}; {missing}. A case that a reader only reported as faulty counts as unanswered."
    )


def describe_hypothesis(protocol: Protocol) -> str:
    """Return the hypothesis of the primary comparison, with its margin."""
    if protocol.hypothesis is Hypothesis.NON_INFERIORITY:
        return f"non-inferiority with a margin of {protocol.margin * 100:g} percentage points"
    return "superiority"


def describe_timing(report: StudyReport) -> str:
    """Return when the readings were made, and whether the protocol preceded them."""
    design, versions = report.facts.design, report.facts.protocol_versions
    dates = (design.first_reading, design.last_reading)
    days = f"on {dates[0]}" if dates[0] == dates[1] else f"from {dates[0]} to {dates[1]}"
    period = "" if None in dates else f"Readings were made {days}. "
    amendments = sum(version.answers_before > 0 for version in versions)
    changes = f"; {count_text(amendments, 'later version')} amended it" if amendments else ""
    first = versions[0]
    precedence = "before the first reading" if not first.answers_before else "after readings had begun"
    return f"{period}The protocol was written on {first.written_at[:10]}, {precedence}{changes}."


def describe_independence(report: StudyReport) -> str:
    """Return whether the readers knew the answers of others."""
    design = report.facts.design
    n_internal = report.facts.readers - design.external_readers
    parts = [
        f"{count_text(n_internal, 'reader')} answered in Overread, without the answer key and the answers of "
        "others."
        if n_internal
        else "",
        f"The readings of {count_text(design.external_readers, 'reader')} were made elsewhere; the authors "
        "describe their independence."
        if design.external_readers
        else "",
    ]
    return " ".join(filter(None, parts))


def describe_agreement(protocol: Protocol) -> str:
    """Return the coefficients of agreement, their categories and their intervals."""
    basis = {
        AgreementBasis.ANSWERS: "of the answers (the letters of the options), not of their correctness",
        AgreementBasis.CORRECTNESS: "of the correctness of the answers: raters agree if both are correct or "
        "both are incorrect",
    }[protocol.used_agreement_basis]
    return (
        f"Agreement is Cohen's kappa {basis}; over several answer formats it is the mean, weighted by the "
        "number of cases. Gwet's AC1, percent agreement and, for groups, Fleiss' kappa and Krippendorff's "
        "alpha are reported as well. Intervals are large-sample intervals where each category and the "
        "disagreements have 50 cases or more, and quantiles of the posterior distribution otherwise."
    )


def _write_cases(report: StudyReport) -> list[str]:
    facts, design = report.facts, report.facts.design
    patients = "" if design.patients is None else f" of {count_text(design.patients, 'patient')}"
    strata = f", stratified by {' and '.join(design.strata)}" if design.strata else ""
    limit = ", at most one per exam" if design.one_per_exam else ""
    return [
        (
            f"{count_text(facts.cases, 'question')} about {count_text(design.exams, 'exam')}{patients} were "
            f"drawn at random from {facts.source}{strata}{limit} (seed {design.seed}; answer formats: "
            f"{', '.join(design.formats)})."
        ),
        describe_cases(report),
        "Each comparison uses the cases that all compared raters answered.",
    ]


def _write_reading(report: StudyReport, protocol: Protocol) -> list[str]:
    facts, design = report.facts, report.facts.design
    arms = f" with the arms {' and '.join(design.arms)}" if design.arms else ""
    per_case = f", {design.readers_per_case} per case" if design.readers_per_case else ""
    washout = f" at least {count_text(design.washout_days, 'day')} apart" if design.washout_days else ""
    lines = [
        (
            f"{count_text(facts.readers, 'reader')} and {count_text(facts.models, 'model')} took part; "
            f"design: {design.crossing}{per_case}{arms}{f', two periods{washout}' if design.arms else ''}."
        ),
        _describe_conditions(report, protocol),
        (
            f"The readings of {count_text(design.external_readers, 'reader')} were made elsewhere and "
            "imported; the authors describe their conditions."
        )
        if design.external_readers
        else "",
    ]
    lines.append(describe_timing(report))
    if design.training:
        lines.append(f"{count_text(design.training, 'training case')} came first and are not scored.")
    if design.repeats:
        lines.append(
            f"{count_text(design.repeats, 'case')} per reader were repeated unannounced, at least "
            f"{design.repeat_gap} cases later, for intra-reader agreement only."
        )
    return lines


def _describe_conditions(report: StudyReport, protocol: Protocol) -> str:
    """Return the conditions of the readers who read in the app."""
    design = report.facts.design
    if report.facts.readers == design.external_readers:
        return ""
    conditions = [
        "options in random order" if protocol.shuffle_options else "options in the order of the dataset",
        "with a confidence from 1 to 5" if protocol.ask_confidence else "without a confidence",
        "corrections of earlier answers allowed"
        if protocol.going_back
        else "without returning to earlier cases",
    ]
    information, arms = "indication, age, sex and view", design.arms_with_information
    if not arms:
        shown = f"without {information}"
    elif len(arms) == max(1, len(design.arms)):
        shown = f"with {information}"
    else:
        shown = f"and, in the arm {' and '.join(arms)} only, {information}"
    guideline = (
        " Before the first case they read the guideline, which the protocol contains."
        if protocol.guideline.strip()
        else ""
    )
    return (
        f"Readers saw the question and the radiographs of its exam {shown}; no radiology report, and no "
        "answers of other readers or models. They answered independently and without the answer key, "
        f"{', '.join(conditions)}.{guideline}"
    )


def _write_scoring(report: StudyReport, protocol: Protocol) -> list[str]:
    has_helpers = any(profile.set_reference for profile in report.tables.raters)
    rule = {
        HelperRule.EXCLUDED: "are excluded from the primary comparison",
        HelperRule.INCLUDED: "are included in the primary comparison",
        HelperRule.LEAVE_ONE_OUT: (
            "are included in the primary comparison; each of them, and the model compared with them, is "
            "scored by a reference made without this reader, the answer of more than half of the other "
            "contributing readers (cases without such a majority are left out for this reader)"
        ),
    }[protocol.used_helpers]
    return [
        "An answer is correct if it equals the answer key or an alternative correct answer.",
        "Open answers that differ from the key were marked by an expert who did not see who answered."
        if report.tables.open_answers and protocol.marks_open_answers
        else "",
        "Open answers are correct only if they equal the key."
        if report.tables.open_answers and not protocol.marks_open_answers
        else "",
        describe_missing_answers(protocol),
        f"Readers who contributed to the answer key {rule}." if has_helpers else "",
    ]


def _write_analysis(report: StudyReport, protocol: Protocol) -> list[str]:
    facts, level = report.facts, f"{protocol.confidence:.0%}"
    unit = "patient" if facts.design.patients is not None else "exam"
    readers = (
        "readers and cases as random effects (Obuchowski-Rockette with Hillis' degrees of freedom if every "
        "reader read every case, otherwise U-statistics)"
        if protocol.readers is ReaderEffect.RANDOM
        else "cases as a random effect and readers as fixed"
    )
    hypothesis = describe_hypothesis(protocol)
    primary = "" if facts.model is None else f" ({facts.model})"
    return [
        (
            f"Primary comparison: {protocol.primary_comparison.strip().rstrip('.')}{primary}, for "
            f"{hypothesis}, with {readers}."
        ),
        (
            f"Accuracies have {level} Wilson intervals and paired differences Tango's, at the effective "
            f"sample size if several cases belong to one {unit}; pairs are tested by McNemar's exact test."
        ),
        "On yes/no questions, sensitivity, specificity and predictive values of the answer yes have Wilson "
        "intervals, and the area under the ROC curve of the stated confidence has DeLong's; means of the "
        "readers are analysed like the primary comparison."
        if report.tables.diagnostic
        else "",
        "The probabilities that models state for their answers have an expected calibration error over ten "
        "bins, and on yes/no questions an area under the ROC curve (DeLong)."
        if report.tables.calibration
        else "",
        describe_agreement(protocol),
        f"p values are adjusted by {protocol.used_adjustment.label}. {facts.family}".rstrip(),
        f"Comparisons on fewer than {facts.needed_cases} cases are not reported.",
        (
            f"Resampling used {facts.settings.bootstrap:,} draws and seed {facts.settings.seed}. The "
            f"analysis was computed by Overread {facts.software} ({facts.settings.version}) from protocol "
            f"version {facts.protocol_version}, SHA-256 {facts.protocol_sha256}."
        ),
    ]
