"""Rendered images are cached, under names that reveal no exam, and evicted when space runs out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from domain.errors import InvalidValue
from imaging.cache import DiskCache, facts_cache_name, matrix_cache_name, picture_cache_name
from storage.workspace import cache_limit

SHA256 = "ab" * 32


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path, limit=1000)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def last_used(folder: Path, name: str, *, seconds_ago: float) -> None:
    path = next(folder.rglob(name))
    os.utime(path, (time.time() - seconds_ago,) * 2)


def test_a_picture_is_made_once(cache):
    made = []

    def make() -> bytes:
        made.append(1)
        return b"picture"

    for _ in range(3):
        assert cache.get_or_create("one", make) == b"picture"
    assert len(made) == 1


def test_what_is_made_of_one_file_otherwise_has_another_name():
    made = {
        picture_cache_name(SHA256, longest_side=300),
        picture_cache_name(SHA256, longest_side=None),
        matrix_cache_name(SHA256),
    }
    assert len({*made, facts_cache_name(SHA256)}) == 4


def test_a_picture_that_can_not_be_made_leaves_nothing(cache, tmp_path):
    def fail() -> bytes:
        raise OSError("no pixels")

    with pytest.raises(OSError, match="no pixels"):
        cache.get_or_create("one", fail)
    assert names(tmp_path) == set()


def test_only_whole_files_are_in_the_folder(cache, tmp_path):
    cache.store("one", b"picture")
    assert names(tmp_path) == {"one"}


def test_the_oldest_go_first_when_space_runs_out(cache, tmp_path):
    for age, name in enumerate(["new", "old", "older"]):
        cache.store(name, bytes(300))
        last_used(tmp_path, name, seconds_ago=age * 100)
    cache.store("newest", bytes(300))
    assert names(tmp_path) == {"newest", "new", "old"}


def test_what_was_looked_at_is_not_old(cache, tmp_path):
    for name in ("first", "second", "third"):
        cache.store(name, bytes(300))
        last_used(tmp_path, name, seconds_ago=100)
    cache.find("first")
    cache.store("fourth", bytes(500))
    assert {"first", "fourth"} <= names(tmp_path)


def test_what_lay_there_before_counts(tmp_path):
    DiskCache(tmp_path, limit=1000).store("before", bytes(900))
    last_used(tmp_path, "before", seconds_ago=100)
    DiskCache(tmp_path, limit=1000).store("after", bytes(300))
    assert names(tmp_path) == {"after"}


def test_a_file_larger_than_the_limit_is_given_and_not_kept(cache, tmp_path):
    assert cache.get_or_create("large", lambda: bytes(2000)) == bytes(2000)
    assert names(tmp_path) == set()


def test_what_a_process_left_half_written_is_removed_after_an_hour(cache, tmp_path):
    cache.store("one", b"1")
    half = next(tmp_path.rglob("one")).with_name(".incoming-x")
    half.write_bytes(b"half")
    last_used(tmp_path, ".incoming-x", seconds_ago=4000)
    cache.store("two", bytes(100))
    assert names(tmp_path) == {"one", "two"}


def test_the_limit_is_a_setting_in_gib(monkeypatch):
    monkeypatch.delenv("OVERREAD_CACHE_GIB", raising=False)
    assert cache_limit() == 2 << 30
    monkeypatch.setenv("OVERREAD_CACHE_GIB", "0.5")
    assert cache_limit() == 1 << 29


@pytest.mark.parametrize("said", ["much", "0", "-1", "inf", "nan"])
def test_a_limit_that_is_none_is_refused_by_name(monkeypatch, said):
    monkeypatch.setenv("OVERREAD_CACHE_GIB", said)
    with pytest.raises(InvalidValue, match="OVERREAD_CACHE_GIB"):
        cache_limit()
