"""Applies DICOM's Basic Application Level Confidentiality Profile (PS3.15 Table E.1-1) to a dataset.

dicom-anonymizer's table of the standard's edition 2026c states the action for each attribute. The actions are
implemented here for three reasons. dicom-anonymizer's UIDs are random, so the images of an exam would be
separated. It works on the outermost dataset only, so a name in a sequence would be kept. It converts a value
before it removes it, so a file with one damaged date could not be de-identified.

If the profile allows several actions (X/Z, X/D, …), the one that keeps less is used: remove, or zero length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dicomanonymizer.dicomfields_selector import dicom_anonymization_database_selector
from dicomanonymizer.simpledicomanonymizer import anonymize_dataset
from pydicom import Dataset
from pydicom.datadict import dictionary_has_tag, repeater_has_tag
from pydicom.dataelem import DataElement, RawDataElement
from pydicom.sequence import Sequence
from pydicom.tag import Tag

from imaging.pseudonyms import PseudonymKey

EDITION = "2026c"

#: (group, element) of one attribute.
AttributeTag = tuple[int, int]
#: An entry of the table: (group, element), followed by two masks if the attribute repeats.
TableTag = tuple[int, ...]
Action = Callable[[Dataset, AttributeTag], None]

# PS3.15 E.2: "a non-zero length value that may be a dummy value and consistent with the VR".
_DUMMY_VALUES: dict[str, object] = {
    **dict.fromkeys(("AE", "CS", "LO", "LT", "PN", "SH", "ST", "UC", "UT"), "REMOVED"),
    "AS": "000Y", "DA": "00010101", "DT": "00010101000000", "TM": "000000", "UR": "urn:removed",
    "DS": "0", "IS": "0",
    **dict.fromkeys(("FD", "FL", "SL", "SS", "UL", "US"), 0),
    **dict.fromkeys(("OB", "UN"), b"\0\0"),
}  # fmt: skip
_REPEATED_GROUPS = range(0x5000, 0x5100), range(0x6000, 0x6100)


@cache
def load_profile_table() -> dict[str, list[TableTag]]:
    """Return the attributes of the profile by the name of the action: ``D_TAGS``, ``Z_TAGS`` and so on.

    The letters are from PS3.15 Table E.1-1a: D dummy value, Z zero length, X remove, U new UID.
    """
    profile: dict[str, list[TableTag]] = dicom_anonymization_database_selector(f"dicomfields_{EDITION}")
    return profile


def apply_profile(dataset: Dataset, *, key: PseudonymKey) -> None:
    """Apply the profile to a dataset and all datasets in its sequences, in place.

    Private attributes, attributes that are not in the dictionary (PS3.6), overlays and curves are removed.
    The caller sets Patient ID and the attributes that state the de-identification.

    Args:
        dataset: a dataset that :func:`imaging.dicom_file.parse_all` returned.
        key: the key for the new UIDs. A UID is replaced by the same new UID in every file.
    """
    rules = _build_rules(key)
    anonymize_dataset(dataset, base_rules_gen=lambda: rules, delete_private_tags=True)
    for tag in list(dataset.keys()):
        if not _is_kept(tag):
            del dataset[tag]
            continue
        element: object = dataset.get_item(tag)  # pydicom's types do not mention raw elements
        if isinstance(element, RawDataElement) and element.VR not in {"SQ", "UN", None}:
            continue  # not a sequence, so its value is not converted
        if dataset[tag].VR == "SQ":
            for item in dataset[tag].value:
                apply_profile(item, key=key)


def _is_kept(tag: int) -> bool:
    parsed_tag = Tag(tag)
    if parsed_tag.element == 0 or parsed_tag.group < 8 or parsed_tag.group == 0xFFFC:
        return False  # group length, commands, padding after the dataset
    if any(parsed_tag.group in repeated_groups for repeated_groups in _REPEATED_GROUPS):
        return False  # curves and overlays
    return dictionary_has_tag(parsed_tag) or repeater_has_tag(parsed_tag)


def _build_rules(key: PseudonymKey) -> dict[TableTag, Action]:
    def replace_uid(dataset: Dataset, tag: AttributeTag) -> None:
        if tag not in dataset:
            return
        element = dataset[tag]
        values = element.value if element.VM > 1 else [element.value]
        new_uids = [key.pseudonymize_uid(str(uid)) if uid else "" for uid in values]
        dataset[tag] = DataElement(Tag(tag), "UI", new_uids if len(new_uids) > 1 else new_uids[0])

    actions: dict[str, Action] = {
        "X_TAGS": _remove,
        "X_D_TAGS": _remove,
        "Z_TAGS": _set_empty,
        "Z_D_TAGS": _set_empty,
        "X_Z_TAGS": _set_empty,
        "X_Z_D_TAGS": _set_empty,
        "X_Z_U_STAR_TAGS": _set_empty,
        "D_TAGS": _replace,
        "U_TAGS": replace_uid,
    }
    rules: dict[TableTag, Action] = {}
    # An attribute may be in two lists. Lists that keep less come later, so their action is used.
    for name in ("D_TAGS", "U_TAGS", "Z_D_TAGS", "X_Z_D_TAGS", "X_Z_U_STAR_TAGS", "X_Z_TAGS", "Z_TAGS",
                 "X_D_TAGS", "X_TAGS"):  # fmt: skip
        rules.update({tuple(tag): actions[name] for tag in load_profile_table()[name]})
    return rules


def _remove(dataset: Dataset, tag: AttributeTag) -> None:
    if tag in dataset:
        del dataset[tag]


def _set_empty(dataset: Dataset, tag: AttributeTag) -> None:
    if tag in dataset:
        value_representation = _value_representation(dataset, tag)
        empty = Sequence() if value_representation == "SQ" else None
        dataset[tag] = DataElement(Tag(tag), value_representation, empty)


def _replace(dataset: Dataset, tag: AttributeTag) -> None:
    if tag not in dataset:
        return
    value_representation = _value_representation(dataset, tag)
    if value_representation not in _DUMMY_VALUES:  # a sequence, or data that a radiograph does not need
        del dataset[tag]
        return
    dataset[tag] = DataElement(Tag(tag), value_representation, _DUMMY_VALUES[value_representation])


def _value_representation(dataset: Dataset, tag: AttributeTag) -> str:
    """Return the value representation without converting the value, which may be damaged."""
    element = dataset.get_item(tag)
    return str(getattr(element, "VR", None) or dataset[tag].VR)
