"""People: accounts, their roles, and disabled accounts."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.mail import MailSetting
from domain.people import Action, Person
from notifications import service as notifications
from notifications.smtp import is_mail_configured
from ui.context import read_only_session, require_page
from ui.people.add_person import show_add_form
from ui.people.mail_delivery import describe_mail_setting, show_mail_delivery
from ui.people.person_forms import show_change_forms
from ui.tables import show_table
from ui.widgets import page_fragment


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.MANAGE_PEOPLE)
    st.title("People")
    with read_only_session() as db:
        people = accounts.list_people(db, by=person)
        with_second_factor = accounts.list_people_with_second_factor(db, by=person)
        mail_settings = notifications.list_mail_settings(db, by=person)
    show_table(
        [
            _person_row(account, account.id in with_second_factor) | _mail_cell(mail_settings.get(account.id))
            for account in people
        ]
    )
    show_mail_delivery(people, person)
    left, right = st.columns(2, gap="large")
    with left:
        show_add_form()
    with right:
        show_change_forms(people, with_second_factor=with_second_factor, mail_settings=mail_settings)


def _person_row(person: Person, has_second_factor: bool) -> dict[str, object]:
    return {
        "Display name": person.display_name,
        "Sign-in name": person.name,
        "Roles": ", ".join(sorted(person.roles)),
        "Authenticator app": "on" if has_second_factor else "not set up",
        "Status": _describe_status(person),
    }


def _mail_cell(setting: MailSetting | None) -> dict[str, object]:
    return {"E-mail": describe_mail_setting(setting)} if is_mail_configured() else {}


def _describe_status(person: Person) -> str:
    if person.disabled_at is not None:
        return f"disabled since {person.disabled_at:%Y-%m-%d}"
    return "active (demo)" if person.demo else "active"


main()
