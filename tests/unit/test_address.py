"""The parameters of a page's address are untrusted: each is a valid database number or nothing."""

from __future__ import annotations

import pytest

from ui.address import parse_id


@pytest.mark.parametrize(("parameter_text", "number"), [("7", 7), (7, 7), (str(2**63 - 1), 2**63 - 1)])
def test_a_valid_id_is_parsed(parameter_text, number):
    assert parse_id(parameter_text) == number


@pytest.mark.parametrize(
    "parameter_text", [None, "", "next", "0", "-1", "1.5", str(2**63), "9" * 5000, ["7"]]
)
def test_an_impossible_id_is_parsed_as_none(parameter_text):
    assert parse_id(parameter_text) is None
