"""People: whether the server sends notices by e-mail, and the mails that were not sent."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.jobs import Job
from domain.mail import MailSetting
from domain.people import Person
from notifications import service as notifications
from notifications.mail_text import describe_notices
from notifications.service import MailParameters
from notifications.smtp import is_mail_configured, read_smtp_settings
from ui import state
from ui.background_jobs import job_control
from ui.context import clock, current_person, format_clock_time, read_only_session, unit_of_work
from ui.widgets import escape_markdown, format_relative_time, run_action, show_notice

#: The maximum number of waiting e-mails, and of failed ones, that are shown.
_MAX_SHOWN = 5


def describe_mail_setting(setting: MailSetting | None) -> str:
    """Return the e-mail cell of a person in the table of people."""
    if setting is None or not setting.address:
        return ""
    return setting.address if setting.wanted else f"{setting.address} (notices off)"


def show_address_form(person: Person, settings: Mapping[int, MailSetting]) -> None:
    """Show the form for another person's address; nothing if this server sends no e-mail."""
    if not is_mail_configured() or person.demo:
        return
    setting = settings.get(person.id, MailSetting())
    notice_key = f"mail-of-{person.id}"
    form_key = f"{notice_key}-{setting.address}"
    with st.form(form_key, border=True):
        st.text_input(
            "E-mail address for notices",
            value=setting.address,
            key=f"{form_key}-address",
            help="" if setting.wanted else "This person has switched notices off.",
        )
        st.form_submit_button(
            "Save address",
            on_click=run_action,
            args=(_save_address, person.name, form_key),
            kwargs={"notice_key": notice_key},
        )
    show_notice(notice_key)


def show_mail_delivery(people: list[Person], person: Person) -> None:
    """Show what is wrong with the settings, and the latest e-mails that were not sent."""
    if not is_mail_configured():
        st.caption("Notices by e-mail are off: no mail server is configured (OVERREAD_SMTP_HOST).")
        return
    try:
        settings = read_smtp_settings()
    except InvalidValue as error:
        st.error(f"Notices by e-mail can't be sent. {escape_markdown(str(error))}")
    else:
        st.caption(escape_markdown(f"Notices by e-mail are sent through {settings.host}:{settings.port}."))
    with read_only_session() as db:
        unsent = notifications.list_unsent_mails(db, by=person)
    names = {account.id: account.display_name for account in people}
    waiting = [mail for mail in unsent if mail[0].is_active]
    failures = [mail for mail in unsent if not mail[0].is_active]
    if waiting:
        st.info(f"{count_text(len(waiting), 'e-mail')} will be sent again automatically.")
        for job, parameters in waiting[:_MAX_SHOWN]:
            next_try = format_clock_time(job.not_before) if job.not_before else "now"
            _show_mail(f"next try at {next_try}", parameters, names, problem=parameters.problem)
    if failures:
        st.warning(f"{count_text(len(failures), 'e-mail')} could not be sent.")
        for job, parameters in failures[:_MAX_SHOWN]:
            _show_failure(job, parameters, names)
    show_notice("mail-delivery")


def _show_mail(when: str, parameters: MailParameters, names: Mapping[int, str], *, problem: str) -> None:
    lines = "; ".join(describe_notices(parameters.notices))
    st.markdown(escape_markdown(f"To {names.get(parameters.person_id, '')}, {when}: {lines}"))
    st.caption(escape_markdown(problem))


def _show_failure(job: Job, parameters: MailParameters, names: Mapping[int, str]) -> None:
    ended = format_relative_time(job.finished_at, now=clock())
    _show_mail(ended, parameters, names, problem=job.message)
    with st.container(horizontal=True):  # the buttons wrap in a narrow window
        st.button(
            "Send again",
            key=f"send-again-{job.number}",
            on_click=run_action,
            args=(_send_again, job.number),
            kwargs={"notice_key": "mail-delivery"},
        )
        st.button(
            "Dismiss",
            key=f"dismiss-mail-{job.number}",
            on_click=run_action,
            args=(job_control.dismiss_job, job.number),
            kwargs={"notice_key": "mail-delivery"},
            type="tertiary",
        )


def _send_again(number: int) -> None:
    job_control.restart_job(number)
    job_control.dismiss_job(number)


def _save_address(name: str, form_key: str) -> str:
    with unit_of_work() as db:
        setting = notifications.set_mail_address(
            db,
            by=current_person(),
            name=name,
            address=str(state.get_widget_value(f"{form_key}-address") or ""),
            now=clock(),
        )
    return f"Saved. Address of {name}: {setting.address or 'none'}."
