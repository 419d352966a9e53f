"""Whether the radiographs were on screen when a question was judged, answered or adjudicated."""

from __future__ import annotations

from enum import StrEnum

from domain.errors import Refused
from domain.exams import Exam


class ImageDisplay(StrEnum):
    """Stored with a judgement; None is "not recorded", as for judgements older than this record.

    ``DRAWN``: the selected radiograph was painted, and all others of the exam whose pixels the workspace has
    were loaded. ``CONFIRMED``: it was not painted, and the person confirmed to go on without it.
    ``NO_IMAGE``: the workspace has no pixels of the exam. ``NOT_DRAWN`` is sent by the form and never stored.
    """

    DRAWN = "drawn"
    NOT_DRAWN = "not drawn"
    CONFIRMED = "not drawn, confirmed"
    NO_IMAGE = "no image"


def resolve_image_display(display: ImageDisplay | None, *, exam: Exam) -> ImageDisplay | None:
    """The display state that is stored with a judgement.

    Args:
        display: what the form sent; None (not recorded) stays None.
        exam: the exam that was judged.

    Returns:
        The state to store; never ``NOT_DRAWN``.

    Raises:
        Refused: the workspace has the exam's image, but it was not drawn and nobody confirmed that.
    """
    if display in (None, ImageDisplay.DRAWN):
        return display
    if all(radiograph.sha256 is None for radiograph in exam.radiographs):
        return ImageDisplay.NO_IMAGE
    if display is ImageDisplay.CONFIRMED:
        return display
    raise Refused(
        "The radiograph was not displayed. Load it again, or confirm that you continue without seeing "
        "it. If neither is offered, reload the page; your input is kept."
    )
