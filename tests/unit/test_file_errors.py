"""The message for a file that cannot be read or written: which file, and whether space or permission."""

import errno
from pathlib import Path

import pytest

import cli
from domain.file_errors import add_filename_to_errors, describe_file_error


def raised_by(action):
    with pytest.raises(OSError) as caught:  # noqa: PT011 - which one is what the test looks at
        action()
    return caught.value


def write_to_a_full_disk():
    with (
        Path("/dev/full").open("wb", buffering=0) as file,
        add_filename_to_errors(Path("v1/questions.jsonl")),
    ):
        file.write(b"x")


def test_a_full_disk_is_called_so_with_the_file_that_was_being_written():
    said = describe_file_error(raised_by(write_to_a_full_disk))
    assert said.startswith("The disk is full: v1/questions.jsonl could not be written.")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_missing_permission_is_called_so(number):
    assert describe_file_error(OSError(number, "whatever", "v1")).startswith("No permission for v1.")


def test_any_other_trouble_has_the_file_and_the_systems_own_words(tmp_path):
    error = raised_by((tmp_path / "nowhere").read_bytes)
    assert describe_file_error(error) == f"{tmp_path}/nowhere could not be read or written: {error.strerror}."


def test_an_error_that_names_its_file_keeps_the_name(tmp_path):
    def read():
        with add_filename_to_errors(Path("another")):
            (tmp_path / "nowhere").read_bytes()

    assert raised_by(read).filename == str(tmp_path / "nowhere")


def test_a_command_ends_with_one_line_and_1(tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").write_text("a file where the workspace's folder should be")
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "taken" / "workspace"))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    assert cli.main(["progress", "first"]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / "taken") in said
    assert "Traceback" not in said
    assert said.count("\n") == 1
