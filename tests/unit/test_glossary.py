"""The glossary and the code say the same words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "accounts", "browsing", "commands", "demo", "domain", "imaging", "intake", "measures", "pages", "privacy",
    "quality", "reader_study", "records", "release", "review", "sampling", "storage", "ui", "viewer",
)  # fmt: skip


def glossary_rows(heading: str = "") -> Iterator[tuple[str, str]]:
    """(say, never say) of each row below ``## heading``, or of the whole glossary."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        if section.startswith(heading):
            for say, _, never in re.findall(r"^\| (.+?) \| (.+?) \| ?(.*?) ?\|$", section, re.MULTILINE):
                if say != "say":
                    yield say, never


def classes(room: str) -> Iterator[tuple[str, str]]:
    """(name, place) of each class in the modules of a room."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, f"{path.relative_to(ROOT)}:{node.lineno}"


def forbidden_names() -> set[str]:
    """The words that are not to be said, as class names in lower case: "image object" is imageobject."""
    cells = (re.sub(r"\(.*?\)", "", never) for _, never in glossary_rows())
    words = (word for cell in cells for word in cell.split(","))
    return {word.replace(" ", "").lower() for word in words} - {""}


def test_every_public_class_of_the_domain_is_in_the_glossary():
    said = {say for say, _ in glossary_rows()}
    missing = [f"{name} ({place})" for name, place in classes("domain") if not name.startswith("_")]
    missing = [entry for entry in missing if entry.split(" ")[0] not in said]
    assert missing == []


def test_the_glossary_names_no_class_that_is_gone():
    known = {name for name, _ in classes("domain")}
    said = {say for say, _ in glossary_rows("Nouns of the domain") if say[0].isupper()}
    assert said - known == set()


def test_no_class_has_a_name_that_is_not_to_be_said():
    never = forbidden_names()
    found = [
        f"{name} ({place})"
        for room in ROOMS
        for name, place in classes(room)
        if name.removesuffix("Row").lower() in never
    ]
    assert found == []


def test_the_words_that_are_not_to_be_said_are_read_from_the_table():
    assert {"bbox", "imageobject", "review", "user"} <= forbidden_names()
