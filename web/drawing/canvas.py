"""The data for the drawable canvas, and the location of its browser files.

The canvas is streamlit-drawable-canvas 0.13. Its browser part is a module with one default export that is
called with ``{data, parentElement, setStateValue}`` whenever its data change. The review form calls it
directly, in its own shadow root, so a drawn box reaches the form at once, without a script run in between
(docs/decisions/005-plain-box-editor.md). No other module depends on the arguments of that call.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from domain.boxes import LabelledBox
from web.drawing.plain_editor import FONT_SIZE, OWN_COLOUR, STROKE, Surface, boxes_to_objects

PACKAGE = "streamlit-drawable-canvas"


def canvas_to_json(
    *,
    surface: Surface,
    url: str,
    boxes: tuple[LabelledBox, ...],
    machine: tuple[LabelledBox, ...],
    locked: bool,
) -> dict[str, Any]:
    """Return the ``data`` of one radiograph's canvas. If ``locked`` is True, the boxes cannot be changed."""
    return {
        "fillColor": "rgba(0, 0, 0, 0)",
        "strokeWidth": STROKE,
        "strokeColor": OWN_COLOUR,
        "backgroundColor": "",
        "backgroundImageURL": url,
        "realtimeUpdateStreamlit": True,
        "canvasWidth": surface.width,
        "canvasHeight": surface.height,
        "drawingMode": "labeled_rect",
        "initialDrawing": {
            "objects": boxes_to_objects(boxes, surface=surface, machine=machine),
            "background": "",
        },
        "displayRadius": 3,
        "returnImageData": False,
        "disabled": locked,
        "backgroundImageFit": "stretch",
        "maxDisplayHeight": None,
        "fontSize": FONT_SIZE,
        "label": "",
    }


@cache
def find_browser_files() -> tuple[Path, Path]:
    """Return the script and the style sheet of the canvas in the installed package.

    Raises:
        FileNotFoundError: the files of the package are not laid out as in version 0.13.
    """
    folder = Path(str(distribution(PACKAGE).locate_file("streamlit_drawable_canvas"))) / "frontend" / "build"
    scripts, styles = sorted(folder.glob("index-*.js")), sorted(folder.glob("index-*.css"))
    if len(scripts) != 1 or len(styles) != 1:
        raise FileNotFoundError(
            f"{PACKAGE} has no single browser script and style sheet in {folder}; "
            "install the version that requirements.txt names"
        )
    return scripts[0], styles[0]
