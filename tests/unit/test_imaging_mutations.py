"""Random damage, a short form of a longer run: a file gives facts and an image, or a refusal."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from imaging.display import render_display_jpeg
from imaging.errors import UnreadableImage
from imaging.reader import describe, read_radiograph
from tests.unit.makers.dicom_files import dicom, ramp
from tests.unit.makers.raster_files import png, saved

pytestmark = pytest.mark.full

MUTANTS = 250  # of each kind
BEGINNINGS = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", bytes(128) + b"DICM"]


@cache
def whole_files() -> dict[str, bytes]:
    grey = ramp(bits=8)
    window: dict[str, Any] = {
        "WindowCenter": ["100", "200"],
        "WindowWidth": ["50", "60"],
        "PixelPaddingValue": 0,
    }
    rescale: dict[str, Any] = {"RescaleSlope": "1", "RescaleIntercept": "-5", "PixelAspectRatio": ["2", "1"]}
    return {
        "implicit": dicom(syntax=ImplicitVRLittleEndian),
        "explicit": dicom(syntax=ExplicitVRLittleEndian, **window, **rescale),
        "big endian": dicom(syntax=ExplicitVRBigEndian),
        "deflated": dicom(syntax=DeflatedExplicitVRLittleEndian),
        "bare": dicom(syntax=ImplicitVRLittleEndian, preamble=False),
        "rle": dicom(syntax=RLELossless),
        "jpeg": dicom(grey, bits=8, syntax=JPEGBaseline8Bit),
        "jpeg lossless": dicom(syntax=JPEGLosslessSV1),
        "jpeg-ls": dicom(syntax=JPEGLSLossless),
        "jpeg 2000": dicom(syntax=JPEG2000Lossless),
        "png 16": png(ramp(bits=16)),
        "png interlaced": png(grey, interlaced=True),
        "png palette": saved(Image.fromarray(grey).convert("P"), "PNG"),
        "jpg": saved(Image.fromarray(grey), "JPEG"),
        "jpg progressive": saved(Image.fromarray(np.stack([grey] * 3, axis=-1)), "JPEG", progressive=True),
    }


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to twenty changes, most of them in the first 900 bytes, where the headers are."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        at = chance.randrange(len(changed) if chance.random() < 0.3 else min(len(changed), 900))
        kind = chance.randrange(5)
        if kind == 0:
            changed[at] = chance.randrange(256)
        elif kind == 1:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del changed[at : at + chance.randrange(1, 20)]
        elif kind == 3:
            changed[at:at] = chance.randbytes(chance.randrange(1, 12))
        elif chance.random() < 0.2:
            del changed[at:]
        if len(changed) < 10:
            break
    return bytes(changed)


def comes_of(content: bytes) -> tuple[str, str]:
    """The result of reading the facts and of rendering; a DomainError is passed on."""
    return _ends(lambda: describe(content, name="f")), _ends(
        lambda: render_display_jpeg(read_radiograph(content, name="f"), longest_side=300)
    )


def _ends(work: Callable[[], object]) -> str:
    try:
        return type(work()).__name__
    except UnreadableImage as refusal:
        return "refused" if refusal.reason else "refused without a reason"


def is_facts_or_refusal(ends: tuple[str, str]) -> bool:
    return ends[0] in {"ImageFacts", "refused"} and ends[1] in {"bytes", "refused"}


@pytest.mark.parametrize("kind", list(whole_files()))
def test_damaged_files_give_facts_or_a_refusal(kind):
    chance = random.Random(kind)  # noqa: S311 - seeded on purpose, nothing secret
    ends = {comes_of(mutated(whole_files()[kind], chance)) for _ in range(MUTANTS)}
    assert all(map(is_facts_or_refusal, ends)), ends
    assert len(ends) > 1  # some are refused, others are not


@pytest.mark.parametrize("kind", list(whole_files()))
def test_files_that_end_early_give_facts_or_a_refusal(kind):
    content = whole_files()[kind]
    ends = {comes_of(content[:length]) for length in range(0, len(content), 37)}
    assert all(map(is_facts_or_refusal, ends)), ends
    assert ("refused", "refused") in ends


@settings(max_examples=300, deadline=None)
@given(
    start=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", bytes(128) + b"DICM"]),
    rest=st.binary(),
)
def test_any_bytes_give_facts_or_a_refusal(start, rest):
    assert is_facts_or_refusal(comes_of(start + rest))
