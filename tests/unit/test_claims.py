"""Which claims of a sign-in provider are accepted."""

import pytest

from accounts.claims import Claims, RoleClaim
from domain.errors import InvalidValue, NotSignedIn
from domain.people import Role

ISSUER = {"iss": "https://id.example.org", "sub": "42"}


def test_the_subject_is_qualified_by_its_issuer():
    assert Claims.from_token(ISSUER).subject == "https://id.example.org|42"


def test_a_verified_email_address_is_a_user_name():
    claims = Claims.from_token(ISSUER | {"email": " Anna@Example.org", "email_verified": True})
    assert claims.verified_emails == ("anna@example.org",)


@pytest.mark.parametrize(
    "verified_claim", [{}, {"email_verified": False}, {"email_verified": "false"}, {"email_verified": 1}]
)
def test_an_unverified_email_address_is_ignored(verified_claim):
    assert Claims.from_token(ISSUER | {"email": "anna@example.org"} | verified_claim).verified_emails == ()


def test_a_self_chosen_user_name_is_ignored():
    assert Claims.from_token(ISSUER | {"preferred_username": "admin"}).verified_emails == ()


@pytest.mark.parametrize(
    "claims", [{}, {"sub": "42"}, {"iss": "https://id.example.org"}, {"iss": "x", "sub": 7}]
)
def test_claims_without_subject_or_issuer_are_refused(claims):
    with pytest.raises(NotSignedIn, match="did not identify you"):
        Claims.from_token(claims)


# ------------------------------------------------------------------------------------------ roles by a claim
@pytest.mark.parametrize(
    ("claim", "claims"),
    [
        ("groups", {"groups": ["experts"]}),
        ("role", {"role": "experts"}),
        ("realm_access.roles", {"realm_access": {"roles": ["experts"]}}),
        ("https://example.org/roles", {"https://example.org/roles": ["experts"]}),
    ],
)
def test_the_role_claim_may_be_a_string_a_list_or_nested(claim, claims):
    assert RoleClaim.from_setting(claim, {"experts": "reviewer"}).extract_roles(claims) == {Role.REVIEWER}


@pytest.mark.parametrize("roles", ["boss", [], ["reviewer", "boss"], 3, {"reviewer": 1}, [["reviewer"]]])
def test_an_unknown_role_is_refused_with_its_claim_value(roles):
    with pytest.raises(InvalidValue, match="roles of 'experts'"):
        RoleClaim.from_setting("groups", {"experts": roles})
