"""The form's browser part as files under one hash, and the few lines that load it.

Streamlit sends a component's inline script with every run; the loader is all of it that travels so. The
files come from a route of ours, once: their address changes with their content.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from viewer.canvas import browser_part
from viewer.radiograph_viewer import BUNDLE, WORKER

FOLDER = Path(__file__).with_name("assets")
MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@cache
def files() -> dict[str, bytes]:
    """Name to content: our modules and style sheet, the viewer's two scripts, the canvas' two files."""
    script, style = browser_part()
    own = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in MEDIA_TYPES}
    others = {"canvas.js": script, "canvas.css": style, BUNDLE.name: BUNDLE, WORKER.name: WORKER}
    return own | {name: path.read_bytes() for name, path in others.items()}


@cache
def digest() -> str:
    """Stands in the address of every file; another content, another address."""
    together = hashlib.sha256()
    for name, content in sorted(files().items()):
        together.update(f"{name}:{len(content)}:".encode() + content)
    return together.hexdigest()[:20]


def address(name: str) -> str:
    """Where the browser fetches a file from."""
    return f"/judging/assets/{digest()}/{name}"


def markup() -> str:
    """The component's HTML: its style sheets, and the place that the form is built in."""
    links = "".join(f'<link rel="stylesheet" href="{address(name)}">' for name in ("canvas.css", "form.css"))
    return f'{links}<div class="judging-root"></div>'


def loader() -> str:
    """The component's script: it imports the form and hands on what Streamlit gives it."""
    return (
        # Streamlit runs this from a blob: address, against which no path can be resolved.
        f'const form = import(new URL("{address("form.js")}", window.location.origin).href);\n'
        "export default (component) => { let end; let gone = false;\n"
        "  form.then((module) => { if (!gone) end = module.default(component); });\n"
        "  return () => { gone = true; end?.(); }; };\n"
    )
