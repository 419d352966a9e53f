"""The browser part of the forms: the committed bundles and the drawable canvas, served under one hash.

Its source is TypeScript in ``frontend/src/``. What is built from that is committed in ``frontend/dist/``: the
app needs no Node (docs/decisions/038-one-frontend-package.md).
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
    """Name to content, of all that the browser may ask for: every bundle, and the canvas' two files."""
    paths = {path.name: path for path in sorted(BUNDLES.iterdir()) if path.suffix in MEDIA_TYPES}
    script, style = browser_part()
    paths |= {"canvas.js": script, "canvas.css": style}
    return {name: path.read_bytes() for name, path in paths.items()}


@cache
def digest() -> str:
    """Stands in the address of every file; another content, another address."""
    together = hashlib.sha256()
    for name, content in sorted(form_files().items()):
        together.update(f"{name}:{len(content)}:".encode() + content)
    return together.hexdigest()[:20]


def address(name: str) -> str:
    """Where the browser fetches a file from."""
    return f"/frontend/{digest()}/{name}"


def markup(form: str) -> str:
    """The HTML of a form's component: its style sheets, and the place that the form is built in."""
    links = "".join(
        f'<link rel="stylesheet" href="{address(name)}">' for name in ("canvas.css", f"{form}.css")
    )
    return f'{links}<div class="judging-root"></div>'


def loader(form: str) -> str:
    """The script of a form's component: it imports the form and hands on what Streamlit gives it.

    Streamlit sends it with every run; the form itself is fetched once.
    """
    return (
        # Streamlit runs this from a blob: address, against which no path can be resolved.
        f'const form = import(new URL("{address(f"{form}.js")}", window.location.origin).href);\n'
        "export default (component) => { let end; let gone = false;\n"
        "  form.then((module) => { if (!gone) end = module.default(component); });\n"
        "  return () => { gone = true; end?.(); }; };\n"
    )


def bundle(name: str) -> str:
    """The text of a bundle that Streamlit sends inside its page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
