"""The browser files of the forms: the committed bundles and the drawable canvas, served under one hash.

The source is TypeScript in ``frontend/src/``. Its build output is committed in ``frontend/dist/``, so the app
does not need Node (docs/decisions/038-one-frontend-package.md).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from web.drawing.canvas import browser_part

BUNDLES = Path(__file__).resolve().parents[2] / "frontend" / "dist"
MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@cache
def form_files() -> dict[str, bytes]:
    """Every file that the browser may request, content by name: all bundles, and the canvas' two files."""
    paths = {path.name: path for path in sorted(BUNDLES.iterdir()) if path.suffix in MEDIA_TYPES}
    script, style = browser_part()
    paths |= {"canvas.js": script, "canvas.css": style}
    return {name: path.read_bytes() for name, path in paths.items()}


@cache
def digest() -> str:
    """A hash of all files. It is part of every file's URL, so that the URL changes with the content."""
    together = hashlib.sha256()
    for name, content in sorted(form_files().items()):
        together.update(f"{name}:{len(content)}:".encode() + content)
    return together.hexdigest()[:20]


def address(name: str) -> str:
    """The URL of a file."""
    return f"/frontend/{digest()}/{name}"


def markup(form: str) -> str:
    """The HTML of a form's component: its style sheets, and the element in which the form is built."""
    links = "".join(
        f'<link rel="stylesheet" href="{address(name)}">' for name in ("canvas.css", f"{form}.css")
    )
    return f'{links}<div class="judging-root"></div>'


def loader(form: str) -> str:
    """The script of a form's component: it imports the form and passes on Streamlit's arguments.

    Streamlit sends this script with every run; the form itself is fetched once.
    """
    return (
        # Streamlit runs this from a blob: URL, against which relative paths cannot be resolved.
        f'const form = import(new URL("{address(f"{form}.js")}", window.location.origin).href);\n'
        "export default (component) => { let end; let gone = false;\n"
        "  form.then((module) => { if (!gone) end = module.default(component); });\n"
        "  return () => { gone = true; end?.(); }; };\n"
    )


def bundle(name: str) -> str:
    """The text of a bundle that Streamlit sends inside its page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
