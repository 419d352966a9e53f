"""Records are found in files of any size and spacing, ids are unique, and paths stay in their folder."""

import json
import os
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidValue
from intake import containers
from intake.containers import Container, QuestionFile
from intake.formats.gemex_common import parse_exam, parse_option_indices
from intake.formats.views import parse_view
from intake.guarded_process import compute_time_limit
from intake.image_folder import ImageFolder
from intake.seen_hashes import SeenHashes
from intake.strict_json import decode, decode_plain_lines
from intake.texts import none_if_unknown, option_index, parse_list, split_option_letters
from records.questions import QuestionRecord

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(['"', "\\", "{", "}]", "],"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4).filter(
    lambda record: json.dumps(record).count("{") <= 8
)


def read_records(path, container):
    records: list[tuple[Any, Any]] = list(QuestionFile(path).read_records(container))
    return [(name, json.loads(raw)) for name, raw in records]


@given(
    records=st.lists(RECORDS, min_size=1, max_size=6),
    indent=st.sampled_from([None, 1]),
    chunk=st.integers(1, 200),
)
@pytest.mark.slow
def test_array_members_are_found_at_any_spacing_and_chunk_size(tmp_path_factory, records, indent, chunk):
    path = tmp_path_factory.mktemp("array") / "a.json"
    path.write_text(
        json.dumps(records, indent=indent, ensure_ascii=False), encoding="utf-8", errors="surrogatepass"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containers, "_CHUNK", chunk)
        assert read_records(path, Container.ARRAY) == list(enumerate(records, start=1))


@given(
    records=st.dictionaries(st.text(max_size=8), RECORDS, min_size=1, max_size=6), chunk=st.integers(1, 200)
)
@pytest.mark.slow
def test_object_members_are_found_with_their_keys(tmp_path_factory, records, chunk):
    path = tmp_path_factory.mktemp("object") / "a.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containers, "_CHUNK", chunk)
        assert read_records(path, Container.OBJECT) == list(records.items())


@given(records=st.lists(RECORDS, min_size=1, max_size=9), chunk=st.integers(1, 100))
@pytest.mark.slow
def test_lines_keep_their_numbers(tmp_path_factory, records, chunk):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_text("\n\n".join(json.dumps(record) for record in records), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containers, "_CHUNK", chunk)
        assert read_records(path, Container.LINES) == [
            (2 * index + 1, record) for index, record in enumerate(records)
        ]


def test_an_overlong_line_is_skipped_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "_CHUNK", 100)
    monkeypatch.setattr(containers, "MAX_RECORD_BYTES", 1_000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": "' + b"x" * 5_000 + b'"}\n{"c": 3}\n')
    names = [
        (name, isinstance(raw, InvalidValue))
        for name, raw in QuestionFile(path).read_records(Container.LINES)
    ]
    assert names == [(1, False), (2, True), (3, False)]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 50), max_size=30), max_size=40))
@pytest.mark.slow
def test_repeated_hashes_are_reported(batches):
    seen_hashes, before = SeenHashes(), set()
    for batch in batches:
        expected = [index for index, value in enumerate(batch) if value in before or batch.count(value) > 1]
        assert seen_hashes.add_and_find_known(batch) == expected
        before |= set(batch)


NATIVE_RECORD = {
    "id": "q",
    "exam": {"id": "e", "radiographs": [{"id": "pa", "file": "pa.png"}]},
    "format": "single",
    "stem": "Which?",
    "options": ["a", "b", "c"],
    "answer": [0],
}


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=3))
def test_lines_decode_the_same_in_bulk_and_one_by_one(kinds):
    decoder = msgspec.json.Decoder(QuestionRecord)
    ordinary_line = json.dumps(NATIVE_RECORD).encode()
    with_duplicate_key = ordinary_line.replace(b'"stem"', b'"id": "r", "stem"')
    with_escapes = json.dumps({**NATIVE_RECORD, "stem": "é: \\"}).encode()
    raw_lines = [
        (ordinary_line, with_duplicate_key, ordinary_line[:50], with_escapes)[kind] for kind in kinds
    ]
    decoded_together = decode_plain_lines(raw_lines, decoder)
    assert (decoded_together is not None) == (set(kinds) == {0})
    if decoded_together is not None:
        assert decoded_together == [decode(raw, decoder, has_all_fields=True) for raw in raw_lines]


