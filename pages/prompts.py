"""Prompts: versions with their notes and differences, and in-context examples."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from language_models import service as models
from ui import state
from ui.context import read_only_session, require_page
from ui.prompts.examples import show_examples
from ui.prompts.versions import show_comparison, show_editor, show_first_prompt, show_versions
from ui.widgets import page_fragment, show_empty_state

_PARTS = {
    "Versions": show_versions,
    "Compare": show_comparison,
    "Examples": show_examples,
    "New version": show_editor,
}
_NEW = "New prompt"


@page_fragment
def main() -> None:
    """Show one prompt, in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.RUN_MODELS)
    st.title("Prompts")
    with read_only_session() as db:
        versions = models.list_prompts(db, by=person)
    names = list(dict.fromkeys(version.name for version in versions))
    if not names:
        show_empty_state(
            "No prompt yet",
            "A prompt is an instruction to a model: texts with variables such as ${report}, the required "
            "form of "
            "the reply, parameters and, if wanted, examples. Below is one to edit and save.",
        )
        show_first_prompt()
        return
    last_name = state.get_selection("prompt")
    name = st.selectbox(
        "Prompt",
        [*names, _NEW],
        index=names.index(last_name) if last_name in names else 0,
        key=f"prompt-of-{len(names)}",
        width=420,
    )
    if name == _NEW:
        show_first_prompt()
        return
    state.set_selection("prompt", name)
    part = st.segmented_control(
        "Part",
        list(_PARTS),
        default=next(iter(_PARTS)),
        key=f"prompt-part-{name}",
        label_visibility="collapsed",
    )
    _PARTS[part or next(iter(_PARTS))]([version for version in versions if version.name == name])


main()
