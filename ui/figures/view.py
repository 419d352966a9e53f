"""The shown part of a report: the chosen task and raters, and the address of the report's files."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st

from reader_study.report.figures import draw_figure
from reader_study.report.study_report import StudyReport
from ui.figures.figure_component import show_figure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """The shown part of a report.

    ``report`` has all raters, ``filtered_report`` only the chosen ones. ``address`` and ``query`` are those
    of its files.
    """

    report: StudyReport
    filtered_report: StudyReport
    task: str
    address: str
    query: str
    key: str

    def format_link(self, label: str, path: str) -> str:
        """Return a link to one of its files, as Markdown."""
        return f"[{label}]({self.address}/{quote(path)}{f'?{self.query}' if self.query else ''})"

    def draw_figure(self, name: str) -> None:
        """Draw a figure of the chosen raters, with links to its files, which contain every rater."""
        show_figure(draw_figure(self.filtered_report, name), key=f"{self.key}-{name}")
        st.markdown(
            f":small[{self.format_link('SVG', f'figures/{name}.svg')} · "
            f"{self.format_link('Data (CSV)', f'figures/{name}.csv')}]"
        )

    def show_table_links(self, *names: str) -> None:
        """Draw the links to tables of the report."""
        links = " · ".join(
            self.format_link(f"{name.replace('_', ' ')}.csv", f"tables/{name}.csv") for name in names
        )
        st.markdown(f":small[Tables: {links}]")
