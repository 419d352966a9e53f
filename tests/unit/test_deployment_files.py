"""The lock file, the units of systemd, and the documents of a deployment agree with the rest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from accounts.claims import RoleClaim
from tests.unit.test_requirements import read_pins

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "docs" / "deploy"


def read_locked_packages() -> dict[str, tuple[str, int]]:
    """Each package of the lock file with its version and the number of its hashes."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", text)
    matches = (re.match(r"([a-z0-9.-]+)==([^ ;]+)", entry) for entry in entries)
    return {
        match[1]: (match[2], entry.count("--hash=sha256:"))
        for entry, match in zip(entries, matches, strict=True)
        if match
    }


def test_the_lock_file_has_every_pinned_package_of_the_app_in_its_version():
    versions = {name: version for name, (version, _) in read_locked_packages().items()}
    assert {name: versions.get(name) for name in read_pins("requirements.txt")} == read_pins(
        "requirements.txt"
    )


def test_the_lock_file_and_the_constraints_agree_and_every_package_has_a_hash():
    constraints = read_pins("constraints.txt")
    differing = {
        name: (version, constraints[name])
        for name, (version, _) in read_locked_packages().items()
        if constraints.get(name, version) != version
    }
    assert differing == {}
    assert [name for name, (_, hashes) in read_locked_packages().items() if not hashes] == []


@pytest.mark.parametrize("unit", ["overread.service", "overread-backup.service", "overread-audit.service"])
@pytest.mark.parametrize(
    "setting",
    [
        "CapabilityBoundingSet=",
        "RestrictNamespaces=true",
        "SystemCallFilter=@system-service",
        "MemoryMax=80%",
        "OnFailure=overread-alert@%n.service",
    ],
)
def test_each_unit_has_the_settings_for_restriction_and_alerts(unit, setting):
    assert setting in (DEPLOY / unit).read_text(encoding="utf-8").splitlines()


def test_the_example_of_the_secrets_has_the_keys_of_the_settings_page():
    """Both describe the same keys, and name a mapping of groups that the app reads."""
    example = tomllib.loads((ROOT / ".streamlit" / "secrets.toml.example").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    block = re.search(r"(?m)^    \[auth\]\n(?:(?:    .*)?\n)+?(?=\S)", page)
    assert block is not None
    documented = tomllib.loads(re.sub(r"(?m)^    ", "", block[0]))
    assert {*example["auth"]} == {*documented["auth"]}
    assert {*example["auth"]["hospital"]} == {*documented["auth"]["hospital"]}
    assert RoleClaim.from_setting("groups", {"cxr-experts": "reviewer", "cxr-office": ["coordinator"]}).roles


def test_no_document_checks_out_a_tag():
    """The project has no tags; a command that names one fails."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *DEPLOY.iterdir()]
    assert [
        page.name
        for page in pages
        if re.search(r"git checkout v[X\d]|tag or commit", page.read_text("utf-8"))
    ] == []
