"""``cli.py user``: accounts from the terminal."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

import pytest

import cli
from accounts import service as accounts
from domain.errors import NotSignedIn
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.mail_server import configure_mail, running_mail_server

PASSWORD = "correct horse battery"


class Terminal(io.StringIO):
    """Standard input that acts as a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def workspace(workspace_engine):
    return workspace_engine


@pytest.fixture
def run(monkeypatch, capsys):
    """Run ``cli.py user``, for example ``run("list", stdin="…")``; return (exit code, output, errors)."""

    def call(*arguments: str, stdin: io.StringIO | str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        code = cli.main(["user", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def can_sign_in(name: str, password: str) -> bool:
    with read_only_session() as db:
        try:
            return accounts.authenticate(db, name=name, password=password).name == name
        except NotSignedIn:
            return False


def add_account(run, name="anna", *options: str, role="admin", password=PASSWORD) -> tuple[int, str, str]:
    return run("add", name, "--role", role, "--password-stdin", *options, stdin=f"{password}\n")


def test_account_is_created_with_the_password_from_a_pipe(run):
    code, output, _ = add_account(run)
    assert (code, output) == (0, "Added anna (admin).\n")
    assert can_sign_in("anna", PASSWORD)


def test_password_is_generated_and_shown_once_without_a_terminal(run):
    code, output, _ = run("add", "anna", "--role", "reviewer", "--role", "coordinator")
    assert code == 0
    assert "(coordinator, reviewer)" in output
    assert can_sign_in("anna", output.split("Password (shown only once): ")[1].strip())


def test_terminal_asks_for_the_password_twice(run, monkeypatch):
    typed = iter([PASSWORD, PASSWORD])
    monkeypatch.setattr("getpass.getpass", lambda _: next(typed))
    assert run("add", "anna", "--role", "admin", stdin=Terminal())[0] == 0
    assert can_sign_in("anna", PASSWORD)


def test_two_different_passwords_change_nothing(run, monkeypatch):
    typed = iter([PASSWORD, "another one, sorry"])
    monkeypatch.setattr("getpass.getpass", lambda _: next(typed))
    code, _, error = run("add", "anna", "--role", "admin", stdin=Terminal())
    assert (code, error) == (1, "password: the two entries differ; nothing was changed\n")
    with read_only_session() as db:
        assert not accounts.has_people(db)


@pytest.mark.parametrize(
    ("name", "password", "reason"),
    [
        ("anna", "short", "at least 10 characters"),
        ("Anna Smith", PASSWORD, "must have 1 to 64"),
        ("", PASSWORD, "must have 1 to 64"),
    ],
)
def test_invalid_account_is_refused_with_the_reason(run, name, password, reason):
    code, _, error = add_account(run, name, password=password)
    assert code == 1
    assert reason in error
    with read_only_session() as db:
        assert not accounts.has_people(db)


def test_unknown_role_is_wrong_usage(run):
    with pytest.raises(SystemExit) as exit_info:
        add_account(run, role="boss")
    assert exit_info.value.code == 2


def test_account_without_a_password_cannot_sign_in_with_an_empty_password(run):
    assert run("add", "anna@example.org", "--role", "reviewer", "--no-password")[0] == 0
    assert not can_sign_in("anna@example.org", "")


def test_list_shows_active_and_disabled_people(run):
    add_account(run, "anna", "--display-name", "Anna Smith")
    add_account(run, "bert", role="reviewer")
    run("disable", "bert")
    anna, bert = run("list")[1].splitlines()
    assert anna.split("\t") == ["anna", "Anna Smith", "admin", "active"]
    assert bert.split("\t")[3].startswith("disabled since ")


def test_enabled_person_can_sign_in_again(run):
    add_account(run)
    add_account(run, "bert", role="reviewer")
    run("disable", "bert")
    assert not can_sign_in("bert", PASSWORD)
    run("enable", "bert")
    assert can_sign_in("bert", PASSWORD)


def test_new_password_replaces_the_old_one(run):
    add_account(run)
    assert run("password", "anna", "--password-stdin", stdin="another good one\n")[0] == 0
    assert can_sign_in("anna", "another good one")
    assert not can_sign_in("anna", PASSWORD)


def test_unknown_name_is_refused_before_asking_for_a_password(run):
    code, _, error = run("password", "nobody", stdin=Terminal())
    assert code == 1
    assert "There is no account 'nobody'" in error


def test_roles_are_shown_and_changed(run):
    add_account(run)
    add_account(run, "bert", role="reviewer")
    assert run("roles", "bert", "--role", "reader")[1] == "Roles of bert: reader.\n"
    assert run("roles", "bert")[1] == "reader\n"
    assert [line.split("\t")[0] for line in run("roles")[1].splitlines()] == [role.value for role in Role]


def test_last_admin_cannot_be_disabled(run):
    add_account(run)
    code, _, error = run("disable", "anna")
    assert code == 1
    assert "the only admin" in error


def test_person_is_signed_out_everywhere(run):
    add_account(run)
    with unit_of_work() as db:
        anna, now = accounts.load_person_by_name(db, name="anna"), datetime.now(UTC)
        for token in ("here", "there"):
            accounts.start_sign_in(db, person=anna, token=token, previous_token=None, now=now)
    assert run("sign-out", "anna")[1] == "anna is signed out everywhere (2 sign-ins ended).\n"
    with read_only_session() as db:
        assert accounts.find_valid_sign_in(db, token="here", now=now) is None


def test_command_first_admin_prints_a_code_and_is_refused_if_there_is_an_admin(run):
    code, output, instructions = run("first-admin")
    assert code == 0
    assert re.fullmatch(r"([A-Z2-9]{5}-){4}[A-Z2-9]{5}\n", output)
    assert "/first-admin" in instructions
    add_account(run)
    code, output, error = run("first-admin")
    assert (code, output) == (1, "")
    assert "There is already an admin" in error


def test_an_address_for_notices_is_set_shown_and_tested(run, monkeypatch):
    add_account(run)
    assert run("mail", "anna")[:2] == (0, "anna: no address\n")
    status, _, error = run("mail", "anna", "--test")
    assert (status, "anna has no address. Set one: --address ADDRESS" in error) == (1, True)
    with running_mail_server() as server:
        configure_mail(monkeypatch, server.port)
        status, output, _ = run("mail", "anna", "--address", "anna@example.org", "--test")
    assert (status, output) == (
        0,
        (f"anna: anna@example.org\nlocalhost:{server.port} accepted a test e-mail to anna@example.org.\n"),
    )
    assert [mail["Subject"] for mail in server.mails] == ["Test e-mail from Overread"]
