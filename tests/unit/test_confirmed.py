"""The cache of sign-ins that this process has verified, for files that are the same for all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from web.sign_in.recent_sign_ins import note_confirmed, note_ended, was_confirmed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_token_holds_for_so_long_after_the_database_said_so():
    note_confirmed("anna's", now=NOW)
    assert was_confirmed("anna's", within=HOUR, now=NOW + HOUR)
    assert not was_confirmed("anna's", within=HOUR, now=NOW + HOUR + timedelta(seconds=1))


def test_a_token_that_the_database_has_not_been_asked_about_does_not_hold():
    assert not was_confirmed("made up", within=HOUR, now=NOW)
    assert not was_confirmed(None, within=HOUR, now=NOW)


def test_a_token_that_the_database_has_disowned_does_not_hold():
    note_confirmed("ben's", now=NOW)
    note_ended("ben's")
    assert not was_confirmed("ben's", within=HOUR, now=NOW)