@pytest.mark.parametrize("raw", ['{"a": 1, "a" : 2}', '{"a": 1, "b": 2, "a"\n:2}', '{"\\u0061": 1, "a": 2}'])
def test_a_duplicate_key_is_found_in_any_spelling(raw):
    class Letters(msgspec.Struct):
        a: int
        b: int | msgspec.UnsetType = msgspec.UNSET

    with pytest.raises(InvalidValue, match="a: occurs twice"):
        decode(raw.encode(), msgspec.json.Decoder(Letters), has_all_fields=True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["A. x", "B) y", "C: z"], (["A", "B", "C"], ["x", "y", "z"])),
        (["B: y", "A: x"], (["B", "A"], ["y", "x"])),
        (["x", "y"], (["A", "B"], ["x", "y"])),
        (["A. fumigatus", "none"], (["A", "B"], ["A. fumigatus", "none"])),
    ],
)
def test_option_letters_are_removed(options, expected):
    assert split_option_letters(options) == expected


def test_options_of_which_only_some_have_letters_are_refused():
    with pytest.raises(InvalidValue, match="some begin with a letter"):
        split_option_letters(["A. x", "B. y", "z"])


@pytest.mark.parametrize("answer", ["C", "c", " C. ", "(C)", "C: text", "C) text"])
def test_an_option_letter_is_read_in_any_spelling(answer):
    assert option_index(answer, ["A", "B", "C", "D"]) == 2


@pytest.mark.parametrize("answer", ["E", "", "CD", "Consolidation", "1"])
def test_a_text_that_names_no_option_is_refused(answer):
    with pytest.raises(InvalidValue, match="not an option"):
        option_index(answer, ["A", "B", "C", "D"])


@pytest.mark.parametrize("answer", [["C", "A"], "['A', 'C']", "[A, C]", "A, C"])
def test_several_option_letters_are_read_in_any_spelling(answer):
    assert parse_option_indices(answer, ["A", "B", "C"]) == (0, 2)


def test_a_list_may_be_given_as_text():
    assert parse_list("['PA', None]", "x") == ["PA", None]
    assert parse_list("PA", "x") == ["PA"]
    assert parse_list("None", "x") == []


@pytest.mark.parametrize("text", ["None", "nan", " ", "NULL", None])
def test_placeholders_for_missing_values_become_none(text):
    assert none_if_unknown(text) is None


@pytest.mark.parametrize(
    ("text", "view"),
    [("PA", "PA"), ("POSTERO_ANTERIOR", "PA"), ("ap", "AP"), ("LL", "LATERAL"), ("LAO", "OTHER"),
     ("N/A", "UNKNOWN"), (None, "UNKNOWN")],
)  # fmt: skip
def test_views_are_parsed_in_all_spellings(text, view):
    assert parse_view(text) == view


@given(
    st.lists(st.sampled_from(["..", ".", "a", "b.png", "/", "~", "c:", "\\", " "]), min_size=1, max_size=5)
)
def test_no_file_outside_the_folder_is_found(tmp_path_factory, parts):
    root = tmp_path_factory.mktemp("root")
    image_folder = root / "a"
    image_folder.mkdir()
    for folder in (root, image_folder):
        (folder / "b.png").write_bytes(b"1")
    try:
        path = ImageFolder(image_folder, file_folder=root / "a").find("/".join(parts))
    except InvalidValue:
        return
    assert path.is_relative_to(image_folder)


@pytest.mark.parametrize("path", ["", " ", ".", "/"])
def test_a_gemex_image_path_that_names_no_file_is_refused(path):
    with pytest.raises(InvalidValue, match="does not name a file"):
        parse_exam(path)


def test_a_line_in_another_encoding_is_recognised_as_a_line(tmp_path):
    file = tmp_path / "one.jsonl"
    file.write_bytes('{"id": "q1", "stem": "Gr\u00f6\u00dfe?", "exam": {"id": "e1"}}'.encode("latin-1"))
    assert QuestionFile(file).detect_container() is Container.LINES


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidValue, match="a folder or a pipe"):
        QuestionFile(tmp_path / "pipe")


@pytest.mark.parametrize(("size", "measured_seconds"), [(8 << 20, 2.9), (63 << 20, 23), (500 << 20, 180)])
def test_the_time_limit_is_at_least_three_times_the_time_for_files_of_short_records(size, measured_seconds):
    assert compute_time_limit(size) >= 3 * measured_seconds
