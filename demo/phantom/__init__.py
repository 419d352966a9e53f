"""Chest radiograph phantoms: exams of patients who do not exist, with findings at known places.

    exam = render_exam(7, findings=[FindingSpec(kind=FindingKind.NODULE, side=Side.LEFT)], sex="F", age=61)
    paths = write_dicom(exam, folder)

The anatomy is a model in three dimensions, drawn from a seed, of which the frontal and the lateral radiograph
are projections (Beer-Lambert, scatter, noise, presentation processing). ``catalogue`` lists the findings.
"""

from demo.phantom.catalogue import (
    CATALOGUE,
    DEVICES,
    LUNG_ZONES,
    FindingKind,
    FindingSpec,
    Place,
    Side,
    Zone,
    region_name,
)
from demo.phantom.dicom import TransferSyntax, write_dicom
from demo.phantom.exam import PhantomExam, PhantomFinding, PhantomImage, PhantomRegion
from demo.phantom.frame import View
from demo.phantom.render import render_exam

__all__ = [
    "CATALOGUE",
    "DEVICES",
    "LUNG_ZONES",
    "FindingKind",
    "FindingSpec",
    "PhantomExam",
    "PhantomFinding",
    "PhantomImage",
    "PhantomRegion",
    "Place",
    "Side",
    "TransferSyntax",
    "View",
    "Zone",
    "region_name",
    "render_exam",
    "write_dicom",
]
