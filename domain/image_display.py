"""Whether the radiographs were on screen when somebody judged, answered or settled a question."""

from __future__ import annotations

from enum import StrEnum

from domain.errors import Refused
from domain.exams import Exam


class ImageDisplay(StrEnum):
    """Stored with a judgement; None beside it is "not recorded", as for all that is older than this record.

    ``DRAWN``: the radiograph in front was painted, and every other one of the exam that the workspace has
    pixels of was loaded. ``CONFIRMED``: it was not, and the person confirmed that they judged without it.
    ``NO_IMAGE``: the workspace has no pixels of the exam. ``NOT_DRAWN`` is only sent, and never stored.
    """

    DRAWN = "drawn"
    NOT_DRAWN = "not drawn"
    CONFIRMED = "not drawn, confirmed"
    NO_IMAGE = "no image"


def recorded_display(display: ImageDisplay | None, *, exam: Exam) -> ImageDisplay | None:
    """The display state that is stored with a judgement.

    Args:
        display: what the form sent; None (not recorded) stays None.
        exam: the exam that was judged.

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
        "The radiograph was not on screen. Load it again, or confirm that you go on without seeing it. "
        "If this page offers neither, reload it; what you entered is kept."
    )
