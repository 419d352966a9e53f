"""What the documents point to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")],
    key=lambda path: path.as_posix(),
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_within_the_project_leads_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_every_make_target_that_is_named_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"^ {4}make ([a-z-]+)", text, re.MULTILINE)) | set(
        re.findall(r"`make ([a-z-]+)`", text)
    )
    assert named - targets == set()


def test_decisions_are_numbered_without_a_gap():
    numbers = sorted(int(path.name[:3]) for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == list(range(len(numbers)))
