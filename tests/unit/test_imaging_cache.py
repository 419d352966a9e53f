"""Pictures are made once, and what is kept names a file's SHA-256 and nothing of an exam."""

from __future__ import annotations

import pytest

from imaging.cache import cached_picture, picture_name

SHA256 = "ab" * 32


def test_a_picture_is_made_once(tmp_path):
    made = []

    def make() -> bytes:
        made.append(1)
        return b"picture"

    for _ in range(3):
        assert cached_picture(tmp_path, sha256=SHA256, longest=None, make=make) == b"picture"
    assert len(made) == 1


def test_another_size_is_another_picture(tmp_path):
    assert cached_picture(tmp_path, sha256=SHA256, longest=300, make=lambda: b"small") == b"small"
    assert cached_picture(tmp_path, sha256=SHA256, longest=None, make=lambda: b"full") == b"full"


def test_a_picture_that_can_not_be_made_leaves_nothing(tmp_path):
    def fail() -> bytes:
        raise OSError("no pixels")

    with pytest.raises(OSError, match="no pixels"):
        cached_picture(tmp_path, sha256=SHA256, longest=None, make=fail)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_only_whole_pictures_are_in_the_folder(tmp_path):
    cached_picture(tmp_path, sha256=SHA256, longest=1200, make=lambda: b"picture")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [
        picture_name(SHA256, longest=1200)
    ]
