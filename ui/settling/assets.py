"""The settling form's browser part; the parts it shares are the judging form's own."""

from __future__ import annotations

from pathlib import Path

from ui.form_files import FormFiles
from ui.judging.assets import FORM as JUDGING

FORM = FormFiles(
    name="settling",
    folder=Path(__file__).with_name("assets"),
    script="settling.js",
    sheets=("canvas.css", "form.css", "settling.css"),
    shared=lambda: JUDGING.files,
)
