"""Ranks pictures by the amount of burned-in text. People check the pictures with the most text first.

If tesseract is installed (Apache-2.0, a separate program found on PATH), it reads the text. Otherwise small
bright spots that lie in a row, like letters, are counted. Neither method proves that a picture has no text.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

#: Length of the longer side of a ranked picture, in pixels. Caption letters are then about 15 pixels high.
LONGEST_SIDE = 2_000
OWN_METHOD = "bright spots in rows"
# Words that belong on a radiograph: sides, projections, positions.
_MARKERS = frozenset(
    [
        "l",
        "r",
        "left",
        "right",
        "pa",
        "ap",
        "lat",
        "lateral",
        "ll",
        "rl",
        "erect",
        "supine",
        "upright",
        "portable",
        "mobile",
        "sitting",
        "semi",
        "semierect",
        "standing",
        "decub",
        "decubitus",
        "bed",
        "chest",
        "thorax",
        "insp",
        "exp",
        "inspiration",
        "expiration",
        "cr",
        "dx",
    ]
)
_MIN_CONFIDENCE = 40.0
_TIMEOUT_SECONDS = 60
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRank:
    """The rank of one picture.

    ``score`` is 0 or more and comparable only within one method. ``words`` is the number of words or spots.
    """

    score: float
    words: int


@cache
def ranking_method() -> str:
    """Return the method that this machine uses: "tesseract" with its version, or ``OWN_METHOD``."""
    program = shutil.which("tesseract")
    if program is None:
        return OWN_METHOD
    try:
        result = subprocess.run(  # noqa: S603 - found on PATH, no argument from outside
            [program, "--version"], capture_output=True, timeout=_TIMEOUT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return OWN_METHOD
    return " ".join(result.stdout.decode("utf-8", "replace").split()[:2]) or OWN_METHOD


def rank_text(picture: bytes) -> TextRank:
    """Rank one picture by :func:`ranking_method`, or by ``OWN_METHOD`` if tesseract fails on it.

    Args:
        picture: a JPEG of :func:`imaging.display.render_display_jpeg`, never a file from outside.
    """
    if ranking_method() != OWN_METHOD:
        rank = _count_words(picture)
        if rank is not None:
            return rank
    return _count_bright_spots(picture)


def _count_words(picture: bytes) -> TextRank | None:
    """Count the words that tesseract reads with enough confidence; None if tesseract failed."""
    command = [shutil.which("tesseract") or "tesseract", "stdin", "stdout", "--psm", "11", "tsv"]
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        result = subprocess.run(  # noqa: S603 - found on PATH, no argument from outside
            command, input=picture, capture_output=True, timeout=_TIMEOUT_SECONDS, check=True, env=environment
        )
    except (OSError, subprocess.SubprocessError):
        return None
    score, words = 0.0, 0
    for row in csv.DictReader(
        io.StringIO(result.stdout.decode("utf-8", "replace")), delimiter="\t", quoting=3
    ):
        text, confidence = (row.get("text") or "").strip(), float(row.get("conf") or -1)
        letters = "".join(_LETTERS.findall(text))
        if confidence < _MIN_CONFIDENCE or len(letters) < 3 or len(letters) * 2 < len(text):
            continue
        if letters.casefold() not in _MARKERS:
            words += 1
            score += len(letters) * confidence / 100
    return TextRank(score=round(score, 2), words=words)


def _count_bright_spots(picture: bytes) -> TextRank:
    """Count the bright spots in rows that have the size and spacing of letters; fewer than three score 0."""
    import numpy as np  # noqa: PLC0415 - slow to import, and not needed to look up the method
    import scipy  # noqa: PLC0415 - slow to import
    from PIL import Image  # noqa: PLC0415 - slow to import

    with Image.open(io.BytesIO(picture)) as image:
        grey = np.asarray(image.convert("L"))
    bright = grey >= max(200, int(grey.max()) - 12)
    labels, count = scipy.ndimage.label(bright, structure=np.ones((3, 3)))
    if not count:
        return TextRank(score=0.0, words=0)
    boxes = [
        (rows.start, rows.stop, columns.start, columns.stop)
        for rows, columns in scipy.ndimage.find_objects(labels)
        if 6 <= rows.stop - rows.start <= 60 and 2 <= columns.stop - columns.start <= 60
    ]
    boxes.sort(key=lambda box: box[2])
    spot_count = 0
    for top, bottom, _, right in boxes:
        height = bottom - top
        neighbour_count = sum(
            abs(top - candidate[0]) <= height // 3
            and abs(bottom - candidate[1]) <= height // 3
            and 0 <= candidate[2] - right <= 2 * height
            for candidate in boxes
        )
        spot_count += bool(neighbour_count)
    return TextRank(score=float(spot_count if spot_count >= 3 else 0), words=spot_count)
