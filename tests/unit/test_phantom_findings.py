"""A finding of a phantom is visible inside its box and nowhere else."""

import numpy as np
import pytest

from demo.phantom import CATALOGUE, FindingKind, FindingSpec, Side, View, Zone
from demo.phantom.render import render_exam

pytestmark = pytest.mark.full

SEED, ROWS, COLUMNS = 14, 400, 320


def render(*findings, seed=SEED, sex="F", age=60):
    return render_exam(seed, findings=findings, sex=sex, age=age, rows=ROWS, columns=COLUMNS)


def crop_to_box(pixels, box):
    return pixels[int(box.y_min) : int(np.ceil(box.y_max)), int(box.x_min) : int(np.ceil(box.x_max))].astype(
        float
    )


@pytest.fixture(scope="module")
def normal_exam():
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
def test_finding_changes_the_image_mostly_inside_its_box(exams, normal_exam, kind):
    box = exams[kind].findings[0].boxes[View.PA]
    change = np.abs(
        exams[kind].find_image(View.PA).pixels.astype(float) - normal_exam.find_image(View.PA).pixels
    )
    inside_box = crop_to_box(change, box)
    mean_outside = (change.sum() - inside_box.sum()) / (change.size - inside_box.size)
    assert np.percentile(inside_box, 97) > 60  # of 4095 grey levels; a line fills little of its box
    assert inside_box.mean() > 3 * mean_outside


@pytest.mark.parametrize("kind", [FindingKind.NODULE, FindingKind.EFFUSION, FindingKind.CONSOLIDATION])
def test_opacity_is_brighter_than_the_lung_it_replaces(exams, normal_exam, kind):
    box = exams[kind].findings[0].boxes[View.PA]
    pixels_with_finding = crop_to_box(exams[kind].find_image(View.PA).pixels, box)
    assert pixels_with_finding.mean() > crop_to_box(normal_exam.find_image(View.PA).pixels, box).mean() + 60


def test_free_air_of_a_pneumothorax_is_darker_than_lung(exams, normal_exam):
    box = exams[FindingKind.PNEUMOTHORAX].findings[0].boxes[View.PA]
    pixels_with_finding = crop_to_box(exams[FindingKind.PNEUMOTHORAX].find_image(View.PA).pixels, box)
    assert pixels_with_finding.mean() < crop_to_box(normal_exam.find_image(View.PA).pixels, box).mean()


def test_pneumothorax_is_not_boxed_on_the_lateral_view(exams):
    assert View.LATERAL not in exams[FindingKind.PNEUMOTHORAX].findings[0].boxes


@pytest.mark.parametrize(
    "kind", [kind for kind, placement in CATALOGUE.items() if Side.RIGHT in placement.sides]
)
def test_right_sided_finding_is_in_the_left_half_of_the_image(kind):
    box = render(FindingSpec(kind=kind, side=Side.RIGHT)).findings[0].boxes[View.PA]
    assert (box.x_min + box.x_max) / 2 < COLUMNS / 2


@pytest.mark.parametrize(
    "kind", [kind for kind, placement in CATALOGUE.items() if Side.LEFT in placement.sides]
)
def test_left_sided_finding_is_in_the_right_half_of_the_image(kind):
    box = render(FindingSpec(kind=kind, side=Side.LEFT)).findings[0].boxes[View.PA]
    assert (box.x_min + box.x_max) / 2 > COLUMNS / 2


@pytest.mark.parametrize("side", [Side.RIGHT, Side.LEFT])
@pytest.mark.parametrize("zone", [Zone.UPPER, Zone.MID, Zone.LOWER])
def test_nodule_is_in_the_stated_zone(side, zone):
    exam = render(FindingSpec(kind=FindingKind.NODULE, side=side, zone=zone), sex="M")
    box, region = exam.findings[0].boxes[View.PA], exam.find_region(f"{side} {zone}").boxes[View.PA]
    assert exam.findings[0].region == f"{side} {zone}"
    assert region.x_min < (box.x_min + box.x_max) / 2 < region.x_max
    assert region.y_min < (box.y_min + box.y_max) / 2 < region.y_max


def test_nodule_box_has_the_size_of_the_nodule():
    exam = render(FindingSpec(kind=FindingKind.NODULE, size_mm=20.0))
    box = exam.findings[0].boxes[View.PA]
    # 350 mm over 320 columns: 20 mm are 18.3 pixels
    assert box.width == pytest.approx(18.3, rel=0.15)


def test_more_conspicuous_nodule_is_brighter():
    def mean_brightness(conspicuity):
        spec = FindingSpec(kind=FindingKind.NODULE, size_mm=18.0, conspicuity=conspicuity)
        exam = render(spec)
        return crop_to_box(exam.find_image(View.PA).pixels, exam.findings[0].boxes[View.PA]).mean()

    assert mean_brightness(0.0) + 40 < mean_brightness(1.0)


def test_finding_does_not_change_the_other_lung(normal_exam):
    exam = render(FindingSpec(kind=FindingKind.NODULE, side=Side.RIGHT, zone=Zone.UPPER))
    other_lung = np.s_[:, COLUMNS * 3 // 4 :]
    change = (
        exam.find_image(View.PA).pixels[other_lung].astype(float)
        - normal_exam.find_image(View.PA).pixels[other_lung]
    )
    assert np.abs(change).mean() < 1.0


def test_findings_may_be_combined():
    exam = render(FindingSpec(kind=FindingKind.EFFUSION), FindingSpec(kind=FindingKind.ENDOTRACHEAL_TUBE))
    assert [finding.spec.kind for finding in exam.findings] == ["pleural effusion", "endotracheal tube"]


def test_device_on_the_wrong_side_is_refused():
    with pytest.raises(ValueError, match="pacemaker cannot be on side right"):
        FindingSpec(kind=FindingKind.PACEMAKER, side=Side.RIGHT)


def test_effusion_in_the_upper_zone_is_refused():
    with pytest.raises(ValueError, match="pleural effusion cannot be in upper lung zone"):
        FindingSpec(kind=FindingKind.EFFUSION, zone=Zone.UPPER)


@pytest.mark.parametrize("conspicuity", [-0.1, 1.1, float("nan")])
def test_conspicuity_outside_0_to_1_is_refused(conspicuity):
    with pytest.raises(ValueError, match="conspicuity"):
        FindingSpec(kind=FindingKind.NODULE, conspicuity=conspicuity)
