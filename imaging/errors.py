"""Why an image file cannot be used; the text of each may be shown as it is."""

from __future__ import annotations

from domain.errors import DomainError


class UnreadableImage(DomainError):
    """A file that is no radiograph that can be shown: ``name`` of the file, ``reason``, and where known
    the ``attribute`` that is at fault (a DICOM attribute with its tag, a part of a PNG or JPEG).
    """

    def __init__(self, name: str, reason: str, *, attribute: str | None = None) -> None:
        super().__init__(f"{name}: {attribute}: {reason}" if attribute else f"{name}: {reason}")
        self.name = name
        self.reason = reason
        self.attribute = attribute
