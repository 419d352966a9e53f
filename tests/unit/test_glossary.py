"""The glossary defines each class of the domain, once."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read_terms(heading: str = "") -> list[str]:
    """The terms below ``## heading``, or of the whole glossary."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    sections = [part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:] if part.startswith(heading)]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", "\n".join(sections), re.MULTILINE)
    return [term for term in rows if term != "term"]


def list_domain_classes() -> Iterator[tuple[str, str]]:
    """(name, path:line) of each public class in ``domain/``."""
    for path in sorted((ROOT / "domain").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_public_domain_class_is_in_the_glossary():
    glossary_terms = set(read_terms())
    assert [
        f"{name} ({location})" for name, location in list_domain_classes() if name not in glossary_terms
    ] == []


def test_the_glossary_lists_only_existing_classes():
    assert set(read_terms("Classes of the domain")) - {name for name, _ in list_domain_classes()} == set()


def test_the_glossary_defines_no_term_twice():
    lowercase_terms = [term.lower() for term in read_terms()]
    assert [term for term in lowercase_terms if lowercase_terms.count(term) > 1] == []
