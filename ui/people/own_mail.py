"""My account: the address for notices by e-mail, and switching them off."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from notifications import service as notifications
from notifications.smtp import is_mail_configured
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_notice

_NOTICE_KEY = "own-mail"


def show_own_mail(person: Person) -> None:
    """Show the form; nothing if this server sends no e-mail, or for a demo account."""
    if not is_mail_configured() or person.demo:
        return
    with read_only_session() as db:
        setting = notifications.load_own_mail_setting(db, person=person)
    st.subheader("Notices by e-mail")
    # The key contains the stored values: an address changed by an admin is shown, not overwritten.
    form_key = f"own-mail-{setting.address}-{setting.wanted}"
    with st.form(form_key, border=True):
        st.text_input(
            "E-mail address",
            value=setting.address,
            key=f"{form_key}-address",
            placeholder="anna@example.org",
            autocomplete="email",
            help="Admins see it. It is used for these notices only.",
        )
        st.checkbox(
            "Send me notices",
            value=setting.wanted,
            key=f"{form_key}-wanted",
            help="When questions are assigned to you, a comment is written to you, or a reader study is "
            "opened for you. E-mails contain no question, no comment and no patient data.",
        )
        st.form_submit_button(
            "Save",
            on_click=run_action,
            args=(_save_mail_setting, form_key),
            kwargs={"notice_key": _NOTICE_KEY},
        )
    show_notice(_NOTICE_KEY)


def _save_mail_setting(form_key: str) -> str:
    with unit_of_work() as db:
        setting = notifications.save_own_mail_setting(
            db,
            person=current_person(),
            address=str(state.get_widget_value(f"{form_key}-address") or ""),
            wanted=bool(state.get_widget_value(f"{form_key}-wanted")),
            now=clock(),
        )
    if setting.receives:
        return f"Saved. Notices are sent to {setting.address}."
    return (
        "Saved. No notices are sent to you."
        if setting.address
        else "Saved. Without an address you get no notices."
    )
