"""Sentences of a report about its numbers."""

from __future__ import annotations

from domain.protocols import Hypothesis, Protocol, ReadersAre
from measures.results import AccuracyResult, MrmcComparison
from reader_study.report.facts import StudyFacts
from reader_study.report.tables import ReportTables


def sentences(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> tuple[str, ...]:
    """The sentences, the primary comparison first."""
    said = []
    if facts.simulated or any(each.simulated for each in tables.raters):
        said.append(
            "Some or all of these raters are SIMULATED: the figures show the report and say nothing else."
        )
    said += _primary(facts, tables, protocol)
    said.append(_selected(tables))
    helped = [each.rater for each in tables.raters if each.set_reference]
    if helped:
        said.append(
            f"{_listed(helped)} helped to set the key: their accuracy is marked and is no independent figure."
        )
    if facts.repeat_answers or facts.training_answers:
        said.append(
            f"{facts.repeat_answers:,} hidden repeats count in nothing but a reader's agreement with the "
            f"same reader, and {facts.training_answers:,} answers to training cases nowhere."
        )
    failed = [each for each in tables.failed if each.failed]
    if failed:
        counts = ", ".join(f"{each.model} {each.failed:,} of {each.n:,}" for each in failed)
        said.append(f"No answer was found in some replies; they count as wrong: {counts}.")
    left = len(tables.exclusions)
    said.append(f"{left:,} exclusions, listed below." if left else "Nothing was excluded.")
    if len(facts.protocol_versions) > 1:
        amended = sum(each.answers_before > 0 for each in facts.protocol_versions)
        said.append(
            f"The protocol has {len(facts.protocol_versions)} versions, of which {amended} were written "
            "after the first answer."
        )
    return tuple(filter(None, said))


def percent(share: float | None) -> str:
    """A share as text with two decimals: 83.84 %."""
    return "not defined" if share is None else f"{share * 100:.2f} %"


def _primary(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> list[str]:
    model = facts.model
    all_tasks = [each for each in tables.accuracy if each.group == "all" and each.n]
    readers = [each for each in all_tasks if each.kind == "reader"]
    level = f"{protocol.confidence:.0%} CI"
    shown = [each for each in all_tasks if each.rater == model]
    said = [_right(each, level) for each in [*shown, *readers]]
    wanted = protocol.readers is ReadersAre.RANDOM
    said += [
        _against(each, protocol, primary=each.random_readers is wanted, level=level)
        for each in tables.mrmc
        if each.model == model
    ]
    if model is None and any(each.kind == "model" for each in tables.overall):
        said.append("The protocol names none of the models here: no primary comparison is made.")
    return said


def _right(each: AccuracyResult, level: str) -> str:
    counted = f"On {each.n:,} cases, {each.rater} was right on {each.correct:,}"
    if each.low is None or each.high is None:
        return f"{counted} ({percent(each.estimate)})."
    return f"{counted} ({percent(each.estimate)}, {level} {each.low * 100:.1f} to {each.high * 100:.1f})."


def _against(found: MrmcComparison, protocol: Protocol, *, primary: bool, level: str) -> str:
    who = "readers like these" if found.random_readers else "these readers"
    label = "Primary comparison" if primary else "Beside it"
    if found.difference is None or found.low is None or found.high is None:
        return f"{label}, {who}: not defined; {found.note or 'too few readers or cases'}."
    interval = f"{level} {found.low * 100:+.2f} to {found.high * 100:+.2f}"
    text = (
        f"{label}: on {found.cases:,} cases the mean of the {found.readers} readers less "
        f"{found.model} is {found.difference * 100:+.2f} points "
        f"({interval}; said of {who}; {found.method})."
    )
    if not primary:
        return text
    shown = found.high < protocol.margin  # the model's deficit stays within the margin
    if protocol.hypothesis is Hypothesis.NON_INFERIORITY:
        verdict = "is shown" if shown else "is not shown"
        return (
            f"{text} Non-inferiority of the model by a margin of {protocol.margin * 100:g} points {verdict}."
        )
    if found.high < -protocol.margin:
        return f"{text} The model was right more often."
    if found.low > protocol.margin:
        return f"{text} The readers were right more often."
    return f"{text} The interval does not settle which of the two is right more often."


def _selected(tables: ReportTables) -> str:
    micro = {
        each.rater: each.micro for each in tables.overall if each.kind == "reader" and each.micro is not None
    }
    if len(micro) < 2:
        return ""
    best = max(micro, key=micro.__getitem__)
    mean = sum(micro.values()) / len(micro)
    return (
        f"The highest reader is {best} ({percent(micro[best])}), picked afterwards as the largest "
        f"of {len(micro)}: a selected maximum is too high by chance alone. Compare with the mean reader "
        f"({percent(mean)}) or with one named beforehand."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
