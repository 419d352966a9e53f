"""Accounts and sign-ins, on both databases."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from argon2 import PasswordHasher

from accounts import service as accounts
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, NotSignedIn, Refused
from domain.people import Person, Role
from storage import people, sign_ins
from storage.unit_of_work import reading, unit_of_work

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
BY = accounts.command_line_person()
PASSWORD = "correct horse battery"
CLAIMS = {"iss": "https://id.example.org", "sub": "42", "email": "anna@example.org", "email_verified": True}


def add(engine, name="anna", *roles, password=None, demo=False) -> Person:
    with unit_of_work(engine) as db:
        return accounts.add_person(
            db, by=BY, name=name, display_name=None, roles=roles or [Role.REVIEWER],
            password=password, demo=demo, now=NOON,
        )  # fmt: skip


def begin(engine, person, *, token="t1", replaces=None, password=None) -> None:
    with unit_of_work(engine) as db:
        accounts.begin_sign_in(db, person=person, token=token, replaces=replaces, password=password, now=NOON)


def who(engine, token="t1", now=NOON) -> str | None:
    with reading(engine) as db:
        person = accounts.person_of_token(db, token=token, now=now)
    return person.name if person else None


# ------------------------------------------------------------------------------------------------ accounts
def test_a_person_comes_back_as_it_went_in(engine):
    added = add(engine, "anna", Role.REVIEWER, Role.ADMIN)
    with reading(engine) as db:
        assert accounts.person_named(db, name="Anna ") == added
    assert added.roles == {Role.REVIEWER, Role.ADMIN}


def test_a_name_is_taken_once(engine):
    add(engine)
    with pytest.raises(AlreadyThere, match="Somebody is called 'anna' already"):
        add(engine)


def test_nobody_of_that_name_says_how_to_see_who_is_there(engine):
    with reading(engine) as db, pytest.raises(NotFound, match="user list"):
        accounts.person_named(db, name="bert")


def test_a_person_without_a_role_is_refused(engine):
    with unit_of_work(engine) as db, pytest.raises(InvalidValue, match="at least one of"):
        accounts.add_person(db, by=BY, name="anna", display_name=None, roles=[], password=None, now=NOON)


def test_the_people_of_a_role_leave_disabled_ones_out(engine):
    add(engine, "anna")
    add(engine, "bert")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
        assert [each.name for each in accounts.people_with(db, role=Role.REVIEWER)] == ["bert"]


def test_roles_are_replaced(engine):
    add(engine, "anna", Role.REVIEWER)
    with unit_of_work(engine) as db:
        changed = accounts.change_roles(db, by=BY, name="anna", roles=[Role.COORDINATOR])
    assert changed.roles == {Role.COORDINATOR}


@pytest.mark.parametrize("what", ["disable", "roles"])
def test_the_last_admin_stays_one(engine, what):
    add(engine, "anna", Role.ADMIN)
    without = {
        "disable": partial(accounts.disable_person, now=NOON),
        "roles": partial(accounts.change_roles, roles=[Role.REVIEWER]),
    }
    with unit_of_work(engine) as db, pytest.raises(Refused, match="nobody else is an admin"):
        without[what](db, by=BY, name="anna")


def test_an_admin_who_is_not_the_last_may_go(engine):
    add(engine, "anna", Role.ADMIN)
    add(engine, "bert", Role.ADMIN)
    with unit_of_work(engine) as db:
        assert accounts.disable_person(db, by=BY, name="anna", now=NOON).disabled_at == NOON


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_only_an_admin_manages_people(engine, role):
    by = add(engine, "anna", role)
    with unit_of_work(engine) as db:
        for refused in (
            lambda: accounts.list_people(db, by=by),
            lambda: accounts.disable_person(db, by=by, name="anna", now=NOON),
            lambda: accounts.enable_person(db, by=by, name="anna"),
            lambda: accounts.change_roles(db, by=by, name="anna", roles=[Role.ADMIN]),
            lambda: accounts.set_password(db, by=by, name="anna", password=PASSWORD, now=NOON),
            lambda: accounts.add_person(
                db, by=by, name="eve", display_name=None, roles=[Role.ADMIN], password=None, now=NOON
            ),
        ):
            with pytest.raises(NotAllowed, match="may not manage people"):
                refused()


# ----------------------------------------------------------------------------------------------- passwords
def test_name_and_password_that_go_together_are_the_persons(engine):
    add(engine, password=PASSWORD)
    with reading(engine) as db:
        assert accounts.check_password(db, name="Anna", password=PASSWORD).name == "anna"


@pytest.mark.parametrize(
    ("name", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("anna", ""), ("", "")]
)
def test_wrong_name_and_wrong_password_get_the_same_answer(engine, name, password):
    add(engine, password=PASSWORD)
    with reading(engine) as db, pytest.raises(NotSignedIn, match="do not go together"):
        accounts.check_password(db, name=name, password=password)


def test_an_account_without_a_password_has_none_that_is_right(engine):
    add(engine)
    with reading(engine) as db, pytest.raises(NotSignedIn, match="do not go together"):
        accounts.check_password(db, name="anna", password="nobody has this password")


def test_only_the_right_password_tells_that_an_account_is_disabled(engine):
    add(engine, password=PASSWORD)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with reading(engine) as db:
        with pytest.raises(NotSignedIn, match="is disabled"):
            accounts.check_password(db, name="anna", password=PASSWORD)
        with pytest.raises(NotSignedIn, match="do not go together"):
            accounts.check_password(db, name="anna", password="wrong")


def test_a_password_hashed_at_a_lower_cost_is_hashed_anew_at_sign_in(sqlite_engine):
    anna = add(sqlite_engine)
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with unit_of_work(sqlite_engine) as db:
        people.set_password_hash(db, person_id=anna.id, password_hash=cheap)
    begin(sqlite_engine, anna, password=PASSWORD)
    with reading(sqlite_engine) as db:
        assert people.password_hash_of(db, person_id=anna.id) != cheap
        assert accounts.check_password(db, name="anna", password=PASSWORD) == anna


def test_a_new_password_ends_every_sign_in(engine):
    begin(engine, add(engine, password=PASSWORD))
    with unit_of_work(engine) as db:
        accounts.set_password(db, by=BY, name="anna", password="another one, please", now=NOON)
    assert who(engine) is None


def test_demo_people_have_the_published_password(engine):
    add(engine, demo=True)
    with reading(engine) as db:
        assert accounts.check_password(db, name="anna", password=accounts.DEMO_PASSWORD).demo


def test_a_demo_account_with_a_password_of_its_own_is_none_any_more(engine):
    add(engine, demo=True)
    with unit_of_work(engine) as db:
        assert not accounts.set_password(db, by=BY, name="anna", password=PASSWORD, now=NOON).demo
        assert accounts.demo_people(db) == []


# ------------------------------------------------------------------------------------------------ sign-ins
def test_a_token_is_the_persons_who_signed_in(engine):
    begin(engine, add(engine))
    assert who(engine) == "anna"


@pytest.mark.parametrize("token", ["", "t2", "T1", "t1 "])
def test_another_token_is_nobodys(engine, token):
    begin(engine, add(engine))
    assert who(engine, token) is None


def test_the_token_itself_is_not_kept(engine):
    begin(engine, add(engine), token="secret-token")
    with reading(engine) as db:
        assert sign_ins.find_sign_in(db, token_sha256="secret-token") is None
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("secret-token"))


def test_a_sign_in_ends_when_the_browser_was_silent_for_too_long(engine):
    begin(engine, add(engine))
    assert who(engine, now=NOON + accounts.IDLE_LIMIT) == "anna"
    assert who(engine, now=NOON + accounts.IDLE_LIMIT + timedelta(seconds=1)) is None


def test_being_seen_keeps_a_sign_in_alive(engine):
    begin(engine, add(engine))
    with unit_of_work(engine) as db:
        accounts.note_seen(db, token="t1", now=NOON + timedelta(hours=11))
    assert who(engine, now=NOON + timedelta(hours=22)) == "anna"


def test_being_seen_is_written_once_a_minute(engine):
    begin(engine, add(engine))
    with reading(engine) as db:
        for seconds, due in ((0, False), (59, False), (60, True)):
            live = accounts.live_sign_in(db, token="t1", now=NOON + timedelta(seconds=seconds))
            assert live is not None
            assert live.seen_is_due is due


def test_signing_out_ends_it(engine):
    begin(engine, add(engine))
    with unit_of_work(engine) as db:
        accounts.sign_out(db, token="t1", now=NOON)
    assert who(engine) is None


def test_signing_in_ends_the_sign_in_that_the_browser_had(engine):
    begin(engine, add(engine, "anna"), token="t1")
    begin(engine, add(engine, "bert"), token="t2", replaces="t1")
    assert who(engine, "t1") is None
    assert who(engine, "t2") == "bert"


def test_a_disabled_person_is_out_at_once(engine):
    begin(engine, add(engine))
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    assert who(engine) is None


def test_enabling_does_not_bring_old_sign_ins_back(engine):
    begin(engine, add(engine))
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
        accounts.enable_person(db, by=BY, name="anna")
    assert who(engine) is None


def test_a_person_disabled_between_password_and_sign_in_stays_out(engine):
    anna = add(engine)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        begin(engine, anna)


# --------------------------------------------------------------------------------------------- by provider
def claimed(engine, **changes) -> Person:
    with unit_of_work(engine) as db:
        return accounts.person_of_claims(db, claims=CLAIMS | changes)


def test_a_verified_address_that_is_a_name_is_that_person(engine):
    anna = add(engine, "anna@example.org")
    assert claimed(engine) == anna


def test_after_the_first_time_the_subject_counts_and_the_address_may_change(engine):
    anna = add(engine, "anna@example.org")
    claimed(engine)
    assert claimed(engine, email="anna.new@example.org") == anna


def test_another_subject_with_the_same_address_is_not_that_person(engine):
    add(engine, "anna@example.org")
    claimed(engine)
    with pytest.raises(NotSignedIn, match="has no account here"):
        claimed(engine, sub="43")


def test_an_unknown_address_is_refused(engine):
    with pytest.raises(NotSignedIn, match=r"anna@example\.org has no account here\. Ask an admin"):
        claimed(engine)


def test_an_address_that_nobody_verified_is_refused(engine):
    add(engine, "anna@example.org")
    with pytest.raises(NotSignedIn, match="has no account here"):
        claimed(engine, email_verified=False)


def test_claims_give_no_roles(engine):
    add(engine, "anna@example.org", Role.REVIEWER)
    assert claimed(engine, roles=["admin"], groups=["admin"]).roles == {Role.REVIEWER}


def test_a_disabled_person_does_not_come_by_the_provider_either(engine):
    add(engine, "anna@example.org")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna@example.org", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        claimed(engine)
