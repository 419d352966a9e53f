"""The radiographs of an exam beside each other; a click opens one at full size."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from domain.exams import Exam


def show_radiographs(exam_number: int, exam: Exam) -> None:
    """Draw the radiographs that have an image. The route checks whether the person may see them."""
    pictures = []
    for radiograph in exam.radiographs:
        if radiograph.sha256 is not None:
            address = f"/radiographs/{exam_number}/{quote(radiograph.id, safe='')}"
            pictures.append(
                f'<a href="{address}?longest=3000" target="_blank" style="flex:1 1 12rem">'
                f'<img src="{address}?longest=900" alt="radiograph {quote(radiograph.id)}" '
                'style="width:100%;max-height:26rem;object-fit:contain;background:#000"></a>'
            )
    if pictures:
        st.html(f'<div style="display:flex;flex-wrap:wrap;gap:0.5rem">{"".join(pictures)}</div>')
