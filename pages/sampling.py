"""Draw a batch: the plan, what it would take, and the draw."""

from __future__ import annotations

import altair as alt
import streamlit as st

from domain.batches import Batch, BatchSettings, BatchState, Mode, Parts, SamplingPlan, Stratum
from domain.errors import DomainError
from domain.people import Action, Person
from domain.vocabulary import Difficulty
from sampling import service as sampling
from ui import state
from ui.context import clock, current_person, reading, require_page, unit_of_work
from ui.navigation import ROOT
from ui.parts import act, empty_state, notices, plain, screen, table

_TIERS = (*Difficulty, None)
_BAR = "#3f7b8c"  # the theme's primary colour, which stands on its dark and its light ground
_MODES = {
    Mode.JUDGE: "From the start (judge)",
    Mode.ANSWER_FIRST: "After the reviewer's own answer",
}
_PARTS = {
    Parts.ALL: "The whole form",
    Parts.IMAGE_ALIGNMENT: "Image alignment only",
    Parts.KEY: "The key only",
}


@screen
def main() -> None:
    """All in one fragment, so that no click can overtake a draw."""
    person = require_page(Action.DRAW_BATCH)
    st.title("Draw a batch")
    with reading() as db:
        datasets = {name: size for name, size in sampling.drawable(db, by=person).items() if size}
    if not datasets:
        empty_state(
            "No questions yet",
            "Batches are drawn from imported questions.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    notices("draw")
    said = state.notice()
    if said is not None and said.place == "draw" and not said.refused:
        st.page_link(ROOT / "pages/assign.py", label="Give it to reviewers", icon=":material/group_work:")
    form = state.form("draw")
    left, right = st.columns([2, 3], gap="large")
    with left:
        dataset = _dataset(datasets, form)
        with reading() as db:
            known = [batch for batch, _ in sampling.list_batches(db, by=person, dataset=dataset)]
            taken = {batch.name for batch, _ in sampling.list_batches(db, by=person)}
        batch = _batch(known, form, dataset)
        plan = batch.plan if batch else _plan(form)
    with right:
        seen = _preview(person, dataset, plan, batch) if plan else None
    st.divider()
    if seen is not None and plan is not None:
        _draw(form, dataset, plan, batch=batch, n=seen.n, taken=taken)


# --------------------------------------------------------------------------------------------------- choosing
def _dataset(datasets: dict[str, int], form: str) -> str:
    names = list(datasets)
    before = state.chosen("dataset")
    name = st.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key=f"{form}-dataset",
        format_func=lambda name: f"{name} ({datasets[name]:,} questions)",
    )
    state.set_chosen("dataset", name)
    return name


def _batch(known: list[Batch], form: str, dataset: str) -> Batch | None:
    """None for a new batch, else the one to add to by its own plan."""
    there = {each.name: each for each in known if each.state is BatchState.OPEN}
    if not there:
        return None
    name = st.selectbox(
        "Batch",
        ["", *there],
        key=f"{form}-batch-{dataset}",
        format_func=lambda name: "A new batch" if not name else f"Add to {name}",
        help="Drawing again for a batch takes only from the questions that came since. What was drawn stays.",
    )
    if not name:
        return None
    st.markdown(f"Its plan: {plain(sampling.describe(there[name].plan))}.")
    return there[name]


def _plan(form: str) -> SamplingPlan | None:
    of_1000 = "Of every 1,000"
    how = st.segmented_control(
        "How many", [of_1000, "In all"], default=of_1000, required=True, key=f"{form}-how"
    )
    amount, seed = st.columns(2)
    if how == of_1000:
        number = amount.number_input("Of every 1,000 questions", 1, 1000, 100, key=f"{form}-per-1000")
    else:
        number = amount.number_input("Questions in all", 1, None, 200, key=f"{form}-n")
    chosen = seed.number_input(
        "Seed", 0, 2**53 - 1, 1, key=f"{form}-seed", help="Another seed draws other questions. It is kept."
    )
    strata = st.multiselect(
        "Further strata within a tier",
        ["task", "category"],
        key=f"{form}-strata",
        help="Each tier's questions are spread over these in proportion to how many there are.",
        placeholder="None",
    )
    with st.expander("Shares of the tiers"):
        columns = st.columns(len(_TIERS))
        shares = {
            tier: column.number_input(
                str(tier or "no tier"), 0.0, 100.0, 1.0, 0.5, key=f"{form}-share-{tier}", format="%g"
            )
            for tier, column in zip(_TIERS, columns, strict=True)
        }
    try:
        return SamplingPlan(
            seed=int(chosen),
            per_1000=int(number) if how == of_1000 else None,
            n=None if how == of_1000 else int(number),
            shares=shares,
            strata=tuple(strata),
        )
    except DomainError as error:
        st.error(plain(str(error)))
        return None


# ---------------------------------------------------------------------------------------------------- looking
def _preview(
    person: Person, dataset: str, plan: SamplingPlan, batch: Batch | None
) -> sampling.Preview | None:
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
        st.altair_chart(_bars(seen.strata), width="stretch")
        table([_row(each) for each in seen.strata])
    for note in seen.notes:
        st.warning(plain(note), icon=":material/info:")
    return seen


def _sentence(seen: sampling.Preview, batch: Batch | None) -> str:
    if batch is None:
        return f"{seen.n:,} of {seen.size:,} questions will be drawn."
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


def _bars(strata: tuple[Stratum, ...]) -> alt.Chart:
    """Drawn questions of each tier, further strata together."""
    tiers: dict[str, int] = {}
    for each in strata:
        name = str(each.tier or "no tier")
        tiers[name] = tiers.get(name, 0) + each.drawn
    rows = [{"tier": name, "drawn": drawn} for name, drawn in tiers.items()]
    bars = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("tier:N", sort=list(tiers), title=None, axis=alt.Axis(labelFontSize=13)),
        x=alt.X("drawn:Q", title=None, axis=None),
    )
    numbers = bars.mark_text(align="left", dx=5, fontSize=13).encode(text=alt.Text("drawn:Q", format=","))
    # Their own colour would be the theme's text colour only by chance.
    numbers = numbers.encode(color=alt.value("#8a949b"))
    return (bars.mark_bar(size=16, color=_BAR) + numbers).properties(height=30 * len(tiers) + 10)


# ---------------------------------------------------------------------------------------------------- drawing
def _draw(
    form: str, dataset: str, plan: SamplingPlan, *, batch: Batch | None, n: int, taken: set[str]
) -> None:
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


def _new_batch(form: str, taken: set[str]) -> tuple[str, BatchSettings]:
    free = next(f"batch-{i}" for i in range(1, len(taken) + 2) if f"batch-{i}" not in taken)
    naming, way, asking, report = st.columns([2, 2, 2, 2], vertical_alignment="bottom")
    name = naming.text_input("Name of the batch", value=free, key=f"{form}-name")
    mode = way.selectbox("The key is shown", list(_MODES), key=f"{form}-mode", format_func=_MODES.get)
    parts = asking.selectbox("Asked for", list(_PARTS), key=f"{form}-parts", format_func=_PARTS.get)
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
    state.set_chosen("batch", drawn.batch.name)  # the page Batches opens with it
    added = f"{drawn.added:,} question{'' if drawn.added == 1 else 's'}"
    return f"Batch {drawn.batch.name}: {added} drawn from {dataset}."


main()
