"""Small parts of a release: cells, records, the version."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.boxes import Box, BoxFit, BoxGrid, LabelledBox
from domain.errors import InvalidValue
from domain.exams import Exam, Radiograph
from domain.questions import Question, Source
from domain.table_cells import escape_formula, unescape_formula
from domain.vocabulary import AnswerFormat, Difficulty, Sex, Task, View
from records.questions import (
    QUESTION_COLUMNS,
    exam_to_record,
    question_from_columns,
    question_from_plain,
    question_to_columns,
    question_to_record,
)
from release.manifest import VERSION

EXAM = Exam(
    id="E1", radiographs=(Radiograph(id="pa", file="a/b.dcm", view=View.PA),), sex=Sex.FEMALE, report="R"
)

texts = st.text(min_size=1).filter(str.strip)


@st.composite
def questions(draw):
    options = tuple(draw(st.lists(texts, min_size=2, max_size=5)))
    answers = st.lists(st.integers(0, len(options) - 1), min_size=1, unique=True).map(
        lambda a: tuple(sorted(a))
    )
    corner = st.floats(0, 1000, allow_nan=False)
    boxes = st.tuples(corner, corner, texts).map(
        lambda b: LabelledBox(
            radiograph="pa", label=b[2], box=Box(x_min=b[0], y_min=b[1], x_max=b[0] + 1, y_max=b[1] + 1)
        )
    )
    return Question(
        id=draw(texts),
        exam_id="E1",
        format=AnswerFormat.MULTIPLE,
        stem=draw(texts),
        options=options,
        answer=draw(answers),
        also_right=tuple(draw(st.lists(answers, max_size=2))),
        explanation=draw(st.text()),
        boxes=tuple(draw(st.lists(boxes, max_size=2))),
        task=draw(st.sampled_from([None, *Task])),
        difficulty=draw(st.sampled_from([None, *Difficulty])),
        category=draw(st.none() | texts),
        source=Source(generator=draw(st.none() | texts)),
    )


def make_question_on_grids(*grids):
    boxes = tuple(
        LabelledBox(radiograph="pa", label="lung", box=Box(x_min=10, y_min=20, x_max=30, y_max=40), grid=grid)
        for grid in grids
    )
    return Question(
        id="q", exam_id="E1", format=AnswerFormat.CLOSED, stem="Normal?", answer="yes", boxes=boxes
    )


def test_boxes_on_several_stretched_grids_are_written_on_the_first():
    """The second box, from 100 x 50 to 200 x 200 pixels: x doubles, y becomes four times as large."""
    grids = [
        BoxGrid(width=width, height=height, fit=BoxFit.STRETCH) for width, height in ((200, 200), (100, 50))
    ]
    record = question_to_record(make_question_on_grids(*grids), exam_to_record(EXAM, {}))
    assert record.box_grid == (200, 200)
    assert isinstance(record.boxes, tuple)
    assert [box.box for box in record.boxes] == [(10, 20, 30, 40), (20, 80, 60, 160)]


@pytest.mark.parametrize("other_grid", [None, BoxGrid(width=448, height=448, fit=BoxFit.LETTERBOX)])
def test_boxes_on_grids_without_a_common_scale_are_not_written(other_grid):
    gemex = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
    with pytest.raises(InvalidValue, match=r"boxes: are on several grids .*import the images first"):
        question_to_record(make_question_on_grids(gemex, other_grid), exam_to_record(EXAM, {}))


def test_the_columns_of_a_question_keep_the_grid_of_each_box():
    grids = (BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX), None)
    question = make_question_on_grids(*grids)
    columns = question_to_columns(question)
    assert question_from_columns("E1", [columns[name] for name in QUESTION_COLUMNS]) == question


@given(questions())
@pytest.mark.slow
def test_a_question_is_restored_from_its_record(question):
    record = json.loads(
        msgspec.json.encode(question_to_record(question, exam_to_record(EXAM, {}), report="R"))
    )
    assert question_from_plain(record) == question


def test_closed_and_open_questions_are_restored():
    for format_, answer in ((AnswerFormat.CLOSED, "yes"), (AnswerFormat.OPEN, "the left lung")):
        question = Question(id="q", exam_id="E1", format=format_, stem="?", answer=answer)
        record = msgspec.to_builtins(question_to_record(question, exam_to_record(EXAM, {})))
        assert question_from_plain(record) == question
        assert "report" not in record


@given(st.text())
def test_an_escaped_cell_does_not_begin_like_a_formula(text):
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text("'=+-@a\t\r", max_size=6))
def test_an_escaped_cell_is_restored_exactly(text):
    assert unescape_formula(escape_formula(text)) == text


def test_the_manifest_version_is_the_project_version():
    root = Path(__file__).resolve().parents[2]
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"] == VERSION
