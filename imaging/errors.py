"""Errors of reading image files; their text is shown on screen as it is."""

from __future__ import annotations

from domain.errors import DomainError


class UnreadableImage(DomainError):
    """An image file that can't be shown.

    ``name`` is that of the file, ``attribute`` the part at fault if it is known (a DICOM attribute with its
    tag, a chunk of a PNG, a segment of a JPEG).
    """

    def __init__(self, name: str, reason: str, *, attribute: str | None = None) -> None:
        super().__init__(f"{name}: {attribute}: {reason}" if attribute else f"{name}: {reason}")
        self.name = name
        self.reason = reason
        self.attribute = attribute
