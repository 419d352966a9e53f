"""Shows the preview of a draw and the button that draws the questions."""

from __future__ import annotations

from contextlib import nullcontext

import altair as alt
import pandas as pd
import streamlit as st

from domain.batches import Batch, BatchSettings, FormScope, Mode, SamplingPlan, Stratum
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Person
from sampling import service as sampling
from ui import state
from ui.chart import show_chart
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action

_BAR_COLOUR = "#3f7b8c"  # the theme's primary colour, legible on its dark and its light background
_MODE_LABELS = {
    Mode.JUDGE: "From the start",
    Mode.ANSWER_FIRST: "After the reviewer's own answer",
}
_SCOPE_LABELS = {
    FormScope.ALL: "All fields",
    FormScope.IMAGE_ALIGNMENT: "Image alignment only",
    FormScope.KEY: "Answer key only",
}
ONE_KEY_HELP = (
    "Accept then means that everything is correct: empty ratings are saved as the top rating, and empty "
    "yes/no fields as yes. The difficulty may stay empty. Releases state this setting."
)


def show_preview(
    person: Person, dataset: str, plan: SamplingPlan, batch: Batch | None
) -> sampling.DrawPreview | None:
    """Show the number of questions that would be drawn, in total and by stratum.

    Returns:
        The preview; None if the draw is refused, with the reason on the page.
    """
    try:
        spinner = (
            st.spinner("Reading reports …" if plan.balance else "Drawing …")
            if plan.balance or plan.risk
            else nullcontext()
        )
        with spinner, read_only_session() as db:
            draw_preview = sampling.preview_draw(
                db, by=person, dataset=dataset, plan=plan, batch_name=batch.name if batch else None
            )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None
    st.markdown(f"**{_describe_draw(draw_preview, batch)}**")
    if draw_preview.size:
        show_chart(_build_tier_chart(draw_preview.strata))
        show_table(
            [_build_stratum_row(stratum) for stratum in draw_preview.strata],
            decimals={"Inclusion probability": 4},
        )
    for note in draw_preview.notes:
        st.warning(escape_markdown(note), icon=":material/info:")
    return draw_preview


def show_draw_button(
    form_key: str, dataset: str, plan: SamplingPlan, *, batch: Batch | None, n: int, taken_names: set[str]
) -> None:
    """Show the inputs of a new batch and the button that draws ``n`` questions.

    Args:
        form_key: the key prefix of the form's widgets.
        dataset: the name of the dataset.
        plan: the sampling plan.
        batch: the batch to extend; None to create a new one.
        n: the number of questions that the preview announced.
        taken_names: the names of the existing batches.
    """
    settings = BatchSettings()
    name = batch.name if batch else ""
    if batch is None:
        name, settings = _show_new_batch_inputs(form_key, taken_names)
    st.button(
        f"Draw {count_text(n, 'question')}",
        type="primary",
        key=f"{form_key}-draw",
        disabled=not n or not name.strip(),
        on_click=run_action,
        args=(_draw_batch, dataset, plan, name, settings),
        kwargs={"notice_key": "draw"},
    )


def _describe_draw(draw_preview: sampling.DrawPreview, batch: Batch | None) -> str:
    if batch is None:
        summary = f"{draw_preview.n:,} of {draw_preview.size:,} questions will be drawn."
        return summary if draw_preview.n else f"{summary} Increase the number per 1,000, or set a total."
    if not draw_preview.size:
        return f"No questions have been imported since the last draw of {escape_markdown(batch.name)}."
    return (
        f"{draw_preview.n:,} of the {draw_preview.size:,} questions imported since the last draw will be"
        f" added to the {draw_preview.already_drawn:,} of {escape_markdown(batch.name)}."
    )


def _build_stratum_row(stratum: Stratum) -> dict[str, object]:
    return {
        "Stratum": stratum.name,
        "Available (N)": stratum.size,
        "Drawn (n)": stratum.drawn,
        "Inclusion probability": stratum.inclusion_probability,
    }


def _build_tier_chart(strata: tuple[Stratum, ...]) -> alt.LayerChart:
    """Return a bar chart of the questions drawn from each tier, summed over the other strata."""
    tiers: dict[str, int] = {}
    for stratum in strata:
        name = str(stratum.tier or "no difficulty")
        tiers[name] = tiers.get(name, 0) + stratum.drawn
    rows = [{"tier": name, "drawn": drawn} for name, drawn in tiers.items()]
    axis_max = 1.25 * max([*tiers.values(), 1])  # room for the number to the right of the longest bar
    bars = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("tier:N", sort=list(tiers), title=None, axis=alt.Axis(labelFontSize=13)),
        x=alt.X("drawn:Q", title=None, axis=None, scale=alt.Scale(domain=[0, axis_max])),
    )
    numbers = bars.mark_text(align="left", dx=5, fontSize=13).encode(text=alt.Text("drawn:Q", format=","))
    # The chart's default text colour can be illegible in one of the themes; this grey is legible in both.
    numbers = numbers.encode(color=alt.value("#8a949b"))
    layers = bars.mark_bar(size=16, color=_BAR_COLOUR) + numbers
    tier_chart: alt.LayerChart = layers.properties(height=30 * len(tiers) + 10)
    return tier_chart


def _show_new_batch_inputs(form_key: str, taken_names: set[str]) -> tuple[str, BatchSettings]:
    free_name = next(f"batch-{i}" for i in range(1, len(taken_names) + 2) if f"batch-{i}" not in taken_names)
    name_column, mode_column, scope_column = st.columns(3)
    report_column, one_key_column = st.columns(2)  # the labels of the check boxes are long
    # A name is proposed only for the first batch. Otherwise the second click of a slow double click would
    # draw another batch under the next proposed name.
    proposed_name = free_name if state.is_first_form("draw") else ""
    name = name_column.text_input(
        "Batch name", value=proposed_name, placeholder=free_name, key=f"{form_key}-name"
    )
    mode = mode_column.selectbox(
        "Show answer key", list(_MODE_LABELS), key=f"{form_key}-mode", format_func=_MODE_LABELS.__getitem__
    )
    scope = scope_column.selectbox(
        "Fields requested",
        list(_SCOPE_LABELS),
        key=f"{form_key}-parts",
        format_func=_SCOPE_LABELS.__getitem__,
    )
    show_report = report_column.checkbox(
        "Reviewers may open the report",
        key=f"{form_key}-report",
        disabled=scope is FormScope.KEY,
        help="Reviewers can open the report after they have rated image alignment.",
    )
    one_key_accept = one_key_column.checkbox(
        "One keystroke accepts with top ratings", key=f"{form_key}-one-key", help=ONE_KEY_HELP
    )
    report_allowed = show_report and scope is not FormScope.KEY
    settings = BatchSettings(
        mode=mode, parts=scope, show_report=report_allowed, one_key_accept=one_key_accept
    )
    return name, settings


def _draw_batch(dataset: str, plan: SamplingPlan, name: str, settings: BatchSettings) -> str:
    with unit_of_work() as db:
        draw_result = sampling.draw_batch(
            db,
            by=current_person(),
            dataset=dataset,
            plan=plan,
            batch_name=name,
            settings=settings,
            now=clock(),
        )
    state.clear_form("draw")
    state.set_selection("batch", draw_result.batch.name)  # the page Batches opens with this batch
    added_text = count_text(draw_result.added, "question")
    return f"Batch {draw_result.batch.name}: {added_text} drawn from {dataset}."
