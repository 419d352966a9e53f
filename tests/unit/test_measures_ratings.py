"""Files of ratings: parsing and error messages."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import main
from domain.errors import Refused
from measures.rating_encoding import encode_ratings
from measures.ratings import check_ratings, compute_scale_positions
from measures.ratings_file import read_ratings

HEADER = "question_id,rater,answer,kind\n"


def read_refusal(tmp_path, text, **options):
    """The refusal of a file with this text."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Refused) as refusal:
        encode_ratings(check_ratings(read_ratings(path)), **options)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        ("question_id,rater\nq1,r1\n", "line 1: no column answer"),
        (HEADER, "line 2: there are no ratings"),
        (HEADER + "q1,r1,A\n", "line 2: 3 fields, but the first line has 4 columns"),
        (HEADER + "q1,r1,A,reader,x\n", "line 2: 5 fields"),
        (HEADER + ",r1,A,reader\n", "line 2: question_id '': is empty"),
        (HEADER + "q1,,A,reader\n", "line 2: rater '': is empty"),
        (HEADER + "q1,r1,A,robot\n", "line 2: kind 'robot': must be reader, model, reference or empty"),
        (HEADER + "q1,r1,A,reader\n\nq1,r1,B,reader\n", "line 4: question_id 'q1': this rater answered"),
        (HEADER + "q1,r1,A|?,reader\n", "line 2: answer '?|A': \"?\" (cannot determine) cannot be selected"),
        (
            HEADER + "q1,r1,A,reader\nq2,r1,A,model\n",
            "line 3: kind 'model': rater 'r1' has 'reader' on line 2",
        ),
        (HEADER + "q1,a,A,reference\nq1,b,A,reference\n", "kind: a, b are all of kind reference"),
        ("question_id,rater,answer,task\nq1,r1,A,all\n", "line 2: task 'all'"),
        ("question_id,rater,answer,n_options\nq1,r1,A,1\n", "line 2: n_options '1': must be an integer"),
        ("question_id,rater,answer,n_options\nq1,r1,A,four\n", "line 2: n_options 'four'"),
        (
            "question_id,rater,answer,task\nq1,r1,A,x\nq1,r2,A,y\n",
            "line 3: task 'y': question_id 'q1' has 'x'",
        ),
        ("question_id,rater,answer,answer\nq1,r1,A,B\n", "line 1: the column answer occurs twice"),
        (HEADER + 'q1,r1,"A,reader\n', "line 2: unexpected end of data"),
        (HEADER.encode() + b"q1,r1,\xff,reader\n", "line 2: this is not UTF-8"),
        (HEADER.encode() + b"q1,r1,\x00,reader\n", "line 2: there is a zero byte"),
        ("question_id,rater,answer,arm\nq1,r1,A,training\n", "All ratings are of training cases"),
    ],
)
def test_a_refusal_states_line_field_and_reason(tmp_path, text, message):
    assert message in read_refusal(tmp_path, text)


def test_an_unknown_reference_is_refused(tmp_path):
    refusal = read_refusal(tmp_path, HEADER + "q1,r1,A,reader\n", reference="r9")
    assert refusal == "--reference: there is no rater 'r9'. The raters are r1."


def test_a_quoted_line_break_counts_as_a_line(tmp_path):
    assert "line 4: kind 'robot'" in read_refusal(
        tmp_path, HEADER + 'q1,r1,"two\nlines",reader\nq2,r1,A,robot\n'
    )


@pytest.mark.parametrize(
    "text", [HEADER, "\ufeff" + HEADER, HEADER.replace(",", ";"), HEADER.replace(",", "\t").upper()]
)
def test_comma_semicolon_tab_and_byte_order_mark_are_read(tmp_path, text):
    path = tmp_path / "ratings.csv"
    separator = next(character for character in ",;\t" if character in text)
    path.write_text(text + separator.join(["q1", "r1", "A", "reader"]) + "\r\n", encoding="utf-8")
    assert read_ratings(path).to_dict("records") == [
        {"question_id": "q1", "rater": "r1", "answer": "A", "kind": "reader", "line": 2}
    ]


def test_na_and_none_are_ordinary_answers(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(HEADER + "q1,r1,NA,reader\nq2,r1,None,reader\nq3,r1,,reader\n", encoding="utf-8")
    assert check_ratings(read_ratings(path))["answer"].tolist() == ["NA", "None", ""]


@given(st.text(max_size=80))
def test_any_text_is_parsed_or_refused(text):
    from measures.ratings_file import RATINGS, _parse_table

    try:
        _, table = _parse_table(HEADER + text, [RATINGS])
        outcome = f"{len(encode_ratings(check_ratings(table)).questions)} questions"
    except Refused as refusal:
        outcome = str(refusal)
    assert re.match(r"line [0-9]+: |kind: |every rating |[1-9][0-9]* questions", outcome)


def test_the_command_writes_and_summarizes_the_measures(tmp_path, capsys):
    source, out = tmp_path / "ratings.csv", tmp_path / "measures.json"
    lines = [f"q{index},{rater},{'AB'[index % 2]}" for index in range(8) for rater in ("r1", "r2")]
    source.write_text("question_id,rater,answer\n" + "\n".join(lines), encoding="utf-8")
    arguments = ["measure", str(source), "--out", str(out), "--reference", "r1", "--seed", "3"]
    assert main(arguments) == 0
    first_output = out.read_bytes()
    assert "1 accuracy" in capsys.readouterr().out
    assert main(arguments) == 0
    assert out.read_bytes() == first_output
    measures = json.loads(first_output)
    assert measures["settings"]["seed"] == 3
    assert measures["accuracy"][0]["rater"] == "r2"


def test_the_command_states_the_line_of_an_invalid_rating(tmp_path, capsys):
    source = tmp_path / "ratings.csv"
    source.write_text(HEADER + "q1,r1,A,robot\n", encoding="utf-8")
    assert main(["measure", str(source), "--out", str(tmp_path / "out.json")]) == 1
    assert "line 2: kind 'robot'" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--confidence", "95"), ("--bootstrap", "5"), ("--seed", "-1")]
)
def test_the_command_refuses_impossible_settings(tmp_path, capsys, option, value):
    source = tmp_path / "ratings.csv"
    source.write_text(HEADER + "q1,r1,A,reader\n", encoding="utf-8")
    assert main(["measure", str(source), "--out", str(tmp_path / "out.json"), option, value]) == 1
    assert option.strip("-") in capsys.readouterr().err


@pytest.mark.parametrize("out", ["", "nowhere/measures.json"])
def test_the_command_checks_the_output_before_reading(tmp_path, capsys, out):
    assert main(["measure", str(tmp_path / "no.csv"), "--out", str(tmp_path / out)]) == 1
    assert "choose a file in an existing folder" in capsys.readouterr().err


def test_a_missing_file_is_refused(tmp_path, capsys):
    assert main(["measure", str(tmp_path / "no.csv"), "--out", str(tmp_path / "out.json")]) == 1
    assert "no.csv: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["nan", "inf", "-Infinity"])
def test_a_non_finite_answer_has_no_position_on_a_scale(label):
    with pytest.raises(Refused, match="need ordered answers"):
        compute_scale_positions(["1", label])
