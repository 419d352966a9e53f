"""The judging form's browser part, with the viewer's; the other forms import some of its modules."""

from __future__ import annotations

from pathlib import Path

from ui.form_files import FormFiles
from viewer.canvas import browser_part
from viewer.radiograph_viewer import BUNDLE, WORKER


def _of_the_viewer() -> dict[str, bytes]:
    """The canvas' two files and the viewer's two scripts."""
    script, style = browser_part()
    paths = {"canvas.js": script, "canvas.css": style, BUNDLE.name: BUNDLE, WORKER.name: WORKER}
    return {name: path.read_bytes() for name, path in paths.items()}


FORM = FormFiles(
    name="judging",
    folder=Path(__file__).with_name("assets"),
    script="form.js",
    sheets=("canvas.css", "form.css"),
    shared=_of_the_viewer,
)
