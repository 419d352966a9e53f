"""Shortcuts: the declarations are complete and free of conflicts, and own keys are checked."""

import pytest

from domain.errors import InvalidValue
from domain.ratings import RATING_VALUES
from domain.shortcuts import (
    SHORTCUTS,
    InputPreferences,
    LeftButton,
    parse_key,
    preferences_from_plain,
    preferences_to_plain,
)
from domain.verdicts import FLAGS, Decision
from domain.vocabulary import Difficulty


def test_every_choice_of_the_forms_has_a_shortcut():
    assert {f"rating-{value}" for value in RATING_VALUES} <= set(SHORTCUTS)
    assert {f"confidence-{value}" for value in RATING_VALUES} <= set(SHORTCUTS)
    assert {f"difficulty-{tier}" for tier in Difficulty} <= set(SHORTCUTS)
    assert {f"flag-{flag.id}" for flag in FLAGS if not flag.required} <= set(SHORTCUTS)
    assert {str(decision) for decision in Decision} <= set(SHORTCUTS)


def test_declared_keys_are_valid_and_none_has_a_conflict():
    preferences = InputPreferences()
    for shortcut in SHORTCUTS.values():
        assert parse_key(shortcut.key) == shortcut.key
        assert preferences.find_conflict(shortcut.id) is None, shortcut.id
        assert shortcut.contexts <= {"answer", "judge", "read", "adjudicate"}


def test_digits_choose_options_wherever_an_answer_is_given():
    for context in ("answer", "read"):
        keys = {shortcut.key: name for name, shortcut in SHORTCUTS.items() if context in shortcut.contexts}
        assert [keys[str(digit)] for digit in range(1, 10)] == [f"option-{digit}" for digit in range(1, 10)]
        assert [keys[f"Shift+{value}"] for value in RATING_VALUES] == [
            f"confidence-{value}" for value in RATING_VALUES
        ]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a", "A"),
        ("shift+a", "Shift+A"),
        ("Shift A", "Shift+A"),
        ("alt 1", "Alt+1"),
        ("pageup", "PageUp"),
        ("return", "Enter"),
        ("?", "?"),
        ("+", "+"),
        ("ä", "Ä"),
        ("  ", ""),
    ],
)
def test_keys_are_read_as_people_write_them(text, key):
    assert parse_key(text) == key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ab", "is not a key"),
        ("f5", "is not a key"),
        ("ctrl+a", "only Shift and Alt"),
        ("shift alt 1", "only Shift and Alt"),
        ("shift ?", "enter the symbol alone"),
        ("alt x", "digits"),
        ("c", "reserved"),
        ("space", "reserved"),
        ("shift enter", "reserved"),
    ],
)
def test_other_keys_are_refused_with_the_reason(text, reason):
    with pytest.raises(InvalidValue, match=reason):
        parse_key(text)


def test_one_key_may_be_used_in_two_forms_but_not_twice_in_one_form():
    # "break" is an action of readers, "accept" is an action of reviewers
    assert InputPreferences().with_key("break", "A").get_key("break") == "A"
    with pytest.raises(InvalidValue, match="A for “reject the question” is the key of “accept and continue”"):
        InputPreferences().with_key("reject", "A")


def test_keys_can_be_exchanged_once_one_of_them_is_turned_off():
    preferences = InputPreferences().with_key("accept", "").with_key("reject", "A").with_key("accept", "X")
    assert (preferences.get_key("accept"), preferences.get_key("reject")) == ("X", "A")


def test_a_default_key_that_another_action_has_is_not_restored():
    preferences = InputPreferences().with_key("accept", "").with_key("reject", "A")
    with pytest.raises(InvalidValue, match="is the key of"):
        preferences.with_key("accept", "A")


def test_a_default_key_is_not_stored_as_an_own_key():
    assert InputPreferences(keys={"accept": "Shift+J"}).with_key("accept", "A").keys == {}


def test_preferences_are_unchanged_by_writing_and_reading():
    preferences = InputPreferences(keys={"accept": "Shift+J", "guideline": ""}, left_button=LeftButton.PAN)
    assert preferences_from_plain(preferences_to_plain(preferences)) == preferences


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        ([], "exactly"),
        ({"keys": {}}, "exactly"),
        ({"keys": {"accept": 1}, "leftButton": "boxes"}, "as text"),
        ({"keys": {"fly": "A"}, "leftButton": "boxes"}, "no action fly"),
        ({"keys": {"accept": "shift+j"}, "leftButton": "boxes"}, "must be written"),
        ({"keys": {"accept": "X"}, "leftButton": "boxes"}, "is the key of"),
        ({"keys": {}, "leftButton": "throw"}, "boxes, window, pan"),
    ],
)
def test_the_error_for_an_invalid_file_states_what_is_wrong(plain, reason):
    with pytest.raises(InvalidValue, match=reason):
        preferences_from_plain(plain)
