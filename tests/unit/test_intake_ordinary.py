"""Records read in bulk give the same result as records read one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boxes import Box, LabelledBox
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty, Task
from intake import batch_filler
from intake.batch_filler import BatchFiller
from intake.containers import Container
from intake.formats import native
from intake.formats.native import NativeReader
from intake.ordinary_records import build_ordinary_columns
from intake.strict_json import decode_plain_lines
from quality.checks import certainly_without_problems, check_question

ORDINARY: dict[str, Any] = {
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
CHANGES = [
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
    {"exam": {**ORDINARY["exam"], "sex": "f"}}, {"exam": {**ORDINARY["exam"], "sex": None}},
    {"exam": {**ORDINARY["exam"], "sex": "?"}}, {"exam": {"id": "e", "radiographs": []}},
]  # fmt: skip
SPOILT = [
    (b'"stem"', b'"id": "r", "stem"'), (b'"age"', b'"id" : "f", "age"'),
    (b'"generator"', b'"generator" : "x", "generator"'), (b"}", b""), (b'"task"', b'"tsk"'),
    (b"[2]", b"[NaN]"), (b'"label"', b'"label": "y", "label"'), (b'"stem"', b'"stem"\t'),
]  # fmt: skip


def line(changes, spoilt):
    raw = json.dumps({**ORDINARY, **changes}, ensure_ascii=False).encode()
    if not spoilt:
        return raw
    whole, other = spoilt
    return raw.replace(whole, other, 1)


def filled(raws, *, with_images, at_once):
    records: list[tuple[int | str, Any]] = list(enumerate(raws, start=1))
    batch = BatchFiller(Container.LINES, NativeReader(""), 20, with_images)
    for start in range(0, len(raws), at_once):
        batch.add_records(records[start : start + at_once])
    return batch.batch


@pytest.mark.parametrize("with_images", [False, True])
@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize(
    ("changes", "spoilt"), [*((each, None) for each in CHANGES), *(({}, each) for each in SPOILT)]
)
def test_a_record_taken_with_ordinary_ones_is_as_taken_alone(changes, spoilt, before, with_images):
    others = [line({"id": f"q{number}"}, None) for number in range(4)]
    lines = [*others[:before], line(changes, spoilt), *others[before:]]
    together = filled(lines, with_images=with_images, at_once=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_filler, "build_ordinary_columns", lambda *_, **__: None)
        alone = filled(lines, with_images=with_images, at_once=1)
    for name in ("record_names", "questions", "boxes", "problems", "refusals", "records"):
        assert getattr(together, name) == getattr(alone, name)
    assert [together.exams[place] for place in together.exam_indices] == [
        alone.exams[place] for place in alone.exam_indices
    ]


def test_ordinary_records_are_taken_at_once():
    raws = [line({"id": f"q{number}"}, None) for number in range(30)]
    records = decode_plain_lines(raws, native._decoder)
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
def test_the_checks_find_nothing_in_what_is_surely_fine(questions, labels, minimum):
    stems, options, explanations = zip(*questions, strict=True)
    if not certainly_without_problems(stems, options, explanations, labels, minimum):
        return
    boxes = tuple(
        LabelledBox(radiograph="1", label=label, box=Box(x_min=0, y_min=0, x_max=1, y_max=1))
        for label in labels
    )
    for stem, four, explanation in questions:
        question = Question(
            id="q", exam_id="e", format=AnswerFormat.SINGLE, stem=stem, options=tuple(four), answer=(0,),
            explanation=explanation, boxes=boxes, task=Task.PRESENCE, category="x",
            difficulty=Difficulty.EASY,
        )  # fmt: skip
        assert check_question(question, minimum_explanation=minimum) == ()
