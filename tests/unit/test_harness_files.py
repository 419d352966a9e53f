"""Files of answers as lmms-eval, VLMEvalKit and inspect_ai write them.

``tests/golden/harnesses/inspect.eval`` was written by inspect_ai; the README in that folder has the program.
The tables are written with pandas, as VLMEvalKit does; the lines of lmms-eval have the fields that its
tracker writes.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from domain.problems import Refusal
from reader_study.harness_files import Harness, recognise_harness
from reader_study.predictions_file import read_predictions

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "harnesses"
QUESTION_COLUMNS = {"question": "Which?", "A": "Nodule", "B": "Effusion"}
ROWS = [
    {"index": "q-1", **QUESTION_COLUMNS, "answer": "B", "prediction": "B. Effusion"},
    {"index": "q-2", **QUESTION_COLUMNS, "answer": "A", "prediction": None},
]


def read(path: Path) -> list[tuple[str, str | None]]:
    records = [record for record, _ in read_predictions(path, model=None)]
    assert not [record for record in records if isinstance(record, Refusal)], records
    return [(item.question_id, item.raw) for item in records if not isinstance(item, Refusal)]


def read_refusals(path: Path) -> list[tuple[str, str, str]]:
    records = [record for record, _ in read_predictions(path, model=None)]
    return [(item.record, item.field, item.reason) for item in records if isinstance(item, Refusal)]


def make_sample(number: int, reply: str, **changes) -> dict:
    """A line of lmms-eval, as its evaluation tracker writes it."""
    return {
        "doc_id": number,
        "doc": {"id": f"q-{number}", "question": "Which?", "options": ["Nodule", "Effusion"]},
        "target": "B",
        "arguments": [["Which?", {"max_new_tokens": 16}]],
        "resps": [[reply]],
        "filtered_resps": [reply],
        "token_counts": [{"output_tokens": 3}],
        "doc_hash": "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
        "input_media": None,
        **changes,
    }


def write_samples(folder: Path, *samples: dict) -> Path:
    path = folder / "20260101_samples_rexvqa.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return path


def test_samples_of_lmms_eval_are_read(tmp_path):
    path = write_samples(tmp_path, make_sample(1, "B"), make_sample(2, "The answer is A."))
    assert recognise_harness(path) is Harness.LMMS_EVAL
    assert read(path) == [("q-1", "B"), ("q-2", "The answer is A.")]


def test_a_reply_is_read_from_filtered_resps_if_resps_is_missing(tmp_path):
    sample = make_sample(1, "B")
    del sample["resps"]
    assert read(write_samples(tmp_path, sample)) == [("q-1", "B")]


def test_a_sample_without_the_record_of_the_question_is_refused(tmp_path):
    sample = make_sample(7, "B")
    del sample["doc"]
    [(record, field, reason)] = read_refusals(write_samples(tmp_path, sample))
    assert (record, field) == ("1", "doc")
    assert "doc_id is only the number of the row" in reason


@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "json"])
def test_a_table_of_vlmevalkit_is_read(tmp_path, suffix):
    path = tmp_path / f"model_rexvqa.{suffix}"
    frame = pd.DataFrame(ROWS)
    if suffix == "xlsx":
        frame.to_excel(path, index=False)
    elif suffix == "tsv":
        frame.to_csv(path, sep="\t", index=False)
    else:
        frame.to_json(path, orient="records", indent=4)
    assert recognise_harness(path) is Harness.VLMEVALKIT
    assert read(path) == [("q-1", "B. Effusion"), ("q-2", "")]


def test_a_numeric_index_is_read_as_the_id_of_the_question(tmp_path):
    path = tmp_path / "model_data.xlsx"
    pd.DataFrame([{"index": 17, "prediction": "A"}]).to_excel(path, index=False)
    assert read(path) == [("17", "A")]


def test_a_workbook_without_the_columns_of_vlmevalkit_is_refused(tmp_path):
    path = tmp_path / "other.xlsx"
    pd.DataFrame([{"a": 1}]).to_excel(path, index=False)
    [(_, field, reason)] = read_refusals(path)
    assert (field, "index and prediction" in reason) == ("header", True)


def test_a_log_of_inspect_is_read():
    path = GOLDEN / "inspect.eval"
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}  # Zstandard
    assert recognise_harness(path) is Harness.INSPECT
    assert read(path) == [("3", "ANSWER: größer"), ("q-1", "ANSWER: B"), ("q-2", "ANSWER: A")]


def write_log(path: Path, *samples: dict) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number, sample in enumerate(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return path


def test_a_message_in_parts_is_joined_and_further_epochs_are_left_out(tmp_path):
    thought = {"type": "reasoning", "reasoning": "…"}
    parts = [thought, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    sample = {"id": 5, "epoch": 1, "output": {"choices": [{"message": {"content": parts}}]}}
    second_epoch, empty = {**sample, "epoch": 2}, {"id": 6, "epoch": 1, "output": {}}
    assert read(write_log(tmp_path / "log.eval", sample, second_epoch, empty)) == [("5", "A\nB"), ("6", "")]


def test_a_damaged_log_names_the_sample(tmp_path):
    content = bytearray((GOLDEN / "inspect.eval").read_bytes())
    with zipfile.ZipFile(GOLDEN / "inspect.eval") as archive:
        info = min(
            (info for info in archive.infolist() if info.filename.startswith("samples/")),
            key=lambda info: info.filename,
        )
    middle = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    content[middle : middle + 8] = bytes(8)
    path = tmp_path / "damaged.eval"
    path.write_bytes(content)
    [(record, _, reason)] = read_refusals(path)
    assert record == "1"
    assert reason.startswith(f"{info.filename} cannot be read")


def test_an_archive_that_is_no_log_of_inspect_is_refused(tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    assert recognise_harness(path) is None
    assert read_refusals(path)


def test_files_of_overread_and_rexrank_are_not_recognised_as_files_of_a_harness(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"question_id": "q-1", "answer": "B"}\n')
    assert recognise_harness(path) is None
    path.write_text('{"q-1": {"question": "?", "model_prediction": "B"}}')
    assert recognise_harness(path) is None
    assert read(path) == [("q-1", "B")]
