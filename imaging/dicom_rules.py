"""Checks the rules of DICOM's image modules that a file must follow for its pixels to be shown correctly."""

from __future__ import annotations

import math
from typing import NoReturn

from pydicom import Dataset
from pydicom.encaps import generate_fragments
from pydicom.uid import UID, RLELossless

from imaging.codecs import SUPPORTED_SYNTAXES
from imaging.codestream import FrameHeader, read_frame_header
from imaging.dicom_file import DAMAGED_HEADER_ERRORS, attribute_name
from imaging.errors import DamagedContent, UnreadableImage, describe_damage
from imaging.radiograph import MAX_PIXELS

# PS3.4 B.5: the storage classes of a projection radiograph.
_RADIOGRAPHS = {
    "1.2.840.10008.5.1.4.1.1.1",  # Computed Radiography
    "1.2.840.10008.5.1.4.1.1.1.1",  # Digital X-Ray, for presentation
    "1.2.840.10008.5.1.4.1.1.1.1.1",  # Digital X-Ray, for processing
}
# Secondary capture classes (PS3.4 B.5). The modality shows whether such a file is a radiograph.
_SECONDARY_CAPTURES = {
    "1.2.840.10008.5.1.4.1.1.7",
    "1.2.840.10008.5.1.4.1.1.7.2",
    "1.2.840.10008.5.1.4.1.1.7.3",
    "1.2.840.10008.5.1.4.1.1.7.4",
}
_MODALITIES = {"CR", "DX", "RG"}

_GREY = {"MONOCHROME1", "MONOCHROME2"}
_COLOURS = {"RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT"}
_PALETTE = "PALETTE COLOR"
_PALETTE_TABLES = tuple(
    f"{colour}PaletteColorLookupTable{part}"
    for colour in ("Red", "Green", "Blue")
    for part in ("Descriptor", "Data")
)
#: Defined terms of Modality (PS3.3 C.7.3.1.1.1) and Photometric Interpretation (C.7.6.3.1.2).
_DEFINED_CODES = {
    "AR", "ASMT", "AU", "BDUS", "BI", "BMD", "CFM", "CR", "CT", "CTPROTOCOL", "DG", "DMS", "DOC", "DX",
    "ECG", "EEG", "EMG", "EOG", "EPS", "ES", "FID", "GM", "HC", "HD", "IO", "IOL", "IVOCT", "IVUS",
    "KER", "KO", "LEN", "LS", "M3D", "MG", "MR", "NM", "OAM", "OCT", "OP", "OPM", "OPT", "OPTBSV",
    "OPTENF", "OPV", "OSS", "OT", "PA", "PLAN", "POS", "PR", "PT", "PX", "REG", "RESP", "RF", "RG",
    "RTDOSE", "RTIMAGE", "RTINTENT", "RTPLAN", "RTRAD", "RTRECORD", "RTSEGANN", "RTSTRUCT", "RWV",
    "SEG", "SM", "SMR", "SR", "SRF", "STAIN", "TEXTUREMAP", "TG", "US", "VA", "XA", "XAPROTOCOL", "XC",
    "MONOCHROME1", "MONOCHROME2", "RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT",
    "YBR_PARTIAL_420", "YBR_PARTIAL_422", "XYB", "ARGB", "CMYK", "HSV", _PALETTE,
}  # fmt: skip
_SYNTAX_ATTRIBUTE = "TransferSyntaxUID (0002,0010)"


def check_modality(dataset: Dataset, *, name: str) -> None:
    """Check that a file is a CR, DX or RG radiograph, or a secondary capture of one.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.
        name: the file name, used in error messages.

    Raises:
        UnreadableImage: SOP Class UID (0008,0016) or Modality (0008,0060) states another kind of image.
    """
    sop_class = str(_read_text(dataset, "SOPClassUID"))
    modality = _read_text(dataset, "Modality").upper()
    if sop_class in _RADIOGRAPHS:
        if modality and modality not in _MODALITIES:
            _raise_unreadable(
                name,
                "Modality",
                f"is {_describe_code(modality)}; the modality of a radiograph is CR, DX or RG.",
            )
        return
    if sop_class in _SECONDARY_CAPTURES or not sop_class:
        if modality in _MODALITIES:
            return
        _raise_unreadable(
            name, "Modality", f"is {_describe_code(modality)}; the modality of a radiograph is CR, DX or RG."
        )
    _raise_unreadable(
        name, "SOPClassUID", f"is {_describe_uid(UID(sop_class))}; only CR and DX images are supported."
    )


