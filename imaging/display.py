"""A radiograph as a picture for the screen: 8 bits, the right way round, square pixels.

The radiograph is not turned or mirrored, and boxes stay in pixels of the stored matrix: a viewer scales
x by its width over ``columns`` and y by its height over ``rows``, each by itself, since pixels that are not
square (PS3.3 C.7.6.3.1.7) are stretched here.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom import Dataset
from pydicom.pixels.processing import apply_windowing

from imaging.radiograph import AS_STORED, DecodedRadiograph, VoiTable, Window

# Goes into the name of a cached picture: count it up when the same file is to look otherwise.
RENDERING = 1
QUALITY = 90

_MOST_SAMPLED = 1_000_000
_PERCENTILES = (0.5, 99.5)
# A stored window that leaves less than this share of the pixels between black and white shows nothing.
_LEAST_BETWEEN = 0.02
_LEAST_RANGE = 0.5


def display_jpeg(
    decoded: DecodedRadiograph,
    *,
    window: Window | VoiTable | None = None,
    longest: int | None = None,
    quality: int = QUALITY,
) -> bytes:
    """The radiograph as a grey JPEG.

    Args:
        window: one of ``decoded.windows`` or ``decoded.tables``, or one's own; None for the first that shows
            something (``first_window``).
        longest: pixels of the longer side at most; None for full size. Never enlarged by this.
        quality: of the JPEG, 1 to 95.
    """
    table = grey_table(decoded, window=window or first_window(decoded))
    image = Image.fromarray(table[_indices(decoded.pixels)])
    size = display_size(decoded, longest=longest)
    if size != image.size:
        image = image.resize(size, Image.Resampling.BOX if size < image.size else Image.Resampling.BILINEAR)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def display_size(decoded: DecodedRadiograph, *, longest: int | None) -> tuple[int, int]:
    """Width and height of the picture: square pixels by stretching the longer-sided way, then ``longest``."""
    vertical, horizontal = decoded.aspect
    height, width = float(decoded.facts.rows), float(decoded.facts.columns)
    if vertical > horizontal:
        height *= vertical / horizontal
    else:
        width *= horizontal / vertical
    scale = min(1.0, longest / max(width, height)) if longest else 1.0
    return max(1, round(width * scale)), max(1, round(height * scale))


def first_window(decoded: DecodedRadiograph) -> Window | VoiTable:
    """The first stored table, else the first stored window, else an automatic one.

    Where a file has both, either may be applied (PS3.3 C.11.2.1); a table is the maker's own look. Some files
    carry a window that has nothing to do with their pixels, and would be shown all white or all black: it is
    passed over. So are grey values that make use of less than half of the brightness there is.
    """
    values, counts = _histogram(decoded)
    stated: list[Window | VoiTable] = [*decoded.tables[:1], *decoded.windows[:1]]
    for stored in stated:
        shown = _brightness(decoded, stored)[values - decoded.lowest]
        between = counts[(shown > 0.004) & (shown < 0.996)].sum() / counts.sum()
        darkest, brightest = _percentiles(shown, counts)
        flat = stored == AS_STORED and brightest - darkest < _LEAST_RANGE
        if between >= _LEAST_BETWEEN and not flat:
            return stored
    return _automatic(decoded, values, counts)


def automatic_window(decoded: DecodedRadiograph) -> Window:
    """From the 0.5th to the 99.5th percentile of what is not padding.

    CR and DX values have no common scale, so a window is read off the image itself.
    """
    return _automatic(decoded, *_histogram(decoded))


def grey_table(
    decoded: DecodedRadiograph, *, window: Window | VoiTable, bits: int = 8
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """The grey level, 0 black to 255 white (of 16 ``bits``: to 65,535), of each stored value as an unsigned
    number.

    Polarity comes last, after all transforms (PS3.3 C.7.6.3.1.2); padding is background, black (C.7.5.1.1.2).
    """
    shown = _brightness(decoded, window)
    most = (1 << bits) - 1
    levels = np.rint((1 - shown if decoded.inverted else shown) * most).astype(f"u{bits // 8}")
    if decoded.padding is not None:
        first, last = (np.clip(end - decoded.lowest, -1, len(levels)) for end in decoded.padding)
        levels[max(first, 0) : last + 1] = 0
    return np.roll(levels, decoded.lowest)  # a negative value's bits, read without sign, lie above


def _brightness(decoded: DecodedRadiograph, window: Window | VoiTable) -> NDArray[np.float32]:
    """0 to 1 for each stored value from ``lowest`` upwards."""
    if isinstance(window, VoiTable):
        return window.brightness
    voi = Dataset()
    voi.PhotometricInterpretation = "MONOCHROME2"
    voi.BitsStored, voi.PixelRepresentation = 16, 0  # so pydicom's output runs from 0 to 65,535
    voi.WindowCenter, voi.WindowWidth, voi.VOILUTFunction = window.center, window.width, window.function
    with np.errstate(over="ignore"):  # far below a sigmoid's center exp() overflows to what it should: 0
        return (apply_windowing(decoded.modality, voi) / 65535).astype(np.float32)


def _automatic(decoded: DecodedRadiograph, values: NDArray[np.int64], counts: NDArray[np.int64]) -> Window:
    low, high = _percentiles(decoded.modality[values - decoded.lowest], counts)
    center, width = (low + high) / 2, max(high - low, 1e-3)
    return Window(center=center, width=width, name="Automatic", function="LINEAR_EXACT")


def _percentiles(shown: NDArray[np.float32], counts: NDArray[np.int64]) -> tuple[float, float]:
    """The values below which 0.5 % and 99.5 % of the pixels lie, each value as often as ``counts`` says."""
    order = np.argsort(shown, kind="stable")
    share = np.cumsum(counts[order]) / counts.sum() * 100
    low, high = (
        float(shown[order][min(int(np.searchsorted(share, at)), len(order) - 1)]) for at in _PERCENTILES
    )
    return low, high


def _histogram(decoded: DecodedRadiograph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The stored values that occur outside of the padding, and how often, in every so many-th pixel."""
    step = max(1, int(np.sqrt(decoded.pixels.size / _MOST_SAMPLED)))
    counts = np.bincount(_indices(decoded.pixels[::step, ::step]).ravel(), minlength=len(decoded.modality))
    counts = np.roll(counts, -decoded.lowest)
    if decoded.padding is not None:
        kept = counts.copy()
        first, last = (int(np.clip(end - decoded.lowest, -1, len(counts))) for end in decoded.padding)
        kept[max(first, 0) : last + 1] = 0
        counts = kept if kept.any() else counts  # an image of nothing but padding is shown as it is
    values = np.flatnonzero(counts)
    return values + decoded.lowest, counts[values]


def _indices(pixels: NDArray[Any]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    return pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
