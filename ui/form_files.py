"""A form's browser part as files under one hash, and the few lines that load it.

Streamlit sends a component's inline script with every run; the loader is all of it that travels so. The
files come from a route of ours (ui/door/form_routes.py), once: their address changes with their content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@dataclass(frozen=True, kw_only=True)
class FormFiles:
    """The files of one form.

    ``name`` is the first part of their address, ``folder`` has the form's own modules and style sheets;
    ``script`` and ``sheets`` are those that the page loads, and ``shared`` gives what its modules import
    from elsewhere, name to content.
    """

    name: str
    folder: Path
    script: str
    sheets: tuple[str, ...]
    shared: Callable[[], Mapping[str, bytes]]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Name to content, of all that the browser may ask for.

        Raises:
            ValueError: an own file has the name of a shared one, so that one would hide the other.
        """
        paths = (path for path in sorted(self.folder.iterdir()) if path.suffix in MEDIA_TYPES)
        own = {path.name: path.read_bytes() for path in paths}
        shared = self.shared()
        if own.keys() & shared.keys():
            raise ValueError(f"two files have one name: {sorted(own.keys() & shared.keys())}")
        return {**shared, **own}

    @cached_property
    def digest(self) -> str:
        """Stands in the address of every file; another content, another address."""
        together = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            together.update(f"{name}:{len(content)}:".encode() + content)
        return together.hexdigest()[:20]

    def address(self, name: str) -> str:
        """Where the browser fetches a file from."""
        return f"/{self.name}/assets/{self.digest}/{name}"

    def markup(self) -> str:
        """The component's HTML: its style sheets, and the place that the form is built in."""
        links = "".join(f'<link rel="stylesheet" href="{self.address(name)}">' for name in self.sheets)
        return f'{links}<div class="judging-root"></div>'

    def loader(self) -> str:
        """The component's script: it imports the form and hands on what Streamlit gives it."""
        return (
            # Streamlit runs this from a blob: address, against which no path can be resolved.
            f'const form = import(new URL("{self.address(self.script)}", window.location.origin).href);\n'
            "export default (component) => { let end; let gone = false;\n"
            "  form.then((module) => { if (!gone) end = module.default(component); });\n"
            "  return () => { gone = true; end?.(); }; };\n"
        )
