"""Prompt bench: the outputs of prompt versions for the same reports, with scores, and checks of regions."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from language_models import service as models
from ui import state
from ui.context import clock, read_only_session, require_page
from ui.prompt_bench.bench_form import show_bench_form
from ui.prompt_bench.bench_report import show_report
from ui.prompt_bench.bench_view import show_experts, show_runs
from ui.region_checks.check_view import show_region_checks
from ui.widgets import page_fragment

_NEW = "New prompt bench"


def _show_benches(person: Person) -> None:
    with read_only_session() as db:
        names = [bench.name for bench in models.list_benches(db, by=person)]
    if not names:
        st.caption(
            "A prompt bench runs several versions of a prompt on the same reports, with one model. Experts "
            "score the outputs without knowing the version, and the results compare the versions."
        )
        show_bench_form(person)
        return
    last_name = state.get_selection("bench")
    name = st.selectbox(
        "Prompt bench",
        [*names, _NEW],
        index=names.index(last_name) if last_name in names else 0,
        key=f"bench-of-{len(names)}",
        width=420,
    )
    if name == _NEW:
        show_bench_form(person)
        return
    state.set_selection("bench", name)
    with read_only_session() as db:
        overview = models.load_bench(db, by=person, name=name, now=clock())
    show_runs(overview)
    show_experts(overview)
    show_report(overview)


_PARTS = {"Expert scores": _show_benches, "Region checks": show_region_checks}


@page_fragment
def main() -> None:
    """Show one bench or region check, in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.RUN_MODELS)
    st.title("Prompt bench")
    part = st.segmented_control(  # allow fixed-widget-key: the parts are always the same
        "Part", list(_PARTS), default=next(iter(_PARTS)), key="bench-part", label_visibility="collapsed"
    )
    _PARTS[part or next(iter(_PARTS))](person)


require_page(Action.RUN_MODELS)
main()
