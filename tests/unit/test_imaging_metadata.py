"""The reason why the header of a damaged JPEG or JPEG 2000 stream cannot be read."""

from __future__ import annotations

import pytest

from imaging.metadata import strip_jpeg_2000_comments, strip_jpeg_metadata


@pytest.mark.parametrize(
    ("segment", "reason"),
    [
        (b"\x00\x64\x00\x04ab", "no marker at byte 2"),
        (b"\xff\x64\x00\x01ab", "the segment at byte 2 has a length of 1; the minimum is 2"),
        (b"\xff\x64\x00\x09ab", "the segment at byte 2 extends past the end of the data"),
    ],
)
def test_the_message_names_what_is_wrong_with_a_jpeg_2000_header(segment, reason):
    with pytest.raises(ValueError, match=reason):
        strip_jpeg_2000_comments(b"\xff\x4f" + segment)


def test_the_message_names_a_jpeg_segment_without_its_length():
    with pytest.raises(ValueError, match="the segment at byte 2 has a length of 0; the minimum is 2"):
        strip_jpeg_metadata(b"\xff\xd8\xff\xe0\x00\x00ab")
