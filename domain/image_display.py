"""Whether the radiographs were on screen when a question was judged, answered or adjudicated."""

from __future__ import annotations

from enum import StrEnum

from domain.errors import Refused
from domain.exams import Exam


class ImageDisplay(StrEnum):
    """The display state that is stored with a judgement. None means "not recorded", as for old judgements.

    ``DRAWN``: the selected radiograph was drawn, and all others of the exam that the workspace has were
    loaded. ``CONFIRMED``: the radiograph was not drawn, and the person confirmed that they continue without
    it. ``NO_IMAGE``: the workspace has no image of the exam. ``NOT_DRAWN`` is sent by the form, but never
    stored.
    """

    DRAWN = "drawn"
    NOT_DRAWN = "not drawn"
    CONFIRMED = "not drawn, confirmed"
    NO_IMAGE = "no image"


def resolve_image_display(display: ImageDisplay | None, *, exam: Exam) -> ImageDisplay | None:
    """Determine the display state that is stored with a judgement.

    Args:
        display: the state that the form sent; None (not recorded) is returned unchanged.
        exam: the exam that was judged.

    Returns:
        The state to store; never ``NOT_DRAWN``.

    Raises:
        Refused: the workspace has an image of the exam, but it was not drawn and the person did not confirm.
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
