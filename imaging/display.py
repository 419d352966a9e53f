"""Renders a radiograph as a picture for the screen: 8 bits, low values black, square pixels.

The radiograph is not rotated or mirrored. Boxes stay in pixels of the stored matrix. Pixels that are not
square (Pixel Aspect Ratio (0028,0034), PS3.3 C.7.6.3.1.7) are stretched here. A viewer therefore scales x by
picture width / ``columns`` and y by picture height / ``rows``.
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

# Part of the name of a cached picture. Increase it when a change alters how files are rendered.
RENDERING_VERSION = 1
JPEG_QUALITY = 90

_MAX_SAMPLED_PIXELS = 1_000_000
_PERCENTILES = (0.5, 99.5)
# A stored window is used only if at least this share of the pixels is neither black nor white.
_MIN_SHARE_BETWEEN = 0.02
_MIN_BRIGHTNESS_RANGE = 0.5


def render_display_jpeg(
    decoded: DecodedRadiograph,
    *,
    window: Window | VoiTable | None = None,
    longest_side: int | None = None,
    quality: int = JPEG_QUALITY,
) -> bytes:
    """Render the radiograph as a grey JPEG with 8 bits.

    Args:
        decoded: the radiograph.
        window: one of ``decoded.windows`` or ``decoded.tables``, or another window; None for
            :func:`choose_first_window`.
        longest_side: the maximum length of the longer side in pixels; None for full size. A smaller picture
            is not enlarged.
        quality: the JPEG quality, 1 to 95.
    """
    table = build_grey_table(decoded, window=window or choose_first_window(decoded))
    image = Image.fromarray(table[_as_indices(decoded.pixels)])
    size = display_size(decoded, longest_side=longest_side)
    if size != image.size:
        image = image.resize(size, Image.Resampling.BOX if size < image.size else Image.Resampling.BILINEAR)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def display_size(decoded: DecodedRadiograph, *, longest_side: int | None) -> tuple[int, int]:
    """Compute the size of a picture with square pixels.

    The picture is stretched along the longer side of the pixels, then reduced to ``longest_side``.

    Args:
        decoded: the radiograph.
        longest_side: the maximum length of the longer side in pixels; None for full size.

    Returns:
        Width and height in pixels, 1 or more.
    """
    vertical, horizontal = decoded.aspect
    height, width = float(decoded.facts.rows), float(decoded.facts.columns)
    if vertical > horizontal:
        height *= vertical / horizontal
    else:
        width *= horizontal / vertical
    scale = min(1.0, longest_side / max(width, height)) if longest_side else 1.0
    return max(1, round(width * scale)), max(1, round(height * scale))


def choose_first_window(decoded: DecodedRadiograph) -> Window | VoiTable:
    """Choose the initial window: the first stored table, else the first stored window, else an automatic one.

    If a file has both, either may be applied (PS3.3 C.11.2.1). The table comes first, because it is the
    manufacturer's own rendering. A window that makes the image all white or all black is not used.
    :data:`imaging.radiograph.AS_STORED` is not used if the values cover less than half of the brightness
    range.

    Args:
        decoded: the radiograph.
    """
    values, counts = _compute_histogram(decoded)
    stored_windows: list[Window | VoiTable] = [*decoded.tables[:1], *decoded.windows[:1]]
    for window in stored_windows:
        brightness = _compute_brightness(decoded, window)[values - decoded.lowest]
        share_between = counts[(brightness > 0.004) & (brightness < 0.996)].sum() / counts.sum()
        darkest, brightest = _compute_percentiles(brightness, counts)
        is_flat = window == AS_STORED and brightest - darkest < _MIN_BRIGHTNESS_RANGE
        if share_between >= _MIN_SHARE_BETWEEN and not is_flat:
            return window
    return _window_from_histogram(decoded, values, counts)


def compute_automatic_window(decoded: DecodedRadiograph) -> Window:
    """Compute a window from the 0.5th to the 99.5th percentile of the values that are not padding.

    The window depends on the image, because CR and DX values have no common scale.

    Args:
        decoded: the radiograph.

    Returns:
        A window with the function LINEAR_EXACT; its unit is values after the modality transform.
    """
    return _window_from_histogram(decoded, *_compute_histogram(decoded))


def build_grey_table(
    decoded: DecodedRadiograph, *, window: Window | VoiTable, bits: int = 8
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Compute the grey level of each possible stored value.

    Polarity is applied last, after all transforms (PS3.3 C.7.6.3.1.2). Padding is black (C.7.5.1.1.2).

    Args:
        decoded: the radiograph.
        window: a window in values after the modality transform, or a stored table.
        bits: the number of bits of a grey level, 8 or 16.

    Returns:
        Shape (256,) or (65536,), uint8 or uint16. The index is the stored value as an unsigned integer. 0 is
        black; 255, or 65,535 with 16 bits, is white.
    """
    brightness = _compute_brightness(decoded, window)
    max_level = (1 << bits) - 1
    levels = np.rint((1 - brightness if decoded.inverted else brightness) * max_level).astype(f"u{bits // 8}")
    if decoded.padding is not None:
        first, last = (np.clip(end - decoded.lowest, -1, len(levels)) for end in decoded.padding)
        levels[max(first, 0) : last + 1] = 0
    return np.roll(levels, decoded.lowest)  # negative values, as unsigned integers, come after the others


