"""Shows the error rate of an extraction rule as a row of a table, for the check and for the report."""

from __future__ import annotations

from reader_study.report.tables import ExtractionRate


def build_extraction_row(rate: ExtractionRate) -> dict[str, object]:
    """Return a rate as a row of a table."""
    interval = (
        "" if rate.low is None or rate.high is None else f" [{rate.low * 100:.1f}, {rate.high * 100:.1f}]"
    )
    return {
        "Rule": rate.rule,
        "Replies": rate.replies,
        "Marked": rate.marked,
        "Read wrongly": rate.wrong,
        "Error rate (%)": "" if rate.estimate is None else f"{rate.estimate * 100:.1f}{interval}",
        "Note": rate.note,
    }
