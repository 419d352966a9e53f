"""My account: own sign-ins, signing out elsewhere, password, notices by e-mail, keys and mouse button."""

from __future__ import annotations

import streamlit as st

from ui.context import require_page
from ui.layout import responsive_columns
from ui.people.input_preferences import show_input_preferences
from ui.people.own_mail import show_own_mail
from ui.people.own_password import show_own_password
from ui.people.own_sign_ins import show_own_sign_ins
from ui.people.second_factor import show_second_factor
from ui.widgets import escape_markdown, page_fragment


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a save."""
    person = require_page()
    st.title("My account")
    st.markdown(f"{escape_markdown(person.display_name)} · sign-in name {escape_markdown(person.name)}")
    st.caption(escape_markdown(", ".join(sorted(person.roles))) + " · roles are managed by admins")
    left, right = responsive_columns(1, 1, name="account")
    with left:
        show_own_sign_ins(person)
        show_own_mail(person)
    with right:
        show_own_password(person)
        show_second_factor(person)
    st.divider()
    show_input_preferences(person)


main()
