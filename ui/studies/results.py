"""What a study shows: its models, and the figures of its report, computed when they are asked for."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from domain.errors import DomainError
from domain.people import Person
from reader_study import service as studies
from reader_study.report.figures import accuracy_rows, difference_rows
from reader_study.report.whole import StudyReport
from reader_study.service import StudySummary
from ui.context import reading
from ui.parts import plain, table


def show_results(person: Person, summary: StudySummary) -> None:
    """Models with their predictions, and the report for one choice of task."""
    study = summary.study
    with reading() as db:
        models = studies.list_models(db, by=person, study=study.name)
    st.subheader("Models")
    table(
        [
            {
                "model": each.name,
                "predictions": each.predictions,
                "failed": each.failed,
                "": "simulated" if each.simulated else "",
            }
            for each in models
        ],
        empty="No model's predictions yet: cli.py import predictions FILE --model NAME --study NAME",
    )
    st.subheader("Report")
    key = f"study-report-{study.id}-{summary.answers}-{sum(each.predictions for each in models)}"
    if st.button("Compute the figures", key=f"{key}-compute"):
        with st.spinner("Computing accuracies, agreement and comparisons; this may take a minute …"):
            try:
                with reading() as db:
                    st.session_state[key] = studies.study_report(db, by=person, study=study.name)
            except DomainError as error:
                st.info(plain(str(error)))
                return
    report: StudyReport | None = st.session_state.get(key)
    if report is None:
        st.caption("Computed from the answers that are in now. As files: cli.py study report NAME --out DIR")
        return
    for sentence in report.words:
        st.markdown(plain(sentence))
    tasks = list(dict.fromkeys(each["task"] for each in report.tables["accuracy"]))
    task = st.selectbox("Task", tasks, key=f"{key}-task") or tasks[0]
    st.altair_chart(_forest(accuracy_rows(report, task=task), "accuracy, per cent"))
    if report.facts["model"] is not None:
        title = f"accuracy less that of {report.facts['model']}, points"
        st.altair_chart(_forest(difference_rows(report, task=task), title))
    st.altair_chart(_heatmap([each for each in report.tables["agreement"] if each["task"] == task], report))
    st.caption(
        f"Protocol version {report.facts['protocol_version']}, SHA-256 {report.facts['protocol_sha256']}. "
        "Overlapping intervals are no test; grey cells are not defined or rest on fewer than 30 cases."
    )


def _forest(rows: list[dict[str, Any]], title: str) -> alt.LayerChart:
    names = ("estimate", "low", "high")
    shown = pd.DataFrame(
        [row | {name: None if row[name] is None else row[name] * 100 for name in names} for row in rows],
        columns=["label", "kind", *names, "words"],
    )
    base = alt.Chart(shown).encode(
        y=alt.Y("label:N", sort=list(shown["label"]), title=None, axis=alt.Axis(labelLimit=240)),
        color=alt.Color("kind:N", title=None),
        tooltip=["label", "words"],
    )
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    points = base.mark_point(filled=True, size=70).encode(x=alt.X("estimate:Q", title=title), shape="kind:N")
    return (lines + points).properties(width="container", height=24 * max(3, len(shown)))


def _heatmap(records: list[dict[str, Any]], report: StudyReport) -> alt.LayerChart:
    key = report.facts["settings"]["reference"]
    cells = [
        {
            "a": one,
            "b": other,
            "kappa": each["kappa"],
            "shade": None if each["few"] else each["kappa"],
            "words": "not defined" if each["kappa"] is None else f"{each['kappa']:.2f}",
            "interval": "" if each["low"] is None else f"{each['low']:.2f} to {each['high']:.2f}",
            "n": each["n"],
            "note": each["note"],
        }
        for each in records
        if key not in (each["a"], each["b"])
        for one, other in ((each["a"], each["b"]), (each["b"], each["a"]))
    ]
    base = alt.Chart(
        pd.DataFrame(cells, columns=["a", "b", "kappa", "shade", "words", "interval", "n", "note"])
    )
    base = base.encode(
        x=alt.X("a:N", title=None, axis=alt.Axis(labelAngle=-40, labelLimit=200)),
        y=alt.Y("b:N", title=None, axis=alt.Axis(labelLimit=240)),
        tooltip=["a", "b", "words", "interval", "n", "note"],
    )
    grey = alt.value("#8a939d")
    boxes = base.mark_rect().encode(
        color=alt.condition(
            "datum.shade == null",
            grey,
            alt.Color("shade:Q", title="kappa", scale=alt.Scale(scheme="blues", domain=[0, 1])),
        )
    )
    dark = alt.condition("datum.shade > 0.6 || datum.shade == null", alt.value("white"), alt.value("#14202e"))
    words = base.mark_text(fontSize=12, dy=-9).encode(text="words:N", color=dark)
    interval = base.mark_text(fontSize=9, dy=4).encode(text="interval:N", color=dark)
    n = base.mark_text(fontSize=9, dy=15).encode(text=alt.Text("n:Q", format=","), color=dark)
    side = 58 * max(3, len({each["a"] for each in cells}))
    return (boxes + words + interval + n).properties(width=side + 120, height=side)
