"""The commands in the README exist and have the options shown."""

import re
import shlex
from pathlib import Path

import pytest

from cli import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
COMMAND_LINES = re.findall(r"^ {4}overread (.+?)(?: +#.*)?$", README, re.MULTILINE)
COMMANDS_WITH_SUBCOMMAND = {"user", "import", "release"}


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_each_readme_command_has_help_and_its_options(line, capsys):
    arguments = shlex.split(line)
    command = arguments[: 2 if arguments[0] in COMMANDS_WITH_SUBCOMMAND else 1]
    with pytest.raises(SystemExit) as exit_info:
        main([*command, "--help"])
    help_text = capsys.readouterr().out
    options = [argument for argument in arguments if argument.startswith("--")]
    assert (exit_info.value.code, [option for option in options if option not in help_text]) == (0, [])


def test_the_readme_shows_the_steps_from_import_to_a_verified_release():
    assert [line.split()[0] for line in COMMAND_LINES] == [
        "user", "user", "import", "import", "check", "sample", "assign", "progress", "release", "release",
    ]  # fmt: skip