def check_pixels(dataset: Dataset, *, name: str) -> None:
    """Check that a file has one frame of grey or colour pixels, and that the frame matches the header.

    Grey pixels have 8 or 16 bits allocated, signed or unsigned. Colour pixels have 8 bits, unsigned.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.
        name: the file name, used in error messages.

    Raises:
        UnreadableImage: a rule is broken (PS3.3 C.7.6.3, C.8.11.3; PS3.5 8). The error contains the
            attribute, the value and the rule.
    """
    syntax = UID(str(dataset.file_meta.TransferSyntaxUID))
    if syntax not in SUPPORTED_SYNTAXES:
        raise UnreadableImage(
            name, f"is {_describe_uid(syntax)}, which is not supported.", attribute=_SYNTAX_ATTRIBUTE
        )
    if "FloatPixelData" in dataset or "DoubleFloatPixelData" in dataset:
        _raise_unreadable(name, "FloatPixelData", "the pixels of a radiograph must be integers.")
    if not dataset.get("PixelData"):
        _raise_unreadable(name, "PixelData", "is missing: the file is a header without an image.")
    rows, columns = read_integer(dataset, "Rows", name=name), read_integer(dataset, "Columns", name=name)
    if not (rows > 0 and columns > 0):
        _raise_unreadable(name, "Rows" if rows <= 0 else "Columns", "must be greater than 0.")
    if rows * columns > MAX_PIXELS:
        _raise_unreadable(
            name,
            "Rows",
            f"the image has {columns} x {rows} pixels; the maximum is {MAX_PIXELS // 1_000_000} million.",
        )
    frames = read_integer(dataset, "NumberOfFrames", name=name, default=1)
    if frames != 1:
        _raise_unreadable(name, "NumberOfFrames", f"is {frames}; only files with one frame are supported.")
    _check_bits(dataset, name=name)
    _check_colours(dataset, name=name)
    _check_rescale(dataset, name=name)
    if syntax.is_encapsulated:
        _check_stream(dataset, syntax, name=name)
    else:
        _check_length(dataset, name=name)


def read_integer(dataset: Dataset, keyword: str, *, name: str, default: int | None = None) -> int:
    """Read an attribute as an integer.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse` returned.
        keyword: the keyword of the attribute.
        name: the file name, used in error messages.
        default: the value to return if the attribute is missing or empty.

    Raises:
        UnreadableImage: the attribute is missing and has no default, or it is not an integer.
    """
    try:
        value = dataset.get(keyword)
        if value is None or value == "":
            if default is None:
                _raise_unreadable(name, keyword, "is missing.")
            return default
        return int(value)
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, keyword, f"is not an integer ({describe_damage(error)}).")


def join_fragments(dataset: Dataset) -> bytes:
    """Join the fragments of an encapsulated image to one compressed frame (PS3.5 A.4).

    Args:
        dataset: a dataset with encapsulated Pixel Data (7FE0,0010) of one frame.

    Raises:
        ValueError: there is no Basic Offset Table item.
    """
    return b"".join(generate_fragments(_pixel_items(dataset)))


# ---------------------------------------------------------------------------------------------- rules
def _check_bits(dataset: Dataset, *, name: str) -> None:
    allocated = read_integer(dataset, "BitsAllocated", name=name)
    stored = read_integer(dataset, "BitsStored", name=name)
    high = read_integer(dataset, "HighBit", name=name)
    if allocated not in {8, 16}:
        _raise_unreadable(
            name, "BitsAllocated", f"is {allocated}; it must be 8 or 16 for CR and DX (PS3.3 C.8.11.3)."
        )
    if not 6 <= stored <= allocated:
        _raise_unreadable(
            name,
            "BitsStored",
            f"is {stored}; it must be 6 to {allocated}, the bits allocated (PS3.3 C.8.11.3).",
        )
    if high != stored - 1:
        _raise_unreadable(
            name,
            "HighBit",
            f"is {high}; it must be {stored - 1}, the bits stored minus 1 (PS3.5 8.1.1).",
        )
    if read_integer(dataset, "PixelRepresentation", name=name) not in {0, 1}:
        _raise_unreadable(name, "PixelRepresentation", "is neither 0 (unsigned) nor 1 (signed).")


def _check_colours(dataset: Dataset, *, name: str) -> None:
    samples = read_integer(dataset, "SamplesPerPixel", name=name)
    photometric = _read_text(dataset, "PhotometricInterpretation")
    if samples == 1 and photometric == _PALETTE:
        for keyword in _PALETTE_TABLES:
            if keyword not in dataset:
                _raise_unreadable(name, keyword, "is missing; a palette image needs it (PS3.3 C.7.6.3.1.5).")
        return
    if (samples == 1 and photometric in _GREY) or (samples == 3 and photometric in _COLOURS):
        if samples == 3 and read_integer(dataset, "BitsAllocated", name=name) != 8:
            _raise_unreadable(name, "BitsAllocated", "must be 8 for a colour image.")
        if samples == 3 and read_integer(dataset, "PixelRepresentation", name=name) != 0:
            _raise_unreadable(
                name, "PixelRepresentation", "must be 0 (unsigned) for a colour image (PS3.3 C.7.6.3.1.2)."
            )
        if samples == 3 and read_integer(dataset, "PlanarConfiguration", name=name, default=0) not in {0, 1}:
            _raise_unreadable(name, "PlanarConfiguration", "is neither 0 nor 1.")
        return
    _raise_unreadable(
        name,
        "PhotometricInterpretation",
        f"is {_describe_code(photometric)} with {samples} samples per pixel, which is not supported.",
    )


