"""The preview of a draw, and the button that draws the questions."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from domain.batches import Batch, BatchSettings, Mode, Parts, SamplingPlan, Stratum
from domain.errors import DomainError
from domain.people import Person
from sampling import service as sampling
from ui import state
from ui.chart import chart
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, plain
from ui.tables import table

_BAR = "#3f7b8c"  # the theme's primary colour, legible on its dark and its light background
_MODES = {
    Mode.JUDGE: "From the start (judge)",
    Mode.ANSWER_FIRST: "After the reviewer's own answer",
}
_PARTS = {
    Parts.ALL: "The whole form",
    Parts.IMAGE_ALIGNMENT: "Image alignment only",
    Parts.KEY: "The key only",
}


def preview(person: Person, dataset: str, plan: SamplingPlan, batch: Batch | None) -> sampling.Preview | None:
    """Show what would be drawn: a sentence, bars and a table.

    If nothing can be drawn, show why and return None.
    """
    try:
        with reading() as db:
            seen = sampling.preview(
                db, by=person, dataset=dataset, plan=plan, batch_name=batch.name if batch else None
            )
    except DomainError as error:
        st.error(plain(str(error)))
        return None
    st.markdown(f"**{_sentence(seen, batch)}**")
    if seen.size:
        chart(_bars(seen.strata))
        table([_row(each) for each in seen.strata])
    for note in seen.notes:
        st.warning(plain(note), icon=":material/info:")
    return seen


def draw(
    form: str, dataset: str, plan: SamplingPlan, *, batch: Batch | None, n: int, taken: set[str]
) -> None:
    """Draw the form of a new batch and the button that draws ``n`` questions.

    ``taken`` are the names of the existing batches.
    """
    settings = BatchSettings()
    name = batch.name if batch else ""
    if batch is None:
        name, settings = _new_batch(form, taken)
    st.button(
        f"Draw {n:,} question{'' if n == 1 else 's'}",
        type="primary",
        key=f"{form}-draw",
        disabled=not n or not name.strip(),
        on_click=act,
        args=(_save, dataset, plan, name, settings),
        kwargs={"place": "draw"},
    )


def _sentence(seen: sampling.Preview, batch: Batch | None) -> str:
    if batch is None:
        said = f"{seen.n:,} of {seen.size:,} questions will be drawn."
        return said if seen.n else f"{said} Ask for more of every 1,000, or for a number in all."
    if not seen.size:
        return f"No questions have come in since the last draw of {plain(batch.name)}."
    return (
        f"{seen.n:,} of the {seen.size:,} questions that came since the last draw will be added to the "
        f"{seen.already:,} of {plain(batch.name)}."
    )


def _row(stratum: Stratum) -> dict[str, object]:
    return {
        "Stratum": stratum.name,
        "To draw from (N)": stratum.size,
        "Drawn (n)": stratum.drawn,
        "Probability": f"{stratum.inclusion_probability:.4f}",
    }


def _bars(strata: tuple[Stratum, ...]) -> alt.LayerChart:
    """Chart the drawn questions of each tier; other strata are summed."""
    tiers: dict[str, int] = {}
    for each in strata:
        name = str(each.tier or "no tier")
        tiers[name] = tiers.get(name, 0) + each.drawn
    rows = [{"tier": name, "drawn": drawn} for name, drawn in tiers.items()]
    room = 1.25 * max([*tiers.values(), 1])  # room for the number to the right of the longest bar
    bars = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("tier:N", sort=list(tiers), title=None, axis=alt.Axis(labelFontSize=13)),
        x=alt.X("drawn:Q", title=None, axis=None, scale=alt.Scale(domain=[0, room])),
    )
    numbers = bars.mark_text(align="left", dx=5, fontSize=13).encode(text=alt.Text("drawn:Q", format=","))
    # A fixed colour: the chart's default need not be the theme's text colour.
    numbers = numbers.encode(color=alt.value("#8a949b"))
    layers = bars.mark_bar(size=16, color=_BAR) + numbers
    drawn: alt.LayerChart = layers.properties(height=30 * len(tiers) + 10)
    return drawn


def _new_batch(form: str, taken: set[str]) -> tuple[str, BatchSettings]:
    free = next(f"batch-{i}" for i in range(1, len(taken) + 2) if f"batch-{i}" not in taken)
    naming, way, asking, report = st.columns([2, 2, 2, 2], vertical_alignment="bottom")
    # Proposed only once: otherwise the second click of a slow double click would draw another batch.
    proposed = free if state.is_first_form("draw") else ""
    name = naming.text_input("Name of the batch", value=proposed, placeholder=free, key=f"{form}-name")
    mode = way.selectbox("The key is shown", list(_MODES), key=f"{form}-mode", format_func=_MODES.__getitem__)
    parts = asking.selectbox("Asked for", list(_PARTS), key=f"{form}-parts", format_func=_PARTS.__getitem__)
    show_report = report.checkbox(
        "May open the report",
        key=f"{form}-report",
        disabled=parts is Parts.KEY,
        help="Only after they have rated how the question fits the image.",
    )
    shown = show_report and parts is not Parts.KEY
    return name, BatchSettings(mode=mode, parts=parts, show_report=shown)


def _save(dataset: str, plan: SamplingPlan, name: str, settings: BatchSettings) -> str:
    with unit_of_work() as db:
        drawn = sampling.draw_batch(
            db,
            by=current_person(),
            dataset=dataset,
            plan=plan,
            batch_name=name,
            settings=settings,
            now=clock(),
        )
    state.clear_form("draw")
    state.set_chosen("batch", drawn.batch.name)  # the page Batches opens with this batch
    added = f"{drawn.added:,} question{'' if drawn.added == 1 else 's'}"
    return f"Batch {drawn.batch.name}: {added} drawn from {dataset}."
