"""Fixtures of the storage tests: services on real databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from functools import cache

import pytest

from imaging.guarded_decoder import GuardedDecoder


@pytest.fixture(autouse=True, scope="module")
def passwords_at_little_cost(cheap_passwords: None) -> None:
    """Make password hashes cheap: many of these tests sign in, and none is about the cost of a hash."""


@pytest.fixture(autouse=True, scope="session")
def imports_share_a_decoder() -> Iterator[None]:
    """Let all imports use one decoder: starting its processes takes longer than most of what is tested."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        @cache
        def get_decoder() -> GuardedDecoder:
            return stack.enter_context(GuardedDecoder())

        patch.setattr("intake.service.GuardedDecoder", lambda: nullcontext(get_decoder()))
        yield
