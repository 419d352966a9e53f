"""Files made to do harm, or by accident: damaged ones without end, and the known shapes of bombs."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.storage.import_worlds import record
from tests.unit.makers.dicom_files import dicom, inflating_to, nested, ramp
from tests.unit.test_imaging_mutations import mutated, whole_files

_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
#: JSON text as some program might write it, good or not.
json_values = _JUNK.map(lambda value: json.dumps(value, ensure_ascii=False))
_TEXTS = (
    "",
    " ",
    "nan",
    "A",
    "a" * 5_000,
    "\ud800",
    "\0",
    "../../etc/passwd",
    "/etc/passwd",
    "=1+1",
    "\u202e",
    "é",
)
_REX = {
    "question": "Which finding is present?", "options": ["A. a", "B. b", "C. c", "D. d"],
    "correct_answer": "A", "ImagePath": ["pa.png"], "StudyInstanceUid": "1.2",
}  # fmt: skip
_GEMEX = {
    "question": "Is there an effusion?", "choices": ["A: yes", "B: no"], "type": "closed", "answer": "A",
    "reason": "seen", "visual_regions": ["left lung"], "visual_locations": [[1, 2, 30, 40]],
    "image_path": "pa.png", "ori_report": "None.", "q_id": 1, "row_id": 1,
}  # fmt: skip
_RAD = {
    "qid": 1, "image_name": "pa.png", "answer": "yes", "answer_type": "CLOSED", "question": "Is it?",
    "question_type": "PRES", "image_organ": "CHEST", "phrase_type": "freeform",
}  # fmt: skip


def damaged_dicom(number: int) -> bytes:
    """The DICOM file of that number: one of ten transfer syntaxes and layouts, one to twenty changes."""
    return _damaged(number, {kind: file for kind, file in whole_files().items() if not _is_raster(kind)})


def damaged_raster(number: int) -> bytes:
    """The PNG or JPEG file of that number: one of five kinds, one to twenty changes."""
    return _damaged(number, {kind: file for kind, file in whole_files().items() if _is_raster(kind)})


def _is_raster(kind: str) -> bool:
    return kind.startswith(("png", "jpg"))


def _damaged(number: int, kinds: dict[str, bytes]) -> bytes:
    chance = random.Random(number)
    return mutated(kinds[chance.choice(sorted(kinds))], chance)


def question_file(number: int, junk: str) -> bytes:
    """The question file of that number: records of one format, changed value by value or byte by byte.

    ``junk`` is JSON that hypothesis thought of; it takes the place of a value, or of a record.
    """
    chance = random.Random(number)
    kind = chance.choice(["native", "rexvqa", "gemex", "vqa-rad", "junk"])
    if kind == "junk":
        return junk.encode("utf-8", "surrogatepass")
    base = {"native": record(1), "rexvqa": _REX, "gemex": _GEMEX, "vqa-rad": _RAD}[kind]
    records = [_changed(json.loads(json.dumps(base)), chance, junk) for _ in range(chance.randrange(1, 6))]
    if kind == "rexvqa":
        text = json.dumps({f"q{place}": each for place, each in enumerate(records)})
    elif kind == "vqa-rad":
        text = json.dumps(records)
    else:
        text = "\n".join(json.dumps(each) for each in records)
    content = text.encode("utf-8", "surrogatepass")
    return mutated(content, chance) if chance.random() < 0.4 and len(content) > 30 else content


def _changed(found: dict[str, Any], chance: random.Random, junk: str) -> dict[str, Any]:
    if "id" in found:
        found["id"] = f"q-{chance.randrange(100)}"
    for _ in range(chance.choice([0, 0, 1, 1, 2, 4])):
        where: Any = found
        key: Any = chance.choice(list(where))
        while isinstance(where[key], dict | list) and where[key] and chance.random() < 0.7:
            where = where[key]
            key = chance.choice(list(where)) if isinstance(where, dict) else chance.randrange(len(where))
        kind = chance.randrange(5)
        if kind == 0 and isinstance(where, dict):
            where[f"{key}?"] = where.pop(key)
        elif kind == 1:
            where[key] = chance.choice(_TEXTS)
        elif kind == 2:
            where[key] = json.loads(junk)
        elif kind == 3:
            where[key] = chance.choice([None, -1, 10**30, float("nan"), float("inf"), True, [], {}, [[]]])
        else:
            where[key] = [where[key]] * chance.randrange(4)
        if not found:
            break
    return found


def image_bombs() -> dict[str, tuple[Callable[[], bytes], bool]]:
    """Name -> (how it is made, whether it must be refused)."""
    palette = dicom(ramp(bits=8), bits=8, PhotometricInterpretation="PALETTE COLOR")
    return {
        "deflated DICOM that inflates to 2 GiB": (lambda: inflating_to(2 << 30), True),
        "sequence nested 300 deep": (lambda: nested(300), True),
        "sequence nested 20,000 deep": (lambda: nested(20_000), True),
        "pixel data twice as long": (lambda: dicom(pixel_data=ramp().tobytes() * 2), True),
        "palette without its tables": (lambda: palette, True),
        "HighBit 15 with 10 bits stored": (lambda: dicom(bits=10, HighBit=15), True),
        "144-megapixel PNG": (lambda: _empty_png(12_000, 12_000), True),
        "PNG that says 2,147,483,647 rows": (lambda: _empty_png(100, 0x7FFFFFFF), True),
        "65,535 x 65,535 DICOM": (lambda: dicom(Rows=65_535, Columns=65_535), True),
        "1,000,000 frames": (lambda: dicom(NumberOfFrames="1000000"), True),
        "MONOCHROME1": (lambda: dicom(PhotometricInterpretation="MONOCHROME1"), False),
        "Presentation LUT Shape INVERSE": (lambda: dicom(PresentationLUTShape="INVERSE"), False),
    }


def question_bombs() -> dict[str, tuple[bytes, bool]]:
    """Name -> (the file, whether nothing of it may come in)."""
    good, plain = record(1), json.dumps(record(1))
    return {
        "NaN": (plain.replace('"answer": [2]', '"answer": [NaN]').encode(), True),
        "a key twice": (plain.replace('"stem":', '"stem": "Another?", "stem":').encode(), True),
        "lone surrogate": (plain.replace("Which finding", "\\ud800").encode(), True),
        "nested 100,000 deep": (b'{"id":' * 100_000 + b"1" + b"}" * 100_000, True),
        "list nested 100,000 deep": (b"[" * 100_000, True),
        "line of 300 MB without an end": (b'{"id": "' + b"x" * (300 << 20), True),
        "number of 900,000 digits": (plain.replace("[2]", "[" + "9" * 900_000 + "]").encode(), True),
        "200,000 options": (json.dumps({**good, "options": ["a"] * 200_000}).encode(), True),
        "path that climbs": (plain.replace("pa.png", "../../../etc/passwd").encode(), True),
        "absolute path": (plain.replace("pa.png", "/etc/passwd").encode(), True),
        "UTF-16": (plain.encode("utf-16"), True),
        "gzip": (b"\x1f\x8b" + bytes(100), True),
        "quotes without end": (b'{"a": "' + b'\\"' * 400_000, True),
        "a million empty records": (b"{}\n" * 1_000_000, True),
    }


def _empty_png(columns: int, rows: int) -> bytes:
    """A PNG of so many pixels, all black, of which only as many rows are there as fit 1 MB."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    lines = zlib.compress(bytes((columns + 1) * min(rows, 12_000)), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")
