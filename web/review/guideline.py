"""A batch's guideline for display: Markdown that loads nothing from other hosts."""

from __future__ import annotations

import re

_IMAGE = re.compile(r"!(?=\[)")


def replace_images_by_links(markdown: str) -> str:
    """The guideline with its images replaced by links.

    A remote image would reveal to its host who opened the page and when.
    """
    return _IMAGE.sub("", markdown)