def _check_rescale(dataset: Dataset, *, name: str) -> None:
    for keyword in ("RescaleSlope", "RescaleIntercept"):
        value = dataset.get(keyword)
        try:
            number = 1.0 if value is None or value == "" else float(value)
        except DAMAGED_HEADER_ERRORS as error:
            _raise_unreadable(name, keyword, f"is not a number ({describe_damage(error)}).")
        if not math.isfinite(number) or (keyword == "RescaleSlope" and number == 0):
            rule = "must be finite and not 0" if keyword == "RescaleSlope" else "must be finite"
            _raise_unreadable(name, keyword, f"is {number:g}; it {rule} (PS3.3 C.11.1).")


def _check_length(dataset: Dataset, *, name: str) -> None:
    # PS3.5 8.1.1 and A.1: an odd number of bytes is followed by one zero byte
    pixel_count = read_integer(dataset, "Rows", name=name) * read_integer(dataset, "Columns", name=name)
    samples = read_integer(dataset, "SamplesPerPixel", name=name)
    expected = pixel_count * samples * read_integer(dataset, "BitsAllocated", name=name) // 8
    if _read_text(dataset, "PhotometricInterpretation") == "YBR_FULL_422":
        expected = pixel_count * 2  # two pixels share two colour samples
    actual = len(dataset.PixelData)
    if actual not in {expected, expected + expected % 2}:
        difference = "short" if actual < expected else "long"
        _raise_unreadable(
            name,
            "PixelData",
            f"is too {difference}: {actual} bytes instead of {expected}, according to rows and columns.",
        )


def _check_stream(dataset: Dataset, syntax: UID, *, name: str) -> None:
    try:
        fragments = list(generate_fragments(_pixel_items(dataset)))
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, "PixelData", f"its fragments are damaged ({describe_damage(error)}).")
    if not fragments:
        _raise_unreadable(name, "PixelData", "has no compressed frame.")
    if syntax == RLELossless:
        _check_rle(dataset, fragments, name=name)
        return
    frame_starts = [fragment for fragment in fragments if read_frame_header(fragment) is not None]
    header = read_frame_header(b"".join(fragments))
    if header is None:
        _raise_unreadable(name, "PixelData", f"does not contain a {syntax.name} stream.")
    if len(frame_starts) > 1:
        _raise_unreadable(
            name, "PixelData", f"has {len(frame_starts)} compressed frames; only one frame is supported."
        )
    # If the end marker of a JPEG or JPEG 2000 stream is missing, decoders fill missing pixels with grey and
    # raise no error
    if b"\xff\xd9" not in fragments[-1]:
        _raise_unreadable(name, "PixelData", "is truncated: the compressed frame has no end marker.")
    _check_frame_header(dataset, header, name=name)


def _check_rle(dataset: Dataset, fragments: list[bytes], *, name: str) -> None:
    # PS3.5 A.4.2 and G: a fragment is a frame. Its header states the number of segments; there is one segment
    # for each byte of a pixel.
    if len(fragments) != 1:
        _raise_unreadable(name, "PixelData", f"has {len(fragments)} RLE frames; only one frame is supported.")
    segment_count = int.from_bytes(fragments[0][:4], "little")
    sample_bytes = read_integer(dataset, "BitsAllocated", name=name) // 8
    expected = sample_bytes * read_integer(dataset, "SamplesPerPixel", name=name)
    if len(fragments[0]) < 64 or segment_count != expected:
        _raise_unreadable(name, "PixelData", f"has {segment_count} RLE segments instead of {expected}.")


def _check_frame_header(dataset: Dataset, header: FrameHeader, *, name: str) -> None:
    values = {
        "Rows": (header.rows, read_integer(dataset, "Rows", name=name)),
        "Columns": (header.columns, read_integer(dataset, "Columns", name=name)),
        "SamplesPerPixel": (header.samples, read_integer(dataset, "SamplesPerPixel", name=name)),
    }
    for keyword, (in_stream, in_header) in values.items():
        if in_stream != in_header:
            _raise_unreadable(name, keyword, f"is {in_header}, but the compressed pixels state {in_stream}.")
    if header.precision > read_integer(dataset, "BitsAllocated", name=name):
        _raise_unreadable(
            name, "BitsAllocated", f"is less than the {header.precision} bits of the compressed pixels."
        )


def _pixel_items(dataset: Dataset) -> bytes:
    """Return the pixel data without its first item, the Basic Offset Table (PS3.5 A.4)."""
    data: bytes = dataset.PixelData
    if data[:4] != b"\xfe\xff\x00\xe0" or len(data) < 8:
        raise DamagedContent("there is no offset table")
    return data[8 + int.from_bytes(data[4:8], "little") :]


def _describe_code(code: str) -> str:
    """Return the code if DICOM defines it. Other text is not shown, because it may be the patient's name."""
    if not code:
        return "missing"
    return code if code in _DEFINED_CODES else "not a code that DICOM defines"


def _describe_uid(uid: UID) -> str:
    return uid.name if uid.is_valid else "not a valid UID"


def _read_text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip()


def _raise_unreadable(name: str, keyword: str, reason: str) -> NoReturn:
    raise UnreadableImage(name, reason, attribute=attribute_name(keyword))
