"""People who sign in through a provider, on both databases."""

import pytest

from accounts import service as accounts
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.unit_of_work import unit_of_work
from tests.storage.sign_ins import BY, NOON, add_person

CLAIMS = {"iss": "https://id.example.org", "sub": "42", "email": "anna@example.org", "email_verified": True}


GROUPS = {"cxr-readers": "reader", "cxr-experts": ["reviewer", "reader"], "cxr-office": "coordinator"}


def claimed(engine, *, role_claim: accounts.RoleClaim | None = None, **changes) -> Person:
    with unit_of_work(engine) as db:
        return accounts.find_person_by_claims(db, claims=CLAIMS | changes, role_claim=role_claim, now=NOON)


def test_a_verified_address_that_is_a_name_is_that_person(engine):
    anna = add_person(engine, "anna@example.org")
    assert claimed(engine) == anna


def test_after_the_first_time_the_subject_counts_and_the_address_may_change(engine):
    anna = add_person(engine, "anna@example.org")
    claimed(engine)
    assert claimed(engine, email="anna.new@example.org") == anna


def test_another_subject_with_the_same_address_is_not_that_person(engine):
    add_person(engine, "anna@example.org")
    claimed(engine)
    with pytest.raises(NotSignedIn, match="has no account"):
        claimed(engine, sub="43")


def test_an_unknown_address_is_refused(engine):
    with pytest.raises(NotSignedIn, match=r"anna@example\.org has no account\. Ask an admin"):
        claimed(engine)


def test_an_address_that_nobody_verified_is_refused(engine):
    add_person(engine, "anna@example.org")
    with pytest.raises(NotSignedIn, match="has no account"):
        claimed(engine, email_verified=False)


def test_claims_give_no_roles(engine):
    add_person(engine, "anna@example.org", Role.REVIEWER)
    assert claimed(engine, roles=["admin"], groups=["admin"]).roles == {Role.REVIEWER}


def test_a_disabled_person_does_not_come_by_the_provider_either(engine):
    add_person(engine, "anna@example.org")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna@example.org", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        claimed(engine)


# ------------------------------------------------------------------------------------------ roles by a claim
def test_with_the_setting_the_claim_gives_the_roles_and_takes_the_others(engine):
    add_person(engine, "ada", Role.ADMIN)
    add_person(engine, "anna@example.org", Role.ADMIN)
    by_groups = accounts.RoleClaim.from_setting("groups", GROUPS)
    changed = claimed(engine, role_claim=by_groups, groups=["cxr-experts", "cafeteria"])
    assert changed.roles == {Role.REVIEWER, Role.READER}
    assert claimed(engine, role_claim=by_groups, groups=["cxr-office"]).roles == {Role.COORDINATOR}


@pytest.mark.parametrize("groups", [[], ["cafeteria"], "", None, {"cxr-readers": True}, 3])
def test_claims_that_give_no_role_let_nobody_in_and_leave_the_roles(engine, groups):
    add_person(engine, "anna@example.org", Role.REVIEWER)
    with pytest.raises(NotSignedIn, match="no role in Overread"):
        claimed(engine, role_claim=accounts.RoleClaim.from_setting("groups", GROUPS), groups=groups)
    with unit_of_work(engine) as db:
        assert accounts.load_person_by_name(db, name="anna@example.org").roles == {Role.REVIEWER}


def test_the_last_admin_stays_admin_whatever_the_claim_says(engine):
    add_person(engine, "anna@example.org", Role.ADMIN)
    by_groups = accounts.RoleClaim.from_setting("groups", GROUPS)
    changed = claimed(engine, role_claim=by_groups, groups=["cxr-office"])
    assert changed.roles == {Role.COORDINATOR, Role.ADMIN}
    add_person(engine, "ada", Role.ADMIN)
    assert claimed(engine, role_claim=by_groups, groups=["cxr-office"]).roles == {Role.COORDINATOR}
