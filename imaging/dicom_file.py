"""Parses the few attributes of a DICOM file that this project reads, with limits on size and nesting."""

from __future__ import annotations

import io
import struct
import zlib
from types import TracebackType
from typing import NoReturn

from pydicom import Dataset, dcmread
from pydicom.datadict import keyword_for_tag, tag_for_keyword
from pydicom.dataset import FileMetaDataset
from pydicom.errors import BytesLengthException, InvalidDicomError
from pydicom.filereader import read_dataset, read_preamble
from pydicom.tag import BaseTag, Tag
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from imaging.errors import UnreadableImage, describe_damage

# All attributes that are read. No other attribute is parsed, so no other attribute can reach a log, the
# database or a page. imaging/dicom_stored_header.py lists the few attributes that are stored.
ATTRIBUTES_READ = (
    "SpecificCharacterSet", "SOPClassUID", "Modality", "SeriesDescription", "ViewPosition",
    "PatientID", "PatientIdentityRemoved", "PatientAge", "PatientSex", "PatientOrientation",
    "SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration", "NumberOfFrames",
    "Rows", "Columns", "PixelAspectRatio", "PixelSpacing", "ImagerPixelSpacing",
    "PixelSpacingCalibrationType", "EstimatedRadiographicMagnificationFactor",
    "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation",
    "PixelPaddingValue", "PixelPaddingRangeLimit",
    "RescaleIntercept", "RescaleSlope", "RescaleType", "ModalityLUTSequence",
    "WindowCenter", "WindowWidth", "WindowCenterWidthExplanation", "VOILUTFunction", "VOILUTSequence",
    "PresentationLUTShape",
    "RedPaletteColorLookupTableDescriptor", "GreenPaletteColorLookupTableDescriptor",
    "BluePaletteColorLookupTableDescriptor", "RedPaletteColorLookupTableData",
    "GreenPaletteColorLookupTableData", "BluePaletteColorLookupTableData",
    "ExtendedOffsetTable", "FloatPixelData", "DoubleFloatPixelData", "PixelData",
)  # fmt: skip
# An image can be shown without these attributes. A damaged one counts as missing.
_OPTIONAL_ATTRIBUTES = frozenset({
    "SeriesDescription", "ViewPosition", "PatientID", "PatientIdentityRemoved", "PatientAge", "PatientSex",
    "PatientOrientation", "PixelSpacing", "ImagerPixelSpacing", "PixelSpacingCalibrationType",
    "EstimatedRadiographicMagnificationFactor", "RescaleType",
    "WindowCenter", "WindowWidth", "WindowCenterWidthExplanation", "VOILUTFunction",
})  # fmt: skip
_TAGS: list[BaseTag | int] = [
    Tag(tag) for keyword in ATTRIBUTES_READ if (tag := tag_for_keyword(keyword)) is not None
]

