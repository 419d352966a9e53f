"""If a cache cannot be written, radiographs and reports are still returned, only more slowly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from imaging.cache import DiskCache
from storage.workspace import current_workspace
from tests.e2e.small_disks import small_disk


@pytest.fixture
def full_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on a full disk or, without the right to mount a disk, a path where no file can be created."""
    folder = tmp_path / "small"
    with small_disk(folder, size="64k") as mounted:
        if mounted:
            (folder / "filler").write_bytes(b"")
            with pytest.raises(OSError, match="No space left"):
                (folder / "filler").write_bytes(bytes(1 << 20))
        else:
            folder.rmdir()
            folder.write_text("a file where a folder is expected")
        yield folder


def test_a_value_that_cannot_be_cached_is_created_and_returned_each_time(full_folder):
    cache, calls = DiskCache(full_folder, limit=1 << 20), []

    def make() -> bytes:
        calls.append(1)
        return bytes(10_000)

    assert cache.get_or_create("one", make) == bytes(10_000)
    assert cache.get_or_create("one", make) == bytes(10_000)
    assert len(calls) == 2


def test_a_cached_file_that_cannot_be_read_is_created_again(tmp_path):
    (tmp_path / "radiographs" / "on" / "one").mkdir(parents=True)  # a folder in place of the file
    assert DiskCache(tmp_path, limit=1 << 20).get_or_create("one", lambda: b"picture") == b"picture"


@pytest.mark.parametrize("address", ["/radiographs/1/pa", "/pixels/1/pa", "/pixels/1/pa/metadata"])
@pytest.mark.slow
def test_a_radiograph_is_served_while_the_disk_of_the_cache_is_full(browser_of, address, full_folder):
    browser = browser_of("ruth")
    current_workspace().cache.symlink_to(full_folder)
    response = browser.get(address)
    assert response.status_code == 200
    assert len(response.content) > 100
