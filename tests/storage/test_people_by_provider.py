"""People who sign in through a provider, on both databases."""

import pytest

from accounts import service as accounts
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.unit_of_work import unit_of_work
from tests.storage.sign_ins import BY, NOON, add_person

CLAIMS = {"iss": "https://id.example.org", "sub": "42", "email": "anna@example.org", "email_verified": True}


GROUPS = {"cxr-readers": "reader", "cxr-experts": ["reviewer", "reader"], "cxr-office": "coordinator"}


def find_by_claims(engine, *, role_claim: accounts.RoleClaim | None = None, **changes) -> Person:
    with unit_of_work(engine) as db:
        return accounts.find_person_by_claims(db, claims=CLAIMS | changes, role_claim=role_claim, now=NOON)


def test_a_verified_address_equal_to_a_sign_in_name_identifies_that_person(engine):
    anna = add_person(engine, "anna@example.org")
    assert find_by_claims(engine) == anna


def test_after_the_first_sign_in_the_subject_identifies_the_person_at_any_address(engine):
    anna = add_person(engine, "anna@example.org")
    find_by_claims(engine)
    assert find_by_claims(engine, email="anna.new@example.org") == anna


def test_another_subject_with_the_same_address_is_refused(engine):
    add_person(engine, "anna@example.org")
    find_by_claims(engine)
    with pytest.raises(NotSignedIn, match="has no account"):
        find_by_claims(engine, sub="43")


def test_an_unknown_address_is_refused(engine):
    with pytest.raises(NotSignedIn, match=r"anna@example\.org has no account\. Ask an admin"):
        find_by_claims(engine)


def test_an_unverified_address_is_refused(engine):
    add_person(engine, "anna@example.org")
    with pytest.raises(NotSignedIn, match="has no account"):
        find_by_claims(engine, email_verified=False)


def test_claims_do_not_change_roles_without_the_setting(engine):
    add_person(engine, "anna@example.org", Role.REVIEWER)
    assert find_by_claims(engine, roles=["admin"], groups=["admin"]).roles == {Role.REVIEWER}


def test_a_disabled_person_cannot_sign_in_through_the_provider(engine):
    add_person(engine, "anna@example.org")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna@example.org", now=NOON)
    with pytest.raises(NotSignedIn, match="is disabled"):
        find_by_claims(engine)


# ------------------------------------------------------------------------------------------ roles by a claim
def test_with_the_setting_the_claim_replaces_all_roles(engine):
    add_person(engine, "ada", Role.ADMIN)
    add_person(engine, "anna@example.org", Role.ADMIN)
    by_groups = accounts.RoleClaim.from_setting("groups", GROUPS)
    changed = find_by_claims(engine, role_claim=by_groups, groups=["cxr-experts", "cafeteria"])
    assert changed.roles == {Role.REVIEWER, Role.READER}
    assert find_by_claims(engine, role_claim=by_groups, groups=["cxr-office"]).roles == {Role.COORDINATOR}


@pytest.mark.parametrize("groups", [[], ["cafeteria"], "", None, {"cxr-readers": True}, 3])
def test_claims_that_give_no_role_are_refused_and_leave_the_roles_unchanged(engine, groups):
    add_person(engine, "anna@example.org", Role.REVIEWER)
    with pytest.raises(NotSignedIn, match="no role in Overread"):
        find_by_claims(engine, role_claim=accounts.RoleClaim.from_setting("groups", GROUPS), groups=groups)
    with unit_of_work(engine) as db:
        assert accounts.load_person_by_name(db, name="anna@example.org").roles == {Role.REVIEWER}


def test_the_last_admin_stays_admin_whatever_the_claim_says(engine):
    add_person(engine, "anna@example.org", Role.ADMIN)
    by_groups = accounts.RoleClaim.from_setting("groups", GROUPS)
    changed = find_by_claims(engine, role_claim=by_groups, groups=["cxr-office"])
    assert changed.roles == {Role.COORDINATOR, Role.ADMIN}
    add_person(engine, "ada", Role.ADMIN)
    assert find_by_claims(engine, role_claim=by_groups, groups=["cxr-office"]).roles == {Role.COORDINATOR}