# Maximum size of a deflated file after inflation. 16 million pixels with 16 bits are 32 MB.
_MAX_INFLATED_BYTES = 200_000_000
_META_GROUP = 2
# The errors that pydicom raises on damaged headers, besides InvalidDicomError.
DAMAGED_HEADER_ERRORS = (
    AttributeError, BytesLengthException, EOFError, IndexError, KeyError, NotImplementedError, OSError,
    OverflowError, TypeError, UnicodeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def is_dicom(content: bytes) -> bool:
    """Whether a file is DICOM (PS3.10 7.1). Old archives write DICOM files without the preamble.

    Args:
        content: the first 140 bytes of the file, or more.
    """
    if content[128:132] == b"DICM":
        return True
    group, element = struct.unpack_from("<HH", content) if len(content) > 8 else (0, 0)
    return (group, element) in {(0x0002, 0x0000), (0x0008, 0x0000), (0x0008, 0x0005), (0x0008, 0x0008),
                                (0x0008, 0x0016)}  # fmt: skip


def parse(content: bytes, *, name: str) -> Dataset:
    """Parse the attributes in ``ATTRIBUTES_READ``. Use this function wherever patient data is not needed.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        The attributes that the file has, with converted values, and ``file_meta.TransferSyntaxUID``. A
        damaged attribute is left out if the image can be shown without it.

    Raises:
        UnreadableImage: the header is damaged or nested too deeply, or the file inflates to more than 200 MB.
    """
    try:
        return _convert_values(_add_transfer_syntax(_read_dataset(content, name=name, tags=_TAGS)), name=name)
    except RecursionError as error:
        _raise_nesting_error(error.__traceback__, name=name)
    except InvalidDicomError as error:
        raise UnreadableImage(name, "is not a valid DICOM file, although it begins like one.") from error
    except DAMAGED_HEADER_ERRORS as error:
        raise UnreadableImage(name, f"its DICOM header is damaged ({describe_damage(error)}).") from error


def parse_all(content: bytes, *, name: str) -> Dataset:
    """Parse all attributes of the file, including patient data.

    Args:
        content: the whole file.
        name: the file name, used in error messages.

    Returns:
        The dataset. pydicom converts a value on first access, so access to a damaged value raises one of
        ``DAMAGED_HEADER_ERRORS``.

    Raises:
        UnreadableImage: as in :func:`parse`.
    """
    try:
        return _add_transfer_syntax(_read_dataset(content, name=name, tags=None))
    except RecursionError as error:
        _raise_nesting_error(error.__traceback__, name=name)
    except InvalidDicomError as error:
        raise UnreadableImage(name, "is not a valid DICOM file, although it begins like one.") from error
    except DAMAGED_HEADER_ERRORS as error:
        raise UnreadableImage(name, f"its DICOM header is damaged ({describe_damage(error)}).") from error


def attribute_name(keyword: str) -> str:
    """Return the name and tag of an attribute, such as ``BitsStored (0028,0101)``.

    Args:
        keyword: a keyword of PS3.6. A keyword that is not in the dictionary is returned unchanged.
    """
    tag = tag_for_keyword(keyword)
    return keyword if tag is None else f"{keyword} ({tag >> 16:04X},{tag & 0xFFFF:04X})"


def _read_dataset(content: bytes, *, name: str, tags: list[BaseTag | int] | None) -> Dataset:
    file = io.BytesIO(content)
    if read_preamble(file, force=True) is None:
        return dcmread(file, force=True, specific_tags=tags)
    meta = read_dataset(file, is_implicit_VR=False, is_little_endian=True, stop_when=_is_after_meta)
    syntax = UID(str(meta.get("TransferSyntaxUID", "")))
    if syntax != DeflatedExplicitVRLittleEndian:
        return dcmread(io.BytesIO(content), specific_tags=tags)
    # pydicom would inflate the whole file at once, without a limit
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    inflated = inflater.decompress(memoryview(content)[file.tell() :], _MAX_INFLATED_BYTES)
    if inflater.unconsumed_tail:
        raise UnreadableImage(
            name,
            f"inflates to more than {_MAX_INFLATED_BYTES // 1_000_000} MB, the maximum for a radiograph.",
            attribute="Deflated Explicit VR Little Endian",
        )
    dataset = read_dataset(io.BytesIO(inflated), is_implicit_VR=False, is_little_endian=True,
                           specific_tags=tags)  # fmt: skip
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian  # the syntax after inflation
    return dataset


def _add_transfer_syntax(dataset: Dataset) -> Dataset:
    """Add the transfer syntax that pydicom detected to a file without meta information."""
    if "TransferSyntaxUID" not in dataset.file_meta:
        implicit, little = dataset.original_encoding
        explicit = ExplicitVRLittleEndian if little else ExplicitVRBigEndian
        dataset.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else explicit
    return dataset


def _convert_values(dataset: Dataset, *, name: str) -> Dataset:
    """Convert all values now, so that damage is detected here. pydicom would convert them on first access."""
    for tag in list(dataset.keys()):
        try:
            _ = dataset[tag].value
        except DAMAGED_HEADER_ERRORS as error:
            keyword = keyword_for_tag(tag)
            if keyword not in _OPTIONAL_ATTRIBUTES:
                raise UnreadableImage(
                    name, f"is damaged ({describe_damage(error)}).", attribute=attribute_name(keyword)
                ) from error
            del dataset[tag]
    return dataset


def _is_after_meta(tag: BaseTag, _vr: str | None, _length: int) -> bool:
    return tag.group != _META_GROUP


def _raise_nesting_error(traceback: TracebackType | None, *, name: str) -> NoReturn:
    """Raise UnreadableImage for too deep nesting, with the outermost sequence that was being read."""
    while traceback is not None:
        tag_number = traceback.tb_frame.f_locals.get("tag")
        if isinstance(tag_number, int) and traceback.tb_frame.f_code.co_name == "data_element_generator":
            tag = Tag(tag_number)
            attribute = f"{keyword_for_tag(tag) or 'sequence'} ({tag.group:04X},{tag.element:04X})"
            raise UnreadableImage(name, "has sequences that are nested too deeply.", attribute=attribute)
        traceback = traceback.tb_next
    raise UnreadableImage(name, "has sequences that are nested too deeply.")
