"""Bytes of a DICOM file to the few attributes that this project reads, within bounds."""

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

from imaging.errors import UnreadableImage

# All that is read of a header. Nothing else of it is parsed, so nothing else can reach a log, the database
# or a page. What of it is kept is the shorter list in imaging/dicom_person.py.
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
# What an image can be shown without: where it is damaged it counts as missing.
_DISPENSABLE = frozenset({
    "SeriesDescription", "ViewPosition", "PatientID", "PatientIdentityRemoved", "PatientAge", "PatientSex",
    "PatientOrientation", "PixelSpacing", "ImagerPixelSpacing", "PixelSpacingCalibrationType",
    "EstimatedRadiographicMagnificationFactor", "RescaleType",
    "WindowCenter", "WindowWidth", "WindowCenterWidthExplanation", "VOILUTFunction",
})  # fmt: skip
_TAGS: list[BaseTag | int] = [
    Tag(tag) for keyword in ATTRIBUTES_READ if (tag := tag_for_keyword(keyword)) is not None
]

# Inflated size of a deflated file at most: 16 million pixels of 16 bits are 32 MB.
_MOST_INFLATED = 200_000_000
_META_GROUP = 2
# What pydicom raises on damaged headers, besides its own error.
DAMAGE = (
    AttributeError, BytesLengthException, EOFError, IndexError, KeyError, NotImplementedError, OSError,
    OverflowError, TypeError, UnicodeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def is_dicom(content: bytes) -> bool:
    """Whether this is a DICOM file, or one without its preamble, which old archives write."""
    if content[128:132] == b"DICM":
        return True
    group, element = struct.unpack_from("<HH", content) if len(content) > 8 else (0, 0)
    return (group, element) in {(0x0002, 0x0000), (0x0008, 0x0000), (0x0008, 0x0005), (0x0008, 0x0008),
                                (0x0008, 0x0016)}  # fmt: skip


def parse(content: bytes, *, name: str) -> Dataset:
    """The attributes of ``ATTRIBUTES_READ`` that the file has, with ``file_meta.TransferSyntaxUID``.

    Raises:
        UnreadableImage: damaged, nested too deep, or larger inflated than any radiograph.
    """
    try:
        return _converted(_with_syntax(_read(content, name=name, tags=_TAGS)), name=name)
    except RecursionError as error:
        _refuse_nesting(error.__traceback__, name=name)
    except InvalidDicomError as error:
        raise UnreadableImage(name, "is no DICOM file, though it begins like one.") from error
    except DAMAGE as error:
        raise UnreadableImage(name, f"its DICOM header is damaged ({_brief(error)}).") from error


def parse_whole(content: bytes, *, name: str) -> Dataset:
    """All attributes of the file, as they stand in it; values are converted when they are looked at.

    Raises:
        UnreadableImage: as ``parse``.
    """
    try:
        return _with_syntax(_read(content, name=name, tags=None))
    except RecursionError as error:
        _refuse_nesting(error.__traceback__, name=name)
    except InvalidDicomError as error:
        raise UnreadableImage(name, "is no DICOM file, though it begins like one.") from error
    except DAMAGE as error:
        raise UnreadableImage(name, f"its DICOM header is damaged ({_brief(error)}).") from error


def attribute_name(keyword: str) -> str:
    """An attribute as people look it up: ``BitsStored (0028,0101)``."""
    tag = tag_for_keyword(keyword)
    return keyword if tag is None else f"{keyword} ({tag >> 16:04X},{tag & 0xFFFF:04X})"


def _read(content: bytes, *, name: str, tags: list[BaseTag | int] | None) -> Dataset:
    file = io.BytesIO(content)
    if read_preamble(file, force=True) is None:
        return dcmread(file, force=True, specific_tags=tags)
    meta = read_dataset(file, is_implicit_VR=False, is_little_endian=True, stop_when=_behind_meta)
    syntax = UID(str(meta.get("TransferSyntaxUID", "")))
    if syntax != DeflatedExplicitVRLittleEndian:
        return dcmread(io.BytesIO(content), specific_tags=tags)
    # pydicom inflates the whole file at once, however large it gets
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    inflated = inflater.decompress(memoryview(content)[file.tell() :], _MOST_INFLATED)
    if inflater.unconsumed_tail:
        raise UnreadableImage(
            name,
            f"inflates to more than {_MOST_INFLATED // 1_000_000} MB, which no radiograph does.",
            attribute="Deflated Explicit VR Little Endian",
        )
    dataset = read_dataset(io.BytesIO(inflated), is_implicit_VR=False, is_little_endian=True,
                           specific_tags=tags)  # fmt: skip
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian  # which it is, now that it is inflated
    return dataset


def _with_syntax(dataset: Dataset) -> Dataset:
    """A file without meta information says by its first element whether it has explicit VRs."""
    if "TransferSyntaxUID" not in dataset.file_meta:
        implicit, little = dataset.original_encoding
        explicit = ExplicitVRLittleEndian if little else ExplicitVRBigEndian
        dataset.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else explicit
    return dataset


def _converted(dataset: Dataset, *, name: str) -> Dataset:
    """pydicom converts a value when it is first looked at; here all are, so that damage shows at once."""
    for tag in list(dataset.keys()):
        try:
            _ = dataset[tag].value
        except DAMAGE as error:
            keyword = keyword_for_tag(tag)
            if keyword not in _DISPENSABLE:
                raise UnreadableImage(
                    name, f"is damaged ({_brief(error)}).", attribute=attribute_name(keyword)
                ) from error
            del dataset[tag]
    return dataset


def _behind_meta(tag: BaseTag, _vr: str | None, _length: int) -> bool:
    return tag.group != _META_GROUP


def _refuse_nesting(trace: TracebackType | None, *, name: str) -> NoReturn:
    """Name the outermost sequence: the first element that was being read when the depth ran out."""
    while trace is not None:
        number = trace.tb_frame.f_locals.get("tag")
        if isinstance(number, int) and trace.tb_frame.f_code.co_name == "data_element_generator":
            tag = Tag(number)
            attribute = f"{keyword_for_tag(tag) or 'sequence'} ({tag.group:04X},{tag.element:04X})"
            raise UnreadableImage(name, "holds sequences nested too deep to be read.", attribute=attribute)
        trace = trace.tb_next
    raise UnreadableImage(name, "holds sequences nested too deep to be read.")


def _brief(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
