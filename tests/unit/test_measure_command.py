"""``cli.py measure``: what it reads, where it writes, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import threading

import pytest

from cli import main

RATINGS = (
    "question_id,rater,answer,kind\nq1,ref,A,reference\nq1,a,A,reader\nq2,ref,B,reference\nq2,a,A,reader\n"
)


@pytest.fixture
def ratings(tmp_path):
    """A small file of ratings."""
    file = tmp_path / "ratings.csv"
    file.write_text(RATINGS, encoding="utf-8")
    return file


def measure(*arguments):
    """The exit code of ``cli.py measure``."""
    return main(["measure", "--bootstrap", "0", *map(str, arguments)])


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(ratings, tmp_path):
    windows = tmp_path / "of windows.csv"
    windows.write_bytes(b"\xef\xbb\xbf" + RATINGS.replace("\n", "\r\n").encode())
    outs = [tmp_path / "a.json", tmp_path / "b.json"]
    assert [measure(file, "--out", out) for file, out in zip((ratings, windows), outs, strict=True)] == [0, 0]
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert json.loads(outs[0].read_text(encoding="utf-8"))["accuracy"][0]["correct"] == 1


def test_ratings_may_come_through_a_pipe(tmp_path):
    pipe, out = tmp_path / "pipe", tmp_path / "out.json"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(RATINGS,), daemon=True).start()
    assert measure(pipe, "--out", out) == 0
    assert out.is_file()


def test_a_pipe_or_device_is_never_replaced_by_the_file_of_measures(ratings, tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert measure(ratings, "--out", pipe) == 1
    assert "name a file in a folder that there is" in capsys.readouterr().err
    assert pipe.is_fifo()


def test_a_link_stays_a_link(ratings, tmp_path):
    link, target = tmp_path / "link.json", tmp_path / "target.json"
    target.touch()
    link.symlink_to(target)
    assert measure(ratings, "--out", link) == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("{")


def test_what_the_table_cannot_hold_is_refused_with_file_line_and_field(ratings, tmp_path, capsys):
    ratings.write_text(RATINGS + "q3,a,A,human\n", encoding="utf-8")
    assert measure(ratings, "--out", tmp_path / "out.json") == 1
    assert capsys.readouterr().err.startswith(f"{ratings}, line 6: kind 'human'")


def test_a_compressed_table_is_told_from_one_in_another_encoding(tmp_path, capsys):
    packed = tmp_path / "ratings.csv.gz"
    packed.write_bytes(gzip.compress(RATINGS.encode()))
    assert measure(packed, "--out", tmp_path / "out.json") == 1
    assert "is compressed; unpack it first" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["progress", "agreement", "estimate", "attention"])
def test_help_shows_one_percent_sign(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert "95 %" in told
    assert "%%" not in told
