"""What is shown of a report: the task and the raters that were chosen, and where its files are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote

import streamlit as st

from reader_study.report.study_report import StudyReport


class _OfRater(Protocol):
    @property
    def rater(self) -> str: ...


Row = TypeVar("Row", bound=_OfRater)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is shown of a report: the task, the kinds of raters; ``address`` and ``query`` of its files."""

    report: StudyReport
    task: str
    kinds: frozenset[str]
    address: str
    query: str
    key: str

    def link(self, label: str, path: str) -> str:
        """A link to one of its files, as Markdown."""
        return f"[{label}]({self.address}/{quote(path)}{f'?{self.query}' if self.query else ''})"

    def files(self, figure: str) -> None:
        """The links to a figure and its data; the files have every rater."""
        st.markdown(
            f":small[{self.link('SVG', f'figures/{figure}.svg')} · "
            f"{self.link('Data (CSV)', f'figures/{figure}.csv')}]"
        )

    def tables(self, *names: str) -> None:
        """The links to tables of the report."""
        links = " · ".join(self.link(f"{each.replace('_', ' ')}.csv", f"tables/{each}.csv") for each in names)
        st.markdown(f":small[Tables: {links}]")

    def kept(self, found: Iterable[Row]) -> list[Row]:
        """The rows of the raters that are shown."""
        kinds = self.kind_of
        return [each for each in found if kinds.get(each.rater) in self.kinds]

    @property
    def kind_of(self) -> dict[str, str]:
        """Reader or model, by the rater's name."""
        return {each.rater: each.kind for each in self.report.tables.overall}
