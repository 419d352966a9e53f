"""Model scores: the sections of the dashboard. Only the chosen section is computed."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import altair as alt
import pandas as pd
import streamlit as st

from domain.count_texts import count_text
from evaluation.disagreement import list_disagreements
from evaluation.paper_tables import PaperTable, build_paper_tables
from evaluation.score_table import DIMENSIONS
from evaluation.scoreboard import compare_models, compute_task_accuracies, list_signatures, summarise_models
from evaluation.scores_text import (
    list_answer_rows,
    list_difference_rows,
    list_group_rows,
    list_measures,
    list_overall_rows,
    list_score_rows,
)
from ui.chart import show_chart
from ui.model_scores.choice import Slice
from ui.tables import show_table
from ui.widgets import escape_markdown

#: The maximum number of cases that the page lists.
_MAX_CASES = 200
#: The maximum number of cases without a scroll bar.
_MAX_UNSCROLLED_CASES = 12


def show_scores(chosen: Slice) -> None:
    """Show all measures of all models, where their answers come from, and both averages."""
    table = chosen.scored.questions
    summaries = summarise_models(table, chosen.models, chosen.rows)
    show_table(list_score_rows(summaries, chosen.models))
    st.caption(
        "Percent, with 95 % intervals clustered by patient. A-score: accuracy of the n questions that are "
        "not open. An answer with several options must match exactly, and a missing answer counts as wrong. "
        "V-score: the sum of the IoU of matched boxes, divided by the larger number of boxes (of the key or "
        "of the answer); a dash if no answer has a box. Mean IoU: the same sum, divided by the number of key "
        "boxes or of matched boxes."
    )
    st.markdown("**Average over questions (micro) and over tasks (macro)**")
    show_table(list_overall_rows(compute_task_accuracies(table, chosen.models, chosen.rows)))
    st.markdown("**Answers**")
    show_table(list_answer_rows(summaries))
    with st.expander("Versions and settings of the scores"):
        for signature in list_signatures(chosen.models):
            st.code(signature, language=None)


def show_groups(chosen: Slice) -> None:
    """Show one measure by the values of a dimension."""
    left, right = st.columns(2)
    names = [
        name for name, dimension in chosen.scored.questions.dimensions.items() if len(dimension.values) > 1
    ]
    if not names:
        st.caption("All questions have the same task, category, format, difficulty, view, sex and age group.")
        return
    dimension = left.selectbox(
        "Group by", names, key=f"{chosen.key} dimension", format_func=lambda name: DIMENSIONS[name]
    )
    measure = right.selectbox("Measure", list_measures(chosen.models), key=f"{chosen.key} measure")
    rows = list_group_rows(
        chosen.scored.questions, chosen.models, chosen.rows, dimension=dimension, measure=measure
    )
    show_table(rows)
    st.caption("With 95 % intervals clustered by patient; a dash if the measure is not defined.")


def show_differences(chosen: Slice) -> None:
    """Show the paired differences of all models from one of them."""
    if len(chosen.models) < 2:
        st.caption("A comparison needs two models.")
        return
    names = [model.name for model in chosen.models]
    with_model = st.selectbox("Compared with", names, key=f"{chosen.key} base {len(names)}", width=420)
    with st.spinner("Comparing models"):
        differences = compare_models(
            chosen.scored.questions, chosen.models, chosen.rows, with_model=with_model
        )
    show_table(list_difference_rows(differences, with_model=with_model))
    st.caption(
        "Accuracy, paired by question, with Tango's 95 % interval and the exact p value, both clustered by "
        "patient. Holm's adjustment is for all comparisons of this table."
    )


def show_paper_tables(chosen: Slice) -> None:
    """Show a table in the layout of a paper, with its files."""
    with_published = st.checkbox("Published models", value=True, key=f"{chosen.key} published")
    tables = {
        table.name: table
        for table in build_paper_tables(
            chosen.scored.questions, chosen.models, chosen.rows, with_published=with_published
        )
    }
    name = st.selectbox(
        "Table",
        list(tables),
        key=f"{chosen.key} table",
        format_func=lambda table_name: tables[table_name].title,
        width=520,
    )
    table = tables[name]
    if name == "rexvqa-figure-2":
        _show_figure2(table)
    show_table(table.rows)
    st.caption(escape_markdown(table.note))
    evaluated_split = chosen.scored.evaluated_split
    query = urlencode(
        [
            ("release", evaluated_split.release_id),
            ("split", evaluated_split.split),
            *(("model", model.name) for model in chosen.models),
            *([("published", "1")] if with_published else []),
        ]
    )
    if chosen.rows.all():
        st.markdown(
            f"[CSV](/files/model-scores/{name}.csv?{query}) · [LaTeX](/files/model-scores/{name}.tex?{query})"
        )
    else:
        st.caption("Downloads contain all questions. Remove the filter to download them.")


def show_cases(chosen: Slice) -> None:
    """Show the list of questions that the models answer differently."""
    evaluated_split = chosen.scored.evaluated_split
    if evaluated_split.is_private:
        st.caption("Cases of the private split are not exported, and each one that is opened is recorded.")
    cases, total = list_disagreements(chosen.scored.questions, chosen.models, chosen.rows, limit=_MAX_CASES)
    if len(chosen.models) < 2:
        st.caption("Disagreement needs two models.")
        return
    shown_note = f", the most balanced {len(cases):,} below" if total > len(cases) else ""
    st.markdown(f"The models disagree on {count_text(total, 'question')}{shown_note}.")
    query = urlencode({"release": evaluated_split.release_id, "split": evaluated_split.split})
    address = f"/model_scores?{query}&question="
    if cases:
        # A dataframe has a button that downloads it, and cases of a private split are not exported.
        st.table(
            [
                {
                    "Case": f"[{case.question_row_id}]({address}{case.question_row_id})",
                    "Correct": case.correct,
                    "Answered": case.answered,
                    "Different answers": case.answers,
                }
                for case in cases
            ],
            height=500 if len(cases) > _MAX_UNSCROLLED_CASES else "content",
            hide_index=True,
        )


def _show_figure2(table: PaperTable) -> None:
    frame = pd.DataFrame(
        [
            {"Rater": row["Rater"], "Kind": row["Kind"], "Accuracy (%)": float(row["Accuracy"])}
            for row in table.rows
            if row["Accuracy"] != "-"
        ]
    )
    if frame.empty:
        return
    bars = alt.Chart(frame).encode(
        x=alt.X("Rater:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=200)),
        y=alt.Y("Accuracy (%):Q", scale=alt.Scale(domain=[0, 100])),
        color=alt.Color("Kind:N", title=None),
        tooltip=list(frame.columns),
    )
    show_chart(bars.mark_bar() + bars.mark_text(dy=-6).encode(text=alt.Text("Accuracy (%):Q", format=".2f")))


SECTIONS: dict[str, Callable[[Slice], None]] = {
    "Scores": show_scores,
    "By group": show_groups,
    "Differences": show_differences,
    "ReXVQA and GEMeX tables": show_paper_tables,
    "Cases": show_cases,
}
