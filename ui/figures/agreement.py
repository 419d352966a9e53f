"""Shows the agreement of each pair of raters in a report, and intra-reader agreement."""

from __future__ import annotations

import streamlit as st

from measures.results import KappaContrast
from reader_study.report.figures import make_figure_name
from reader_study.report.minimum_cases import is_withheld
from reader_study.report.rows import list_kappa_rows
from ui.figures.view import ReportView
from ui.tables import show_table


def show_agreement(view: ReportView) -> None:
    """Show the kappa figure, the table of pairs, and the agreement of repeated answers."""
    pairs = list_kappa_rows(view.filtered_report, task=view.task)
    if not pairs:
        st.info("No agreement yet: it needs two raters who answered the same cases.")
        return
    view.draw_figure(make_figure_name("kappa", view.task))
    show_table(
        [
            {
                "Pair": f"{pair.a} · {pair.b}",
                "n": pair.n,
                "Percent agreement": "–" if pair.observed is None else f"{pair.observed * 100:.1f}",
                "Kappa": "–" if is_withheld(pair.note) else _format_kappa(pair.kappa, pair.low, pair.high),
                "AC1": "–"
                if is_withheld(pair.note)
                else _format_kappa(pair.ac1, pair.ac1_low, pair.ac1_high),
                "Brennan-Prediger": "–" if pair.brennan_prediger is None else f"{pair.brennan_prediger:.3f}",
                "Same wrong answer (of both wrong)": "–"
                if pair.both_wrong is None
                else f"{pair.both_wrong:.0%} of {pair.both_wrong_n}",
                "Note": pair.note,
            }
            for pair in pairs
        ]
    )
    contrasts = [row for row in view.filtered_report.tables.kappa_contrasts if row.task == view.task]
    if contrasts:
        st.markdown("**Agreement between readers minus agreement with a model**")
        show_table([_build_contrast_row(row) for row in contrasts])
        st.caption(
            "Mean kappa of the pairs of readers minus mean kappa of the pairs of a reader and the model. The "
            "interval is by a joint bootstrap over the cases. Above 0, readers agree more with each other "
            "than with the model."
        )
    if view.filtered_report.tables.repeats:
        view.draw_figure("repeats")
    view.show_table_links("agreement", "printed_kappa", "group_agreement", "kappa_contrasts", "repeats")


def _build_contrast_row(row: KappaContrast) -> dict[str, object]:
    return {
        "Model": f"{row.model} ({row.arm})" if row.arm else row.model,
        "n": row.n,
        "Readers": row.readers,
        "Between readers": _format_kappa(row.between_readers, None, None),
        "With the model": _format_kappa(row.with_model, None, None),
        "Difference": _format_kappa(row.difference, row.low, row.high),
        "Note": row.note,
    }


def _format_kappa(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")
