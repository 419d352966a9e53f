"""Codes of box labels are those that the DICOM standard lists for them."""

import re

import pytest
from pydicom.sr._cid_dict import cid_concepts
from pydicom.sr.codedict import codes

from release.formats.sr_codes import (
    FINDINGS,
    LATERALITIES,
    PRIVATE_SCHEME,
    RADLEX_FINDINGS,
    REGIONS,
    code_label,
)


def list_context_groups(scheme, keyword):
    return {cid for cid, schemes in cid_concepts.items() if keyword in schemes.get(scheme, ())}


@pytest.mark.parametrize("label", FINDINGS)
def test_finding_has_a_code_of_the_standard(label):
    scheme, keyword = FINDINGS[label]
    code = getattr(getattr(codes, scheme), keyword)
    labelled = code_label(label)
    assert (labelled.finding.value, labelled.finding.scheme_designator) == (code.value, scheme)
    assert labelled.site.meaning == "Chest"
    assert list_context_groups(scheme, keyword)


@pytest.mark.parametrize("label", REGIONS)
def test_region_is_the_site_of_radiographic_anatomy(label):
    labelled = code_label(f"left {label}")
    assert labelled.finding.meaning == "Radiographic anatomy"
    assert labelled.site.value == getattr(codes.SCT, REGIONS[label]).value
    assert labelled.laterality.value == "7771000"  # left, CID 244
    assert list_context_groups("SCT", REGIONS[label])


def test_laterality_codes_are_those_of_context_group_244():
    assert set(LATERALITIES.values()) <= set(cid_concepts[244]["SCT"])


@pytest.mark.parametrize(
    ("label", "finding", "site", "laterality"),
    [
        ("Nodule, left", "27925004", "51185008", "7771000"),
        ("Pleural Effusion", "60046008", "51185008", None),
        ("bilateral hilar structures", "112005", "46750007", "51440002"),
        ("Cardiac silhouette", "112005", "80891009", None),
    ],
)
def test_label_has_codes(label, finding, site, laterality):
    labelled = code_label(label)
    assert (labelled.finding.value, labelled.site.value) == (finding, site)
    assert (labelled.laterality and labelled.laterality.value) == laterality


@pytest.mark.parametrize("label", ["", "right upper lung zone", "Herzgröße", "left or right lung", "L" * 70])
def test_label_that_codes_do_not_express_keeps_its_text(label):
    labelled = code_label(label)
    assert labelled.finding.scheme_designator == PRIVATE_SCHEME
    assert labelled.finding.meaning == (label or "Region")[:64]
    assert labelled.laterality is None


def test_radlex_is_used_only_for_labels_that_the_standard_does_not_list():
    assert not set(RADLEX_FINDINGS) & (set(FINDINGS) | set(REGIONS))
    radlex_ids = [value for value, _ in RADLEX_FINDINGS.values()]
    assert len(set(radlex_ids)) == len(radlex_ids)
    assert all(re.fullmatch(r"RID[1-9]\d*", value) for value in radlex_ids)
    assert any("RADLEX" in schemes for schemes in cid_concepts.values())  # the designator of the standard


@pytest.mark.parametrize(
    ("label", "finding", "site", "laterality"),
    [
        ("Consolidation, right", ("RADLEX", "RID43255"), ("SCT", "51185008"), "Right"),
        ("Atelectasis", ("RADLEX", "RID28493"), ("SCT", "51185008"), None),
        ("Pneumonia", ("RADLEX", "RID5350"), ("SCT", "51185008"), None),
        ("Lymphadenopathy", ("SCT", "30746006"), ("SCT", "51185008"), None),
        ("right lower lobe", ("DCM", "112005"), ("SCT", "90572001"), "Right"),
        ("Upper lobe of left lung", ("DCM", "112005"), ("SCT", "45653009"), "Left"),
    ],
)
def test_a_label_has_the_code_of_the_standard_or_else_of_radlex(label, finding, site, laterality):
    labelled = code_label(label)
    assert (labelled.finding.scheme_designator, labelled.finding.value) == finding
    assert (labelled.site.scheme_designator, labelled.site.value) == site
    assert (labelled.laterality and labelled.laterality.meaning) == laterality
