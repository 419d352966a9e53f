"""Fixtures of the storage tests: services on real databases."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="module")
def passwords_at_little_cost(cheap_passwords: None) -> None:
    """Make password hashes cheap: many of these tests sign in, and none is about the cost of a hash."""
