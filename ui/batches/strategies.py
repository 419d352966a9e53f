"""Compares uniform draws with draws by risk: errors found, and width of the interval of the error rate."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from domain.batches import RiskDesign
from domain.errors import DomainError
from domain.people import Person
from review.service import estimate_assumptions
from sampling import service as sampling
from sampling.strategies import COMPARED_SIZES, ErrorAssumptions, StrategyPoint, recommend_strategy
from ui.chart import show_chart
from ui.context import current_workspace, read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown

_DEFAULT_ASSUMPTIONS = ErrorAssumptions(rate=0.1, odds_ratio=5.0)
#: Blue, orange and green: distinct for people with impaired colour vision, on light and on dark pages.
_COLOURS = ["#4f93d6", "#d9822b", "#2f9e77"]


def show_strategies(person: Person, form_key: str, dataset: str, *, design: RiskDesign | None) -> None:
    """Show the assumptions, the recommendation and the curves for the sources of risk of the planned draw.

    ``design`` is None for a draw with equal probabilities, which is compared with all sources of risk.
    """
    sources = tuple((design or RiskDesign()).weights.items())
    with st.expander("Compare risk-based with equal-probability sampling"):
        if not st.toggle("Show the comparison", key=f"{form_key}-compare-{dataset}"):
            st.caption(
                "Simulates how many errors each strategy finds, and how precisely the share of faulty "
                "questions is known afterwards."
            )
            return
        with st.spinner("Reading the reviewed sample …"), read_only_session() as db:
            estimated = estimate_assumptions(db, by=person, dataset=dataset, design=design)
        initial = estimated or _DEFAULT_ASSUMPTIONS
        # The defaults depend on the sources, so the keys of the inputs contain them.
        key_prefix = f"{form_key}-compare-{dataset}-{'-'.join(source.value for source, _ in sources)}"
        rate_column, odds_column = st.columns(2)
        percent = rate_column.number_input(
            "Faulty questions (%)",
            0.1,
            99.0,
            min(99.0, max(0.1, round(100 * initial.rate, 1))),
            0.5,
            key=f"{key_prefix}-rate",
        )
        odds_ratio = odds_column.number_input(
            "Odds ratio of an error at the highest risk",
            0.1,
            1000.0,
            min(1000.0, max(0.1, round(initial.odds_ratio, 1))),
            1.0,
            key=f"{key_prefix}-odds",
            help="Compared with questions without any risk; 1 means that risk does not predict errors.",
        )
        st.caption(
            "Both values are estimated from the reviewed sample of this dataset."
            if estimated
            else "Both values are assumptions: no reviewed sample has both errors and risk values yet."
        )
        try:
            with read_only_session() as db:
                overview = sampling.describe_risk(db, by=person, dataset=dataset)
            points = _simulate_strategies(
                dataset,
                (str(current_workspace().home), overview.dataset_size, *overview.questions.items(), sources),
                ErrorAssumptions(rate=percent / 100, odds_ratio=odds_ratio),
                person,
                design,
            )
        except DomainError as error:
            st.error(escape_markdown(str(error)))
            return
        st.info(escape_markdown(recommend_strategy(points)), icon=":material/recommend:")
        if points:
            show_chart(_build_chart(points, "errors", "errors found", factor=1))
            show_chart(
                _build_chart(
                    points,
                    "prediction_powered_half_width",
                    "half-width in percentage points, using predictions",
                    factor=100,
                )
            )
            show_table([_build_row(point) for point in points])
            st.caption(
                "Means over simulated draws, with the range of 95 % of them, by "
                f"{'the chosen sources' if design else 'all sources'} of risk. The simulation assumes "
                "independent questions; several questions per exam make all intervals wider."
            )


@st.cache_data(max_entries=20, ttl=600, show_spinner="Simulating draws …")
def _simulate_strategies(
    dataset: str,
    version: tuple[object, ...],
    assumptions: ErrorAssumptions,
    _person: Person,
    _design: RiskDesign | None,
) -> list[StrategyPoint]:
    """Simulate the strategies, cached by ``version``: the sources of risk and their numbers of questions."""
    del version
    with read_only_session() as db:
        return sampling.compare_strategies(
            db, by=_person, dataset=dataset, assumptions=assumptions, sizes=COMPARED_SIZES, design=_design
        )


def _build_chart(
    points: Sequence[StrategyPoint], measure: str, title: str, *, factor: float
) -> alt.LayerChart:
    """Return the curve of each strategy against the number of questions, with a band for 95 % of draws."""
    rows = [
        {
            "strategy": point.name,
            "questions": point.n,
            "mean": factor * getattr(point, measure).mean,
            "low": factor * getattr(point, measure).low,
            "high": factor * getattr(point, measure).high,
        }
        for point in points
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(
            "questions:Q",
            title="questions reviewed",
            axis=alt.Axis(values=sorted({point.n for point in points})),
            scale=alt.Scale(zero=False, nice=False),
        ),
        color=alt.Color(
            "strategy:N",
            sort=None,
            scale=alt.Scale(range=_COLOURS),
            legend=alt.Legend(
                orient="top", title=None, labelLimit=300, symbolType="stroke", symbolOpacity=1,
                symbolStrokeWidth=3,
            ),
        ),
    )  # fmt: skip
    band = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    line = base.mark_line(point=True).encode(y=alt.Y("mean:Q", title=title))
    chart: alt.LayerChart = (band + line).properties(height=300)
    return chart


def _build_row(point: StrategyPoint) -> dict[str, object]:
    return {
        "Strategy": point.name,
        "Questions": point.n,
        "Errors found": f"{point.errors.mean:.1f} ({point.errors.low:.0f} to {point.errors.high:.0f})",
        "Half-width (points)": f"{100 * point.half_width.mean:.2f}",
        "Half-width using predictions (points)": f"{100 * point.prediction_powered_half_width.mean:.2f}",
    }
