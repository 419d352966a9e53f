"""The message for a file that cannot be read or written names the file and the cause, such as a full disk."""

import errno
from pathlib import Path

import pytest

import cli
from domain.file_errors import add_filename_to_errors, describe_file_error


def catch_os_error(action):
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the tests inspect the error
        action()
    return caught.value


def write_to_a_full_disk():
    with (
        Path("/dev/full").open("wb", buffering=0) as file,
        add_filename_to_errors(Path("v1/questions.jsonl")),
    ):
        file.write(b"x")


def test_a_full_disk_is_reported_with_the_file_being_written():
    message = describe_file_error(catch_os_error(write_to_a_full_disk))
    assert message.startswith("The disk is full: v1/questions.jsonl could not be written.")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_missing_permission_is_reported(number):
    assert describe_file_error(OSError(number, "whatever", "v1")).startswith("No permission for v1.")


def test_other_errors_state_the_file_and_the_system_message(tmp_path):
    error = catch_os_error((tmp_path / "nowhere").read_bytes)
    assert describe_file_error(error) == f"{tmp_path}/nowhere could not be read or written: {error.strerror}."


def test_an_error_that_names_its_file_keeps_the_name(tmp_path):
    def read_missing_file():
        with add_filename_to_errors(Path("another")):
            (tmp_path / "nowhere").read_bytes()

    assert catch_os_error(read_missing_file).filename == str(tmp_path / "nowhere")


def test_a_failed_command_prints_one_line_and_exits_with_1(tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").write_text("a file where the workspace's folder should be")
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "taken" / "workspace"))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    assert cli.main(["progress", "first"]) == 1
    stderr = capsys.readouterr().err
    assert str(tmp_path / "taken") in stderr
    assert "Traceback" not in stderr
    assert stderr.count("\n") == 1
