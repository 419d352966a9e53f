"""The coordinator's report after two readers: rea answers the last cases wrong, rob all cases right."""

from __future__ import annotations

from statistics import median

import pytest
from playwright.sync_api import Page

from storage.rows.studies import ReadingRow


def check_report(page: Page, first: list[ReadingRow], second: list[ReadingRow], *, wrong_from: int) -> None:
    """Check that the report has both readers' n, times and kappa, on the page and in its files."""
    cases = len(first)
    page.goto("/studies")
    page.get_by_text("Report", exact=True).click(timeout=30_000)
    page.get_by_role("button", name="Create report").click(timeout=30_000)
    page.get_by_text(f"rea answered {wrong_from} of {cases} cases correctly").wait_for(timeout=60_000)
    page.get_by_text(f"rob answered {cases} of {cases} cases correctly").wait_for()
    figure_region = page.get_by_role("region", name="Accuracy (%): all tasks")
    figure_region.get_by_text(f"{wrong_from}/{cases}").wait_for()
    report_url = page.get_by_role("link", name="JSON").get_attribute("href")
    report = page.request.get(report_url).json()["tables"]
    assert {row["rater"]: row["n"] for row in report["accuracy"] if row["task"] == "all"} == {
        "rea": cases, "rob": cases,
    }  # fmt: skip
    for times_row, rows in zip(report["times"], (first, second), strict=True):
        assert times_row["n"] == cases
        assert times_row["median"] == pytest.approx(median(row.seconds_looking for row in rows))
    [pair] = [
        row for row in report["agreement"] if row["task"] == "all" and {row["a"], row["b"]} == {"rea", "rob"}
    ]
    # rob always gave the same answer: they agree where rea was right, as by chance, so kappa is 0
    assert (pair["n"], pair["observed"], pair["kappa"]) == (cases, wrong_from / cases, 0.0)
    assert "one rater uses a single category" in pair["note"]
    figure = page.request.get(report_url.replace("report.json", "figures/accuracy-all.svg"))
    assert f"{wrong_from}/{cases}" in figure.text()
