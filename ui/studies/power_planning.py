"""Plans a study: the power for given numbers of readers and cases, and the precision of kappa."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from domain.errors import DomainError, InvalidValue
from domain.people import Person
from measures.kappa_precision import cases_for_kappa, expected_kappa_limits
from measures.pilot import Pilot, describe_pilot
from measures.power import Power, PowerAssumptions, cases_for_power, power_table
from measures.power_designs import ArmAssumptions
from reader_study.service import (
    estimate_study_pilot,
    list_studies,
    list_study_models,
    load_report_digest,
)
from ui import state
from ui.chart import show_chart
from ui.context import read_only_session
from ui.layout import responsive_columns
from ui.tables import show_table
from ui.widgets import escape_markdown

READERS, CASES = (3, 5, 7, 10), (100, 200, 300, 400, 600)
_RULE_COLOUR = "#8a939b"
# Distinguishable in both themes and with red-green colour blindness (Okabe and Ito).
_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00")


#: The assumptions without a pilot: ReXVQA's reader study.
_DEFAULT_ASSUMPTIONS = PowerAssumptions(reader_accuracy=0.7727, model_accuracy=0.8384, spread=0.02)


def show_planning(person: Person) -> None:
    """Show the inputs on the left, and power and precision on the right."""
    form_key = state.form_key("plan")
    left, right = responsive_columns(1, 2, name="planning")
    with left:
        st.subheader("Assumptions")
        pilot_key, pilot = _choose_pilot(person, form_key)
        inputs = _choose_assumptions(f"{form_key}-{pilot_key}", pilot)
    if inputs is None:
        return
    assumptions, readers, cases = inputs
    with right:
        with st.spinner("Simulating studies"):
            powers = _load_powers(assumptions, tuple(readers), tuple(cases))
        st.subheader("Power", help="The probability that a study of this size shows the difference.")
        show_chart(build_power_chart(powers))
        show_table([_build_power_row(power) for power in powers], decimals={"Power": 3, "Formula": 3})
        _show_needed_cases(assumptions, readers)
        st.caption(
            f"Readers are {'random' if assumptions.random_readers else 'fixed'}; two-sided at "
            f"{assumptions.alpha:g}, margin {assumptions.margin:.1%}. “Power” is simulated; its standard "
            "error is in the last column. Seed 0. For two arms, split cases and several cases per patient: "
            "cli.py study power --help."
        )
        _show_kappa_precision(form_key, cases)


def build_power_chart(powers: Sequence[Power]) -> alt.LayerChart:
    """Return a chart of power by number of cases, one line per number of readers, with a rule at 80 %."""
    rows = pd.DataFrame(
        [
            {"cases": power.cases, "readers": f"{power.readers}", "power": power.quoted_power}
            for power in powers
        ]
    )
    order = [str(count) for count in sorted({power.readers for power in powers})]
    lines = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X("cases:Q", title="Cases"),
            y=alt.Y("power:Q", title="Power", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            color=alt.Color(
                "readers:N",
                title="Readers",
                sort=order,
                scale=alt.Scale(domain=order, range=list(_COLOURS)),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=["readers:N", "cases:Q", alt.Tooltip("power:Q", format=".2f")],
        )
    )
    target_rule = (
        alt.Chart(pd.DataFrame([{"power": 0.8}]))
        .mark_rule(strokeDash=[4, 4], color=_RULE_COLOUR)
        .encode(y="power:Q")
    )
    layered_chart: alt.LayerChart = (lines + target_rule).properties(height=300)
    return layered_chart


def _choose_pilot(person: Person, form_key: str) -> tuple[str, PowerAssumptions]:
    """Show the choice of a pilot study. Return a key of the choice, and the initial assumptions."""
    with read_only_session() as db:
        names = [summary.study.name for summary in list_studies(db, by=person)]
    if not names:
        return "", _DEFAULT_ASSUMPTIONS
    study = st.selectbox(
        "Pilot study",
        [None, *names],
        format_func=lambda name: name or "None",
        key=f"{form_key}-pilot-{len(names)}",
        help="Accuracies, spread and correlations are estimated from the answers of this study.",
    )
    if study is None:
        return "", _DEFAULT_ASSUMPTIONS
    with read_only_session() as db:
        models = [
            row.name for row in list_study_models(db, by=person, study=study) if row.chosen and row.answered
        ]
        digest = load_report_digest(db, by=person, study=study)
    model = models[0] if len(models) == 1 else None
    if len(models) > 1:
        model = st.selectbox("Model of the pilot", models, key=f"{form_key}-pilot-model-{study}")
    try:
        pilot = _load_pilot(person, study, model, digest)
    except DomainError as error:
        st.info(escape_markdown(str(error)))
        return "", _DEFAULT_ASSUMPTIONS
    if isinstance(pilot.assumptions, ArmAssumptions):
        st.info("This study has two arms. Use `cli.py study power --pilot-study NAME`.")
        return "", _DEFAULT_ASSUMPTIONS
    st.caption(escape_markdown(describe_pilot(pilot)))
    return f"{study}-{model}-{digest[:12]}", pilot.assumptions


@st.cache_data(max_entries=20, show_spinner=False)
def _load_pilot(_person: Person, study: str, model: str | None, digest: str) -> Pilot:  # noqa: ARG001 - part of the cache key: it changes when answers change
    with read_only_session() as db:
        return estimate_study_pilot(db, by=_person, study=study, model=model)


def _choose_assumptions(
    form_key: str, initial: PowerAssumptions
) -> tuple[PowerAssumptions, list[int], list[int]] | None:
    """Show the inputs. Their keys contain the pilot, so that they are reset when another pilot is chosen."""
    reader_accuracy = _show_percent_input(
        "Reader accuracy (%)", initial.reader_accuracy * 100, f"{form_key}-reader"
    )
    model_accuracy = _show_percent_input(
        "Model accuracy (%)", initial.model_accuracy * 100, f"{form_key}-model"
    )
    spread = _show_percent_input(
        "SD between readers (percentage points)",
        initial.spread * 100,
        f"{form_key}-spread",
        help_text="Standard deviation of the readers' accuracies.",
    )
    margin = _show_percent_input(
        "Margin (percentage points)",
        0.0,
        f"{form_key}-margin",
        help_text="A margin above 0 tests non-inferiority of the model.",
    )
    with st.expander("Correlations and sample sizes"):
        reader_correlation = st.number_input(
            "Correlation between two readers",
            0.0,
            0.99,
            initial.reader_correlation,
            0.05,
            key=f"{form_key}-between",
        )
        model_correlation = st.number_input(
            "Correlation between reader and model",
            -0.97,
            0.99,
            initial.model_correlation,
            0.05,
            key=f"{form_key}-with-model",
        )
        has_fixed_readers = st.checkbox(
            "Fixed readers", key=f"{form_key}-fixed", help="The result applies to these readers only."
        )
        readers = st.multiselect(
            "Numbers of readers", list(range(2, 21)), default=list(READERS), key=f"{form_key}-readers"
        )
        cases = st.multiselect(
            "Numbers of cases",
            [50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 800, 1000],
            default=list(CASES),
            key=f"{form_key}-cases",
        )
    if not readers or not cases:
        st.info("Choose at least one number of readers and one number of cases.")
        return None
    try:
        assumptions = PowerAssumptions(
            reader_accuracy=reader_accuracy,
            model_accuracy=model_accuracy,
            spread=spread,
            reader_correlation=reader_correlation,
            model_correlation=model_correlation,
            margin=margin,
            random_readers=not has_fixed_readers,
        )
    except InvalidValue as error:
        st.error(escape_markdown(str(error)))
        return None
    return assumptions, sorted(readers), sorted(cases)


def _show_percent_input(label: str, value: float, key: str, *, help_text: str | None = None) -> float:
    return st.number_input(label, 0.0, 99.9, value, 0.5, key=key, help=help_text) / 100


@st.cache_data(max_entries=50, show_spinner=False)
def _load_powers(
    assumptions: PowerAssumptions, readers: tuple[int, ...], cases: tuple[int, ...]
) -> list[Power]:
    return power_table(assumptions, readers=readers, cases=cases)


def _build_power_row(power: Power) -> dict[str, object]:
    error_text = "" if power.simulated_error is None else f" ± {power.simulated_error:.3f}"
    return {
        "Readers": power.readers,
        "Cases": power.cases,
        "Power": power.quoted_power,
        "Method": power.quoted_method,
        "Formula": power.formula,
        "Simulation": "" if power.simulated is None else f"{power.simulated:.3f}{error_text}",
    }


def _show_needed_cases(assumptions: PowerAssumptions, readers: Sequence[int]) -> None:
    parts = []
    for reader_count in readers:
        needed_cases = cases_for_power(assumptions, readers=reader_count)
        parts.append(
            f"{reader_count} readers: {f'{needed_cases:,} cases' if needed_cases else 'not attainable'}"
        )
    st.markdown(f"Cases needed for 80 % power, by the formula: {'; '.join(parts)}.")


def _show_kappa_precision(form_key: str, cases: Sequence[int]) -> None:
    st.subheader("Precision of kappa", help="The expected 95 % interval of two raters with two answers.")
    columns = st.columns(3)
    kappa = columns[0].number_input("Expected kappa", 0.0, 0.95, 0.4, 0.05, key=f"{form_key}-kappa")
    share_percent = columns[1].number_input(
        "Share of the rarer answer (%)", 1.0, 50.0, 25.0, 1.0, key=f"{form_key}-share"
    )
    half_width = columns[2].number_input(
        "Target half-width (±)", 0.02, 0.5, 0.1, 0.01, key=f"{form_key}-half-width"
    )
    limits = [(n, expected_kappa_limits(kappa, share_percent / 100, cases=n)) for n in cases]
    show_table([{"Cases": n, "95 % interval": f"{low:.3f} to {high:.3f}"} for n, (low, high) in limits])
    needed_cases = cases_for_kappa(kappa, share_percent / 100, half_width=half_width)
    st.markdown(f"About {needed_cases:,} cases are needed for ± {half_width:g} with two possible answers.")
