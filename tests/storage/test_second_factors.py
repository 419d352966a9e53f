"""Authenticator apps, recovery codes and short sign-ins of privileged roles, on both databases."""

from __future__ import annotations

import threading
from datetime import timedelta

import pyotp
import pytest

from accounts import service as accounts
from accounts.totp import STEP_SECONDS, find_step
from domain.errors import NotAllowed, NotFound, NotSignedIn, Refused
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sign_ins import BY, NOON, PASSWORD, add_person, start_sign_in

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OPEN = accounts.SignInPolicy()
REQUIRED = accounts.SignInPolicy(second_factor_roles=frozenset({Role.ADMIN}))
STEP = timedelta(seconds=STEP_SECONDS)
CODES = ["AAAA-BBBB-CCCC-DDDD", "EEEE-FFFF-GGGG-HHHH"]


def code_at(now=NOON, secret=SECRET) -> str:
    return pyotp.TOTP(secret).at(now)


def set_up(engine, person, *, now=NOON, token=None) -> None:
    with unit_of_work(engine) as db:
        secret = accounts.begin_setup(db, person=person, new_secret=SECRET, now=now)
        accounts.confirm_setup(
            db, person=person, token=token, code=code_at(now, secret), new_recovery_codes=CODES, now=now
        )


def give_password(engine, person, *, token="step", now=NOON, policy=OPEN) -> bool:
    with unit_of_work(engine) as db:
        return accounts.begin_second_factor(
            db, person=person, token=token, method="password", password=None, policy=policy, now=now
        )


def give_code(engine, code, *, pending_token="step", token="t1", now=NOON) -> bool:
    with unit_of_work(engine) as db:
        return accounts.finish_second_factor(
            db, pending_token=pending_token, code=code, new_recovery_codes=CODES, token=token,
            previous_token=None, browser="", now=now,
        )  # fmt: skip


def find_name(engine, token="t1", *, now=NOON, policy=OPEN) -> str | None:
    with read_only_session(engine) as db:
        sign_in = accounts.find_valid_sign_in(db, token=token, now=now, policy=policy)
    return sign_in.person.name if sign_in else None


@pytest.fixture
def ada(engine):
    return add_person(engine, "ada", Role.ADMIN, password=PASSWORD)


@pytest.fixture
def ada_with_app(engine, ada):
    set_up(engine, ada, now=NOON - timedelta(hours=1))
    return ada


