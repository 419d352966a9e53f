"""PNG and JPEG: every kind that can hold a radiograph gives its grey values; damaged files are refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from imaging.errors import UnreadableImage
from imaging.reader import describe, read_radiograph
from tests.unit.makers.raster_files import chunk, png, png_of_size, saved

GREY = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30)
GREY8 = (GREY % 256).astype(np.uint8)


def pixels(content: bytes):
    return read_radiograph(content, name="a.png").pixels


def refusal(content: bytes, name: str = "a.png") -> str:
    with pytest.raises(UnreadableImage) as caught:
        describe(content, name=name)
    return str(caught.value)


def test_the_facts_of_a_png():
    facts = describe(png(GREY * 100), name="a.png")
    assert (facts.media_type, facts.rows, facts.columns, facts.bits) == ("image/png", 20, 30, 16)
    assert (facts.photometric, facts.notes) == ("MONOCHROME2", ())


def test_the_facts_of_a_jpeg():
    facts = describe(saved(Image.fromarray(GREY8), "JPEG"), name="a.jpg")
    assert (facts.media_type, facts.rows, facts.columns, facts.bits) == ("image/jpeg", 20, 30, 8)


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_grey_pngs_give_what_was_stored(grey, interlaced):
    assert np.array_equal(pixels(png(grey, interlaced=interlaced)), grey)


def test_one_bit_is_black_and_white():
    black_and_white = Image.fromarray(GREY8 > 100).convert("1")
    assert np.array_equal(pixels(saved(black_and_white, "PNG")), np.where(GREY8 > 100, 255, 0))


def test_a_grey_palette_gives_its_grey_values():
    assert np.array_equal(pixels(saved(Image.fromarray(GREY8).convert("P"), "PNG")), GREY8)


@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_grey_with_full_opacity_gives_what_was_stored(grey):
    opaque = np.full_like(grey, np.iinfo(grey.dtype).max)
    assert np.array_equal(pixels(png(np.stack([grey, opaque], axis=-1))), grey)


def test_what_is_transparent_is_shown_black_and_noted():
    half = np.stack([GREY8, np.where(GREY8 > 100, 255, 0).astype(np.uint8)], axis=-1)
    decoded = read_radiograph(png(half), name="a.png")
    assert np.array_equal(decoded.pixels, np.where(GREY8 > 100, GREY8, 0))
    assert "transparency" in decoded.facts.notes[0]


@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_colour_that_is_grey_keeps_its_values(grey):
    assert np.array_equal(pixels(png(np.stack([grey] * 3, axis=-1))), grey)


def test_colour_is_shown_as_luminance_and_noted():
    colour = np.zeros((4, 4, 3), np.uint16)
    colour[..., 0], colour[..., 1], colour[..., 2] = 20000, 10000, 5000
    decoded = read_radiograph(png(colour), name="a.png")
    # 0.299 * 20000 + 0.587 * 10000 + 0.114 * 5000 = 12420
    assert np.all(decoded.pixels == 12420)
    assert decoded.facts.notes == ("Stored in colour; its luminance is shown.",)


def test_a_colour_jpeg_of_a_grey_image_keeps_its_values():
    grey = saved(Image.fromarray(GREY8), "JPEG", quality=95)
    colour = saved(Image.fromarray(GREY8).convert("RGB"), "JPEG", quality=95)
    assert np.abs(pixels(grey).astype(int) - pixels(colour)).max() <= 2


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpegs_orientation_is_honoured_and_noted(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = np.zeros((16, 32), np.uint8)
    upright[:8, :8] = 255  # a white corner at the top left, as stored in the file
    content = saved(Image.fromarray(upright), "JPEG", quality=95, exif=exif)
    decoded = read_radiograph(content, name="a.jpg")
    # EXIF 2.3, 4.6.4: where row 0 and column 0 of the file are displayed
    corners = {1: (0, 0), 2: (0, -1), 3: (-1, -1), 4: (-1, 0), 5: (0, 0), 6: (0, -1), 7: (-1, -1), 8: (-1, 0)}
    assert decoded.pixels[corners[orientation]] > 200
    assert decoded.pixels.shape == ((16, 32) if orientation < 5 else (32, 16))
    assert (decoded.facts.rows, decoded.facts.columns) == decoded.pixels.shape
    assert len(decoded.facts.notes) == (0 if orientation == 1 else 1)


def test_a_png_named_jpg_is_a_png():
    assert describe(png(GREY8), name="a.jpg").media_type == "image/png"


# ---------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_a_truncated_png_is_refused(kept):
    content = png(GREY)
    assert "ends too early" in refusal(content[: int(len(content) * kept)])


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_a_truncated_jpeg_is_refused(kept):
    noise = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    content = saved(Image.fromarray(noise), "JPEG")
    assert "ends too early" in refusal(content[: int(len(content) * kept)], "a.jpg")


def test_a_damaged_png_is_refused_by_its_check_sum():
    content = bytearray(png(GREY))
    content[60] ^= 1
    assert "PNG IDAT: its check sum is wrong" in refusal(bytes(content))


def test_a_png_whose_pixels_are_too_few_is_refused_when_it_is_decoded():
    assert describe(png_of_size(100, 100), name="a.png").rows == 100
    with pytest.raises(UnreadableImage, match="can't be decoded"):
        read_radiograph(png_of_size(100, 100), name="a.png")


def test_an_image_of_144_megapixels_is_refused_from_its_header():
    assert "12000 x 12000 pixels; at most 80 million" in refusal(png_of_size(12_000, 12_000))


def test_a_jpeg_bomb_is_refused_from_its_header():
    content = bytearray(saved(Image.fromarray(GREY8), "JPEG"))
    at = content.index(b"\xff\xc0") + 5
    content[at : at + 4] = b"\xff\xff\xff\xff"
    assert "65535 x 65535 pixels; at most 80 million" in refusal(bytes(content), "a.jpg")


def test_an_animation_is_refused():
    content = png(GREY8)
    at = content.index(b"IDAT") - 4
    animated = content[:at] + chunk(b"acTL", bytes(8)) + content[at:]
    assert "PNG acTL: is an animation" in refusal(animated)


def test_four_colours_are_refused():
    content = saved(Image.fromarray(GREY8).convert("CMYK"), "JPEG")
    assert "JPEG frame header: has 4 colours" in refusal(content, "a.jpg")
