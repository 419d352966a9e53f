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
    """``run("user", "list", stdin="…")``: (exit code, output, errors)."""

    def call(*arguments: str, stdin: io.StringIO | str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        code = cli.main(["user", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def signs_in(name: str, password: str) -> bool:
    with read_only_session() as db:
        try:
            return accounts.authenticate(db, name=name, password=password).name == name
        except NotSignedIn:
            return False


def add(run, name="anna", *options: str, role="admin", password=PASSWORD) -> tuple[int, str, str]:
    return run("add", name, "--role", role, "--password-stdin", *options, stdin=f"{password}\n")


def test_an_account_is_made_with_the_password_from_a_pipe(run):
    code, said, _ = add(run)
    assert (code, said) == (0, "anna has an account now (admin).\n")
    assert signs_in("anna", PASSWORD)


def test_without_terminal_and_pipe_a_password_is_made_and_shown_once(run):
    code, said, _ = run("add", "anna", "--role", "reviewer", "--role", "coordinator")
    assert code == 0
    assert "(coordinator, reviewer)" in said
    assert signs_in("anna", said.split("Password, shown this once: ")[1].strip())


def test_on_a_terminal_the_password_is_asked_for_twice(run, monkeypatch):
    typed = iter([PASSWORD, PASSWORD])
    monkeypatch.setattr("getpass.getpass", lambda _: next(typed))
    assert run("add", "anna", "--role", "admin", stdin=Terminal())[0] == 0
    assert signs_in("anna", PASSWORD)


def test_two_different_passwords_change_nothing(run, monkeypatch):
    typed = iter([PASSWORD, "another one, sorry"])
    monkeypatch.setattr("getpass.getpass", lambda _: next(typed))
    code, _, error = run("add", "anna", "--role", "admin", stdin=Terminal())
    assert (code, error) == (1, "password: the two were not the same; nothing was changed\n")
    with read_only_session() as db:
        assert not accounts.has_people(db)


@pytest.mark.parametrize(
    ("name", "password", "said"),
    [
        ("anna", "short", "at least 10 characters"),
        ("Anna Smith", PASSWORD, "must have 1 to 64"),
        ("", PASSWORD, "must have 1 to 64"),
    ],
)
def test_what_is_wrong_is_said_and_nobody_is_added(run, name, password, said):
    code, _, error = add(run, name, password=password)
    assert code == 1
    assert said in error
    with read_only_session() as db:
        assert not accounts.has_people(db)


def test_a_role_that_is_none_is_wrong_usage(run):
    with pytest.raises(SystemExit) as stopped:
        add(run, role="boss")
    assert stopped.value.code == 2


def test_a_person_without_a_password_can_come_by_the_provider_only(run):
    assert run("add", "anna@example.org", "--role", "reviewer", "--no-password")[0] == 0
    assert not signs_in("anna@example.org", "")


def test_the_list_says_who_is_there_and_who_is_kept_out(run):
    add(run, "anna", "--display-name", "Anna Smith")
    add(run, "bert", role="reviewer")
    run("disable", "bert")
    anna, bert = run("list")[1].splitlines()
    assert anna.split("\t") == ["anna", "Anna Smith", "admin", "active"]
    assert bert.split("\t")[3].startswith("disabled since ")


def test_a_disabled_person_comes_back_when_enabled(run):
    add(run)
    add(run, "bert", role="reviewer")
    run("disable", "bert")
    assert not signs_in("bert", PASSWORD)
    run("enable", "bert")
    assert signs_in("bert", PASSWORD)


def test_a_new_password_takes_the_place_of_the_old(run):
    add(run)
    assert run("password", "anna", "--password-stdin", stdin="another good one\n")[0] == 0
    assert signs_in("anna", "another good one")
    assert not signs_in("anna", PASSWORD)


def test_nobody_of_that_name_is_said_before_a_password_is_asked_for(run):
    code, _, error = run("password", "nobody", stdin=Terminal())
    assert code == 1
    assert "Nobody is called 'nobody'" in error


def test_roles_are_shown_and_changed(run):
    add(run)
    add(run, "bert", role="reviewer")
    assert run("roles", "bert", "--role", "reader")[1] == "bert is now: reader.\n"
    assert run("roles", "bert")[1] == "reader\n"
    assert [line.split("\t")[0] for line in run("roles")[1].splitlines()] == [role.value for role in Role]


def test_the_last_admin_stays(run):
    add(run)
    code, _, error = run("disable", "anna")
    assert code == 1
    assert "nobody else is an admin" in error


def test_somebody_is_signed_out_everywhere(run):
    add(run)
    with unit_of_work() as db:
        anna, now = accounts.load_person_by_name(db, name="anna"), datetime.now(UTC)
        for token in ("here", "there"):
            accounts.start_sign_in(db, person=anna, token=token, previous_token=None, now=now)
    assert run("sign-out", "anna")[1] == "anna is signed out everywhere: 2 sign-ins ended.\n"
    with read_only_session() as db:
        assert accounts.find_valid_sign_in(db, token="here", now=now) is None


def test_the_first_admins_code_is_all_that_is_printed_and_there_is_none_where_there_is_an_admin(run):
    code, said, how = run("first-admin")
    assert code == 0
    assert re.fullmatch(r"([A-Z2-9]{5}-){4}[A-Z2-9]{5}\n", said)
    assert "/first-admin" in how
    add(run)
    code, said, error = run("first-admin")
    assert (code, said) == (1, "")
    assert "There is an admin already" in error
