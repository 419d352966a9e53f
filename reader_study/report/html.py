"""The report as one HTML file that loads no other files and supports the light and the dark theme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from domain.count_texts import count_text
from domain.protocols import canonical_json
from measures.rating_values import ALL
from measures.results import AUC, AccuracyResult, Record, to_records
from reader_study.report.checklists import CHECKLIST_TITLES, build_checklists
from reader_study.report.facts import StudyFacts
from reader_study.report.figures import draw_figures
from reader_study.report.methods import write_methods
from reader_study.report.study_report import StudyReport
from reader_study.report.svg import add_sticky_names
from reader_study.report.tables import TaskAccuracy

_STYLE = """\
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d5dbe1;--soft:#5b6570;
--mark:#e9f1fb}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebef;--paper:#14181d;--line:#3c4550;
--soft:#9aa5b1;--mark:#1d2f45}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:84rem;
margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem}table{border-collapse:collapse;font-size:13px}
div.wide{overflow-x:auto;margin:.5rem 0 1rem}
@media(min-width:86rem){div.wide{width:fit-content;max-width:calc(50vw + 39rem)}}
th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;
text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left;position:sticky;left:0;
background:var(--paper)}.text{text-align:left}td.long{white-space:normal;min-width:12rem;
overflow-wrap:anywhere}
th{font-weight:600;white-space:normal;vertical-align:bottom}
.soft{color:var(--soft)}.best{background:var(--mark);font-weight:600}
figure{margin:1rem 0;overflow-x:auto}.sticky-figure{display:grid}.sticky-figure>svg{grid-area:1/1}
.sticky-names{position:sticky;left:0;align-self:start}
code{font-size:12px;word-break:break-all}details{margin:.5rem 0}
"""
#: The title and note of each table, in the order of the report. Accuracies are shown above them as grids.
_TABLES = {
    "raters": ("Readers and models", "n: answers in the analysis."),
    "participation": (
        "Participation and missing answers",
        (
            "Scored cases: assigned, without an answer, excluded, only reported as faulty, and analysed. "
            "Failed replies are analysed as wrong."
        ),
    ),
    "exams": ("Exams", "Analysed exams by sex and age, as stated in their files."),
    "overall": ("Overall", "Micro: each question counts once. Macro: mean of the tasks."),
    "coverage": (
        "Accuracy without “cannot determine”",
        "Accuracy among the cases with an answer, and the share of cases with an answer.",
    ),
    "groups": ("Readers by level", "Pooled; applies to these readers only."),
    "mrmc": (
        "Mean of the readers minus each model",
        (
            "Each reader counts once, with the mean over the arms if the arm is empty. Readers as a random "
            "and as a fixed effect; without and with the readers who contributed to the answer key. Leave "
            "one out: each contributor is scored by the majority of the other contributors."
        ),
    ),
    "reader_means": (
        "Means of the readers",
        (
            "Accuracy; on yes/no questions also sensitivity, specificity and the AUC of the stated "
            "confidence. Readers and cases random (Obuchowski-Rockette, U-statistic), and readers fixed."
        ),
    ),
    "leave_one_out": (
        "Accuracy of readers who contributed to the answer key, by the others' majority",
        (
            "The reference of each reader is the answer of more than half of the others who contributed. "
            "Only if the protocol declares it."
        ),
    ),
    "leave_one_out_paired": (
        "Readers who contributed to the answer key minus the models, by the others' majority",
        "Reader and model by the reader's own reference; Tango intervals.",
    ),
    "missing_answers": (
        "Sensitivity to missing answers",
        (
            "Mean of the readers minus each model if missing answers were wrong or correct. Tipping point: "
            "the smallest share of the readers' missing answers that changes the conclusion if it is correct "
            "and the rest wrong."
        ),
    ),
    "arms": (
        "Differences between arms",
        (
            "Mean of the readers in arm a minus their mean in arm b; each reader counts once. Readers and "
            "cases random (Obuchowski-Rockette, U-statistic), readers fixed, cases fixed. Period and "
            "sequence check the crossover."
        ),
    ),
    "diagnostic": (
        "Sensitivity, specificity, predictive values and AUC",
        (
            "On yes/no questions, for the answer yes; AUC from the stated confidence of readers and the "
            "stated probability of models (DeLong). Intervals are clustered by patient or exam."
        ),
    ),
    "calibration": (
        "Calibration of the models' stated probabilities",
        (
            "Expected calibration error (ECE): mean absolute difference of stated probability and accuracy "
            "over ten bins, 0 to 1, with its interval by patient or exam; beside it the ECE expected of a "
            "calibrated model, and the Brier score. Answers with a probability only."
        ),
    ),
    "calibration_bins": (
        "Reliability: accuracy by stated probability",
        "Bins of the stated probability that the answer is correct; Wilson intervals by patient or exam.",
    ),
    "paired": (
        "Paired differences",
        "a minus b, on the questions that both answered; Tango intervals.",
    ),
    "unpaired": ("Differences on different questions", "For raters who did not answer the same questions."),
    "group_agreement": ("Agreement within groups", ""),
    "kappa_contrasts": (
        "Agreement between readers minus agreement with a model",
        (
            "Mean kappa of the pairs of readers minus mean kappa of the pairs of a reader and the model; "
            "joint bootstrap over the cases, these raters. Above 0: readers agree more with each other."
        ),
    ),
    "repeats": ("Intra-reader agreement", "On hidden repeats, which are not used elsewhere."),
    "agreement": ("Agreement of pairs", "Percent agreement, Cohen's kappa, Gwet's AC1 and Brennan-Prediger."),
    "boxes": (
        "Bounding boxes: mean IoU with the answer key",
        "On questions with a box in the key: per larger number of boxes (V-score), per key box, per match.",
    ),
    "failed": (
        "Replies without an answer",
        "Failed replies count as wrong. Number of replies by extraction rule.",
    ),
    "extraction": (
        "Errors of answer extraction",
        "Random samples of the replies that each rule read. For “failed”: replies that state an answer.",
    ),
    "open_answers": (
        "Open answers",
        "Answers by mark, and the mean of their points. Answers that are not marked are not in n.",
    ),
    "marker_agreement": (
        "Agreement of the markers",
        "Distinct open answers that both markers marked; kappa without and with linear weights.",
    ),
    "open_answer_marks": (
        "Marks of open answers",
        "Distinct answers that differ from the key; equal answers are marked once.",
    ),
    "confusion": (
        "Answer key and answer",
        "Single-choice and yes/no questions; letters in the original order of the options.",
    ),
    "positions": (
        "Option position",
        "Positions as shown: how often chosen, and how often correct.",
    ),
    "times": ("Seconds per case", "For readers: viewing time."),
    "learning": ("Accuracy by reading order", "Quarters of each reader's order."),
    "confidence": ("Accuracy by stated confidence", "1: a guess; 5: certain."),
    "case_differences": (
        "Cases on which readers and models differ most",
        (
            "Correct answers of readers and of models, and the difference of shares; at most 200 cases. "
            "The page shows each case with its images, boxes and answers once the study is closed."
        ),
    ),
    "faulty": ("Reported questions", ""),
    "exclusions": ("Exclusions", ""),
    "printed_by_task": (
        "ReXVQA layout: tasks",
        "Percentages; n in the first row, intervals in “Accuracy by task” and “Overall”.",
    ),
    "printed_by_category": (
        "ReXVQA layout: categories",
        "Percentages; n in the first column, intervals in “Accuracy by category”.",
    ),
}
_NO_LEAVE_ONE_OUT = "The protocol does not declare leave-one-out, or no reader contributed to the answer key."
#: Reasons why tables are empty; tables without an entry show "None.".
_REASONS_FOR_EMPTY = {
    "leave_one_out": _NO_LEAVE_ONE_OUT,
    "leave_one_out_paired": _NO_LEAVE_ONE_OUT,
    "missing_answers": "No answer is missing, or the study has only readers or only models.",
    "arms": "The study has one arm.",
    "calibration": "No model stated the probability that its answer is correct.",
    "calibration_bins": "No model stated the probability that its answer is correct.",
    "unpaired": "All raters answered the same questions.",
    "repeats": "No case was shown twice.",
    "boxes": "No answer to a question with a box in the key has a box.",
    "marker_agreement": "No open answer was marked by two people.",
    "open_answer_marks": "No open answer is marked.",
    "faulty": "No reader reported a question.",
    "exclusions": "Nothing is excluded.",
}
#: Texts with more characters than this are wrapped.
_WRAP_LENGTH = 28
#: Tables with more rows than this show the rows over all tasks and collapse the others.
_LONG_TABLE = 12
_COLLAPSED_TABLES = frozenset(
    {
        "paired", "unpaired", "agreement", "open_answer_marks", "confusion", "positions", "coverage",
        "case_differences", "learning", "diagnostic", "calibration_bins", *CHECKLIST_TITLES,
    }
)  # fmt: skip


def find_table_title(name: str) -> str:
    """Return the title of a table of the report; its name in words if it has none."""
    return _TABLES[name][0] if name in _TABLES else name.replace("_", " ").capitalize()


def render_html(report: StudyReport) -> str:
    """Return the whole page. Every number is in a ``data`` element with its exact value."""
    facts = report.facts
    parts = [
        f"<h1>{escape(facts.study)}</h1>",
        f'<p class="soft">{escape(_describe_study(facts))}</p>',
    ]
    tables = report.tables
    parts += ["<h2>Figures</h2>", *_render_figures(report)]
    parts += ["<h2>Results in words</h2>", *(f"<p>{escape(sentence)}</p>" for sentence in report.words)]
    parts += ["<h2>Methods</h2>", *(f"<p>{escape(paragraph)}</p>" for paragraph in write_methods(report))]
    accuracies: tuple[tuple[str, Sequence[AccuracyResult]], ...] = (
        ("task", tables.accuracy),
        ("category", tables.by_category),
        ("controlled category", tables.by_controlled_category),
        ("domain", tables.by_domain),
        ("difficulty", tables.by_difficulty),
        ("format", tables.by_format),
    )
    for title, results in accuracies:
        is_repetition = results is tables.by_controlled_category and _count_by_group(
            results
        ) == _count_by_group(tables.by_category)
        grid = (
            '<p class="soft">Every category is a controlled one; see “Accuracy by category”.</p>'
            if results and is_repetition
            else _render_grid(results, title)
        )
        parts += [f"<h2>Accuracy by {title}</h2>", grid]
    parts += ["<h2>Tables</h2>", f'<p class="soft">{escape(_describe_tables(facts))}</p>']
    records = report.to_records()
    for name, (title, note) in _TABLES.items():
        section_note = f"{note} {facts.family}" if name in ("paired", "mrmc") else note
        parts += _render_section(name, title, section_note, records[name])
    for name, items in build_checklists(report).items():
        parts += _render_section(
            name, CHECKLIST_TITLES[name], "Filled from the protocol and the data; “author” is left open.",
            to_records(items),
        )  # fmt: skip
    parts += [
        "<h2>Protocol</h2>",
        f"<p>Version {facts.protocol_version}, SHA-256 <code>{facts.protocol_sha256}</code></p>",
        f"<p><code>{escape(canonical_json(facts.protocol))}</code></p>",
        _render_table(to_records(facts.protocol_versions)),
        *([f"<p>Audit trail: <code>{escape(facts.audit_head)}</code></p>"] if facts.audit_head else []),
        "<h2>Settings</h2>",
        f"<p><code>{escape(canonical_json(asdict(facts.settings)))}</code></p>",
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(facts.study)}: reader study</title>\n<style>\n{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _render_figures(report: StudyReport) -> list[str]:
    """Return the figures. Figures of a single task or rater are collapsed."""
    parts: list[str] = []
    for figure in draw_figures(report):
        figure_html = f'<figure id="{figure.name}">{add_sticky_names(figure.svg)}</figure>'
        if figure.subject in ("", ALL):
            parts.append(figure_html)
        else:
            summary = f"{figure.name.partition('-')[0]}: {figure.subject}"
            parts.append(f"<details><summary>{escape(summary)}</summary>{figure_html}</details>")
    return parts


def _describe_study(facts: StudyFacts) -> str:
    analysed = f"{facts.cases_analysed:,} of {facts.cases:,} cases analysed"
    raters = f"{count_text(facts.readers, 'reader')}, {count_text(facts.models, 'model')}"
    return f"Reader study on {facts.source}. {analysed}, {raters}."


def _describe_tables(facts: StudyFacts) -> str:
    """Return the conventions of the tables that are not grids of accuracies."""
    return (
        "Shares, accuracies and their differences are from 0 to 1. low, high: limits of the "
        f"{facts.settings.confidence:.0%} interval. se: standard error. df: degrees of freedom. –: not "
        "defined; the note gives the reason. Columns without any value are left out here; the CSV files have "
        "all columns."
    )


def _render_section(name: str, title: str, note: str, records: list[Record]) -> list[str]:
    note_html = f'<p class="soft">{escape(note)}</p>' if note else ""
    if not records:
        return [f"<h2>{escape(title)}</h2>", f'<p class="soft">{_REASONS_FOR_EMPTY.get(name, "None.")}</p>']
    if name in _COLLAPSED_TABLES:
        return [f"<h2>{escape(title)}</h2>", note_html, _collapse(records, "row")]
    overall, by_task = _split_by_task(records)
    parts = [f"<h2>{escape(title)}</h2>", note_html, _render_table(overall)]
    return [*parts, _collapse(by_task, "row by task", "rows by task")] if by_task else parts


def _collapse(records: list[Record], singular: str, plural: str = "") -> str:
    summary = count_text(len(records), singular, plural)
    return f"<details><summary>{summary}</summary>{_render_table(records)}</details>"


def _split_by_task(records: list[Record]) -> tuple[list[Record], list[Record]]:
    """Separate the rows over all tasks from the rows of single tasks; a short table is not separated."""
    if len(records) <= _LONG_TABLE or "task" not in records[0]:
        return records, []
    overall = [record for record in records if record["task"] == ALL]
    by_task = [record for record in records if record["task"] != ALL]
    return (overall, by_task) if overall else (records, [])


def _render_grid(results: Sequence[AccuracyResult], group_kind: str) -> str:
    """Return a table of raters and groups with accuracy, interval and n in each cell."""
    if not results:
        return f'<p class="soft">No question has a {group_kind}.</p>'
    groups = list(dict.fromkeys(result.group for result in results))
    raters = list(dict.fromkeys(result.rater for result in results))
    results_by_cell = {(result.rater, result.group): result for result in results}
    is_transposed = group_kind.endswith("category")  # there are many categories, so they are the rows
    heads, rows = (raters, groups) if is_transposed else (groups, raters)
    lines = [f"<tr><th></th>{''.join(f'<th>{escape(str(head))}</th>' for head in heads)}</tr>"]
    for row in rows:
        inner = "".join(
            _render_cell(results_by_cell.get((head, row) if is_transposed else (row, head))) for head in heads
        )
        lines.append(f"<tr><td>{escape(str(row))}</td>{inner}</tr>")
    best_note = (
        " Highlighted: significantly better than every other rater (paired interval)."
        if any(isinstance(result, TaskAccuracy) and result.best for result in results)
        else ""
    )
    return (
        f'<p class="soft">Accuracy (%), interval, correct of n.{best_note}</p>'
        f'<div class="wide"><table>{"".join(lines)}</table></div>'
    )


def _count_by_group(results: Sequence[AccuracyResult]) -> set[tuple[str, str, int, int]]:
    return {(result.rater, str(result.group), result.correct, result.n) for result in results}


def _render_cell(result: AccuracyResult | None) -> str:
    if result is None or result.estimate is None or result.low is None or result.high is None:
        return '<td class="soft">–</td>'
    best_class = ' class="best"' if isinstance(result, TaskAccuracy) and result.best else ""
    dagger = " †" if "helped to set" in result.note else ""
    return (
        f'<td{best_class}><data value="{result.estimate!r}">{result.estimate * 100:.2f}</data>{dagger}<br>'
        f'<span class="soft"><data value="{result.low!r}">{result.low * 100:.1f}</data>–'
        f'<data value="{result.high!r}">{result.high * 100:.1f}</data><br>'
        f"{result.correct:,}/{result.n:,}</span></td>"
    )


def _render_table(records: list[Record]) -> str:
    if not records:
        return '<p class="soft">None.</p>'
    names = [name for name in records[0] if not all(_is_blank(record[name]) for record in records)]
    heads = "".join(
        f"<th{_format_class(name, records)}>{escape(name.replace('_', ' '))}</th>" for name in names
    )
    integer_columns = {name for name in names if all(_is_integer(record[name]) for record in records)}
    lines = [
        "<tr>"
        + "".join(_render_value(record[name], name, as_integer=name in integer_columns) for name in names)
        + "</tr>"
        for record in records
    ]
    return f'<div class="wide"><table><tr>{heads}</tr>{"".join(lines)}</table></div>'


def _is_blank(value: object) -> bool:
    return value is False or value == ""


def _format_class(name: str, records: list[Record]) -> str:
    values = [record[name] for record in records]
    is_text = all(value is None or (isinstance(value, str) and not _is_number(value)) for value in values)
    return ' class="text"' if is_text else ""


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").isdecimal()


def _is_integer(value: object) -> bool:
    return value is None or (isinstance(value, float) and value.is_integer())


def _render_value(value: object, name: str, *, as_integer: bool) -> str:
    """Return one cell. ``as_integer`` omits the decimal places of a number, for columns such as years."""
    if value is None:
        return '<td class="soft">–</td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else ''}</td>"
    if isinstance(value, float):
        decimals = 0 if as_integer else 1 if name == "df" else 4
        text = "&lt; 0.0001" if 0 < value < 0.00005 else f"{value:.{decimals}f}"
        return f'<td><data value="{value!r}">{text}</data></td>'
    if isinstance(value, int):
        return f"<td>{value:,}</td>"
    text = "AUC" if value == AUC else str(value)
    if _is_number(text):
        return f"<td>{escape(text)}</td>"
    return f'<td class="{"text long" if len(text) > _WRAP_LENGTH else "text"}">{escape(text)}</td>'
