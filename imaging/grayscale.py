"""Reads DICOM's grey scale: modality transform, VOI windows and tables, padding, polarity, aspect.

Transforms are computed once for each possible stored value, so an image is shown with a single look-up.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.multival import MultiValue
from pydicom.pixels.processing import apply_modality_lut
from pydicom.uid import UID

from imaging.dicom_file import DAMAGED_HEADER_ERRORS, attribute_name
from imaging.errors import UnreadableImage, describe_damage
from imaging.lookup import apply_lookup_table
from imaging.radiograph import AS_STORED, DecodedRadiograph, ImageFacts, VoiTable, Window

_FUNCTIONS = {"LINEAR", "LINEAR_EXACT", "SIGMOID"}


def decode_grayscale(
    dataset: Dataset, *, pixels: NDArray[Any], facts: ImageFacts, name: str
) -> DecodedRadiograph:
    """Combine stored pixels with the attributes that define how they are shown.

    Colour images, whose luminance is shown, have no transforms and no padding. Stored windows that are not
    valid are left out.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.
        pixels: stored values, shape (rows, columns), int8, uint8, uint16 or int16; int8 is converted to
            int16.
        facts: the facts of the file.
        name: the file name, used in error messages.

    Raises:
        UnreadableImage: the modality transform, a VOI table or the padding value is damaged.
    """
    if pixels.dtype == np.int8:
        pixels = pixels.astype(np.int16)
    stored_values = _possible_values(pixels)
    is_grey = facts.photometric.startswith("MONOCHROME")
    modality_lut = (
        _modality_transform(stored_values, dataset, name=name)
        if is_grey
        else stored_values.astype(np.float32)
    )
    return DecodedRadiograph(
        facts=facts,
        pixels=pixels,
        lowest=int(stored_values[0]),
        modality_lut=modality_lut,
        inverted=is_grey and _is_inverted(dataset),
        padding=_padding_range(dataset, name=name) if is_grey else None,
        aspect=_pixel_aspect(dataset),
        windows=_usable_windows(dataset, modality_lut=modality_lut, facts=facts),
        tables=_voi_tables(modality_lut, dataset, name=name) if is_grey else (),
    )


def _possible_values(pixels: NDArray[Any]) -> NDArray[np.int32]:
    limits = np.iinfo(pixels.dtype)
    return np.arange(limits.min, limits.max + 1, dtype=np.int32)


def _modality_transform(
    stored_values: NDArray[np.int32], dataset: Dataset, *, name: str
) -> NDArray[np.float32]:
    """Apply the modality transform to each stored value (PS3.3 C.11.1): the table, else the rescale."""
    try:
        if dataset.get("ModalityLUTSequence"):
            return apply_lookup_table(
                stored_values, dataset.ModalityLUTSequence[0], little_endian=_is_little_endian(dataset)
            )[0]
        if dataset.get("RescaleSlope") in {None, ""} or dataset.get("RescaleIntercept") in {None, ""}:
            return stored_values.astype(np.float32)
        return apply_modality_lut(stored_values, dataset).astype(np.float32)
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(
            name, "ModalityLUTSequence", f"the modality transform is damaged ({describe_damage(error)})."
        )


def _is_inverted(dataset: Dataset) -> bool:
    """Whether the lowest value is white: MONOCHROME1 (PS3.3 C.7.6.3.1.2) or INVERSE (C.11.6.1.2).

    If a DX image has both (C.8.11.3.1.2), it is inverted once.
    """
    shape = str(dataset.get("PresentationLUTShape") or "").strip().upper()
    return dataset.PhotometricInterpretation == "MONOCHROME1" or shape == "INVERSE"


def _padding_range(dataset: Dataset, *, name: str) -> tuple[int, int] | None:
    """Read the padding range (PS3.3 C.7.5.1.1.2): lowest and highest padding value, both included."""
    if dataset.get("PixelPaddingValue") is None:
        return None
    try:
        value = _with_pixel_sign(int(dataset.PixelPaddingValue), dataset)
        limit = dataset.get("PixelPaddingRangeLimit")
        end = value if limit is None else _with_pixel_sign(int(limit), dataset)
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, "PixelPaddingValue", f"is not a pixel value ({describe_damage(error)}).")
    return min(value, end), max(value, end)


def _with_pixel_sign(value: int, dataset: Dataset) -> int:
    """Convert a value to the signedness of the pixels, in case the attribute was written as unsigned."""
    if int(dataset.PixelRepresentation) == 1 and value >= 1 << 15:
        return value - (1 << 16)
    return value


def _pixel_aspect(dataset: Dataset) -> tuple[int, int]:
    """Read vertical : horizontal from Pixel Aspect Ratio (PS3.3 C.7.6.3.1.7), else from the pixel spacing."""
    try:
        ratio_parts = [int(part) for part in dataset.get("PixelAspectRatio") or []]
        if len(ratio_parts) == 2 and min(ratio_parts) > 0:
            return ratio_parts[0], ratio_parts[1]
        for keyword in ("PixelSpacing", "ImagerPixelSpacing"):
            spacing = [float(part) for part in dataset.get(keyword) or []]
            if len(spacing) == 2 and min(spacing) > 0:
                ratio = spacing[0] / spacing[1]
                # rounded spacings may differ slightly; an invisible difference is ignored
                return (1, 1) if abs(ratio - 1) < 0.005 else (round(ratio * 10_000), 10_000)
    except DAMAGED_HEADER_ERRORS:  # a damaged attribute counts as missing
        return 1, 1
    return 1, 1


def _usable_windows(
    dataset: Dataset, *, modality_lut: NDArray[np.float32], facts: ImageFacts
) -> tuple[Window, ...]:
    """Return the valid stored windows (PS3.3 C.11.2.1.2); AS_STORED for an 8-bit image without windows."""
    stored = _read_stored_windows(dataset) if facts.photometric.startswith("MONOCHROME") else ()
    is_brightness = len(modality_lut) == 256 and modality_lut[0] == 0 and modality_lut[-1] == 255
    return (AS_STORED,) if is_brightness and not stored else stored


def _read_stored_windows(dataset: Dataset) -> tuple[Window, ...]:
    try:
        centers = [float(part) for part in _as_list(dataset, "WindowCenter")]
        widths = [float(part) for part in _as_list(dataset, "WindowWidth")]
        names = [str(part) for part in _as_list(dataset, "WindowCenterWidthExplanation")]
    except DAMAGED_HEADER_ERRORS:  # an automatic window is used instead
        return ()
    function = str(dataset.get("VOILUTFunction") or "LINEAR").strip().upper()
    function = function if function in _FUNCTIONS else "LINEAR"
    min_width = 1.0 if function == "LINEAR" else 1e-6
    names += [f"Window {position + 1}" for position in range(len(names), len(centers))]
    return tuple(
        Window(center=center, width=width, name=label or "Window", function=function)
        for center, width, label in zip(centers, widths, names, strict=False)
        if np.isfinite(center) and np.isfinite(width) and width >= min_width
    )


def _voi_tables(modality_lut: NDArray[np.float32], dataset: Dataset, *, name: str) -> tuple[VoiTable, ...]:
    """Read the tables of the VOI LUT Sequence (PS3.3 C.11.2.1.1) as the brightness of each stored value."""
    if not dataset.get("VOILUTSequence"):
        return ()
    tables = []
    try:
        values = np.rint(modality_lut).astype(np.int32)
        for index, item in enumerate(dataset.VOILUTSequence):
            entries, bits = apply_lookup_table(values, item, little_endian=_is_little_endian(dataset))
            brightness = entries / ((1 << bits) - 1)
            label = str(item.get("LUTExplanation") or f"Table {index + 1}")
            tables.append(VoiTable(name=label, brightness=np.clip(brightness, 0, 1)))
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, "VOILUTSequence", f"is damaged ({describe_damage(error)}).")
    return tuple(tables)


def _is_little_endian(dataset: Dataset) -> bool:
    return bool(UID(str(dataset.file_meta.TransferSyntaxUID)).is_little_endian)


def _as_list(dataset: Dataset, keyword: str) -> list[Any]:
    value = dataset.get(keyword)
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, (MultiValue, list)) else [value]


def _raise_unreadable(name: str, keyword: str, reason: str) -> NoReturn:
    raise UnreadableImage(name, reason, attribute=attribute_name(keyword))
