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
def password_hash():
    return hash_password("correct horse battery")


def test_the_right_password_matches(password_hash):
    assert verify_password("correct horse battery", password_hash)


def test_a_wrong_password_does_not_match(password_hash):
    assert not verify_password("correct horse batterz", password_hash)


def test_the_dummy_password_matches_nobody():
    assert not verify_password("nobody has this password", None)


def test_a_damaged_hash_matches_no_password():
    assert not verify_password("correct horse battery", "$argon2id$damaged")


def test_hashes_are_argon2id_and_salted(password_hash):
    assert password_hash.startswith("$argon2id$")
    assert password_hash != hash_password("correct horse battery")


def test_a_hash_of_the_recommended_cost_needs_no_rehash(password_hash):
    assert not needs_rehash(password_hash)


def test_a_hash_of_a_lower_cost_needs_a_rehash():
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    assert needs_rehash(cheap.hash("correct horse battery"))


def test_nine_characters_are_refused():
    with pytest.raises(InvalidValue, match="at least 10 characters"):
        check_password_rules("123456789", name="anna")


@pytest.mark.parametrize("password", ["1234567890", " " * 10, "пароль пароль", DEMO_PASSWORD])
def test_ten_characters_of_any_kind_are_accepted(password):
    assert read_refusal(password) is None


def read_refusal(password: str) -> str | None:
    try:
        check_password_rules(password, name="anna")
    except InvalidValue as error:
        return str(error)
    return None


def test_a_password_above_512_characters_is_refused():
    with pytest.raises(InvalidValue, match="at most 512"):
        check_password_rules("x" * 513, name="anna")


def test_the_sign_in_name_is_refused_as_password():
    with pytest.raises(InvalidValue, match="must not be the sign-in name"):
        check_password_rules("Anna.Kowalska", name="anna.kowalska")


def test_the_refusal_does_not_contain_the_password():
    with pytest.raises(InvalidValue) as error:
        check_password_rules("secret", name="anna")
    assert "secret" not in str(error.value)
