"""Records read in bulk give the same result as records read one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boxes import Box, LabelledBox
from domain.expectations import COMPLETE
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty, Task
from intake import batch_filler
from intake.batch_filler import BatchFiller
from intake.containers import Container
from intake.formats import native
from intake.formats.native import NativeReader
from intake.ordinary_records import build_ordinary_columns
from intake.strict_json import decode_plain_lines
from quality.structural_checks import certainly_has_no_problems, check_question

ORDINARY_RECORD: dict[str, Any] = {
    "id": "q",
    "exam": {"id": "e", "age": "058Y", "radiographs": [{"id": "1", "file": "1.png", "view": "PA"}]},
    "format": "single",
    "stem": "Which of the following findings is present: the left lower zone?",
    "options": ["Pleural effusion", "Pneumothorax", "Consolidation", "None of these"],
    "answer": [2],
    "explanation": "An airspace opacity with air bronchograms lies there.",
    "boxes": [{"radiograph": "1", "label": "left lower zone", "box": [1, 2, 3.5, 4]}],
    "task": "location",
    "category": "Lung opacity",
    "difficulty": "easy",
    "source": {"generator": "a model: the third"},
}
FIELD_CHANGES = [
    {"id": " q"}, {"id": ""}, {"id": "q:1"}, {"id": "q" * 501},
    {"stem": "The answer is B, or is it none of them?"}, {"stem": " "}, {"stem": "Ergu\u00df links?"},
    {"stem": "A delete \x7f in the stem of a question"},
    {"options": ["a", "b"]}, {"options": ["1. x", "y", "z", "w"]}, {"options": ["a", "A", "b", "c"]},
    {"options": ["null", "x", "y", "z"]}, {"options": ["x", " ", "y", "z"]}, {"options": None},
    {"answer": [4]}, {"answer": [-1]}, {"answer": [0, 1]}, {"answer": []}, {"answer": "yes"},
    {"explanation": None}, {"explanation": "too short"},
    {"boxes": []}, {"boxes": None}, {"boxes": [{"radiograph": "2", "label": "x", "box": [1, 2, 3, 4]}]},
    {"boxes": [{"radiograph": "1", "label": "x", "box": [3, 2, 1, 4]}]},
    {"boxes": [{"radiograph": "1", "label": "", "box": [1, 2, 3, 4]}]}, {"box_grid": [224, 224]},
    {"task": None}, {"category": None}, {"difficulty": None}, {"subcategory": "A: b"},
    {"source": None}, {"source": {}}, {"source": {"version": "", "prompt_version": None}},
    {"report": "Findings: none."}, {"also_right": [[1]]}, {"also_right": []}, {"content_type": ""},
    {"format": "closed", "options": None, "answer": "yes"}, {"unknown": 1},
    {"exam": {**ORDINARY_RECORD["exam"], "sex": "f"}}, {"exam": {**ORDINARY_RECORD["exam"], "sex": None}},
    {"exam": {**ORDINARY_RECORD["exam"], "sex": "?"}}, {"exam": {"id": "e", "radiographs": []}},
]  # fmt: skip
BYTE_REPLACEMENTS = [
    (b'"stem"', b'"id": "r", "stem"'), (b'"age"', b'"id" : "f", "age"'),
    (b'"generator"', b'"generator" : "x", "generator"'), (b"}", b""), (b'"task"', b'"tsk"'),
    (b"[2]", b"[NaN]"), (b'"label"', b'"label": "y", "label"'), (b'"stem"', b'"stem"\t'),
]  # fmt: skip


def encode_line(changes, byte_replacement):
    raw = json.dumps({**ORDINARY_RECORD, **changes}, ensure_ascii=False).encode()
    if not byte_replacement:
        return raw
    before, after = byte_replacement
    return raw.replace(before, after, 1)


def fill_batch(raw_lines, *, with_images, chunk_size):
    records: list[tuple[int | str, Any]] = list(enumerate(raw_lines, start=1))
    batch = BatchFiller(Container.LINES, NativeReader(""), COMPLETE, 20, with_images)
    for start in range(0, len(raw_lines), chunk_size):
        batch.add_records(records[start : start + chunk_size])
    return batch.batch


@pytest.mark.parametrize("with_images", [False, True])
@pytest.mark.parametrize("lines_before", [0, 3])
@pytest.mark.parametrize(
    ("changes", "byte_replacement"),
    [*((change, None) for change in FIELD_CHANGES), *(({}, change) for change in BYTE_REPLACEMENTS)],
)
def test_a_record_gives_the_same_result_in_bulk_and_alone(
    changes, byte_replacement, lines_before, with_images
):
    ordinary_lines = [encode_line({"id": f"q{number}"}, None) for number in range(4)]
    lines = [
        *ordinary_lines[:lines_before],
        encode_line(changes, byte_replacement),
        *ordinary_lines[lines_before:],
    ]
    batch_together = fill_batch(lines, with_images=with_images, chunk_size=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_filler, "build_ordinary_columns", lambda *_, **__: None)
        batch_alone = fill_batch(lines, with_images=with_images, chunk_size=1)
    for name in ("record_names", "questions", "boxes", "problems", "refusals", "records"):
        assert getattr(batch_together, name) == getattr(batch_alone, name)
    assert [batch_together.exams[exam_index] for exam_index in batch_together.exam_indices] == [
        batch_alone.exams[exam_index] for exam_index in batch_alone.exam_indices
    ]


def test_ordinary_records_are_read_in_one_step():
    raw_lines = [encode_line({"id": f"q{number}"}, None) for number in range(30)]
    records = decode_plain_lines(raw_lines, native._decoder)
    columns = build_ordinary_columns(records, minimum_explanation=20)
    assert {len(values) for values in columns.values()} == {30}


TEXTS = st.lists(
    st.sampled_from(
        ["A", ".", " ", "nan", "null", "Which lobe is it in?", "\n", "\t", "\r", "[", "b) ", "é", "x"]
    ),
    min_size=1,
    max_size=4,
).map("".join)
QUESTIONS = st.tuples(TEXTS, st.lists(TEXTS, min_size=3, max_size=5), TEXTS)


@given(st.lists(QUESTIONS, min_size=1, max_size=4), st.lists(TEXTS, max_size=2), st.integers(0, 30))
@pytest.mark.slow
def test_texts_that_pass_the_quick_test_pass_all_checks(questions, labels, minimum):
    stems, options, explanations = zip(*questions, strict=True)
    if not certainly_has_no_problems(stems, options, explanations, labels, minimum):
        return
    boxes = tuple(
        LabelledBox(radiograph="1", label=label, box=Box(x_min=0, y_min=0, x_max=1, y_max=1))
        for label in labels
    )
    for stem, question_options, explanation in questions:
        question = Question(
            id="q",
            exam_id="e",
            format=AnswerFormat.SINGLE,
            stem=stem,
            options=tuple(question_options),
            answer=(0,),
            explanation=explanation,
            boxes=boxes,
            task=Task.PRESENCE,
            category="x",
            difficulty=Difficulty.EASY,
        )
        assert check_question(question, expected=COMPLETE, minimum_explanation=minimum) == ()
