"""The raw names of a dataset: the next name to map, the list of all names, and changes of mappings."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from quality.service import (
    NameReport,
    RawName,
    list_name_examples,
    map_name,
    suggest_names,
)
from terminology.taxonomy import NamedField
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice, show_statistic

_NOTICE, _CHANGE_NOTICE = "taxonomy", "taxonomy-change"
_MAX_SUGGESTION_BUTTONS = 3


def show_overview(report: NameReport) -> None:
    """Show how many names and questions have a controlled name."""
    mapped_names = [name for name in report.names if name.controlled is not None]
    left, right = st.columns(2)
    with left:
        show_statistic("Raw names with a controlled name", f"{len(mapped_names):,}", n=len(report.names))
    with right:
        show_statistic(
            f"Questions with a controlled {report.field.label.lower()}"
            if report.field is not NamedField.REGION
            else "Question labels with a controlled name",
            f"{sum(name.questions for name in mapped_names):,}",
            n=report.questions,
        )


def show_next_name(person: Person, report: NameReport) -> None:
    """Show the next name without a controlled name, with buttons for similar names."""
    unmapped = report.unmapped
    if unmapped:
        skip_key = f"skipped-{report.dataset}-{report.field}"
        stored_position = state.get_selection(skip_key)
        position = stored_position if isinstance(stored_position, int) else 0
        raw = unmapped[position % len(unmapped)]
        st.subheader(f"Not mapped ({len(unmapped):,})")
        with st.container(border=True):
            _show_name(person, report, raw)
            _show_choices(report, raw)
            with st.container(horizontal=True):
                if len(unmapped) > 1:
                    st.button(
                        "Skip",
                        key=f"skip-{report.dataset}-{report.field}-{raw.name}",
                        shortcut="s",
                        on_click=state.set_selection,
                        args=(skip_key, position % len(unmapped) + 1),
                    )
                _show_undo(report)
    else:
        st.success("All these names have a controlled name.")
        _show_undo(report)
    show_notice(_NOTICE)


def _show_name(person: Person, report: NameReport, raw: RawName) -> None:
    st.markdown(f"**{escape_markdown(raw.name)}** · {count_text(raw.questions, 'question')}")
    with read_only_session() as db:
        examples = list_name_examples(db, by=person, dataset=report.dataset, field=report.field, raw=raw.name)
    st.markdown(
        "\n".join(
            f"- [{escape_markdown(key)}](/browse?question={number}) {escape_markdown(stem)}"
            for number, key, stem in examples
        )
    )


def _show_choices(report: NameReport, raw: RawName) -> None:
    """Show buttons for the most similar names, and a choice of all controlled names."""
    suggestions = suggest_names(report.field, raw.name)
    with st.container(horizontal=True):
        for number, name in enumerate(suggestions[:_MAX_SUGGESTION_BUTTONS], start=1):
            st.button(
                name,
                key=f"suggest-{report.dataset}-{report.field}-{raw.name}-{number}",
                shortcut=str(number),
                on_click=run_action,
                args=(_save_mapping, report.dataset, report.field, raw.name, name),
                kwargs={"notice_key": _NOTICE},
            )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    chosen_name = left.selectbox(
        "Another controlled name",
        sorted(suggestions),
        index=None,
        placeholder="Choose a name",
        key=f"choose-{report.dataset}-{report.field}-{raw.name}",
    )
    right.button(
        "Map",
        key=f"map-{report.dataset}-{report.field}-{raw.name}",
        shortcut="m",
        disabled=chosen_name is None,
        width="stretch",
        on_click=run_action,
        args=(_save_mapping, report.dataset, report.field, raw.name, chosen_name),
        kwargs={"notice_key": _NOTICE},
    )


def _show_undo(report: NameReport) -> None:
    if report.last_mapped is not None:
        st.button(
            "Undo last mapping",
            key=f"undo-{report.dataset}-{report.field}-{report.last_mapped}",
            shortcut="u",
            on_click=run_action,
            args=(_save_mapping, report.dataset, report.field, report.last_mapped, report.previous_name),
            kwargs={"notice_key": _NOTICE},
        )


def show_all_names(report: NameReport) -> None:
    """Show all names with their controlled names."""
    st.subheader("All names")
    show_table([_build_row(name) for name in report.names])


def _build_row(name: RawName) -> dict[str, object]:
    origin = (
        (name.mapped_by or "command line") if name.is_own else "built-in taxonomy" if name.controlled else ""
    )
    return {
        "Raw name": name.name,
        "Questions": name.questions,
        "Controlled name": name.controlled or "not mapped",
        "Domain": name.heading,
        "Mapped by": origin,
    }


def show_change(report: NameReport) -> None:
    """Show the form that changes the mapping of any name."""
    with st.expander("Change a mapping"):
        form_key = f"{report.dataset}-{report.field}"
        names_by_text = {name.name: name for name in report.names}
        raw = st.selectbox(
            "Name", list(names_by_text), index=None, placeholder="Choose a name", key=f"change-{form_key}"
        )
        if raw is not None and raw in names_by_text:
            _show_mapping_fields(report, names_by_text[raw], form_key)
        show_notice(_CHANGE_NOTICE)


def _show_mapping_fields(report: NameReport, name: RawName, form_key: str) -> None:
    choices = sorted(suggest_names(report.field, name.name))
    controlled = st.selectbox(
        "Controlled name",
        choices,
        index=choices.index(name.controlled) if name.controlled in choices else None,
        key=f"change-to-{form_key}-{name.name}-{name.controlled}",
    )
    with st.container(horizontal=True):
        st.button(
            "Save mapping",
            key=f"save-{form_key}-{name.name}",
            disabled=controlled in (None, name.controlled),
            on_click=run_action,
            args=(_save_mapping, report.dataset, report.field, name.name, controlled),
            kwargs={"notice_key": _CHANGE_NOTICE},
        )
        if name.is_own:
            st.button(
                "Remove mapping",
                key=f"remove-{form_key}-{name.name}",
                on_click=run_action,
                args=(_save_mapping, report.dataset, report.field, name.name, None),
                kwargs={"notice_key": _CHANGE_NOTICE},
                help="The name gets that of the taxonomy again, if it has one.",
            )


def _save_mapping(dataset: str, field: NamedField, raw: str, controlled: str | None) -> str:
    with unit_of_work() as db:
        map_name(
            db,
            by=current_person(),
            dataset=dataset,
            field=field,
            raw=raw,
            controlled=controlled,
            now=clock(),
        )
    return f"{raw} is mapped to {controlled}." if controlled else f"The mapping of {raw} is removed."
