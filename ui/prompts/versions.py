"""The versions of a prompt, the difference between two, and the editor that saves the next version."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.count_texts import count_text
from language_models import service as models
from language_models.prompts import compare_prompts
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.tables import show_table
from ui.widgets import run_action, show_notice

_NOTICE = "prompt"
_FIRST_CONTENT = """name = "mcq-from-report"
system = "You write multiple-choice questions for radiologists."
user = "Report: ${report}"

[parameters]
temperature = 0
max_tokens = 600

[schema]
type = "object"
additionalProperties = false
required = ["question", "answer"]
properties.question.type = "string"
properties.answer.type = "string"
"""


def show_versions(versions: Sequence[models.PromptVersion]) -> None:
    """Show the versions of a prompt with their notes, the newest first, and the file of a chosen version."""
    show_notice(_NOTICE)  # the first version was saved before the page showed this part
    st.caption(
        "A stored version never changes. A change creates the next version, which does not reuse "
        "earlier replies."
    )
    show_table(
        [
            {
                "Version": version.version,
                "Note": version.note,
                "Used by": count_text(version.runs, "run") if version.runs else "no run",
                "Added": f"{version.added_at:%Y-%m-%d %H:%M} UTC",
                "SHA-256": version.sha256[:12],
            }
            for version in versions
        ],
        visible_rows=8,
    )
    version = _choose_version("Version", versions, 0, key="shown")
    st.code(version.content, language="toml", wrap_lines=True)


def show_comparison(versions: Sequence[models.PromptVersion]) -> None:
    """Show the difference between two versions of a prompt."""
    if len(versions) < 2:
        st.caption("There is one version only. Save another to compare them.")
        return
    left, right = st.columns(2)
    with left:
        old = _choose_version("From", versions, 1, key="old")
    with right:
        new = _choose_version("To", versions, 0, key="new")
    difference = compare_prompts(old.content, new.content, old_name=old.label, new_name=new.label)
    if difference:
        st.code(difference, language="diff", wrap_lines=True)
    else:
        st.caption("No difference.")


def show_editor(versions: Sequence[models.PromptVersion]) -> None:
    """Show the editor with the newest version of a prompt."""
    newest = versions[0]
    _show_editor(newest.content, key=f"prompt-{newest.label}", label="Save as next version")


def show_first_prompt() -> None:
    """Show the editor with the content of a simple prompt."""
    _show_editor(_FIRST_CONTENT, key=f"new-{state.form_key('prompt')}", label="Save prompt")


def _show_editor(content: str, *, key: str, label: str) -> None:
    with st.form(f"{key}-form", border=True):
        st.text_area("Prompt file (TOML)", content, key=f"{key}-content", height=420)
        st.text_input(
            "Note on this version",
            key=f"{key}-note",
            help="What changed, or the purpose of a first version.",
            max_chars=300,
        )
        st.form_submit_button(
            label,
            type="primary",
            on_click=run_action,
            args=(_save_version, key),
            kwargs={"notice_key": _NOTICE},
        )
    show_notice(_NOTICE)


def _save_version(key: str) -> str:
    content, note = (str(state.get_widget_value(f"{key}-{field}") or "") for field in ("content", "note"))
    with unit_of_work() as db:
        version, is_new = models.save_prompt(db, by=current_person(), content=content, note=note, now=clock())
    state.clear_form("prompt")
    state.set_selection("prompt", version.name)
    return f"Saved {version.label}." if is_new else f"The file equals {version.label}. Nothing was saved."


def _choose_version(
    label: str, versions: Sequence[models.PromptVersion], index: int, *, key: str
) -> models.PromptVersion:
    return st.selectbox(
        label,
        versions,
        index=index,
        key=f"version-{key}-{versions[0].label}",
        format_func=lambda version: f"{version.label}: {version.note}",
    )
