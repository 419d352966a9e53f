"""Texts from outside: addresses, characters that change their direction, cut-off files, damaged DICOM."""

from __future__ import annotations

import pytest

from domain.errors import InvalidValue
from imaging.errors import UnreadableImage
from imaging.reader import describe, read_radiograph
from intake.recognition import recognise_file
from intake.strict_json import decode_strictly
from tests.unit.makers.dicom_files import dicom
from ui.widgets import escape_markdown

JOINER = "\u2060"
NAME = b"ROENTGEN"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see http://a.example/x", f"see http\\:{JOINER}//a.example/x"),
        ("see HTTPS://a.example", f"see HTTPS\\:{JOINER}//a.example"),
        ("see www.a.example", f"see www{JOINER}.a.example"),
        ("ask a.b@c.example", f"ask a.b{JOINER}@c.example"),
        ("the ratio is 1:2", "the ratio is 1\\:2"),
        ("\u202egnp.exe \u2066x", "\ufffdgnp.exe \ufffdx"),
    ],
)
def test_escaped_text_has_no_links_and_no_characters_that_change_its_direction(text, shown):
    assert escape_markdown(text) == shown


@pytest.mark.parametrize("character", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_a_character_that_changes_the_direction_of_text_is_refused_on_import(character):
    with pytest.raises(InvalidValue, match=f"contains a character that changes .* U.{ord(character):04X}"):
        decode_strictly(f'{{"stem": "which {character}side"}}'.encode())


def read_refusal_message(tmp_path, content: str) -> str:
    (tmp_path / "set.json").write_text(content)
    with pytest.raises(InvalidValue) as caught:
        recognise_file(tmp_path / "set.json", "auto")
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        '{"id": "q1", "stem": "Which side',
        '{"id": "q1",\n "stem": "Which side?",\n "exam": {"id": "e1"',
        '[{"id": "q1", "stem": "Which',
    ],
)
def test_a_file_that_is_cut_off_in_its_first_record_is_called_truncated(tmp_path, content):
    message = read_refusal_message(tmp_path, content)
    assert "truncated" in message
    assert "str" not in message.replace("structure", "")


def test_a_single_record_over_several_lines_gets_a_specific_message(tmp_path):
    message = read_refusal_message(tmp_path, '{"id": "q1",\n "stem": "Which side?"}')
    assert (
        "it begins with a value that is not a record; write one object per line, or a list of objects"
        in message
    )


@pytest.mark.slow
def test_no_message_about_a_damaged_file_quotes_its_bytes():
    """A name overwrites every place of the header in turn, whatever value is there."""
    content = dicom(PatientName="Other^Name", RescaleSlope="1", RescaleIntercept="0", WindowCenter="40")
    messages = set()
    for offset in range(132, content.index(b"\xe0\x7f\x10\x00") + 8):
        damaged = content[:offset] + NAME + content[offset + len(NAME) :]
        for read in (describe, read_radiograph):
            try:
                read(damaged, name="a.dcm")
            except UnreadableImage as error:
                messages.add(str(error))
    assert len(messages) > 10
    for start in range(len(NAME) - 3):
        piece = NAME[start : start + 4].decode()
        assert [message for message in messages if piece in message.upper()] == []
