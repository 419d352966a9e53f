"""Sign-ins, on both databases: how long they are valid and what ends them."""

from datetime import timedelta

import pytest

from accounts import service as accounts
from domain.errors import NotFound, NotSignedIn
from storage.accounts import sign_ins
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sign_ins import BY, NOON, add_person, find_signed_in_name, start_sign_in


def test_token_belongs_to_the_person_who_signed_in(engine):
    start_sign_in(engine, add_person(engine))
    assert find_signed_in_name(engine) == "anna"


@pytest.mark.parametrize("token", ["", "t2", "T1", "t1 "])
def test_wrong_token_belongs_to_nobody(engine, token):
    start_sign_in(engine, add_person(engine))
    assert find_signed_in_name(engine, token) is None


def test_token_is_stored_as_hash_only(engine):
    start_sign_in(engine, add_person(engine), token="secret-token")
    with read_only_session(engine) as db:
        assert sign_ins.find_sign_in(db, token_sha256="secret-token") is None
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("secret-token"))


def test_sign_in_ends_after_the_idle_limit(engine):
    start_sign_in(engine, add_person(engine))
    assert find_signed_in_name(engine, now=NOON + accounts.IDLE_LIMIT) == "anna"
    assert find_signed_in_name(engine, now=NOON + accounts.IDLE_LIMIT + timedelta(seconds=1)) is None


def test_activity_extends_a_sign_in(engine):
    start_sign_in(engine, add_person(engine))
    with unit_of_work(engine) as db:
        accounts.update_last_seen(db, token="t1", now=NOON + timedelta(hours=11))
    assert find_signed_in_name(engine, now=NOON + timedelta(hours=22)) == "anna"


def test_sign_in_ends_at_its_maximum_duration(engine):
    start_sign_in(engine, add_person(engine))
    for hours in range(0, 24 * 8, 6):
        with unit_of_work(engine) as db:
            accounts.update_last_seen(db, token="t1", now=NOON + timedelta(hours=hours))
    assert find_signed_in_name(engine, now=NOON + accounts.MAX_DURATION) == "anna"
    assert find_signed_in_name(engine, now=NOON + accounts.MAX_DURATION + timedelta(seconds=1)) is None


def test_last_seen_is_written_once_a_minute(engine):
    start_sign_in(engine, add_person(engine))
    with read_only_session(engine) as db:
        for seconds, due in ((0, False), (59, False), (60, True)):
            sign_in = accounts.find_valid_sign_in(db, token="t1", now=NOON + timedelta(seconds=seconds))
            assert sign_in is not None
            assert sign_in.last_seen_is_stale is due


def test_signing_out_ends_the_sign_in(engine):
    start_sign_in(engine, add_person(engine))
    with unit_of_work(engine) as db:
        accounts.sign_out(db, token="t1", now=NOON)
    assert find_signed_in_name(engine) is None


def test_signing_in_ends_the_previous_sign_in_of_the_browser(engine):
    start_sign_in(engine, add_person(engine, "anna"), token="t1")
    start_sign_in(engine, add_person(engine, "bert"), token="t2", previous_token="t1")
    assert find_signed_in_name(engine, "t1") is None
    assert find_signed_in_name(engine, "t2") == "bert"


def test_disabling_a_person_ends_the_sign_in(engine):
    start_sign_in(engine, add_person(engine))
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    assert find_signed_in_name(engine) is None


def test_enabling_does_not_restore_old_sign_ins(engine):
    start_sign_in(engine, add_person(engine))
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
        accounts.enable_person(db, by=BY, name="anna", now=NOON)
    assert find_signed_in_name(engine) is None


def test_person_disabled_after_the_password_check_cannot_sign_in(engine):
    anna = add_person(engine)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        start_sign_in(engine, anna)


# ----------------------------------------------------------------------------------------------- revocation
def test_admin_can_sign_a_person_out_everywhere(engine):
    anna = add_person(engine)
    start_sign_in(engine, anna, token="t1")
    start_sign_in(engine, anna, token="t2")
    start_sign_in(engine, add_person(engine, "bert"), token="of-bert")
    with unit_of_work(engine) as db:
        assert accounts.sign_out_person(db, by=BY, name="anna", now=NOON) == 2
    assert [find_signed_in_name(engine, token) for token in ("t1", "t2", "of-bert")] == [None, None, "bert"]
    start_sign_in(engine, anna, token="t3")
    assert find_signed_in_name(engine, "t3") == "anna"


def test_person_cannot_end_the_sign_in_of_another(engine):
    start_sign_in(engine, add_person(engine), token="t1")
    bert = add_person(engine, "bert")
    token_prefix = accounts.token_sha256("t1")[:16]
    with unit_of_work(engine) as db, pytest.raises(NotFound, match="has already ended"):
        accounts.end_own_sign_in(db, person=bert, token_prefix=token_prefix, now=NOON)
    assert find_signed_in_name(engine) == "anna"


def test_expired_sign_ins_are_not_listed(engine):
    anna = add_person(engine)
    start_sign_in(engine, anna)
    for hours, count in ((1, 1), (13, 0)):
        with read_only_session(engine) as db:
            listed = accounts.list_own_sign_ins(
                db, person=anna, token="t1", now=NOON + timedelta(hours=hours)
            )
        assert len(listed) == count


def test_old_sign_in_rows_are_deleted(engine):
    anna = add_person(engine)
    start_sign_in(engine, anna, token="t1")
    with unit_of_work(engine) as db:
        later = NOON + timedelta(days=31)
        accounts.start_sign_in(db, person=anna, token="t2", previous_token=None, now=later)
    with read_only_session(engine) as db:
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("t1")) is None
        assert sign_ins.find_sign_in(db, token_sha256=accounts.token_sha256("t2"))
