"""The browser files of the forms: the committed bundles and the drawable canvas, with one hash in their URLs.

The source is TypeScript in ``frontend/src/``. Its build output is committed in ``frontend/dist/``, so the app
does not need Node (docs/decisions/038-one-frontend-package.md).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from web.drawing.canvas import find_browser_files

BUNDLES = Path(__file__).resolve().parents[2] / "frontend" / "dist"
MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@cache
def load_form_files() -> dict[str, bytes]:
    """Return the content of every browser file by name: all bundles, and the two files of the canvas."""
    paths = {path.name: path for path in sorted(BUNDLES.iterdir()) if path.suffix in MEDIA_TYPES}
    script, style = find_browser_files()
    paths |= {"canvas.js": script, "canvas.css": style}
    return {name: path.read_bytes() for name, path in paths.items()}


@cache
def form_files_digest() -> str:
    """Return a hash of all files. It is part of each file's URL, so that the URL changes with the content."""
    sha256 = hashlib.sha256()
    for name, content in sorted(load_form_files().items()):
        sha256.update(f"{name}:{len(content)}:".encode() + content)
    return sha256.hexdigest()[:20]


def file_url(name: str) -> str:
    """Return the URL of a browser file."""
    return f"/frontend/{form_files_digest()}/{name}"


def form_html(form_name: str) -> str:
    """Return the HTML of a form's component: its style sheets, and the element in which the form is built."""
    links = "".join(
        f'<link rel="stylesheet" href="{file_url(name)}">' for name in ("canvas.css", f"{form_name}.css")
    )
    return f'{links}<div class="judging-root"></div>'


def form_script(form_name: str) -> str:
    """Return the script of a form's component, which imports the form and passes on Streamlit's arguments.

    Streamlit sends this script with every run; the form itself is fetched once.
    """
    return (
        # Streamlit runs this from a blob: URL, against which relative paths cannot be resolved.
        f'const form = import(new URL("{file_url(f"{form_name}.js")}", window.location.origin).href);\n'
        "export default (component) => { let end; let gone = false;\n"
        "  form.then((module) => { if (!gone) end = module.default(component); });\n"
        "  return () => { gone = true; end?.(); }; };\n"
    )


def read_bundle(name: str) -> str:
    """Return the text of a bundle that Streamlit sends inside its page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
