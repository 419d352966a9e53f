"""The part of My account for keys and the left mouse button: change, reset, export and import."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.people import Person
from domain.shortcuts import SHORTCUTS, InputPreferences, LeftButton, Shortcut
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.widgets import escape_markdown, run_action, show_notice

_FORM = "own-keys"
_NOTICE_KEY = "own-keys"
_LEFT_BUTTON_LABELS = {
    LeftButton.BOXES: "draw and move boxes",
    LeftButton.WINDOW: "adjust window and level",
    LeftButton.PAN: "move the image",
}
_GROUPS = tuple(dict.fromkeys(shortcut.group for shortcut in SHORTCUTS.values()))


def show_input_preferences(person: Person) -> None:
    """Show the keys, one group at a time, the choice of the left mouse button, export and import."""
    with read_only_session() as db:
        preferences = accounts.load_input_preferences(db, person=person)
    st.subheader("Shortcuts and mouse")
    st.caption("For the pages Review, Read and Adjudicate. Reload an open page to apply a change.")
    left, right = responsive_columns(3, 2, name="own-keys")
    form_key = state.form_key(_FORM)
    with left:
        _show_keys(preferences, form_key)
    with right:
        _show_left_button(preferences, form_key)
        _show_file_buttons(preferences, form_key)


def _show_keys(preferences: InputPreferences, form_key: str) -> None:
    group = st.segmented_control(
        "Actions", _GROUPS, default=_GROUPS[0], required=True, key=f"{form_key}-group", wrap=True
    )
    st.caption(
        "A letter, a digit, a symbol, or Enter, Backspace, Delete, Insert, Home, End, PageUp, PageDown; each "
        "also with Shift (Shift+A), digits also with Alt (Alt+1). An empty field turns the shortcut off."
    )
    for shortcut in SHORTCUTS.values():
        if shortcut.group == group:
            _show_key(shortcut, preferences, form_key)


def _show_key(shortcut: Shortcut, preferences: InputPreferences, form_key: str) -> None:
    key = preferences.get_key(shortcut.id)
    # The widget's key contains the stored key: after saving, the field shows the normalised key; after a
    # refusal, it keeps the person's input.
    widget_key = f"{form_key}-{shortcut.id}-{key}"
    label_column, key_column = st.columns([3, 2], vertical_alignment="center")
    default_note = f" (default: {shortcut.key})" if shortcut.id in preferences.keys else ""
    label_column.markdown(escape_markdown(shortcut.label.capitalize() + default_note))
    with key_column:
        st.text_input(
            f"Key for: {shortcut.label}",
            value=key,
            key=widget_key,
            placeholder="no key",
            label_visibility="collapsed",
            on_change=run_action,
            args=(_save_key, shortcut.id, widget_key),
            kwargs={"notice_key": f"{_NOTICE_KEY}-{shortcut.id}"},
        )
        show_notice(f"{_NOTICE_KEY}-{shortcut.id}")


def _show_left_button(preferences: InputPreferences, form_key: str) -> None:
    st.radio(
        "The left mouse button on a radiograph",
        list(_LEFT_BUTTON_LABELS),
        index=list(_LEFT_BUTTON_LABELS).index(preferences.left_button),
        key=f"{form_key}-left-button",
        format_func=_LEFT_BUTTON_LABELS.__getitem__,
        on_change=run_action,
        args=(_save_left_button, f"{form_key}-left-button"),
        kwargs={"notice_key": f"{_NOTICE_KEY}-left"},
        help="The right button always adjusts the window. B switches between boxes and window.",
    )
    show_notice(f"{_NOTICE_KEY}-left")


def _show_file_buttons(preferences: InputPreferences, form_key: str) -> None:
    own_count = len(preferences.keys)
    st.markdown(f"{count_text(own_count, 'own key')}" if own_count else "All keys are the default ones.")
    with st.container(horizontal=True):
        st.link_button("Export as JSON", "/files/keys.json", icon=":material/download:")
        st.button(
            "Reset to defaults",
            key=f"{form_key}-reset",
            on_click=run_action,
            args=(_reset_preferences,),
            kwargs={"notice_key": f"{_NOTICE_KEY}-file"},
            disabled=preferences == InputPreferences(),
        )
    st.file_uploader("Import a JSON file", type="json", key=f"{form_key}-file")
    st.button(
        "Import",
        key=f"{form_key}-import",
        on_click=run_action,
        args=(_import_preferences, f"{form_key}-file"),
        kwargs={"notice_key": f"{_NOTICE_KEY}-file"},
        disabled=state.get_widget_value(f"{form_key}-file") is None,
    )
    show_notice(f"{_NOTICE_KEY}-file")


# --------------------------------------------------------------------------------------------------- writes
def _save_key(action: str, widget_key: str) -> str:
    key = str(state.get_widget_value(widget_key) or "")
    with unit_of_work() as db:
        saved_key = accounts.save_own_key(db, person=current_person(), action=action, key=key, now=clock())
    return f"Saved: {saved_key}" if saved_key else "Saved: no key"


def _save_left_button(widget_key: str) -> str:
    left_button = LeftButton(str(state.get_widget_value(widget_key)))
    with unit_of_work() as db:
        accounts.save_left_button(db, person=current_person(), left_button=left_button, now=clock())
    return f"Saved: {_LEFT_BUTTON_LABELS[left_button]}"


def _reset_preferences() -> str:
    with unit_of_work() as db:
        accounts.reset_input_preferences(db, person=current_person())
    state.clear_form(_FORM)
    return "All keys and the mouse button are the default ones."


def _import_preferences(widget_key: str) -> str:
    upload = state.get_widget_value(widget_key)
    if upload is None:
        raise InvalidValue("file", "choose a JSON file first")
    content: bytes = upload.getvalue()  # type: ignore[attr-defined]  # an uploaded file
    with unit_of_work() as db:
        count = accounts.import_input_preferences(db, person=current_person(), content=content, now=clock())
    state.clear_form(_FORM)
    return f"Imported: {count_text(count, 'own key')}."
