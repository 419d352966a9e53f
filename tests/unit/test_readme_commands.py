"""The commands in the README exist and have the options shown."""

import re
import shlex
from pathlib import Path

import pytest

from cli import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
LINES = re.findall(r"^ {4}overread (.+?)(?: +#.*)?$", README, re.MULTILINE)
WITH_VERB = {"user", "import", "release"}


@pytest.mark.parametrize("line", LINES)
def test_each_command_in_the_readme_has_help_and_the_options_shown(line, capsys):
    words = shlex.split(line)
    command = words[: 2 if words[0] in WITH_VERB else 1]
    with pytest.raises(SystemExit) as left:
        main([*command, "--help"])
    help_text = capsys.readouterr().out
    options = [word for word in words if word.startswith("--")]
    assert (left.value.code, [option for option in options if option not in help_text]) == (0, [])


def test_the_readme_shows_the_steps_from_import_to_a_verified_release():
    assert [line.split()[0] for line in LINES] == [
        "user", "user", "import", "import", "check", "sample", "assign", "progress", "release", "release",
    ]  # fmt: skip
