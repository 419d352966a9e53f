"""Sign-ins, on both databases: how long they are valid and what ends them."""

from datetime import timedelta

import pytest

from accounts import service as accounts
from domain.errors import NotFound, NotSignedIn
from storage.accounts import sign_ins
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.signing_in import BY, NOON, add, begin, who


def test_a_token_is_the_persons_who_signed_in(engine):
    begin(engine, add(engine))
    assert who(engine) == "anna"


@pytest.mark.parametrize("token", ["", "t2", "T1", "t1 "])
def test_another_token_is_nobodys(engine, token):
    begin(engine, add(engine))
    assert who(engine, token) is None


def test_the_token_itself_is_not_kept(engine):
    begin(engine, add(engine), token="secret-token")
    with read_only_session(engine) as db:
        assert sign_ins.find_sign_in(db, token_sha256="secret-token") is None
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("secret-token"))


def test_a_sign_in_ends_when_the_browser_was_silent_for_too_long(engine):
    begin(engine, add(engine))
    assert who(engine, now=NOON + accounts.IDLE_LIMIT) == "anna"
    assert who(engine, now=NOON + accounts.IDLE_LIMIT + timedelta(seconds=1)) is None


def test_being_seen_keeps_a_sign_in_alive(engine):
    begin(engine, add(engine))
    with unit_of_work(engine) as db:
        accounts.update_last_seen(db, token="t1", now=NOON + timedelta(hours=11))
    assert who(engine, now=NOON + timedelta(hours=22)) == "anna"


def test_a_sign_in_ends_at_its_age_however_busy_the_browser_is(engine):
    begin(engine, add(engine))
    for hours in range(0, 24 * 8, 6):
        with unit_of_work(engine) as db:
            accounts.update_last_seen(db, token="t1", now=NOON + timedelta(hours=hours))
    assert who(engine, now=NOON + accounts.MAX_DURATION) == "anna"
    assert who(engine, now=NOON + accounts.MAX_DURATION + timedelta(seconds=1)) is None


def test_being_seen_is_written_once_a_minute(engine):
    begin(engine, add(engine))
    with read_only_session(engine) as db:
        for seconds, due in ((0, False), (59, False), (60, True)):
            live = accounts.find_valid_sign_in(db, token="t1", now=NOON + timedelta(seconds=seconds))
            assert live is not None
            assert live.last_seen_is_stale is due


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
        accounts.enable_person(db, by=BY, name="anna", now=NOON)
    assert who(engine) is None


def test_a_person_disabled_between_password_and_sign_in_stays_out(engine):
    anna = add(engine)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        begin(engine, anna)


# ----------------------------------------------------------------------------------------------- revocation
def test_an_admin_signs_somebody_out_everywhere(engine):
    anna = add(engine)
    begin(engine, anna, token="t1")
    begin(engine, anna, token="t2")
    begin(engine, add(engine, "bert"), token="of-bert")
    with unit_of_work(engine) as db:
        assert accounts.sign_out_person(db, by=BY, name="anna", now=NOON) == 2
    assert [who(engine, token) for token in ("t1", "t2", "of-bert")] == [None, None, "bert"]
    begin(engine, anna, token="t3")
    assert who(engine, "t3") == "anna"


def test_nobody_ends_a_sign_in_of_somebody_else(engine):
    begin(engine, add(engine), token="t1")
    bert = add(engine, "bert")
    mark = accounts.token_sha256("t1")[:16]
    with unit_of_work(engine) as db, pytest.raises(NotFound, match="ended already"):
        accounts.end_own_sign_in(db, person=bert, token_prefix=mark, now=NOON)
    assert who(engine) == "anna"


def test_sign_ins_that_ran_out_are_not_listed(engine):
    anna = add(engine)
    begin(engine, anna)
    for hours, count in ((1, 1), (13, 0)):
        with read_only_session(engine) as db:
            found = accounts.list_own_sign_ins(db, person=anna, token="t1", now=NOON + timedelta(hours=hours))
        assert len(found) == count


def test_rows_of_sign_ins_that_ended_long_ago_are_cleared_away(engine):
    anna = add(engine)
    begin(engine, anna, token="t1")
    with unit_of_work(engine) as db:
        later = NOON + timedelta(days=31)
        accounts.start_sign_in(db, person=anna, token="t2", previous_token=None, now=later)
    with read_only_session(engine) as db:
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("t1")) is None
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("t2"))
