"""The cache of sign-ins that this process has verified, used for files that are the same for all people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from web.sign_in.recent_sign_ins import note_confirmed, note_ended, was_confirmed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_confirmed_token_is_valid_for_the_given_time():
    note_confirmed("anna's", now=NOW)
    assert was_confirmed("anna's", within=HOUR, now=NOW + HOUR)
    assert not was_confirmed("anna's", within=HOUR, now=NOW + HOUR + timedelta(seconds=1))


def test_an_unconfirmed_token_is_not_valid():
    assert not was_confirmed("made up", within=HOUR, now=NOW)
    assert not was_confirmed(None, within=HOUR, now=NOW)


def test_an_ended_token_is_not_valid():
    note_confirmed("ben's", now=NOW)
    note_ended("ben's")
    assert not was_confirmed("ben's", within=HOUR, now=NOW)