# ----------------------------------------------------------------------------------------------------- codes
def test_codes_are_those_of_rfc_6238():
    """Appendix B, SHA-1: at 59 s the code of the ASCII secret 12345678901234567890 ends in 287082."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    assert find_step(secret, "287082", now=NOON.fromtimestamp(59, tz=NOON.tzinfo)) == 1


@pytest.mark.parametrize(("steps", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_the_clock_of_a_phone_may_differ_by_one_step(steps, accepted):
    assert (find_step(SECRET, code_at(NOON + steps * STEP), now=NOON) is not None) is accepted


@pytest.mark.parametrize("code", ["", "12345", "abcdef", "٠١٢٣٤٥", "0" * 1000, "\x00", "🫁"])
def test_text_that_is_no_code_is_refused(code):
    assert find_step(SECRET, code, now=NOON) is None


def test_spaces_in_a_code_do_not_matter():
    code = code_at()
    assert find_step(SECRET, f" {code[:3]} {code[3:]}", now=NOON) is not None


# ------------------------------------------------------------------------------------------------- signing in
def test_a_person_without_an_app_needs_no_code(engine, ada):
    assert give_password(engine, ada) is False


def test_password_and_code_sign_in(engine, ada_with_app):
    assert give_password(engine, ada_with_app) is True
    assert find_name(engine, "step") is None
    assert give_code(engine, code_at()) is False
    assert find_name(engine, policy=REQUIRED) == "ada"


def test_a_wrong_code_signs_nobody_in_and_a_right_code_can_follow(engine, ada_with_app):
    give_password(engine, ada_with_app)
    with pytest.raises(NotSignedIn, match="is wrong"):
        give_code(engine, "000000" if code_at() != "000000" else "000001")
    assert find_name(engine) is None
    give_code(engine, code_at())
    assert find_name(engine) == "ada"


def test_a_code_works_once(engine, ada_with_app):
    give_password(engine, ada_with_app, token="one")
    give_password(engine, ada_with_app, token="two")
    give_code(engine, code_at(), pending_token="one")
    with pytest.raises(NotSignedIn, match="already used"):
        give_code(engine, code_at(), pending_token="two", token="t2")
    assert find_name(engine, "t2") is None


def test_an_earlier_code_does_not_work_after_a_later_code(engine, ada_with_app):
    give_password(engine, ada_with_app, token="one")
    give_password(engine, ada_with_app, token="two")
    give_code(engine, code_at(NOON + STEP), pending_token="one")
    with pytest.raises(NotSignedIn):
        give_code(engine, code_at(NOON), pending_token="two", token="t2")


def test_the_code_of_the_setup_does_not_sign_in(engine, ada):
    set_up(engine, ada)
    give_password(engine, ada)
    with pytest.raises(NotSignedIn, match="already used"):
        give_code(engine, code_at())


def test_a_code_used_in_many_browsers_at_once_signs_in_only_one_browser(engine, ada_with_app):
    tokens = [f"step{number}" for number in range(8)]
    for token in tokens:
        give_password(engine, ada_with_app, token=token)
    accepted = []

    def try_code(token: str) -> None:
        try:
            give_code(engine, code_at(), pending_token=token, token=f"of-{token}")
            accepted.append(token)
        except NotSignedIn:
            pass

    threads = [threading.Thread(target=try_code, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 1


def test_a_pending_sign_in_ends_after_ten_minutes(engine, ada_with_app):
    give_password(engine, ada_with_app)
    late = NOON + accounts.PENDING_LIFETIME + timedelta(seconds=1)
    with pytest.raises(NotSignedIn, match="timed out"):
        give_code(engine, code_at(late), now=late)


def test_a_code_without_the_password_signs_nobody_in(engine, ada_with_app):
    assert ada_with_app
    for token in ("", "step", "another"):
        with pytest.raises(NotSignedIn):
            give_code(engine, code_at(), pending_token=token)


def test_a_new_password_ends_a_pending_sign_in(engine, ada_with_app):
    give_password(engine, ada_with_app)
    with unit_of_work(engine) as db:
        accounts.set_password(db, by=BY, name="ada", password="another long one", now=NOON)
    with pytest.raises(NotSignedIn):
        give_code(engine, code_at())


def test_a_person_disabled_between_password_and_code_cannot_sign_in(engine, ada_with_app):
    add_person(engine, "other", Role.ADMIN)
    give_password(engine, ada_with_app)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="ada", now=NOON)
    with pytest.raises(NotSignedIn):
        give_code(engine, code_at())


# --------------------------------------------------------------------------------------------- recovery codes
def test_a_recovery_code_signs_in_once_in_any_spelling(engine, ada_with_app):
    give_password(engine, ada_with_app, token="one")
    give_code(engine, " aaaabbbb ccccdddd", pending_token="one")
    assert find_name(engine, policy=REQUIRED) == "ada"
    give_password(engine, ada_with_app, token="two")
    with pytest.raises(NotSignedIn):
        give_code(engine, CODES[0], pending_token="two", token="t2")
    give_code(engine, CODES[1], pending_token="two", token="t2")


def test_recovery_codes_of_another_person_do_not_work(engine, ada_with_app):
    bert = add_person(engine, "bert", Role.ADMIN, password=PASSWORD)
    with unit_of_work(engine) as db:
        accounts.begin_setup(db, person=bert, new_secret=SECRET[::-1], now=NOON)
        code = code_at(NOON, SECRET[::-1])
        accounts.confirm_setup(
            db, person=bert, token=None, code=code, new_recovery_codes=["ZZZZ-ZZZZ"], now=NOON
        )
    assert ada_with_app
    give_password(engine, bert)
    with pytest.raises(NotSignedIn):
        give_code(engine, CODES[0])


def test_new_recovery_codes_replace_the_old_ones(engine, ada_with_app):
    with unit_of_work(engine) as db:
        accounts.replace_recovery_codes(
            db, person=ada_with_app, password=PASSWORD, new_recovery_codes=["NEWC-ODES"], now=NOON
        )
        status = accounts.load_second_factor_status(db, person=ada_with_app, policy=REQUIRED)
    assert status.recovery_codes_left == 1
    give_password(engine, ada_with_app)
    with pytest.raises(NotSignedIn):
        give_code(engine, CODES[0])
    give_code(engine, "NEWC-ODES")


# ------------------------------------------------------------------------------------------ setting up an app
def test_a_person_whose_role_requires_an_app_sets_it_up_at_sign_in(engine, ada):
    assert give_password(engine, ada, policy=REQUIRED) is True
    for new_secret in (SECRET, "ANOTHERSECRETANOTHERSECRETANOTHE"):  # a reload, a second tab
        with unit_of_work(engine) as db:
            pending = accounts.load_pending_sign_in(
                db, token="step", new_secret=new_secret, policy=REQUIRED, now=NOON
            )
        assert pending.setup_secret == SECRET
    assert give_code(engine, code_at()) is True
    assert find_name(engine, policy=REQUIRED) == "ada"


def test_a_setup_needs_a_code_of_the_app(engine, ada):
    with unit_of_work(engine) as db:
        accounts.begin_setup(db, person=ada, new_secret=SECRET, now=NOON)
    with pytest.raises(Refused, match="is wrong"), unit_of_work(engine) as db:
        accounts.confirm_setup(db, person=ada, token=None, code="12", new_recovery_codes=CODES, now=NOON)
    assert give_password(engine, ada) is False


def test_a_secret_that_was_not_confirmed_within_an_hour_is_replaced(engine, ada):
    with unit_of_work(engine) as db:
        accounts.begin_setup(db, person=ada, new_secret=SECRET, now=NOON)
        later = NOON + timedelta(hours=2)
        assert accounts.begin_setup(db, person=ada, new_secret=SECRET[::-1], now=later) == SECRET[::-1]


def test_turning_on_the_second_factor_ends_the_other_sign_ins(engine, ada):
    start_sign_in(engine, ada, token="here")
    start_sign_in(engine, ada, token="elsewhere")
    set_up(engine, ada, token="here")
    assert [find_name(engine, token) for token in ("here", "elsewhere")] == ["ada", None]


def test_a_demo_account_gets_no_second_factor_and_needs_no_code(engine):
    demi = add_person(engine, "demi", Role.ADMIN, demo=True)
    with pytest.raises(Refused, match="demo account"):
        set_up(engine, demi)
    assert give_password(engine, demi, policy=REQUIRED) is False


def test_the_second_factor_is_turned_off_with_the_password_unless_the_role_requires_it(engine, ada_with_app):
    def turn_off(password, policy) -> None:
        with unit_of_work(engine) as db:
            accounts.turn_off_second_factor(
                db, person=ada_with_app, password=password, policy=policy, now=NOON
            )

    with pytest.raises(Refused, match="is wrong"):
        turn_off("a guess of hers", accounts.SignInPolicy())
    with pytest.raises(Refused, match="role requires"):
        turn_off(PASSWORD, REQUIRED)
    turn_off(PASSWORD, accounts.SignInPolicy())
    assert give_password(engine, ada_with_app) is False


# ------------------------------------------------------------------------------------------------ by an admin
def test_a_reset_by_an_admin_ends_sign_ins_and_the_next_sign_in_needs_no_code(engine, ada_with_app):
    start_sign_in(engine, ada_with_app)
    with unit_of_work(engine) as db:
        accounts.reset_second_factor(db, by=BY, name="ada", now=NOON)
    assert find_name(engine) is None
    assert give_password(engine, ada_with_app) is False
    with pytest.raises(NotFound, match="no authenticator app"), unit_of_work(engine) as db:
        accounts.reset_second_factor(db, by=BY, name="ada", now=NOON)


def test_a_coordinator_cannot_reset_a_second_factor(engine, ada_with_app):
    carl = add_person(engine, "carl", Role.COORDINATOR)
    assert ada_with_app
    with pytest.raises(NotAllowed), unit_of_work(engine) as db:
        accounts.reset_second_factor(db, by=carl, name="ada", now=NOON)


# ---------------------------------------------------------------------------------- after a change of roles
def test_a_person_who_becomes_admin_must_sign_in_again_if_the_sign_in_is_old(engine):
    rosa = add_person(engine, "rosa", Role.REVIEWER)
    start_sign_in(engine, rosa)
    now = NOON + timedelta(hours=11)
    with unit_of_work(engine) as db:
        accounts.update_last_seen(db, token="t1", now=now)
    later = NOON + accounts.PRIVILEGED_DURATION + timedelta(minutes=1)
    assert find_name(engine, now=later) == "rosa"
    with unit_of_work(engine) as db:
        accounts.change_roles(db, by=BY, name="rosa", roles=[Role.ADMIN], now=now)
    assert find_name(engine, now=now) == "rosa"
    assert find_name(engine, now=later) is None


def test_a_sign_in_without_a_code_ends_with_a_new_role_that_requires_a_code(engine):
    rosa = add_person(engine, "rosa", Role.REVIEWER)
    start_sign_in(engine, rosa)
    assert find_name(engine, policy=REQUIRED) == "rosa"
    with unit_of_work(engine) as db:
        accounts.change_roles(db, by=BY, name="rosa", roles=[Role.ADMIN], now=NOON)
    assert find_name(engine, policy=REQUIRED) is None


@pytest.mark.parametrize(("role", "hours"), [(Role.ADMIN, 12), (Role.COORDINATOR, 12), (Role.REVIEWER, 168)])
def test_privileged_sign_ins_last_half_a_day_and_others_a_week(engine, role, hours):
    start_sign_in(engine, add_person(engine, "nina", role))
    for hour in range(0, hours, 6):
        with unit_of_work(engine) as db:
            accounts.update_last_seen(db, token="t1", now=NOON + timedelta(hours=hour))
    assert find_name(engine, now=NOON + timedelta(hours=hours)) == "nina"
    assert find_name(engine, now=NOON + timedelta(hours=hours, seconds=1)) is None
