"""DICOM files with a planted value in every attribute of the Basic Profile (PS3.15 Table E.1-1)."""

from __future__ import annotations

from typing import Any

from pydicom import Dataset
from pydicom.datadict import dictionary_VR
from pydicom.dataelem import DataElement
from pydicom.sequence import Sequence
from pydicom.tag import BaseTag, Tag

from imaging.profile import load_profile_table
from tests.unit.makers.dicom_files import encode_dataset, make_header, ramp

PLANTED_WORD = "PLANTED"
PLANTED_NUMBER = 1961
# The planted value by value representation.
_VALUES: dict[str, Any] = {
    **dict.fromkeys(("AE", "CS", "LO", "LT", "SH", "ST", "UC", "UT"), PLANTED_WORD),
    "PN": f"{PLANTED_WORD}^{PLANTED_WORD}",
    "AS": "077Y",
    "DA": "19610203",
    "DT": "19610203040506",
    "TM": "040506",
    "UI": "1.2.3.1961",
    "UR": f"https://{PLANTED_WORD}.example",
    "DS": "1961",
    "IS": "1961",
    "US": PLANTED_NUMBER,
    "UL": PLANTED_NUMBER,
    **dict.fromkeys(("OB", "UN", "OW"), PLANTED_WORD.encode() + b"\0"),
}
# The bytes that must not occur after de-identification.
PLANTED_BYTES = (PLANTED_WORD.encode(), b"077Y", b"19610203", b"040506", b"1.2.3.1961")


def list_profile_tags() -> list[BaseTag]:
    """Every attribute of the profile, repeating groups once; without command and meta elements."""
    tags = {Tag(tag[0], tag[1] or 0x0010) for tag in map(tuple, load_profile_table()["ALL_TAGS"])}
    return sorted(tag for tag in tags if tag.group > 0x0002)


def plant_identifiers(dataset: Dataset, *, depth: int = 1) -> int:
    """Plant a value in each attribute of the profile, also within sequences; return how many."""
    tags = list_profile_tags()
    for tag in tags:
        representation = _value_representation(tag)
        if representation == "SQ":
            item = Dataset()
            item.add_new("PatientComments", "LT", PLANTED_WORD)
            item.add_new("ReferencedSOPInstanceUID", "UI", _VALUES["UI"])
            dataset[tag] = DataElement(tag, "SQ", Sequence([item]))
        else:
            dataset[tag] = DataElement(tag, representation, _VALUES[representation])
    if depth:
        view_code = Dataset()
        view_code.CodeValue, view_code.CodingSchemeDesignator, view_code.CodeMeaning = (
            "R-10206",
            "SRT",
            "postero-anterior",
        )
        plant_identifiers(view_code, depth=depth - 1)
        dataset.ViewCodeSequence = Sequence([view_code])
    private = dataset.private_block(0x0009, f"{PLANTED_WORD} CREATOR", create=True)
    private.add_new(0x01, "LO", PLANTED_WORD)
    dataset.add_new(Tag(0x0008, 0xFFF0), "LO", PLANTED_WORD)  # not an attribute of the standard
    return len(tags)


def make_planted_file(**attributes: Any) -> tuple[bytes, int]:
    """Return a DX image with all planted values, also in its preamble, and the number of attributes."""
    dataset = make_header(ramp())
    count = plant_identifiers(dataset)
    dataset.PixelData = ramp().tobytes()
    dataset["PixelData"].VR = "OW"
    dataset.SOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
    for keyword, value in attributes.items():
        setattr(dataset, keyword, value)
    dataset.preamble = PLANTED_WORD.encode().ljust(128, b"\0")
    return encode_dataset(dataset), count


def _value_representation(tag: BaseTag) -> str:
    try:
        return str(dictionary_VR(tag)).split(" or ")[0]
    except KeyError:  # newer than pydicom's dictionary
        return "LO"
