"""Tests on real public collections, which the project must not contain.

They are in ``../shared/data`` beside the checkout, or in the folder OVERREAD_TEST_COLLECTIONS. Without them
these tests are not collected, and the head of the test report says so.
"""

from __future__ import annotations

import pytest

from tests.collections.folder import COLLECTIONS

if not COLLECTIONS.is_dir():
    collect_ignore_glob = ["test_*.py"]


def pytest_report_header() -> str:
    """Say whether the collections are there."""
    if COLLECTIONS.is_dir():
        return f"public collections: {COLLECTIONS}"
    return f"public collections: none in {COLLECTIONS}, so tests/collections is left out"


@pytest.fixture
def engine(sqlite_engine):
    """SQLite is enough: both kinds of database are tested with the project's own files."""
    return sqlite_engine
