"""Writes the sentences of a report about its results."""

from __future__ import annotations

from domain.count_texts import count_text
from domain.protocols import HelperRule, Hypothesis, PartlyRightRule, Protocol, ReaderEffect
from measures.rating_values import ALL
from measures.results import ACCURACY, AUC, AccuracyResult, MrmcComparison
from reader_study.report.facts import StudyFacts
from reader_study.report.helper_rules import find_declared_rule
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.tables import ReportTables


def write_sentences(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> tuple[str, ...]:
    """Return the sentences of the report."""
    lines = []
    if facts.simulated or any(rater.simulated for rater in tables.raters):
        lines.append("Some or all of these raters are SIMULATED. The results only illustrate the report.")
    lines += _write_primary_comparison(facts, tables, protocol)
    lines += _write_model_choice(facts)
    lines.append(_write_selection_caveat(facts, tables))
    helped_raters = [rater.rater for rater in tables.raters if rater.set_reference]
    if helped_raters:
        lines.append(
            f"{_join_names(helped_raters)} contributed to the answer key; their accuracy is marked because "
            "it is not independent of the key."
        )
    lines += _write_leave_one_out(tables, protocol)
    if facts.repeat_answers or facts.training_answers:
        lines.append(
            f"{count_text(facts.repeat_answers, 'answer')} to hidden repeats are used for intra-reader "
            f"agreement only; {count_text(facts.training_answers, 'answer')} to training cases are not used."
        )
    failed = [reply_counts for reply_counts in tables.failed if reply_counts.failed]
    if failed:
        counts = ", ".join(
            f"{reply_counts.model} {reply_counts.failed:,} of {reply_counts.n:,}" for reply_counts in failed
        )
        lines.append(f"Replies without a recognised answer, which count as wrong: {counts}.")
    lines.append(_write_extraction_errors(tables, protocol))
    lines += _write_open_answers(tables, protocol)
    n_exclusions = len(tables.exclusions)
    lines.append(
        f"{count_text(n_exclusions, 'exclusion')}, listed below." if n_exclusions else "No exclusions."
    )
    if len(facts.protocol_versions) > 1:
        n_amendments = sum(version.answers_before > 0 for version in facts.protocol_versions)
        lines.append(
            f"The protocol has {len(facts.protocol_versions)} versions; {n_amendments} of them date from "
            "after the first answer."
        )
    return tuple(filter(None, lines))


def format_share(share: float | None) -> str:
    """Return a share as a percentage with two decimals: 83.84 %."""
    return "not defined" if share is None else f"{share * 100:.2f} %"


def _write_primary_comparison(facts: StudyFacts, tables: ReportTables, protocol: Protocol) -> list[str]:
    model = facts.model
    all_tasks = [result for result in tables.accuracy if result.group == "all" and result.n]
    readers = [result for result in all_tasks if result.kind == "reader"]
    level = f"{protocol.confidence:.0%} CI"
    model_results = [result for result in all_tasks if result.rater == model]
    lines = [_write_accuracy(result, level) for result in [*model_results, *readers]]
    primary_is_random = protocol.readers is ReaderEffect.RANDOM
    comparisons = [
        comparison
        for comparison in tables.mrmc
        if (comparison.model, comparison.task, comparison.arm, comparison.measure)
        == (model, ALL, "", ACCURACY)
    ]
    has_helpers = any(comparison.includes_helpers for comparison in comparisons)
    declared_rule = find_declared_rule(comparisons, protocol)
    lines += [
        _write_comparison(
            comparison,
            protocol,
            is_primary=(comparison.random_readers, comparison.helpers) == (primary_is_random, declared_rule),
            readers=_describe_readers(comparison, has_helpers=has_helpers),
            level=level,
        )
        for comparison in sorted(comparisons, key=lambda comparison: comparison.helpers is not declared_rule)
    ]
    lines += _write_mean_auc(tables, protocol, level)
    lines += _write_arm_comparisons(tables, protocol, level)
    if model is None and any(overall.kind == "model" for overall in tables.overall):
        lines.append("The protocol names none of these models, so there is no primary comparison.")
    return lines


def _write_accuracy(result: AccuracyResult, level: str) -> str:
    text = f"{result.rater} answered {result.correct:,} of {count_text(result.n, 'case')} correctly"
    if result.low is None or result.high is None:
        return f"{text} ({format_share(result.estimate)})."
    return (
        f"{text} ({format_share(result.estimate)}, {level} {result.low * 100:.1f} to"
        f" {result.high * 100:.1f})."
    )


def _write_mean_auc(tables: ReportTables, protocol: Protocol, level: str) -> list[str]:
    """Return the readers' mean AUC on yes/no questions, by arm, with the reader effect of the protocol."""
    is_random = protocol.readers is ReaderEffect.RANDOM
    rows = [row for row in tables.reader_means if (row.measure, row.task) == (AUC, ALL)]
    includes_helpers = protocol.used_helpers is not HelperRule.EXCLUDED and any(
        row.includes_helpers for row in rows
    )
    population = "generalises to similar readers" if is_random else "applies to these readers only"
    return [
        f"Mean AUC of {count_text(row.readers, 'reader')}{f' in {row.arm}' if row.arm else ''} on "
        f"{count_text(row.cases, 'yes/no question')}, from the stated confidence: {row.estimate:.3f} "
        f"({level} {row.low:.3f} to {row.high:.3f}; {population}; {row.method})."
        for row in rows
        if row.estimate is not None and row.low is not None and row.high is not None
        if (row.random_readers, row.includes_helpers) == (is_random, includes_helpers)
    ]


def _format_difference(measure: str, value: float) -> str:
    """Return a difference of AUCs with three decimals, and other differences in percentage points."""
    return f"{value:+.3f}" if measure == AUC else f"{value * 100:+.2f}"


def _write_arm_comparisons(tables: ReportTables, protocol: Protocol, level: str) -> list[str]:
    """Return the contrast of the arms with readers and cases random, and the checks of a crossover."""
    declared_rule = find_declared_rule(tables.arms, protocol)
    lines, written_keys = [], set()
    for row in tables.arms:
        key = (row.factor, row.a, row.b, row.measure)
        if (
            row.measure not in (ACCURACY, AUC)
            or row.task != ALL
            or row.helpers is not declared_rule
            or key in written_keys
        ):
            continue
        written_keys.add(key)  # the first row of a contrast has readers and cases random
        subject = {"arm": "Arms", "period": "Check of periods", "sequence": "Check of sequences"}[row.factor]
        if row.difference is None or row.low is None or row.high is None or row.p is None:
            if row.measure == AUC:
                continue
            lines.append(f"{subject}, {row.a} minus {row.b}: {row.note or 'not defined'}.")
            continue
        difference, low, high = (
            _format_difference(row.measure, x) for x in (row.difference, row.low, row.high)
        )
        unit = "" if row.measure == AUC else " percentage points"
        lines.append(
            f"{subject}: mean {'AUC' if row.measure == AUC else ACCURACY} in {row.a} minus {row.b} over "
            f"{count_text(row.readers, 'reader')} on {count_text(row.cases, 'case')}: {difference}{unit} "
            f"({level} {low} to {high}; generalises to similar readers and cases; {row.method}; "
            f"{_format_p_values(row.p, row.p_adjusted, protocol)})."
        )
    return lines


def _format_p_values(p: float | None, adjusted: float | None, protocol: Protocol) -> str:
    if p is None:
        return "no p value"
    text = _format_p(p)
    if adjusted is None or adjusted == p:
        return text
    return f"{text}, adjusted by {protocol.used_adjustment.label} {_format_p(adjusted)}"


def _format_p(p: float) -> str:
    return "p < .0001" if p < 0.0001 else f"p = {p:.4f}".replace("0.", ".", 1)


def _describe_readers(comparison: MrmcComparison, *, has_helpers: bool) -> str:
    readers = count_text(comparison.readers, "reader")
    if not has_helpers:
        return readers
    if comparison.leave_one_out:
        return f"{readers} (contributors to the answer key are scored by the majority of the others)"
    if comparison.includes_helpers:
        return f"{readers}, including those who contributed to the answer key,"
    return f"{readers} who did not contribute to the answer key"


def _write_comparison(
    comparison: MrmcComparison, protocol: Protocol, *, is_primary: bool, readers: str, level: str
) -> str:
    population = (
        "generalises to similar readers" if comparison.random_readers else "applies to these readers only"
    )
    label = "Primary comparison" if is_primary else "Secondary comparison"
    if comparison.difference is None or comparison.low is None or comparison.high is None:
        if is_withheld(comparison.note):
            return f"{label} ({population}): {comparison.note}."
        return f"{label} ({population}): not defined; {comparison.note or 'too few readers or cases'}."
    interval = f"{level} {comparison.low * 100:+.2f} to {comparison.high * 100:+.2f}"
    text = (
        f"{label}: mean accuracy of {readers} minus {comparison.model} on "
        f"{count_text(comparison.cases, 'case')}: {comparison.difference * 100:+.2f} percentage points "
        f"({interval}; {population}; {comparison.method}; "
        f"{_format_p_values(comparison.p, comparison.p_adjusted, protocol)})."
    )
    if model_notes := [note for note in comparison.note.split("; ") if "the model" in note]:
        text += f" {model_notes[0][0].upper()}{model_notes[0][1:]}."
    if not is_primary:
        return text
    within_margin = comparison.high < protocol.margin  # the model's deficit stays within the margin
    if protocol.hypothesis is Hypothesis.NON_INFERIORITY:
        verdict = "is shown" if within_margin else "is not shown"
        return (
            f"{text} Non-inferiority of the model by a margin of {protocol.margin * 100:g} percentage points "
            f"{verdict}."
        )
    if -protocol.margin <= comparison.high and comparison.low <= protocol.margin:
        return f"{text} The interval does not show which is more accurate."
    better = "model was" if comparison.high < -protocol.margin else "readers were"
    adjusted = comparison.p_adjusted
    if adjusted is not None and adjusted > 1 - protocol.confidence:
        return (
            f"{text} As a single comparison, the {better} more accurate; after adjustment for the "
            "comparisons with the other models, the difference is not significant."
        )
    return f"{text} The {better} more accurate."


def _write_leave_one_out(tables: ReportTables, protocol: Protocol) -> list[str]:
    """Return each key contributor's accuracy, by the key and by the other contributors' majority."""
    by_key = {result.rater: result for result in tables.accuracy if result.group == ALL}
    level = f"{protocol.confidence:.0%} CI"
    lines = []
    for result in (row for row in tables.leave_one_out if row.group == ALL):
        if result.low is None or result.high is None:
            lines.append(f"{result.rater} by the majority of the others: {result.note or 'not defined'}.")
            continue
        lines.append(
            f"{result.rater} by the majority of the others who contributed to the answer key: "
            f"{result.correct:,} of {count_text(result.n, 'case')} correct ({format_share(result.estimate)}, "
            f"{level} {result.low * 100:.1f} to {result.high * 100:.1f}); by the answer key "
            f"{format_share(by_key[result.rater].estimate)}."
        )
    return lines


def _write_extraction_errors(tables: ReportTables, protocol: Protocol) -> str:
    rates = [
        f"{rate.rule} {rate.wrong:,} of {rate.marked:,} ({protocol.confidence:.0%} CI {rate.low * 100:.1f} "
        f"to {rate.high * 100:.1f} %)"
        for rate in tables.extraction
        if rate.low is not None and rate.high is not None
    ]
    return f"Replies from which the answer was read wrongly, by rule: {'; '.join(rates)}." if rates else ""


def _write_open_answers(tables: ReportTables, protocol: Protocol) -> list[str]:
    if not tables.open_answers:
        return []
    if not protocol.marks_open_answers:
        return ["Open answers count as right only if they equal the answer key (exact match)."]
    partly_text = {
        PartlyRightRule.WRONG: "counts as wrong",
        PartlyRightRule.HALF: "counts as half a point in the table of open answers, and as wrong in analyses "
        "of right and wrong answers",
        PartlyRightRule.RIGHT: "counts as right",
    }[protocol.effective_partly_right_rule]
    lines = []
    lines.append(
        "Open answers that differ from the answer key are marked by an expert who does not see who answered; "
        f"“partly right” {partly_text}."
    )
    n_not_marked = sum(row.first is None for row in tables.open_answer_marks)
    if n_not_marked:
        n_uncounted = sum(row.not_marked for row in tables.open_answers)
        lines.append(
            f"{n_not_marked:,} of {count_text(len(tables.open_answer_marks), 'distinct open answer')} "
            f"{'is' if n_not_marked == 1 else 'are'} not marked, so {count_text(n_uncounted, 'answer')} of "
            "readers and models count neither as right nor as wrong."
        )
    for agreement in tables.marker_agreement:
        if agreement.weights != "none":
            continue
        text = (
            f"The two markers gave the same mark to {agreement.same:,} of "
            f"{count_text(agreement.n, 'answer')} that both marked"
        )
        if agreement.kappa is None:
            lines.append(f"{text}; kappa is {agreement.note}.")
        else:
            interval = (
                ""
                if agreement.low is None or agreement.high is None
                else f", {protocol.confidence:.0%} CI {agreement.low:.2f} to {agreement.high:.2f}"
            )
            lines.append(f"{text} (kappa {agreement.kappa:.2f}{interval}).")
    return lines


def _write_model_choice(facts: StudyFacts) -> list[str]:
    lines = []
    if facts.models_without_answers:
        lines.append(
            f"{_join_names(list(facts.models_without_answers))} "
            f"{'has' if len(facts.models_without_answers) == 1 else 'have'} answered none of the cases."
        )
    if facts.every_model and facts.models:
        lines.append("The protocol does not list models, so all models with predictions are included.")
    elif not facts.models:
        lines.append("No models: none was chosen for this study, or none has answered a case.")
    return lines


def _write_selection_caveat(facts: StudyFacts, tables: ReportTables) -> str:
    micro_by_reader = {
        overall.rater: overall.micro
        for overall in tables.overall
        if overall.kind == "reader" and overall.micro is not None and overall.n >= facts.needed_cases
    }
    if len(micro_by_reader) < 2:
        return ""
    best = max(micro_by_reader, key=micro_by_reader.__getitem__)
    mean = sum(micro_by_reader.values()) / len(micro_by_reader)
    return (
        f"{best} has the highest accuracy of {len(micro_by_reader)} readers "
        f"({format_share(micro_by_reader[best])}). A maximum selected after the fact is biased upwards. "
        f"Compare with the mean of the readers ({format_share(mean)}) or with a reader named in advance."
    )


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
