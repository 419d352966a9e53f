"""A batch's guideline as it may be shown: Markdown that loads nothing from elsewhere."""

from __future__ import annotations

import re

_IMAGE = re.compile(r"!(?=\[)")


def without_images(markdown: str) -> str:
    """The guideline with its images turned into links.

    A remote image tells its owner who opened the page and when.
    """
    return _IMAGE.sub("", markdown)
