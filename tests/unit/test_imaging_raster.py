"""PNG and JPEG: every kind that can hold a radiograph gives its grey values; damaged files are refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from imaging.errors import UnreadableImage
from imaging.reader import describe, read_radiograph
from tests.unit.makers.raster_files import encode_chunk, encode_image, make_png_of_size, png

GREY = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30)
GREY8 = (GREY % 256).astype(np.uint8)


def read_pixels(content: bytes):
    return read_radiograph(content, name="a.png").pixels


def read_refusal(content: bytes, name: str = "a.png") -> str:
    with pytest.raises(UnreadableImage) as caught:
        describe(content, name=name)
    return str(caught.value)


def test_the_facts_of_a_png_are_read():
    facts = describe(png(GREY * 100), name="a.png")
    assert (facts.media_type, facts.rows, facts.columns, facts.bits) == ("image/png", 20, 30, 16)
    assert (facts.photometric, facts.notes) == ("MONOCHROME2", ())


def test_the_facts_of_a_jpeg_are_read():
    facts = describe(encode_image(Image.fromarray(GREY8), "JPEG"), name="a.jpg")
    assert (facts.media_type, facts.rows, facts.columns, facts.bits) == ("image/jpeg", 20, 30, 8)


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_grey_pngs_are_decoded_exactly(grey, interlaced):
    assert np.array_equal(read_pixels(png(grey, interlaced=interlaced)), grey)


def test_one_bit_is_black_and_white():
    black_and_white = Image.fromarray(GREY8 > 100).convert("1")
    assert np.array_equal(read_pixels(encode_image(black_and_white, "PNG")), np.where(GREY8 > 100, 255, 0))


def test_a_grey_palette_gives_its_grey_values():
    assert np.array_equal(read_pixels(encode_image(Image.fromarray(GREY8).convert("P"), "PNG")), GREY8)


@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_grey_with_full_opacity_is_decoded_exactly(grey):
    opaque = np.full_like(grey, np.iinfo(grey.dtype).max)
    assert np.array_equal(read_pixels(png(np.stack([grey, opaque], axis=-1))), grey)


def test_transparent_pixels_are_black_and_noted():
    partly_transparent = np.stack([GREY8, np.where(GREY8 > 100, 255, 0).astype(np.uint8)], axis=-1)
    decoded = read_radiograph(png(partly_transparent), name="a.png")
    assert np.array_equal(decoded.pixels, np.where(GREY8 > 100, GREY8, 0))
    assert "transparency" in decoded.facts.notes[0]


@pytest.mark.parametrize("grey", [GREY8, GREY * 100])
def test_grey_stored_as_colour_keeps_its_values(grey):
    assert np.array_equal(read_pixels(png(np.stack([grey] * 3, axis=-1))), grey)


def test_colour_is_shown_as_luminance_and_noted():
    colour = np.zeros((4, 4, 3), np.uint16)
    colour[..., 0], colour[..., 1], colour[..., 2] = 20000, 10000, 5000
    decoded = read_radiograph(png(colour), name="a.png")
    # 0.299 * 20000 + 0.587 * 10000 + 0.114 * 5000 = 12420
    assert np.all(decoded.pixels == 12420)
    assert decoded.facts.notes == ("Stored in colour; its luminance is shown.",)


def test_a_grey_image_in_a_colour_jpeg_keeps_its_values():
    grey = encode_image(Image.fromarray(GREY8), "JPEG", quality=95)
    colour = encode_image(Image.fromarray(GREY8).convert("RGB"), "JPEG", quality=95)
    assert np.abs(read_pixels(grey).astype(int) - read_pixels(colour)).max() <= 2


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_of_a_jpeg_is_applied_and_noted(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = np.zeros((16, 32), np.uint8)
    upright[:8, :8] = 255  # a white corner at the top left, as stored in the file
    content = encode_image(Image.fromarray(upright), "JPEG", quality=95, exif=exif)
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
@pytest.mark.parametrize("kept_share", [0.3, 0.6, 0.99])
def test_a_truncated_png_is_refused(kept_share):
    content = png(GREY)
    assert "is truncated" in read_refusal(content[: int(len(content) * kept_share)])


@pytest.mark.parametrize("kept_share", [0.3, 0.6, 0.95])
def test_a_truncated_jpeg_is_refused(kept_share):
    noise = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    content = encode_image(Image.fromarray(noise), "JPEG")
    assert "is truncated" in read_refusal(content[: int(len(content) * kept_share)], "a.jpg")


@pytest.mark.parametrize("kept_share", [0.5, 0.95])
def test_a_truncated_jpeg_with_a_thumbnail_is_refused(kept_share):
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8))
    thumbnail = encode_image(noise.resize((16, 16)), "JPEG")
    exif = b"Exif\0\0" + thumbnail
    content = encode_image(noise, "JPEG")
    content = content[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2) + exif + content[2:]
    assert describe(content, name="a.jpg").rows == 64
    assert "is truncated" in read_refusal(content[: int(len(content) * kept_share)], "a.jpg")


def test_a_damaged_png_is_refused_by_its_checksum():
    content = bytearray(png(GREY))
    content[60] ^= 1
    assert "PNG IDAT: the checksum is wrong" in read_refusal(bytes(content))


def test_a_png_with_less_pixel_data_than_its_header_states_is_refused_on_decoding():
    assert describe(make_png_of_size(100, 100), name="a.png").rows == 100
    with pytest.raises(UnreadableImage, match="can't be decoded"):
        read_radiograph(make_png_of_size(100, 100), name="a.png")


def test_an_image_of_144_megapixels_is_refused_from_its_header():
    assert "12000 x 12000 pixels; the maximum is 80 million" in read_refusal(make_png_of_size(12_000, 12_000))


def test_a_jpeg_bomb_is_refused_from_its_header():
    content = bytearray(encode_image(Image.fromarray(GREY8), "JPEG"))
    position = content.index(b"\xff\xc0") + 5
    content[position : position + 4] = b"\xff\xff\xff\xff"
    assert "65535 x 65535 pixels; the maximum is 80 million" in read_refusal(bytes(content), "a.jpg")


def test_an_animation_is_refused():
    content = png(GREY8)
    position = content.index(b"IDAT") - 4
    animated = content[:position] + encode_chunk(b"acTL", bytes(8)) + content[position:]
    assert "PNG acTL: is an animation" in read_refusal(animated)


def test_a_cmyk_jpeg_is_refused():
    content = encode_image(Image.fromarray(GREY8).convert("CMYK"), "JPEG")
    assert "JPEG frame header: has 4 colour channels" in read_refusal(content, "a.jpg")
