"""Conversion to types in several threads (`records.decoding`)."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Eight threads use a new class with nested classes at the same time; repeated for 100 classes.
PROGRAM = """
from __future__ import annotations
import dataclasses, sys, threading
import msgspec
from records.decoding import convert_plain, decode_json, make_converter

sys.setswitchinterval(1e-6)
head = {"struct": "class {}(msgspec.Struct):", "dataclass": "@dataclasses.dataclass\\nclass {}:"}[sys.argv[1]]
wrong = []

def use(start, outer):
    start.wait()
    plain = {"f1": {"x": 1}, "f9": {"y": [1]}}
    text = msgspec.json.encode(plain)
    values = [convert_plain(plain, outer), make_converter(outer)(plain), decode_json(text, outer)]
    wrong.extend(value for value in values if value.f1.x != 1 or value.f9.y != [1])

for _ in range(100):
    for number in range(10):
        exec(head.format(f"N{number}") + "\\n x: int | None = None\\n y: list[int] | None = None")
    exec(head.format("Outer") + "".join(f"\\n f{number}: N{number} | None = None" for number in range(10)))
    start = threading.Barrier(8)
    threads = [threading.Thread(target=use, args=(start, Outer)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(wrong))
"""


@pytest.mark.parametrize("kind", ["struct", "dataclass"])
@pytest.mark.slow
def test_threads_that_use_a_class_at_once_do_not_crash_the_process(kind):
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "0\n"), result.stderr
