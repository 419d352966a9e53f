"""A finding of a phantom is visible inside its box and nowhere else."""

import numpy as np
import pytest

from demo.phantom import CATALOGUE, FindingKind, FindingSpec, Side, View, Zone
from demo.phantom.render import render_exam

pytestmark = pytest.mark.full

SEED, ROWS, COLUMNS = 14, 400, 320


def render(*findings, seed=SEED, sex="F", age=60):
    return render_exam(seed, findings=findings, sex=sex, age=age, rows=ROWS, columns=COLUMNS)


def inside(pixels, box):
    return pixels[int(box.y_min) : int(np.ceil(box.y_max)), int(box.x_min) : int(np.ceil(box.x_max))].astype(
        float
    )


@pytest.fixture(scope="module")
def healthy():
    return render()


@pytest.fixture(scope="module")
def exams():
    return {kind: render(FindingSpec(kind=kind)) for kind in FindingKind}


@pytest.mark.parametrize("kind", FindingKind)
def test_box_lies_inside_the_image(exams, kind):
    for box in exams[kind].findings[0].boxes.values():
        assert box.lies_within(rows=ROWS, columns=COLUMNS)


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_has_a_box_in_the_frontal_view(exams, kind):
    assert View.PA in exams[kind].findings[0].boxes


@pytest.mark.parametrize("kind", FindingKind)
def test_finding_changes_the_picture_more_inside_its_box_than_outside(exams, healthy, kind):
    box = exams[kind].findings[0].boxes[View.PA]
    change = np.abs(exams[kind].find_image(View.PA).pixels.astype(float) - healthy.find_image(View.PA).pixels)
    within = inside(change, box)
    outside = (change.sum() - within.sum()) / (change.size - within.size)
    assert np.percentile(within, 97) > 60  # of 4095 grey levels; a line fills little of its box
    assert within.mean() > 3 * outside


@pytest.mark.parametrize("kind", [FindingKind.NODULE, FindingKind.EFFUSION, FindingKind.CONSOLIDATION])
def test_opacity_is_brighter_than_the_lung_it_replaces(exams, healthy, kind):
    box = exams[kind].findings[0].boxes[View.PA]
    with_it = inside(exams[kind].find_image(View.PA).pixels, box)
    assert with_it.mean() > inside(healthy.find_image(View.PA).pixels, box).mean() + 60


def test_free_air_of_a_pneumothorax_is_darker_than_lung(exams, healthy):
    box = exams[FindingKind.PNEUMOTHORAX].findings[0].boxes[View.PA]
    with_it = inside(exams[FindingKind.PNEUMOTHORAX].find_image(View.PA).pixels, box)
    assert with_it.mean() < inside(healthy.find_image(View.PA).pixels, box).mean()


def test_pneumothorax_is_not_boxed_on_the_lateral_view(exams):
    assert View.LATERAL not in exams[FindingKind.PNEUMOTHORAX].findings[0].boxes


@pytest.mark.parametrize("kind", [kind for kind, place in CATALOGUE.items() if Side.RIGHT in place.sides])
def test_right_lies_in_the_left_half_of_the_frontal_image(kind):
    box = render(FindingSpec(kind=kind, side=Side.RIGHT)).findings[0].boxes[View.PA]
    assert (box.x_min + box.x_max) / 2 < COLUMNS / 2


@pytest.mark.parametrize("kind", [kind for kind, place in CATALOGUE.items() if Side.LEFT in place.sides])
def test_left_lies_in_the_right_half_of_the_frontal_image(kind):
    box = render(FindingSpec(kind=kind, side=Side.LEFT)).findings[0].boxes[View.PA]
    assert (box.x_min + box.x_max) / 2 > COLUMNS / 2


@pytest.mark.parametrize("side", [Side.RIGHT, Side.LEFT])
@pytest.mark.parametrize("zone", [Zone.UPPER, Zone.MID, Zone.LOWER])
def test_nodule_lies_in_the_zone_that_its_region_names(side, zone):
    exam = render(FindingSpec(kind=FindingKind.NODULE, side=side, zone=zone), sex="M")
    box, region = exam.findings[0].boxes[View.PA], exam.find_region(f"{side} {zone}").boxes[View.PA]
    assert exam.findings[0].region == f"{side} {zone}"
    assert region.x_min < (box.x_min + box.x_max) / 2 < region.x_max
    assert region.y_min < (box.y_min + box.y_max) / 2 < region.y_max


def test_nodule_box_has_the_nodules_size():
    exam = render(FindingSpec(kind=FindingKind.NODULE, size_mm=20.0))
    box = exam.findings[0].boxes[View.PA]
    # 350 mm over 320 columns: 20 mm are 18.3 pixels
    assert box.width == pytest.approx(18.3, rel=0.15)


def test_more_conspicuous_is_brighter():
    def contrast(conspicuity):
        spec = FindingSpec(kind=FindingKind.NODULE, size_mm=18.0, conspicuity=conspicuity)
        exam = render(spec)
        return inside(exam.find_image(View.PA).pixels, exam.findings[0].boxes[View.PA]).mean()

    assert contrast(0.0) + 40 < contrast(1.0)


def test_finding_leaves_the_other_lung_as_it_was(healthy):
    exam = render(FindingSpec(kind=FindingKind.NODULE, side=Side.RIGHT, zone=Zone.UPPER))
    far = np.s_[:, COLUMNS * 3 // 4 :]
    change = exam.find_image(View.PA).pixels[far].astype(float) - healthy.find_image(View.PA).pixels[far]
    assert np.abs(change).mean() < 1.0


def test_findings_may_be_combined():
    exam = render(FindingSpec(kind=FindingKind.EFFUSION), FindingSpec(kind=FindingKind.ENDOTRACHEAL_TUBE))
    assert [finding.spec.kind for finding in exam.findings] == ["pleural effusion", "endotracheal tube"]


def test_device_cannot_be_asked_for_on_the_wrong_side():
    with pytest.raises(ValueError, match="pacemaker cannot be on side right"):
        FindingSpec(kind=FindingKind.PACEMAKER, side=Side.RIGHT)


def test_effusion_cannot_be_asked_for_in_the_upper_zone():
    with pytest.raises(ValueError, match="pleural effusion cannot be in upper lung zone"):
        FindingSpec(kind=FindingKind.EFFUSION, zone=Zone.UPPER)


@pytest.mark.parametrize("conspicuity", [-0.1, 1.1, float("nan")])
def test_conspicuity_outside_0_to_1_is_refused(conspicuity):
    with pytest.raises(ValueError, match="conspicuity"):
        FindingSpec(kind=FindingKind.NODULE, conspicuity=conspicuity)