def _compute_brightness(decoded: DecodedRadiograph, window: Window | VoiTable) -> NDArray[np.float32]:
    """Compute the brightness, 0 to 1, of each stored value from ``lowest`` upwards."""
    if isinstance(window, VoiTable):
        return window.brightness
    voi = Dataset()
    voi.PhotometricInterpretation = "MONOCHROME2"
    voi.BitsStored, voi.PixelRepresentation = 16, 0  # pydicom's output then ranges from 0 to 65,535
    voi.WindowCenter, voi.WindowWidth, voi.VOILUTFunction = window.center, window.width, window.function
    with np.errstate(over="ignore"):  # exp() overflows far below the center of a sigmoid; the result is 0
        return (apply_windowing(decoded.modality_lut, voi) / 65535).astype(np.float32)


def _window_from_histogram(
    decoded: DecodedRadiograph, values: NDArray[np.int64], counts: NDArray[np.int64]
) -> Window:
    low, high = _compute_percentiles(decoded.modality_lut[values - decoded.lowest], counts)
    center, width = (low + high) / 2, max(high - low, 1e-3)
    return Window(center=center, width=width, name="Automatic", function="LINEAR_EXACT")


def _compute_percentiles(values: NDArray[np.float32], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Compute the 0.5th and 99.5th percentile of ``values``, each of which occurs ``counts`` times."""
    order = np.argsort(values, kind="stable")
    cumulative_percent = np.cumsum(counts[order]) / counts.sum() * 100
    low, high = (
        float(values[order][min(int(np.searchsorted(cumulative_percent, percentile)), len(order) - 1)])
        for percentile in _PERCENTILES
    )
    return low, high


def _compute_histogram(decoded: DecodedRadiograph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the stored values outside the padding and their counts, from a regular sample of the pixels."""
    step = max(1, int(np.sqrt(decoded.pixels.size / _MAX_SAMPLED_PIXELS)))
    counts = np.bincount(
        _as_indices(decoded.pixels[::step, ::step]).ravel(), minlength=len(decoded.modality_lut)
    )
    counts = np.roll(counts, -decoded.lowest)
    if decoded.padding is not None:
        counts_without_padding = counts.copy()
        first, last = (int(np.clip(end - decoded.lowest, -1, len(counts))) for end in decoded.padding)
        counts_without_padding[max(first, 0) : last + 1] = 0
        if counts_without_padding.any():  # an image that is all padding is shown unchanged
            counts = counts_without_padding
    values = np.flatnonzero(counts)
    return values + decoded.lowest, counts[values]


def _as_indices(pixels: NDArray[Any]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    return pixels.view(np.uint16) if pixels.dtype == np.int16 else pixels
