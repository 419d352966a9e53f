"""Rendered images are cached, under names that reveal no exam, and evicted when space runs out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from domain.errors import InvalidValue
from imaging.cache import DiskCache, matrix_cache_name, picture_cache_name, viewer_facts_cache_name
from storage.workspace import cache_limit

SHA256 = "ab" * 32


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path, limit=1000)


def list_names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def set_last_used(folder: Path, name: str, *, seconds_ago: float) -> None:
    path = next(folder.rglob(name))
    os.utime(path, (time.time() - seconds_ago,) * 2)


def test_a_cached_picture_is_made_only_once(cache):
    calls = []

    def make() -> bytes:
        calls.append(1)
        return b"picture"

    for _ in range(3):
        assert cache.get_or_create("one", make) == b"picture"
    assert len(calls) == 1


def test_derived_files_of_one_image_have_different_names():
    names_in_cache = {
        picture_cache_name(SHA256, longest_side=300),
        picture_cache_name(SHA256, longest_side=None),
        matrix_cache_name(SHA256),
    }
    assert len({*names_in_cache, viewer_facts_cache_name(SHA256)}) == 4


def test_a_failed_picture_leaves_no_file(cache, tmp_path):
    def fail() -> bytes:
        raise OSError("no pixels")

    with pytest.raises(OSError, match="no pixels"):
        cache.get_or_create("one", fail)
    assert list_names(tmp_path) == set()


def test_only_complete_files_are_in_the_folder(cache, tmp_path):
    cache.store("one", b"picture")
    assert list_names(tmp_path) == {"one"}


def test_the_oldest_files_are_evicted_first(cache, tmp_path):
    for age, name in enumerate(["new", "old", "older"]):
        cache.store(name, bytes(300))
        set_last_used(tmp_path, name, seconds_ago=age * 100)
    cache.store("newest", bytes(300))
    assert list_names(tmp_path) == {"newest", "new", "old"}


def test_reading_a_file_protects_it_from_eviction(cache, tmp_path):
    for name in ("first", "second", "third"):
        cache.store(name, bytes(300))
        set_last_used(tmp_path, name, seconds_ago=100)
    cache.find("first")
    cache.store("fourth", bytes(500))
    assert {"first", "fourth"} <= list_names(tmp_path)


def test_existing_files_count_towards_the_limit(tmp_path):
    DiskCache(tmp_path, limit=1000).store("before", bytes(900))
    set_last_used(tmp_path, "before", seconds_ago=100)
    DiskCache(tmp_path, limit=1000).store("after", bytes(300))
    assert list_names(tmp_path) == {"after"}


def test_a_file_above_the_limit_is_returned_but_not_cached(cache, tmp_path):
    assert cache.get_or_create("large", lambda: bytes(2000)) == bytes(2000)
    assert list_names(tmp_path) == set()


def test_incomplete_files_are_removed_after_an_hour(cache, tmp_path):
    cache.store("one", b"1")
    incomplete = next(tmp_path.rglob("one")).with_name(".incoming-x")
    incomplete.write_bytes(b"half")
    set_last_used(tmp_path, ".incoming-x", seconds_ago=4000)
    cache.store("two", bytes(100))
    assert list_names(tmp_path) == {"one", "two"}


def test_the_limit_is_a_setting_in_gib(monkeypatch):
    monkeypatch.delenv("OVERREAD_CACHE_GIB", raising=False)
    assert cache_limit() == 2 << 30
    monkeypatch.setenv("OVERREAD_CACHE_GIB", "0.5")
    assert cache_limit() == 1 << 29


@pytest.mark.parametrize("limit_text", ["much", "0", "-1", "inf", "nan"])
def test_the_error_for_an_invalid_cache_limit_names_the_setting(monkeypatch, limit_text):
    monkeypatch.setenv("OVERREAD_CACHE_GIB", limit_text)
    with pytest.raises(InvalidValue, match="OVERREAD_CACHE_GIB"):
        cache_limit()
