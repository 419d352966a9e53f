"""The anatomy of phantoms: stated proportions are those of the image."""

import numpy as np
import pytest

from demo.phantom import FindingKind, FindingSpec, View
from demo.phantom.chords import ellipsoid
from demo.phantom.frame import Frame
from demo.phantom.habitus import draw_habitus
from demo.phantom.render import render_exam
from demo.phantom.tubes import join_curves, project_tubes, sample_curve

pytestmark = pytest.mark.full

ROWS, COLUMNS = 400, 320


@pytest.fixture(scope="module")
def exam():
    return render_exam(21, sex="M", age=45, rows=ROWS, columns=COLUMNS)


def test_same_seed_gives_the_same_pixels(exam):
    second_exam = render_exam(21, sex="M", age=45, rows=ROWS, columns=COLUMNS)
    assert all(
        np.array_equal(a.pixels, b.pixels) for a, b in zip(exam.images, second_exam.images, strict=True)
    )


def test_another_seed_gives_another_patient(exam):
    other_exam = render_exam(22, sex="M", age=45, rows=ROWS, columns=COLUMNS)
    assert not np.array_equal(exam.find_image(View.PA).pixels, other_exam.find_image(View.PA).pixels)


def test_pixels_use_most_of_12_bits_and_no_more(exam):
    for image in exam.images:
        assert image.pixels.dtype == np.uint16
        assert image.pixels.shape == (ROWS, COLUMNS)
        assert image.pixels.min() < 200
        assert 3300 < image.pixels.max() <= 4095


@pytest.mark.parametrize("seed", range(4))
def test_heart_to_thorax_width_is_the_stated_ratio(seed):
    exam = render_exam(seed, sex="MF"[seed % 2], age=40 + 10 * seed, rows=ROWS, columns=COLUMNS)
    thorax_left, thorax_right = exam.thorax
    assert exam.find_region("cardiac silhouette").boxes[View.PA].width / (
        thorax_right - thorax_left
    ) == pytest.approx(exam.ctr, abs=0.02)


def test_heart_without_cardiomegaly_is_under_half_the_thorax():
    assert max(draw_habitus(seed, sex="F", age=95).ctr for seed in range(300)) < 0.5


def test_heart_with_cardiomegaly_is_over_half_the_thorax():
    spec = FindingSpec(kind=FindingKind.CARDIOMEGALY, conspicuity=0.0)
    assert render_exam(3, findings=[spec], rows=80, columns=64).ctr > 0.5


def test_lung_is_darker_than_heart_and_abdomen(exam):
    def mean_around_centre(name):
        box = exam.find_region(name).boxes[View.PA]
        middle_x, middle_y = (box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2
        return (
            exam.find_image(View.PA)
            .pixels[int(middle_y) - 10 : int(middle_y) + 10, int(middle_x) - 10 : int(middle_x) + 10]
            .mean()
        )

    assert (
        mean_around_centre("left mid lung zone") + 500
        < mean_around_centre("cardiac silhouette")
        < mean_around_centre("abdomen")
    )


def test_two_thirds_of_the_heart_are_left_of_the_midline(exam):
    spine, heart = (
        exam.find_region("spine").boxes[View.PA],
        exam.find_region("cardiac silhouette").boxes[View.PA],
    )
    midline = (spine.x_min + spine.x_max) / 2
    assert 0.55 < (heart.x_max - midline) / heart.width < 0.78


def test_right_hemidiaphragm_is_higher(exam):
    assert (
        exam.find_region("right hemidiaphragm").boxes[View.PA].y_min
        < exam.find_region("left hemidiaphragm").boxes[View.PA].y_min
    )


def test_region_boxes_lie_inside_the_image(exam):
    for region in exam.regions:
        assert all(box.lies_within(rows=ROWS, columns=COLUMNS) for box in region.boxes.values()), region.name


def test_marker_is_on_the_patients_left(exam):
    pixels = exam.find_image(View.PA).pixels[: ROWS // 8]
    brightest = np.argwhere(pixels > 3900)[:, 1]
    assert len(brightest) > 20
    assert brightest.min() > COLUMNS * 0.8


def test_unknown_region_is_a_key_error(exam):
    with pytest.raises(KeyError):
        exam.find_region("left kidney")


@pytest.mark.parametrize(
    "invalid_arguments",
    [{"sex": "X"}, {"age": 4}, {"rows": 10, "columns": 10}, {"rows": 300, "columns": 900}],
)
def test_impossible_exam_is_refused(invalid_arguments):
    with pytest.raises(ValueError, match=r"no such patient|no chest radiograph"):
        render_exam(1, **invalid_arguments)


def test_chord_through_the_middle_of_a_ball_is_its_diameter():
    frame = Frame(view=View.PA, rows=100, columns=100, spacing=1.0, turn=0.0, centre=0.0)
    u, v = frame.axes(1)
    chord = ellipsoid((0.5, 50.5, 0), (20, 20, 20)).chord(frame, u, v)
    assert chord.max() == pytest.approx(40, abs=1e-3)
    assert chord[50, 50 + 12] == pytest.approx(2 * np.sqrt(400 - 144), abs=1e-3)


def test_tube_across_the_beam_projects_as_a_cylinder():
    frame = Frame(view=View.PA, rows=120, columns=120, spacing=0.5, turn=0.0, centre=0.0)
    tube = join_curves([sample_curve(np.array([[-60.0, 30.25, 0], [60.0, 30.25, 0]]), 5.0, step=0.1)])
    profile = project_tubes([tube], frame, 1, classes=(5.0,), blur=0.01)[:, 60]
    offsets = (np.arange(120) + 0.5) * 0.5 - 30.25
    expected = 2 * np.sqrt(np.clip(25 - offsets**2, 0, None))
    assert np.abs(profile - expected).max() < 1.2  # the pixels are too coarse at the rim
    assert np.abs(profile - expected)[np.abs(offsets) < 4].max() < 0.25


def test_tube_oblique_to_the_beam_has_longer_paths():
    frame = Frame(view=View.PA, rows=120, columns=120, spacing=0.5, turn=0.0, centre=0.0)
    # 60 degrees to the image plane: the path is 1 / cos 60 = 2 times as long
    knots = np.array([[-40.0, 30.25, -40 * np.sqrt(3)], [40.0, 30.25, 40 * np.sqrt(3)]])
    path = project_tubes(
        [join_curves([sample_curve(knots, 4.0, step=0.1)])], frame, 1, classes=(4.0,), blur=0.01
    )
    assert path[60, 60] == pytest.approx(16.0, rel=0.03)
