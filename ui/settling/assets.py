"""The settling form's browser part as files under one hash; what it shares is the judging form's own."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from ui.judging import assets as judging

FOLDER = Path(__file__).with_name("assets")


@cache
def files() -> dict[str, bytes]:
    """Name to content: our modules and style sheet beside those of the judging form, which ours import."""
    own = {
        path.name: path.read_bytes()
        for path in sorted(FOLDER.iterdir())
        if path.suffix in judging.MEDIA_TYPES
    }
    shared = judging.files()
    if own.keys() & shared.keys():
        raise ValueError(f"two modules have one name: {sorted(own.keys() & shared.keys())}")
    return shared | own


@cache
def digest() -> str:
    """Stands in the address of every file; another content, another address."""
    together = hashlib.sha256()
    for name, content in sorted(files().items()):
        together.update(f"{name}:{len(content)}:".encode() + content)
    return together.hexdigest()[:20]


def address(name: str) -> str:
    """Where the browser fetches a file from."""
    return f"/settling/assets/{digest()}/{name}"


def markup() -> str:
    """The component's HTML: its style sheets, and the place that the form is built in."""
    sheets = ("canvas.css", "form.css", "settling.css")
    links = "".join(f'<link rel="stylesheet" href="{address(name)}">' for name in sheets)
    return f'{links}<div class="judging-root"></div>'


def loader() -> str:
    """The component's script: it imports the form and hands on what Streamlit gives it."""
    return (
        # Streamlit runs this from a blob: address, against which no path can be resolved.
        f'const form = import(new URL("{address("settling.js")}", window.location.origin).href);\n'
        "export default (component) => { let end; let gone = false;\n"
        "  form.then((module) => { if (!gone) end = module.default(component); });\n"
        "  return () => { gone = true; end?.(); }; };\n"
    )
