"""Links, commands and numbers in the documents are correct."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")],
    key=lambda path: path.as_posix(),
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_points_to_an_existing_file(document):
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_every_make_target_in_the_documents_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / name).read_text(encoding="utf-8")
    named_targets = set(re.findall(r"^ {4}make ([a-z-]+)", text, re.MULTILINE)) | set(
        re.findall(r"`make ([a-z-]+)`", text)
    )
    assert named_targets - targets == set()


def test_decision_records_are_numbered_without_gaps():
    numbers = sorted(int(path.name[:3]) for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(
    "record", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda path: path.stem
)
def test_a_decision_record_has_its_five_parts(record):
    text = record.read_text(encoding="utf-8")
    parts = ("Context", "Decision", "Consequences", "Alternatives", "When to revisit")
    assert [part for part in parts if f"**{part}.**" not in text] == []
