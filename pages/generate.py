"""Generate: write questions from a source of findings, read them, and pass them to the import."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from ui.background_jobs.job_status import show_job_progress
from ui.context import require_page
from ui.question_generation.generation_form import show_generation_form
from ui.question_generation.generation_job import decode_request, load_own_latest_generation
from ui.question_generation.outcome import show_generation_outcome
from ui.widgets import escape_markdown, page_fragment


@page_fragment
def main() -> None:
    """Show the running generation, its outcome, or the form, in one fragment."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Generate")
    job = load_own_latest_generation(person)
    if job is None:
        show_generation_form(person)
    elif job.is_active:
        st.subheader(f"Generating from {escape_markdown(decode_request(job).source)}")
        show_job_progress(job)
    else:
        show_generation_outcome(job, person)


main()
