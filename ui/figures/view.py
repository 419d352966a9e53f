"""A report with the choices of the person: task and raters. It shows figures and links to files."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st

from reader_study.report.figures import draw_figure
from reader_study.report.study_report import StudyReport
from ui.figures.figure_component import show_figure


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """A report with the person's choices.

    Attributes:
        report: the report with all raters.
        filtered_report: the report with the chosen raters only.
        task: the chosen task.
        address: the path of the folder of the report's files.
        query: the query string of the links, without the question mark; empty for none.
        key: the beginning of the keys of the widgets.
    """

    report: StudyReport
    filtered_report: StudyReport
    task: str
    address: str
    query: str
    key: str

    def format_link(self, label: str, path: str) -> str:
        """Return a link to a file of the report, as Markdown."""
        return f"[{label}]({self.address}/{quote(path)}{f'?{self.query}' if self.query else ''})"

    def draw_figure(self, name: str) -> None:
        """Show a figure of the chosen raters, with links to its files. The files contain all raters."""
        show_figure(draw_figure(self.filtered_report, name), key=f"{self.key}-{name}")
        st.markdown(
            f":small[{self.format_link('SVG', f'figures/{name}.svg')} · "
            f"{self.format_link('PDF', f'figures/{name}.pdf')} · "
            f"{self.format_link('Data (CSV)', f'figures/{name}.csv')}]"
        )

    def show_table_links(self, *names: str) -> None:
        """Show links to the CSV and LaTeX files of the named tables."""
        links = " · ".join(
            self.format_link(f"{name.replace('_', ' ')}.csv", f"tables/{name}.csv")
            + f" ({self.format_link('LaTeX', f'tables/{name}.tex')})"
            for name in names
        )
        st.markdown(f":small[Tables: {links}]")
