"""Passwords: which are accepted, and that a hash reveals nothing."""

import pytest
from argon2 import PasswordHasher

from accounts.passwords import (
    DEMO_PASSWORD,
    check_password_rules,
    hash_password,
    needs_rehash,
    verify_password,
)
from domain.errors import InvalidValue


@pytest.fixture(scope="module")
def kept():
    return hash_password("correct horse battery")


def test_the_right_password_matches(kept):
    assert verify_password("correct horse battery", kept)


def test_a_wrong_password_does_not(kept):
    assert not verify_password("correct horse batterz", kept)


def test_nobody_has_the_dummy_password():
    assert not verify_password("nobody has this password", None)


def test_a_hash_that_is_damaged_matches_nothing():
    assert not verify_password("correct horse battery", "$argon2id$damaged")


def test_hashes_are_argon2id_and_salted(kept):
    assert kept.startswith("$argon2id$")
    assert kept != hash_password("correct horse battery")


def test_a_hash_of_the_recommended_cost_stays(kept):
    assert not needs_rehash(kept)


def test_a_hash_of_a_lower_cost_is_to_be_made_anew():
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    assert needs_rehash(cheap.hash("correct horse battery"))


def test_nine_characters_are_too_few():
    with pytest.raises(InvalidValue, match="at least 10 characters"):
        check_password_rules("123456789", name="anna")


@pytest.mark.parametrize("password", ["1234567890", " " * 10, "пароль пароль", DEMO_PASSWORD])
def test_ten_characters_of_any_kind_will_do(password):
    assert refusal(password) is None


def refusal(password: str) -> str | None:
    try:
        check_password_rules(password, name="anna")
    except InvalidValue as refused:
        return str(refused)
    return None


def test_a_password_of_megabytes_is_refused():
    with pytest.raises(InvalidValue, match="at most 512"):
        check_password_rules("x" * 513, name="anna")


def test_the_name_is_no_password():
    with pytest.raises(InvalidValue, match="must not be the sign-in name"):
        check_password_rules("Anna.Kowalska", name="anna.kowalska")


def test_the_refusal_does_not_say_the_password():
    with pytest.raises(InvalidValue) as refused:
        check_password_rules("secret", name="anna")
    assert "secret" not in str(refused.value)
