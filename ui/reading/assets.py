"""The reading form's browser part; the parts it shares are the judging form's own."""

from __future__ import annotations

from pathlib import Path

from ui.form_files import FormFiles
from ui.judging.assets import FORM as JUDGING

FORM = FormFiles(
    name="reading",
    folder=Path(__file__).with_name("assets"),
    script="reading.js",
    sheets=("canvas.css", "form.css", "reading.css"),
    shared=lambda: JUDGING.files,
)
