"""A patient's number is replaced by a pseudonym that depends on the workspace's key."""

from __future__ import annotations

import pytest

from imaging.pseudonyms import PseudonymKey
from imaging.reader import describe
from tests.unit.makers.dicom_files import dicom


def test_a_patient_id_is_replaced_by_a_stable_pseudonym():
    key = PseudonymKey(secret=b"k" * 32)
    facts = describe(dicom(PatientID="MRN-12345"), name="a.dcm", key=key)
    assert facts.patient is not None
    assert "12345" not in facts.patient
    later = dicom(PatientID="MRN-12345", PatientAge="060Y")
    assert facts.patient == describe(later, name="b.dcm", key=key).patient
    assert facts.patient != describe(dicom(PatientID="MRN-12346"), name="c.dcm", key=key).patient
    assert facts.patient != describe(later, name="b.dcm", key=PseudonymKey(secret=b"o" * 32)).patient


@pytest.mark.slow
def test_without_a_key_the_patient_is_not_identified():
    assert describe(dicom(PatientID="MRN-12345"), name="a.dcm").patient is None
