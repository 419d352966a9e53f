"""Language models: the endpoints to which requests may be sent."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from language_models import service as models
from ui.context import read_only_session, require_page
from ui.endpoints.endpoint_form import show_endpoint_form, show_endpoints
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.MANAGE_MODELS)
    st.title("Language models")
    with read_only_session() as db:
        states = models.list_endpoints(db, by=person)
    if states:
        show_endpoints(states)
    else:
        show_empty_state(
            "No language model yet",
            "An endpoint is a model at the address of a server with the interface of OpenAI, at a provider "
            "or "
            "on your own machines (vLLM, Ollama, llama.cpp).",
        )
    st.subheader("Add endpoint")
    show_endpoint_form()


main()
