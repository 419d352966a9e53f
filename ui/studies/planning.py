"""Planning: the power for given numbers of readers and cases, and the precision of a kappa."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from domain.errors import InvalidValue
from measures.kappa_precision import cases_for_kappa, kappa_half_width
from measures.power import Expected, Power, cases_for_power, power_table
from ui import state
from ui.chart import chart
from ui.layout import beside
from ui.parts import plain
from ui.tables import table

READERS, CASES = (3, 5, 7, 10), (100, 200, 300, 400, 600)
_RULE = "#8a939b"
# Distinguishable in both themes and with red-green colour blindness (Okabe and Ito).
_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00")


def show_planning() -> None:
    """Draw the assumptions on the left and their results on the right."""
    form = state.form("plan")
    left, right = beside(1, 2, name="planning")
    with left:
        found = _expected(form)
    if found is None:
        return
    expected, readers, cases = found
    with right:
        with st.spinner("Simulating studies"):
            designs = _designs(expected, tuple(readers), tuple(cases))
        st.subheader("Power", help="How often a study like this would show the difference.")
        chart(power_chart(designs))
        table([_row(each) for each in designs])
        _needed(expected, readers)
        st.caption(
            f"Readers are {'random' if expected.random_readers else 'fixed'}; two-sided at "
            f"{expected.alpha:g}, margin {expected.margin:.1%}. Where formula and simulation differ by more "
            "than .03, the simulated value is quoted, with its standard error. Seed 0."
        )
        _kappa(form, cases)


def power_chart(designs: Sequence[Power]) -> alt.LayerChart:
    """Return the chart of power over cases, with a line per number of readers and the usual mark at 80 %."""
    rows = pd.DataFrame(
        [{"cases": each.cases, "readers": f"{each.readers}", "power": each.shown} for each in designs]
    )
    order = [str(count) for count in sorted({each.readers for each in designs})]
    lines = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X("cases:Q", title="cases"),
            y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color(
                "readers:N",
                title="readers",
                sort=order,
                scale=alt.Scale(domain=order, range=list(_COLOURS)),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=["readers:N", "cases:Q", alt.Tooltip("power:Q", format=".2f")],
        )
    )
    mark = (
        alt.Chart(pd.DataFrame([{"power": 0.8}]))
        .mark_rule(strokeDash=[4, 4], color=_RULE)
        .encode(y="power:Q")
    )
    drawn: alt.LayerChart = (lines + mark).properties(height=300)
    return drawn


def _expected(form: str) -> tuple[Expected, list[int], list[int]] | None:
    st.subheader("What is expected")
    reader = _percent("Accuracy of the readers, %", 77.27, f"{form}-reader")
    model = _percent("Accuracy of the model, %", 83.84, f"{form}-model")
    spread = _percent("Spread between readers, points", 2.0, f"{form}-spread", help_="Standard deviation.")
    margin = _percent("Margin, points", 0.0, f"{form}-margin", help_="Above 0: non-inferiority of the model.")
    with st.expander("Correlations, readers, sizes"):
        between = st.number_input("Between two readers", 0.0, 0.99, 0.5, 0.05, key=f"{form}-between")
        with_model = st.number_input("Reader and model", -0.9, 0.99, 0.35, 0.05, key=f"{form}-with-model")
        fixed = st.checkbox(
            "Readers fixed", key=f"{form}-fixed", help="The result is said of these readers alone."
        )
        readers = st.multiselect(
            "Numbers of readers", list(range(2, 21)), default=list(READERS), key=f"{form}-readers"
        )
        cases = st.multiselect(
            "Numbers of cases",
            [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 800, 1000],
            default=list(CASES),
            key=f"{form}-cases",
        )
    if not readers or not cases:
        st.info("Choose at least one number of readers and one of cases.")
        return None
    try:
        expected = Expected(
            reader_accuracy=reader,
            model_accuracy=model,
            spread=spread,
            reader_correlation=between,
            model_correlation=with_model,
            margin=margin,
            random_readers=not fixed,
        )
    except InvalidValue as error:
        st.error(plain(str(error)))
        return None
    return expected, sorted(readers), sorted(cases)


def _percent(label: str, value: float, key: str, *, help_: str | None = None) -> float:
    return st.number_input(label, 0.0, 99.9, value, 0.5, key=key, help=help_) / 100


@st.cache_data(max_entries=50, show_spinner=False)
def _designs(expected: Expected, readers: tuple[int, ...], cases: tuple[int, ...]) -> list[Power]:
    return power_table(expected, readers=readers, cases=cases)


def _row(each: Power) -> dict[str, object]:
    error = "" if each.simulated_error is None else f" ± {each.simulated_error:.3f}"
    return {
        "Readers": each.readers,
        "Cases": each.cases,
        "Power": round(each.shown, 3),
        "By": each.shown_is,
        "Formula": round(each.formula, 3),
        "Simulation": "" if each.simulated is None else f"{each.simulated:.3f}{error}",
    }


def _needed(expected: Expected, readers: Sequence[int]) -> None:
    parts = []
    for count in readers:
        needed = cases_for_power(expected, readers=count)
        parts.append(f"{count} readers: {f'{needed:,}' if needed else 'no number of'} cases")
    st.markdown(f"For 80 % power, by the formula: {'; '.join(parts)}.")


def _kappa(form: str, cases: Sequence[int]) -> None:
    st.subheader("Precision of a kappa", help="The half-width of its 95 % interval, for planning.")
    columns = st.columns(3)
    kappa = columns[0].number_input("Expected kappa", 0.0, 0.95, 0.4, 0.05, key=f"{form}-kappa")
    share = columns[1].number_input("Share of the rarer answer, %", 1.0, 50.0, 25.0, 1.0, key=f"{form}-share")
    wanted = columns[2].number_input("Wanted: ±", 0.02, 0.5, 0.1, 0.01, key=f"{form}-half-width")
    shares = (share / 100, 1 - share / 100)
    table([{"Cases": n, "Interval": f"± {kappa_half_width(kappa, shares, cases=n):.3f}"} for n in cases])
    needed = cases_for_kappa(kappa, shares, half_width=wanted)
    st.markdown(f"For ± {wanted:g} it takes about {needed:,} cases, with two answers.")
