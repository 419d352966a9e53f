"""Notices by e-mail: who gets which notice, when, and what happens if the mail server fails."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import accumulate

import pytest
from sqlalchemy import select, update

from accounts.service import command_line_person
from domain.errors import InvalidValue, Refused
from domain.jobs import JobStatus
from domain.mail import MailSetting, NoticeKind
from domain.second_opinions import SecondOpinionScope
from jobs import service as jobs
from jobs.service import Worker
from notifications import service as notifications
from notifications.service import MAIL
from notifications.service.mail_job import RETRY_DELAYS
from reader_study import service as studies
from review import service as review
from review.id_mask import IdMask
from storage.rows.batches import AssignmentRow
from storage.rows.hidden import HiddenSetRow
from storage.rows.jobs import JobRow
from storage.rows.people import PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.mail_server import (
    LINK,
    PASSWORD,
    SENDER,
    USER,
    configure_mail,
    make_certificate,
    running_mail_server,
)
from tests.storage.study_worlds import make_study_world
from tests.storage.worlds import NOW, World, assign_all, make_world

BY = command_line_person()
LATER = NOW + timedelta(minutes=4)
ASSIGNED, SHARED = (
    "Batch first: questions were assigned to you",
    "Batch first: you can take questions from the shared queue",
)
STUDY = "Reader study first: open for you"
SECRET = 0x1234_5678_9ABC_DEF


def find_links(mail) -> list[str]:
    return [word for word in mail.get_content().split() if word.startswith("http")]


@pytest.fixture
def server(monkeypatch):
    with running_mail_server() as running:
        configure_mail(monkeypatch, running.port)
        yield running


def set_addresses(engine, people, *names: str, wanted: bool = True) -> None:
    with unit_of_work(engine) as db:
        for name in names:
            notifications.save_own_mail_setting(
                db, person=people[name], address=f"{name}@example.org", wanted=wanted, now=NOW
            )


def make_world_with_addresses(engine) -> World:
    world = make_world(engine, questions=4)
    set_addresses(engine, world.people, "cora", "ruth", "remo")
    return world


@pytest.fixture
def world(sqlite_engine) -> World:
    return make_world_with_addresses(sqlite_engine)


@pytest.fixture
def world_on_both(engine) -> World:
    """The world on SQLite and on PostgreSQL, for tests in which rows are locked and merged."""
    return make_world_with_addresses(engine)


def assign(world: World, *to: str, by=BY, now: datetime = NOW, **options) -> None:
    with unit_of_work(world.engine) as db:
        review.assign(db, by=by, batch="first", to=to, now=now, **options)


def write_comment(world: World, text: str = "Is the lateral view missing?") -> None:
    with unit_of_work(world.engine) as db:
        review.write_comment(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=world.questions[0],
            text=text,
            now=NOW,
        )


def answer_comment(world: World) -> None:
    with unit_of_work(world.engine) as db:
        review.write_to_reviewer(
            db, by=world.people["cora"], batch="first", question_row_id=world.questions[0], reviewer="ruth",
            text="No, it was never taken.", now=NOW,
        )  # fmt: skip


def run_jobs(engine, *, at: datetime = LATER) -> None:
    """Run the jobs that are due at that time, as the worker of an app does."""
    worker = Worker("mails", {"mail": MAIL}.get, clock=lambda: at, engine=engine)
    worker.take_waiting_jobs()
    worker.wait_until_idle(30)
    worker.stop()


def list_mail_jobs(engine):
    with read_only_session(engine) as db:
        return jobs.list_jobs(db, by=BY, kind=MAIL)


def test_an_assignment_is_reported_without_questions_or_their_number(world, server):
    assign(world, "ruth")
    run_jobs(world.engine)
    [mail] = server.mails
    assert (mail["From"], mail["To"], mail["Subject"]) == (
        SENDER, "ruth@example.org", "New work in Overread",
    )  # fmt: skip
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content() == (
        f"New in Overread:\n\n- {ASSIGNED}\n  {LINK}review?batch=1\n\n"
        "You can switch these notices off in Overread under My account.\n"
    )
    assert [job.status for job in list_mail_jobs(world.engine)] == [JobStatus.DONE]


def test_without_the_public_address_the_mail_has_no_link(world, server, monkeypatch):
    monkeypatch.delenv("OVERREAD_ADDRESS")
    assign(world, "ruth")
    run_jobs(world.engine)
    assert "http" not in server.mails[0].get_content()


def test_events_within_three_minutes_become_one_mail(world_on_both, server):
    assign(world_on_both, "ruth")
    answer_comment(world_on_both)
    answer_comment(world_on_both)
    run_jobs(world_on_both.engine, at=NOW + timedelta(minutes=2, seconds=59))
    assert server.mails == []
    run_jobs(world_on_both.engine, at=NOW + timedelta(minutes=3))
    assert server.take_mails() == [("ruth@example.org", [ASSIGNED, "Batch first: 2 new comments"])]


def test_an_event_after_a_mail_was_sent_begins_a_new_mail(world, server):
    assign(world, "ruth")
    run_jobs(world.engine)
    assign(world, "remo", overlap=2, now=LATER)
    assign(world, "ruth", "remo", overlap=2, now=LATER)  # nothing is left to assign
    run_jobs(world.engine, at=LATER + timedelta(minutes=3))
    assert server.take_mails() == [("remo@example.org", [ASSIGNED]), ("ruth@example.org", [ASSIGNED])]


def test_an_event_while_a_mail_is_being_sent_begins_a_new_mail(world_on_both, server):
    assign(world_on_both, "ruth")
    with unit_of_work(world_on_both.engine) as db:
        db.execute(update(JobRow).values(status="running", worker="other", lease_until=LATER))
    answer_comment(world_on_both)
    assert [job.status for job in list_mail_jobs(world_on_both.engine)] == [
        JobStatus.QUEUED,
        JobStatus.RUNNING,
    ]


def test_all_concurrent_events_are_in_one_mail(world_on_both, server):
    assign(world_on_both, "ruth")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: answer_comment(world_on_both), range(8)))
    run_jobs(world_on_both.engine)
    assert server.take_mails() == [("ruth@example.org", [ASSIGNED, "Batch first: 8 new comments"])]


def test_reassigned_questions_are_reported_to_the_new_reviewer_only(world, server):
    with unit_of_work(world.engine) as db:
        assign_all(db, batch=world.batch, questions=world.questions, person=world.people["ruth"])
    with unit_of_work(world.engine) as db:
        review.reassign(db, by=BY, batch="first", from_="ruth", to=["remo"], now=NOW)
    run_jobs(world.engine)
    assert server.take_mails() == [("remo@example.org", [ASSIGNED])]


def test_the_shared_queue_is_reported_to_new_members_only(world, server):
    for members in (["ruth"], ["ruth", "remo"]):
        with unit_of_work(world.engine) as db:
            review.share_batch(db, by=BY, batch="first", to=members, now=NOW)
        run_jobs(world.engine)
    assert server.take_mails() == [("remo@example.org", [SHARED]), ("ruth@example.org", [SHARED])]


def test_a_second_opinion_is_reported_as_an_assignment(world, server):
    with unit_of_work(world.engine) as db:
        assign_all(db, batch=world.batch, questions=world.questions, person=world.people["ruth"])
    with unit_of_work(world.engine) as db:
        review.request_second_opinions(
            db,
            by=BY,
            batch="first",
            to=["remo"],
            scope=SecondOpinionScope.RANDOM_SHARE,
            share=1.0,
            seed=1,
            now=NOW,
        )
    run_jobs(world.engine)
    assert server.take_mails() == [("remo@example.org", [ASSIGNED])]


def test_comments_are_reported_to_coordinators_and_to_the_reviewer_without_their_text(world, server):
    assign(world, "ruth")
    run_jobs(world.engine)
    server.mails.clear()
    write_comment(world)
    answer_comment(world)
    run_jobs(world.engine)
    assert all("lateral" not in mail.as_string() and "taken" not in mail.as_string() for mail in server.mails)
    assert server.take_mails() == [
        ("cora@example.org", ["Batch first: 1 new comment"]),
        ("ruth@example.org", ["Batch first: 1 new comment"]),
    ]


def test_a_study_is_reported_when_a_reader_is_added_and_when_it_is_reopened(sqlite_engine, server):
    engine = sqlite_engine
    study_world = make_study_world(engine, readers=["rob"])
    set_addresses(engine, study_world.people, "rea", "rob")
    with unit_of_work(engine) as db:
        studies.assign_readers(db, by=BY, study="first", to=["rea", "rob"], now=NOW)
    run_jobs(engine)
    assert server.take_mails() == [("rea@example.org", [STUDY])]
    for change in (studies.close_study, studies.reopen_study, studies.reopen_study):
        with unit_of_work(engine) as db:
            change(db, by=BY, study="first", now=NOW)
    run_jobs(engine)
    assert server.take_mails() == [("rea@example.org", [STUDY]), ("rob@example.org", [STUDY])]


def test_nobody_gets_a_notice_of_their_own_action(world, server):
    with unit_of_work(world.engine) as db:
        notifications.notify_coordinators(
            db,
            by=world.people["cora"],
            kind=NoticeKind.COMMENT,
            name="first",
            path="browse?question=1",
            now=NOW,
        )
    assert list_mail_jobs(world.engine) == []


def test_a_person_who_wants_no_notices_or_has_no_address_gets_no_mail(world, server):
    set_addresses(world.engine, world.people, "ruth", wanted=False)
    with unit_of_work(world.engine) as db:
        notifications.set_mail_address(db, by=BY, name="remo", address="", now=NOW)
    assign(world, "ruth", "remo")
    assert list_mail_jobs(world.engine) == []


@pytest.mark.parametrize("change", ["notices off", "disabled"])
def test_a_person_who_is_disabled_or_switches_notices_off_after_the_event_gets_no_mail(world, server, change):
    assign(world, "ruth")
    if change == "disabled":
        with unit_of_work(world.engine) as db:
            db.execute(update(PersonRow).where(PersonRow.name == "ruth").values(disabled_at=NOW))
    else:
        set_addresses(world.engine, world.people, "ruth", wanted=False)
    run_jobs(world.engine)
    assert server.mails == []
    assert [job.status for job in list_mail_jobs(world.engine)] == [JobStatus.DONE]


def test_without_a_mail_server_nothing_is_queued(world, monkeypatch):
    monkeypatch.delenv("OVERREAD_SMTP_HOST", raising=False)
    assign(world, "ruth")
    assert list_mail_jobs(world.engine) == []


def test_an_assignment_that_is_rolled_back_sends_nothing(world, server):
    def assign_and_fail() -> None:
        with unit_of_work(world.engine) as db:
            review.assign(db, by=BY, batch="first", to=["ruth"], now=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        assign_and_fail()
    assert list_mail_jobs(world.engine) == []


def test_a_waiting_mail_can_be_cancelled(world, server):
    assign(world, "ruth")
    [job] = list_mail_jobs(world.engine)
    with unit_of_work(world.engine) as db:
        assert jobs.cancel_job(db, by=BY, number=job.number, now=NOW).status is JobStatus.CANCELLED
    run_jobs(world.engine)
    assert server.mails == []


def test_links_lead_to_the_pages_of_the_events(world, server):
    assign(world, "ruth")
    write_comment(world)
    answer_comment(world)
    answer_comment(world)
    run_jobs(world.engine)
    number = world.questions[0]
    assert {mail["To"]: find_links(mail) for mail in server.mails} == {
        "cora@example.org": [f"{LINK}browse?question={number}"],
        "ruth@example.org": [f"{LINK}review?batch=1", f"{LINK}review?batch=1&question={number}"],
    }


def test_the_link_to_a_question_has_the_masked_number_of_the_review_page(world, server):
    with unit_of_work(world.engine) as db:
        db.add(HiddenSetRow(batch_id=1, dataset_id=1, import_id=1, id_mask=SECRET, plan="", changed_at=NOW))
    assign(world, "ruth")
    answer_comment(world)
    run_jobs(world.engine)
    masked = IdMask(secret=SECRET).mask(world.questions[0])
    assert masked != world.questions[0]
    assert find_links(server.mails[0])[1] == f"{LINK}review?batch=1&question={masked}"


def test_a_notice_of_an_older_version_is_sent_with_the_address_of_the_app(world, server):
    with unit_of_work(world.engine) as db:
        notifications.notify(
            db, by_id=0, person_ids=[world.people["ruth"].id], kind=NoticeKind.SHARED, name="first", path="",
            now=NOW,
        )  # fmt: skip
    run_jobs(world.engine)
    assert find_links(server.mails[0]) == [LINK]


def test_a_temporarily_refused_mail_is_sent_later_with_the_events_since(world_on_both, server):
    engine = world_on_both.engine
    server.delayed.add("ruth@example.org")
    assign(world_on_both, "ruth")
    run_jobs(engine)
    assert server.mails == []
    with read_only_session(engine) as db:
        [(job, mail)] = notifications.list_unsent_mails(db, by=BY)
    assert (job.status, job.not_before) == (JobStatus.QUEUED, LATER + RETRY_DELAYS[0])
    assert "refused the address for now (451 4.7.1 greylisted, try again later)." in mail.problem
    answer_comment(world_on_both)
    server.delayed.clear()
    run_jobs(engine, at=LATER + RETRY_DELAYS[0])
    assert server.take_mails() == [("ruth@example.org", [ASSIGNED, "Batch first: 1 new comment"])]
    with read_only_session(engine) as db:
        assert notifications.list_unsent_mails(db, by=BY) == []


def test_an_assignment_stays_if_the_mail_server_is_down_and_the_mail_can_be_sent_again(
    world, monkeypatch, caplog
):
    with running_mail_server() as server:
        port = server.port
    configure_mail(monkeypatch, port)
    with caplog.at_level(logging.DEBUG):
        assign(world, "ruth")
        for waited in accumulate(RETRY_DELAYS, initial=timedelta(0)):
            run_jobs(world.engine, at=LATER + waited)
    with read_only_session(world.engine) as db:
        [(job, _)] = notifications.list_unsent_mails(db, by=BY)
        assert len(db.execute(select(AssignmentRow)).all()) == 4
    assert job.message == (
        f"localhost:{port} could not be reached: Connection refused. Check OVERREAD_SMTP_HOST and "
        "OVERREAD_SMTP_PORT."
    )
    assert f"the e-mail of job {job.number} was not sent: ConnectionRefusedError" in caplog.text
    assert "ruth" not in caplog.text
    with running_mail_server(port=port) as server:
        with unit_of_work(world.engine) as db:
            jobs.restart_job(db, by=BY, number=job.number, now=LATER)
        run_jobs(world.engine)
        assert server.take_mails() == [("ruth@example.org", [ASSIGNED])]


def test_only_the_mail_to_a_refused_address_fails_with_advice_to_correct_it(world, server):
    server.refused.add("ruth@example.org")
    assign(world, "ruth", "remo")
    run_jobs(world.engine)
    [failed] = [job for job in list_mail_jobs(world.engine) if job.status is JobStatus.FAILED]
    assert "refused the address (550 no such mailbox). Correct it on the page People." in failed.message
    assert [mail["To"] for mail in server.mails] == ["remo@example.org"]


@pytest.mark.filterwarnings("ignore:Requiring AUTH")  # the test server does not know that TLS is below it
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_sent_over_tls_with_a_password(world, security, monkeypatch, tmp_path):
    certificate, password_file = make_certificate(tmp_path), tmp_path / "password"
    password_file.write_text(PASSWORD + "\n")
    with running_mail_server(certificate=certificate, tls_from_start=security == "tls") as server:
        configure_mail(
            monkeypatch, server.port, OVERREAD_SMTP_SECURITY=security, OVERREAD_SMTP_USER=USER,
            OVERREAD_SMTP_PASSWORD_FILE=str(password_file), SSL_CERT_FILE=str(certificate),
        )  # fmt: skip
        assign(world, "ruth")
        run_jobs(world.engine)
        assert server.take_mails() == [("ruth@example.org", [ASSIGNED])]


@pytest.mark.parametrize(
    "refusal",
    [
        ("wrong-secret", "refused user and password (535"),
        (PASSWORD, "self-signed certificate. Check OVERREAD_SMTP_SECURITY"),  # of an unknown authority
    ],
)
def test_a_refused_sign_in_and_an_unknown_certificate_reveal_no_password(
    world, refusal, monkeypatch, tmp_path, caplog
):
    password, reason = refusal
    certificate, password_file = make_certificate(tmp_path), tmp_path / "password"
    password_file.write_text(password)
    with running_mail_server(certificate=certificate) as server, caplog.at_level(logging.DEBUG):
        configure_mail(
            monkeypatch, server.port, OVERREAD_SMTP_SECURITY="starttls", OVERREAD_SMTP_USER=USER,
            OVERREAD_SMTP_PASSWORD_FILE=str(password_file),
            **({} if password == PASSWORD else {"SSL_CERT_FILE": str(certificate)}),
        )  # fmt: skip
        assign(world, "ruth")
        run_jobs(world.engine)
        assert server.mails == []
    [job] = list_mail_jobs(world.engine)
    assert job.status is JobStatus.FAILED
    assert reason in job.message
    with read_only_session(world.engine) as db:
        stored = str(db.execute(select(JobRow)).scalar_one().model_dump())
    assert all(password not in text for text in (caplog.text, stored))


def test_an_invalid_setting_fails_the_mail_and_not_the_assignment(world, server, monkeypatch):
    monkeypatch.setenv("OVERREAD_SMTP_PORT", "smtp")
    assign(world, "ruth")
    run_jobs(world.engine)
    [job] = list_mail_jobs(world.engine)
    assert job.status is JobStatus.FAILED
    assert "OVERREAD_SMTP_PORT" in job.message


def test_an_admin_sets_an_address_and_the_person_s_choice_stays(world):
    set_addresses(world.engine, world.people, "ruth", wanted=False)
    with unit_of_work(world.engine) as db:
        notifications.set_mail_address(db, by=BY, name="ruth", address=" ruth@hospital.example ", now=NOW)
    with read_only_session(world.engine) as db:
        assert notifications.load_own_mail_setting(db, person=world.people["ruth"]) == MailSetting(
            address="ruth@hospital.example", wanted=False
        )


@pytest.mark.parametrize(
    "address", ["ruth", "ruth@", "a@b@c", "a b@c.org", "a@c.org\nBcc: x@y.org", "a@c.org, x@y.org", "ü@c.org"]
)
def test_an_invalid_address_is_refused(world, address):
    with pytest.raises(InvalidValue, match="e-mail address"), unit_of_work(world.engine) as db:
        notifications.set_mail_address(db, by=BY, name="ruth", address=address, now=NOW)


def test_a_demo_account_has_no_address(world):
    with unit_of_work(world.engine) as db:
        db.execute(update(PersonRow).where(PersonRow.name == "ruth").values(demo=True))
    with pytest.raises(Refused, match="Demo accounts get no e-mail"), unit_of_work(world.engine) as db:
        notifications.set_mail_address(db, by=BY, name="ruth", address="ruth@example.org", now=NOW)
