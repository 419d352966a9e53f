"""Rules of DICOM's image modules that a file must follow; otherwise its pixels would be shown wrongly."""

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
# Secondary capture classes (PS3.4 B.5); the modality tells whether one is a radiograph.
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
    """Check that a file is a CR or DX radiograph, or a secondary capture of one.

    Args:
        dataset: of :func:`imaging.dicom_file.parse`.
        name: of the file, for the error's text.

    Raises:
        UnreadableImage: SOP Class UID (0008,0016) or Modality (0008,0060) is another.
    """
    sop_class = str(_read_text(dataset, "SOPClassUID"))
    modality = _read_text(dataset, "Modality").upper()
    if sop_class in _RADIOGRAPHS:
        if modality and modality not in _MODALITIES:
            _raise_unreadable(
                name, "Modality", f"is {_describe_code(modality)}, which a CR or DX image is not."
            )
        return
    if sop_class in _SECONDARY_CAPTURES or not sop_class:
        if modality in _MODALITIES:
            return
        _raise_unreadable(name, "Modality", f"is {_describe_code(modality)}; radiographs are CR or DX.")
    _raise_unreadable(name, "SOPClassUID", f"is {_describe_uid(UID(sop_class))}; CR and DX images are read.")


def check_pixels(dataset: Dataset, *, name: str) -> None:
    """Check that a file has one frame of grey or colour pixels that agrees with its header.

    Grey is 8 or 16 bits allocated, signed or unsigned; colour is 8 bits, unsigned.

    Args:
        dataset: of :func:`imaging.dicom_file.parse`.
        name: of the file, for the error's text.

    Raises:
        UnreadableImage: names the attribute, the value and the rule (PS3.3 C.7.6.3, C.8.11.3; PS3.5 8).
    """
    syntax = UID(str(dataset.file_meta.TransferSyntaxUID))
    if syntax not in SUPPORTED_SYNTAXES:
        raise UnreadableImage(
            name, f"is {_describe_uid(syntax)}, which is not decoded.", attribute=_SYNTAX_ATTRIBUTE
        )
    if "FloatPixelData" in dataset or "DoubleFloatPixelData" in dataset:
        _raise_unreadable(name, "FloatPixelData", "a radiograph's pixels are whole numbers.")
    if not dataset.get("PixelData"):
        _raise_unreadable(name, "PixelData", "is missing: the file is a header without an image.")
    rows, columns = read_integer(dataset, "Rows", name=name), read_integer(dataset, "Columns", name=name)
    if not (rows > 0 and columns > 0):
        _raise_unreadable(name, "Rows" if rows <= 0 else "Columns", "is not above 0.")
    if rows * columns > MAX_PIXELS:
        _raise_unreadable(
            name, "Rows", f"{columns} x {rows} pixels; at most {MAX_PIXELS // 1_000_000} million are read."
        )
    frames = read_integer(dataset, "NumberOfFrames", name=name, default=1)
    if frames != 1:
        _raise_unreadable(name, "NumberOfFrames", f"is {frames}; one image a file is read.")
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
        dataset: of :func:`imaging.dicom_file.parse`.
        keyword: of the attribute.
        name: of the file, for the error's text.
        default: returned if the attribute is missing or empty.

    Raises:
        UnreadableImage: it is missing and has no default, or it is not a whole number.
    """
    try:
        value = dataset.get(keyword)
        if value is None or value == "":
            if default is None:
                _raise_unreadable(name, keyword, "is missing.")
            return default
        return int(value)
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, keyword, f"is no whole number ({describe_damage(error)}).")


def join_fragments(dataset: Dataset) -> bytes:
    """The compressed frame of an encapsulated image, its fragments joined (PS3.5 A.4).

    Args:
        dataset: with encapsulated Pixel Data (7FE0,0010) of one frame.

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
            name, "BitsAllocated", f"is {allocated}; a CR or DX image has 8 or 16 (PS3.3 C.8.11.3)."
        )
    if not 6 <= stored <= allocated:
        _raise_unreadable(
            name, "BitsStored", f"is {stored} of {allocated} allocated; 6 to {allocated} (PS3.3 C.8.11.3)."
        )
    if high != stored - 1:
        _raise_unreadable(
            name, "HighBit", f"is {high} with {stored} bits stored; it is one less than those (PS3.5 8.1.1)."
        )
    if read_integer(dataset, "PixelRepresentation", name=name) not in {0, 1}:
        _raise_unreadable(name, "PixelRepresentation", "is neither 0 (unsigned) nor 1 (signed).")


def _check_colours(dataset: Dataset, *, name: str) -> None:
    samples = read_integer(dataset, "SamplesPerPixel", name=name)
    photometric = _read_text(dataset, "PhotometricInterpretation")
    if samples == 1 and photometric == _PALETTE:
        for keyword in _PALETTE_TABLES:
            if keyword not in dataset:
                _raise_unreadable(
                    name, keyword, "is missing, so the palette's pixels have no meaning (PS3.3 C.7.6.3.1.5)."
                )
        return
    if (samples == 1 and photometric in _GREY) or (samples == 3 and photometric in _COLOURS):
        if samples == 3 and read_integer(dataset, "BitsAllocated", name=name) != 8:
            _raise_unreadable(name, "BitsAllocated", "colour is read with 8 bits.")
        if samples == 3 and read_integer(dataset, "PixelRepresentation", name=name) != 0:
            _raise_unreadable(name, "PixelRepresentation", "colour is unsigned (PS3.3 C.7.6.3.1.2).")
        if samples == 3 and read_integer(dataset, "PlanarConfiguration", name=name, default=0) not in {0, 1}:
            _raise_unreadable(name, "PlanarConfiguration", "is neither 0 nor 1.")
        return
    _raise_unreadable(
        name,
        "PhotometricInterpretation",
        f"is {_describe_code(photometric)} with {samples} samples a pixel, which is no grey or colour image.",
    )


