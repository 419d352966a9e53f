"""The storage tests: services on real databases."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="module")
def passwords_at_little_cost(cheap_passwords: None) -> None:
    """Who signs in is asked of many of these tests, what a hash costs of none."""
