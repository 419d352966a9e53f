"""Notices by e-mail on My account and on People."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from domain.mail import MailSetting, NoticeKind
from domain.people import Role
from notifications import service as notifications
from storage.rows.jobs import JobRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, skip_double_click_time, wait_for_jobs
from tests.storage.mail_server import configure_mail, running_mail_server
from ui.background_jobs.job_control import worker

ACCOUNT, PEOPLE = "pages/account.py", "pages/people.py"


@pytest.fixture
def server(monkeypatch):
    with running_mail_server() as running:
        configure_mail(monkeypatch, running.port)
        yield running


def load_setting(person) -> MailSetting:
    with read_only_session() as db:
        return notifications.load_own_mail_setting(db, person=person)


def read_text(page) -> str:
    """The text without word joiners, which prevent links to addresses."""
    return get_text(page).replace("\u2060", "")


def find_by_label(elements, label):
    return next(element for element in elements if element.label == label)


def press(page, label):
    return skip_double_click_time(find_by_label(page.button, label).click().run())


def queue_notice(person) -> None:
    """Queue a notice that is due."""
    due_at = datetime.now(UTC) - timedelta(minutes=10)
    with unit_of_work() as db:
        notifications.notify(
            db,
            by_id=0,
            person_ids=[person.id],
            kind=NoticeKind.ASSIGNED,
            name="May *2026*",
            path="review?batch=1",
            now=due_at,
        )


def run_waiting_jobs() -> None:
    worker().take_waiting_jobs()
    wait_for_jobs()


def test_a_person_sets_their_address_and_switches_notices_off(sign_in_as, run_page, server):
    ruth = sign_in_as("ruth", Role.REVIEWER)
    page = run_page(ACCOUNT)
    find_by_label(page.text_input, "E-mail address").input("ruth@example.org")
    page = press(page, "Save")
    assert "Saved. Notices are sent to ruth@example.org." in read_text(page)
    assert load_setting(ruth) == MailSetting(address="ruth@example.org")
    find_by_label(page.checkbox, "Send me notices").uncheck()
    page = press(page, "Save")
    assert "Saved. No notices are sent to you." in read_text(page)
    assert load_setting(ruth) == MailSetting(address="ruth@example.org", wanted=False)


def test_an_invalid_address_is_refused_and_stays_in_the_field(sign_in_as, run_page, server):
    ruth = sign_in_as("ruth", Role.REVIEWER)
    page = run_page(ACCOUNT)
    find_by_label(page.text_input, "E-mail address").input("ruth at example")
    page = press(page, "Save")
    assert "'ruth at example' must be a single address such as anna@example.org" in read_text(page)
    assert find_by_label(page.text_input, "E-mail address").value == "ruth at example"
    assert load_setting(ruth) == MailSetting()


def test_without_a_mail_server_neither_page_offers_notices(sign_in_as, run_page, monkeypatch):
    monkeypatch.delenv("OVERREAD_SMTP_HOST", raising=False)
    sign_in_as("ada", Role.ADMIN)
    assert "Notices by e-mail" not in read_text(run_page(ACCOUNT))
    page = run_page(PEOPLE)
    assert "no mail server is configured (OVERREAD_SMTP_HOST)" in read_text(page)
    assert "E-mail" not in page.dataframe[0].value.columns


def test_an_admin_sets_the_address_of_another_person(sign_in_as, run_page, server):
    ruth = sign_in_as("ruth", Role.REVIEWER)
    sign_in_as("ada", Role.ADMIN)
    page = run_page(PEOPLE)
    page = page.selectbox(key="person-to-change").set_value("ruth").run()
    find_by_label(page.text_input, "E-mail address for notices").input("ruth@example.org")
    page = press(page, "Save address")
    assert "Saved. Address of ruth: ruth@example.org." in read_text(page)
    assert load_setting(ruth).address == "ruth@example.org"
    assert "ruth@example.org" in list(page.dataframe[0].value["E-mail"])


def test_an_invalid_setting_is_shown_to_the_admin(sign_in_as, run_page, server, monkeypatch):
    monkeypatch.setenv("OVERREAD_SMTP_PORT", "smtp")
    sign_in_as("ada", Role.ADMIN)
    text = read_text(run_page(PEOPLE))
    assert "Notices by e-mail can't be sent. OVERREAD_SMTP_PORT" in text


def test_an_email_that_was_not_sent_is_sent_again_by_an_admin(sign_in_as, run_page, server):
    ruth = sign_in_as("ruth", Role.REVIEWER)
    with unit_of_work() as db:
        notifications.set_mail_address(
            db, by=COMMAND_LINE, name="ruth", address="ruth@example.org", now=datetime.now(UTC)
        )
    server.refused.add("ruth@example.org")
    queue_notice(ruth)
    run_waiting_jobs()
    sign_in_as("ada", Role.ADMIN)
    page = run_page(PEOPLE)
    text = read_text(page)
    assert "1 e-mail could not be sent." in text
    assert "To Ruth, " in text
    assert "Batch May *2026*: questions were assigned to you" in text
    assert "refused the address (550 no such mailbox)" in text
    server.refused.clear()
    page = press(page, "Send again")
    wait_for_jobs()
    assert [mail["To"] for mail in server.mails] == ["ruth@example.org"]
    assert "could not be sent" not in read_text(page.run())


def test_an_email_that_is_refused_temporarily_is_shown_with_its_next_try(sign_in_as, run_page, server):
    ada = sign_in_as("ada", Role.ADMIN)
    with unit_of_work() as db:
        notifications.set_mail_address(
            db, by=COMMAND_LINE, name="ada", address="ada@example.org", now=datetime.now(UTC)
        )
    server.delayed.add("ada@example.org")
    queue_notice(ada)
    run_waiting_jobs()
    text = read_text(run_page(PEOPLE))
    assert "1 e-mail will be sent again automatically." in text
    assert "To Ada, next try at " in text
    assert "refused the address for now (451 4.7.1 greylisted, try again later)" in text
    assert "could not be sent" not in text


def test_a_failed_email_can_be_dismissed(sign_in_as, run_page, server):
    ada = sign_in_as("ada", Role.ADMIN)
    with unit_of_work() as db:
        notifications.set_mail_address(
            db, by=COMMAND_LINE, name="ada", address="ada@example.org", now=datetime.now(UTC)
        )
    server.refused.add("ada@example.org")
    queue_notice(ada)
    run_waiting_jobs()
    page = press(run_page(PEOPLE), "Dismiss")
    assert "could not be sent" not in read_text(page)
    with read_only_session() as db:
        assert db.execute(select(JobRow.dismissed)).scalars().all() == [True]