def _check_rescale(dataset: Dataset, *, name: str) -> None:
    for keyword in ("RescaleSlope", "RescaleIntercept"):
        value = dataset.get(keyword)
        try:
            number = 1.0 if value is None or value == "" else float(value)
        except DAMAGED_HEADER_ERRORS as error:
            _raise_unreadable(name, keyword, f"is no number ({describe_damage(error)}).")
        if not math.isfinite(number) or (keyword == "RescaleSlope" and number == 0):
            _raise_unreadable(
                name, keyword, f"is {number:g}, which tells no grey values apart (PS3.3 C.11.1)."
            )


def _check_length(dataset: Dataset, *, name: str) -> None:
    # PS3.5 8.1.1 and A.1: all pixels, then one byte of zero where the number of bytes is odd.
    pixels = read_integer(dataset, "Rows", name=name) * read_integer(dataset, "Columns", name=name)
    samples = read_integer(dataset, "SamplesPerPixel", name=name)
    expected = pixels * samples * read_integer(dataset, "BitsAllocated", name=name) // 8
    if _read_text(dataset, "PhotometricInterpretation") == "YBR_FULL_422":
        expected = pixels * 2  # two samples of colour for every two of brightness
    actual = len(dataset.PixelData)
    if actual not in {expected, expected + expected % 2}:
        difference = "short" if actual < expected else "long"
        _raise_unreadable(
            name,
            "PixelData",
            f"is too {difference}: {actual} bytes, where rows and columns ask for {expected}.",
        )


def _check_stream(dataset: Dataset, syntax: UID, *, name: str) -> None:
    try:
        fragments = list(generate_fragments(_pixel_items(dataset)))
    except DAMAGED_HEADER_ERRORS as error:
        _raise_unreadable(name, "PixelData", f"its fragments are damaged ({describe_damage(error)}).")
    if not fragments:
        _raise_unreadable(name, "PixelData", "holds no compressed frame.")
    if syntax == RLELossless:
        _check_rle(dataset, fragments, name=name)
        return
    frames = [fragment for fragment in fragments if read_frame_header(fragment) is not None]
    header = read_frame_header(b"".join(fragments))
    if header is None:
        _raise_unreadable(name, "PixelData", f"holds no {syntax.name} stream.")
    if len(frames) > 1:
        _raise_unreadable(
            name, "PixelData", f"holds {len(frames)} compressed frames; one image a file is read."
        )
    # The end marker of JPEG and JPEG 2000: without it a decoder fills missing pixels with grey, without an
    # error
    if b"\xff\xd9" not in fragments[-1]:
        _raise_unreadable(name, "PixelData", "ends too early: the compressed frame has no end mark.")
    _check_header(dataset, header, name=name)


def _check_rle(dataset: Dataset, fragments: list[bytes], *, name: str) -> None:
    # PS3.5 A.4.2 and G: one fragment a frame; its header counts the segments, one for each byte of a pixel.
    if len(fragments) != 1:
        _raise_unreadable(name, "PixelData", f"holds {len(fragments)} RLE frames; one image a file is read.")
    segments = int.from_bytes(fragments[0][:4], "little")
    bytes_a_pixel = read_integer(dataset, "BitsAllocated", name=name) // 8
    expected = bytes_a_pixel * read_integer(dataset, "SamplesPerPixel", name=name)
    if len(fragments[0]) < 64 or segments != expected:
        _raise_unreadable(
            name, "PixelData", f"has {segments} RLE segments, where its pixels ask for {expected}."
        )


def _check_header(dataset: Dataset, header: FrameHeader, *, name: str) -> None:
    values = {
        "Rows": (header.rows, read_integer(dataset, "Rows", name=name)),
        "Columns": (header.columns, read_integer(dataset, "Columns", name=name)),
        "SamplesPerPixel": (header.samples, read_integer(dataset, "SamplesPerPixel", name=name)),
    }
    for keyword, (in_stream, in_header) in values.items():
        if in_stream != in_header:
            _raise_unreadable(name, keyword, f"is {in_header}, but the compressed pixels say {in_stream}.")
    if header.precision > read_integer(dataset, "BitsAllocated", name=name):
        _raise_unreadable(
            name, "BitsAllocated", f"is less than the {header.precision} bits of the compressed pixels."
        )


def _pixel_items(dataset: Dataset) -> bytes:
    """The pixel data without its Basic Offset Table, the first item (PS3.5 A.4)."""
    data: bytes = dataset.PixelData
    if data[:4] != b"\xfe\xff\x00\xe0" or len(data) < 8:
        raise DamagedContent("there is no offset table")
    return data[8 + int.from_bytes(data[4:8], "little") :]


def _describe_code(code: str) -> str:
    """The code if DICOM defines it; another text is not shown, because it may be the patient's name."""
    if not code:
        return "missing"
    return code if code in _DEFINED_CODES else "no code that DICOM defines"


def _describe_uid(uid: UID) -> str:
    return uid.name if uid.is_valid else "no valid identifier"


def _read_text(dataset: Dataset, keyword: str) -> str:
    value = dataset.get(keyword)
    return "" if value is None else str(value).strip()


def _raise_unreadable(name: str, keyword: str, reason: str) -> NoReturn:
    raise UnreadableImage(name, reason, attribute=attribute_name(keyword))
