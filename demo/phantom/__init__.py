"""Chest radiograph phantoms: exams of fictitious patients, with findings at known locations.

    exam = render_exam(7, findings=[FindingSpec(kind=FindingKind.NODULE, side=Side.LEFT)], sex="F", age=61)
    paths = write_dicom(exam, folder)

The anatomy is a three-dimensional model, generated from a seed. The frontal and the lateral radiograph are
projections of this model (Beer-Lambert, scatter, noise, presentation processing). ``catalogue`` lists the
findings.

``render_exam`` is in ``render`` and ``write_dicom`` in ``dicom``. They import SciPy and pydicom, which takes
more than a second, so only code that renders imports them.
"""

from demo.phantom.catalogue import (
    CATALOGUE,
    DEVICES,
    LUNG_ZONES,
    AllowedPlacement,
    FindingKind,
    FindingSpec,
    Side,
    Zone,
    region_name,
)
from demo.phantom.exam import PhantomExam, PhantomFinding, PhantomImage, PhantomRegion
from demo.phantom.frame import View

__all__ = [
    "CATALOGUE",
    "DEVICES",
    "LUNG_ZONES",
    "AllowedPlacement",
    "FindingKind",
    "FindingSpec",
    "PhantomExam",
    "PhantomFinding",
    "PhantomImage",
    "PhantomRegion",
    "Side",
    "View",
    "Zone",
    "region_name",
]
