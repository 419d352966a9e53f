"""Counts of the findings that the reports of a dataset state, per exam, as in GEMeX (Figure 7)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from generation.templates.report_findings import read_report
from terminology.findings import capitalise, load_findings

HEALTHY, UNKNOWN = "Healthy", "Not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCounts:
    """The numbers of exams by finding, the most frequent first; an exam may have several findings.

    ``exams`` counts all exams, ``with_report`` those with a report. ``healthy`` counts the exams whose report
    states or suspects no finding and states that something is normal; ``unknown`` counts the other exams
    whose report states no finding.
    """

    exams: int
    with_report: int
    healthy: int
    unknown: int
    findings: tuple[tuple[str, int], ...]

    @property
    def observations(self) -> int:
        """The number of findings of all exams, with each healthy exam as one."""
        return self.healthy + sum(count for _, count in self.findings)


def count_findings(reports: Iterable[str | None]) -> FindingCounts:
    """Count the findings of exams from their reports; None or an empty text stands for no report."""
    counts, exams, with_report, healthy, unknown = Counter[str](), 0, 0, 0, 0
    for report in reports:
        exams += 1
        if not report or not report.strip():
            continue
        with_report += 1
        findings = read_report(report)
        counts.update(findings.stated)
        healthy += findings.is_healthy
        unknown += not findings.is_healthy and not findings.stated
    terms = load_findings()
    labelled_counts = [(capitalise(terms[finding].noun), count) for finding, count in counts.items()]
    return FindingCounts(
        exams=exams,
        with_report=with_report,
        healthy=healthy,
        unknown=unknown,
        findings=tuple(sorted(labelled_counts, key=lambda item: (-item[1], item[0]))),
    )


def build_finding_rows(counts: FindingCounts) -> list[dict[str, str]]:
    """Return one row per finding, and rows for healthy exams and for those without a known state.

    One percentage is of the exams with a report. The other is of all observations and sums to 100 (GEMeX).
    """

    def build_row(label: str, count: int, *, is_observation: bool = True) -> dict[str, str]:
        observation_percent = (
            100 * count / counts.observations if is_observation and counts.observations else None
        )
        exam_percent = 100 * count / counts.with_report if counts.with_report else None
        return {
            "Finding": label,
            "Exams": f"{count:,}",
            "% of exams with a report": "" if exam_percent is None else f"{exam_percent:.1f}",
            "% of observations": "" if observation_percent is None else f"{observation_percent:.2f}",
        }

    return [
        *(build_row(label, count) for label, count in counts.findings),
        build_row(HEALTHY, counts.healthy),
        build_row(UNKNOWN, counts.unknown, is_observation=False),
    ]


def format_findings_csv(counts: FindingCounts) -> str:
    """Format the rows as CSV."""
    rows = build_finding_rows(counts)
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "Exams": row["Exams"].replace(",", "")} for row in rows)
    return file.getvalue()
