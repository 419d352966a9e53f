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
def ratings_file(tmp_path):
    """A small file of ratings."""
    file = tmp_path / "ratings.csv"
    file.write_text(RATINGS, encoding="utf-8")
    return file


def run_measure(*arguments):
    """The exit code of ``cli.py measure``."""
    return main(["measure", "--bootstrap", "0", *map(str, arguments)])


def test_byte_order_mark_and_windows_line_ends_are_ignored(ratings_file, tmp_path):
    windows_file = tmp_path / "of windows.csv"
    windows_file.write_bytes(b"\xef\xbb\xbf" + RATINGS.replace("\n", "\r\n").encode())
    outputs = [tmp_path / "a.json", tmp_path / "b.json"]
    assert [
        run_measure(file, "--out", out)
        for file, out in zip((ratings_file, windows_file), outputs, strict=True)
    ] == [0, 0]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert json.loads(outputs[0].read_text(encoding="utf-8"))["accuracy"][0]["correct"] == 1


def test_ratings_may_be_read_from_a_pipe(tmp_path):
    pipe, out = tmp_path / "pipe", tmp_path / "out.json"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(RATINGS,), daemon=True).start()
    assert run_measure(pipe, "--out", out) == 0
    assert out.is_file()


def test_a_pipe_is_refused_as_output(ratings_file, tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert run_measure(ratings_file, "--out", pipe) == 1
    assert "choose a file in an existing folder" in capsys.readouterr().err
    assert pipe.is_fifo()


def test_output_to_a_symbolic_link_is_written_to_its_target(ratings_file, tmp_path):
    link, target = tmp_path / "link.json", tmp_path / "target.json"
    target.touch()
    link.symlink_to(target)
    assert run_measure(ratings_file, "--out", link) == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("{")


def test_an_invalid_rating_is_refused_with_file_line_and_field(ratings_file, tmp_path, capsys):
    ratings_file.write_text(RATINGS + "q3,a,A,human\n", encoding="utf-8")
    assert run_measure(ratings_file, "--out", tmp_path / "out.json") == 1
    assert capsys.readouterr().err.startswith(f"{ratings_file}, line 6: kind 'human'")


def test_a_compressed_table_is_refused_with_advice(tmp_path, capsys):
    compressed = tmp_path / "ratings.csv.gz"
    compressed.write_bytes(gzip.compress(RATINGS.encode()))
    assert run_measure(compressed, "--out", tmp_path / "out.json") == 1
    assert "is compressed; unpack it first" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["progress", "agreement", "estimate", "attention"])
def test_help_shows_one_percent_sign(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    help_text = capsys.readouterr().out
    assert "95 %" in " ".join(help_text.split())
    assert "%%" not in help_text
