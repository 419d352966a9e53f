"""A randomly damaged file gives facts and an image, or a refusal (a short form of a longer run)."""

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
from tests.unit.makers.raster_files import encode_image, png

pytestmark = pytest.mark.full

MUTANTS_PER_KIND = 250
SIGNATURES = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", bytes(128) + b"DICM"]


@cache
def make_intact_files() -> dict[str, bytes]:
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
        "png palette": encode_image(Image.fromarray(grey).convert("P"), "PNG"),
        "jpg": encode_image(Image.fromarray(grey), "JPEG"),
        "jpg progressive": encode_image(
            Image.fromarray(np.stack([grey] * 3, axis=-1)), "JPEG", progressive=True
        ),
    }


def mutate(content: bytes, rng: random.Random) -> bytes:
    """One to twenty changes, most of them in the first 900 bytes, where the headers are."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        position = rng.randrange(len(changed) if rng.random() < 0.3 else min(len(changed), 900))
        kind = rng.randrange(5)
        if kind == 0:
            changed[position] = rng.randrange(256)
        elif kind == 1:
            changed[position] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del changed[position : position + rng.randrange(1, 20)]
        elif kind == 3:
            changed[position:position] = rng.randbytes(rng.randrange(1, 12))
        elif rng.random() < 0.2:
            del changed[position:]
        if len(changed) < 10:
            break
    return bytes(changed)


def classify_outcomes(content: bytes) -> tuple[str, str]:
    """The result of reading the facts and of rendering; any other error is passed on."""
    return _classify_outcome(lambda: describe(content, name="f")), _classify_outcome(
        lambda: render_display_jpeg(read_radiograph(content, name="f"), longest_side=300)
    )


def _classify_outcome(read_file: Callable[[], object]) -> str:
    try:
        return type(read_file()).__name__
    except UnreadableImage as refusal:
        return "refused" if refusal.reason else "refused without a reason"


def is_facts_or_refusal(outcome: tuple[str, str]) -> bool:
    return outcome[0] in {"ImageFacts", "refused"} and outcome[1] in {"bytes", "refused"}


@pytest.mark.parametrize("kind", list(make_intact_files()))
def test_damaged_files_give_facts_or_a_refusal(kind):
    rng = random.Random(kind)  # noqa: S311 - seeded on purpose, nothing secret
    outcomes = {classify_outcomes(mutate(make_intact_files()[kind], rng)) for _ in range(MUTANTS_PER_KIND)}
    assert all(map(is_facts_or_refusal, outcomes)), outcomes
    assert len(outcomes) > 1  # some are refused, others are not


@pytest.mark.parametrize("kind", list(make_intact_files()))
def test_files_that_end_early_give_facts_or_a_refusal(kind):
    content = make_intact_files()[kind]
    outcomes = {classify_outcomes(content[:length]) for length in range(0, len(content), 37)}
    assert all(map(is_facts_or_refusal, outcomes)), outcomes
    assert ("refused", "refused") in outcomes


@settings(max_examples=300, deadline=None)
@given(
    signature=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", bytes(128) + b"DICM"]),
    data=st.binary(),
)
def test_any_bytes_give_facts_or_a_refusal(signature, data):
    assert is_facts_or_refusal(classify_outcomes(signature + data))
