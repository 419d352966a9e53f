"""Sentences of a report about its numbers."""

from __future__ import annotations

from domain.protocols import Hypothesis, Protocol, ReaderEffect
from measures.results import AccuracyResult, MrmcComparison
from reader_study.report.facts import StudyFacts
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.tables import ReportTables


def write_sentences(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> tuple[str, ...]:
    """The sentences, the primary comparison first."""
    lines = []
    if facts.simulated or any(rater.simulated for rater in tables.raters):
        lines.append(
            "Some or all of these raters are SIMULATED: the figures show the report and say nothing else."
        )
    lines += _write_primary_comparison(facts, tables, protocol)
    lines += _write_model_choice(facts)
    lines.append(_write_selection_caveat(facts, tables))
    helped_raters = [rater.rater for rater in tables.raters if rater.set_reference]
    if helped_raters:
        lines.append(
            f"{_join_names(helped_raters)} helped to set the key: their accuracy is marked and is no"
            " independent figure."
        )
    if facts.repeat_answers or facts.training_answers:
        lines.append(
            f"{facts.repeat_answers:,} hidden repeats count in nothing but a reader's agreement with the "
            f"same reader, and {facts.training_answers:,} answers to training cases nowhere."
        )
    failed = [reply_counts for reply_counts in tables.failed if reply_counts.failed]
    if failed:
        counts = ", ".join(
            f"{reply_counts.model} {reply_counts.failed:,} of {reply_counts.n:,}" for reply_counts in failed
        )
        lines.append(f"No answer was found in some replies; they count as wrong: {counts}.")
    n_exclusions = len(tables.exclusions)
    lines.append(f"{n_exclusions:,} exclusions, listed below." if n_exclusions else "Nothing was excluded.")
    if len(facts.protocol_versions) > 1:
        amended = sum(version.answers_before > 0 for version in facts.protocol_versions)
        lines.append(
            f"The protocol has {len(facts.protocol_versions)} versions, of which {amended} were written "
            "after the first answer."
        )
    return tuple(filter(None, lines))


def format_share(share: float | None) -> str:
    """A share as text with two decimals: 83.84 %."""
    return "not defined" if share is None else f"{share * 100:.2f} %"


def _write_primary_comparison(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> list[str]:
    model = facts.model
    all_tasks = [result for result in tables.accuracy if result.group == "all" and result.n]
    readers = [result for result in all_tasks if result.kind == "reader"]
    level = f"{protocol.confidence:.0%} CI"
    model_results = [result for result in all_tasks if result.rater == model]
    lines = [_write_accuracy(result, level) for result in [*model_results, *readers]]
    primary_is_random = protocol.readers is ReaderEffect.RANDOM
    lines += [
        _write_comparison(
            comparison, protocol, primary=comparison.random_readers is primary_is_random, level=level
        )
        for comparison in tables.mrmc
        if comparison.model == model
    ]
    if model is None and any(overall.kind == "model" for overall in tables.overall):
        lines.append("The protocol names none of the models here: no primary comparison is made.")
    return lines


def _write_accuracy(result: AccuracyResult, level: str) -> str:
    text = f"On {result.n:,} cases, {result.rater} was right on {result.correct:,}"
    if result.low is None or result.high is None:
        return f"{text} ({format_share(result.estimate)})."
    return (
        f"{text} ({format_share(result.estimate)}, {level} {result.low * 100:.1f} to"
        f" {result.high * 100:.1f})."
    )


def _write_comparison(comparison: MrmcComparison, protocol: Protocol, *, primary: bool, level: str) -> str:
    population = "readers like these" if comparison.random_readers else "these readers"
    label = "Primary comparison" if primary else "Beside it"
    if comparison.difference is None or comparison.low is None or comparison.high is None:
        if is_withheld(comparison.note):
            return f"{label}, {population}: {comparison.note}."
        return f"{label}, {population}: not defined; {comparison.note or 'too few readers or cases'}."
    interval = f"{level} {comparison.low * 100:+.2f} to {comparison.high * 100:+.2f}"
    text = (
        f"{label}: on {comparison.cases:,} cases the mean of the {comparison.readers} readers less "
        f"{comparison.model} is {comparison.difference * 100:+.2f} points "
        f"({interval}; said of {population}; {comparison.method})."
    )
    if not primary:
        return text
    within_margin = comparison.high < protocol.margin  # the model's deficit stays within the margin
    if protocol.hypothesis is Hypothesis.NON_INFERIORITY:
        verdict = "is shown" if within_margin else "is not shown"
        return (
            f"{text} Non-inferiority of the model by a margin of {protocol.margin * 100:g} points {verdict}."
        )
    if comparison.high < -protocol.margin:
        return f"{text} The model was right more often."
    if comparison.low > protocol.margin:
        return f"{text} The readers were right more often."
    return f"{text} The interval does not settle which of the two is right more often."


def _write_model_choice(facts: StudyFacts) -> list[str]:
    lines = []
    if facts.models_without_answers:
        lines.append(
            f"{_join_names(list(facts.models_without_answers))} "
            f"{'has' if len(facts.models_without_answers) == 1 else 'have'} answered none of the cases."
        )
    if facts.every_model and facts.models:
        lines.append(
            "The protocol is older than the choice of models: every model with predictions takes part."
        )
    elif not facts.models:
        lines.append("No model takes part: none was chosen for this study, or none has answered a case.")
    return lines


def _write_selection_caveat(facts: StudyFacts, tables: ReportTables) -> str:
    micro = {
        overall.rater: overall.micro
        for overall in tables.overall
        if overall.kind == "reader" and overall.micro is not None and overall.n >= facts.needed_cases
    }
    if len(micro) < 2:
        return ""
    best = max(micro, key=micro.__getitem__)
    mean = sum(micro.values()) / len(micro)
    return (
        f"The highest reader is {best} ({format_share(micro[best])}), picked afterwards as the largest "
        f"of {len(micro)}: a selected maximum is too high by chance alone. Compare with the mean reader "
        f"({format_share(mean)}) or with one named beforehand."
    )


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
