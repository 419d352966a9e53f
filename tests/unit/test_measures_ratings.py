"""Files of ratings: what is read, and the messages for what cannot be read."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import main
from domain.errors import Refused
from measures.rating_matrix import encode_ratings
from measures.ratings import check_ratings, scale_positions
from measures.ratings_file import read_ratings

HEAD = "question_id,rater,answer,kind\n"


def told(tmp_path, text, **options):
    """The refusal of a file with this text."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Refused) as refusal:
        encode_ratings(check_ratings(read_ratings(path)), **options)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "line 1: the file is empty"),
        ("question_id,rater\nq1,r1\n", "line 1: no column answer"),
        (HEAD, "line 2: no rating"),
        (HEAD + "q1,r1,A\n", "line 2: 3 fields where the first line names 4 columns"),
        (HEAD + "q1,r1,A,reader,x\n", "line 2: 5 fields"),
        (HEAD + ",r1,A,reader\n", "line 2: question_id '': is empty"),
        (HEAD + "q1,,A,reader\n", "line 2: rater '': is empty"),
        (HEAD + "q1,r1,A,robot\n", "line 2: kind 'robot': must be reader, model, reference or empty"),
        (HEAD + "q1,r1,A,reader\n\nq1,r1,B,reader\n", "line 4: question_id 'q1': this rater answered"),
        (HEAD + "q1,r1,A|?,reader\n", "line 2: answer '?|A': \"?\" (cannot determine) cannot be ticked"),
        (HEAD + "q1,r1,A,reader\nq2,r1,A,model\n", "line 3: kind 'model': rater 'r1' has 'reader' on line 2"),
        (HEAD + "q1,a,A,reference\nq1,b,A,reference\n", "kind: a, b are all reference"),
        ("question_id,rater,answer,task\nq1,r1,A,all\n", "line 2: task 'all'"),
        ("question_id,rater,answer,n_options\nq1,r1,A,1\n", "line 2: n_options '1': must be a whole number"),
        ("question_id,rater,answer,n_options\nq1,r1,A,four\n", "line 2: n_options 'four'"),
        (
            "question_id,rater,answer,task\nq1,r1,A,x\nq1,r2,A,y\n",
            "line 3: task 'y': question_id 'q1' has 'x'",
        ),
        ("question_id,rater,answer,answer\nq1,r1,A,B\n", "line 1: the column answer stands twice"),
        (HEAD + 'q1,r1,"A,reader\n', "line 2: unexpected end of data"),
        (HEAD.encode() + b"q1,r1,\xff,reader\n", "line 2: this is no UTF-8"),
        (HEAD.encode() + b"q1,r1,\x00,reader\n", "line 2: a zero byte"),
        ("question_id,rater,answer,arm\nq1,r1,A,training\n", "every rating is of a training case"),
    ],
)
def test_a_refusal_names_line_field_and_reason(tmp_path, text, wanted):
    assert wanted in told(tmp_path, text)


def test_a_reference_who_is_not_there_is_refused(tmp_path):
    text = told(tmp_path, HEAD + "q1,r1,A,reader\n", reference="r9")
    assert text == "--reference 'r9': no such rater. There are r1."


def test_a_line_within_quotes_counts_where_it_begins(tmp_path):
    assert "line 4: kind 'robot'" in told(tmp_path, HEAD + 'q1,r1,"two\nlines",reader\nq2,r1,A,robot\n')


@pytest.mark.parametrize(
    "text", [HEAD, "\ufeff" + HEAD, HEAD.replace(",", ";"), HEAD.replace(",", "\t").upper()]
)
def test_comma_semicolon_tab_and_byte_order_mark_are_read(tmp_path, text):
    path = tmp_path / "ratings.csv"
    separator = next(each for each in ",;\t" if each in text)
    path.write_text(text + separator.join(["q1", "r1", "A", "reader"]) + "\r\n", encoding="utf-8")
    assert read_ratings(path).to_dict("records") == [
        {"question_id": "q1", "rater": "r1", "answer": "A", "kind": "reader", "line": 2}
    ]


def test_na_and_none_are_answers_like_others(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(HEAD + "q1,r1,NA,reader\nq2,r1,None,reader\nq3,r1,,reader\n", encoding="utf-8")
    assert check_ratings(read_ratings(path))["answer"].tolist() == ["NA", "None", ""]


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    from measures.ratings_file import _parse_table

    try:
        came_of_it = f"{len(encode_ratings(check_ratings(_parse_table(HEAD + text))).questions)} questions"
    except Refused as refusal:
        came_of_it = str(refusal)
    assert re.match(r"line [0-9]+: |kind: |every rating |[1-9][0-9]* questions", came_of_it)


def test_the_command_writes_the_measures_and_says_what(tmp_path, capsys):
    source, out = tmp_path / "ratings.csv", tmp_path / "measures.json"
    lines = [f"q{at},{rater},{'AB'[at % 2]}" for at in range(8) for rater in ("r1", "r2")]
    source.write_text("question_id,rater,answer\n" + "\n".join(lines), encoding="utf-8")
    arguments = ["measure", str(source), "--out", str(out), "--reference", "r1", "--seed", "3"]
    assert main(arguments) == 0
    first = out.read_bytes()
    assert "1 accuracy" in capsys.readouterr().out
    assert main(arguments) == 0
    assert out.read_bytes() == first
    found = json.loads(first)
    assert found["settings"]["seed"] == 3
    assert found["accuracy"][0]["rater"] == "r2"


def test_the_command_refuses_with_the_line(tmp_path, capsys):
    source = tmp_path / "ratings.csv"
    source.write_text(HEAD + "q1,r1,A,robot\n", encoding="utf-8")
    assert main(["measure", str(source), "--out", str(tmp_path / "out.json")]) == 1
    assert "line 2: kind 'robot'" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--confidence", "95"), ("--bootstrap", "5"), ("--seed", "-1")]
)
def test_the_command_refuses_settings_that_cannot_be(tmp_path, capsys, option, value):
    source = tmp_path / "ratings.csv"
    source.write_text(HEAD + "q1,r1,A,reader\n", encoding="utf-8")
    assert main(["measure", str(source), "--out", str(tmp_path / "out.json"), option, value]) == 1
    assert option.strip("-") in capsys.readouterr().err


@pytest.mark.parametrize("out", ["", "nowhere/measures.json"])
def test_the_command_refuses_an_output_before_it_reads(tmp_path, capsys, out):
    assert main(["measure", str(tmp_path / "no.csv"), "--out", str(tmp_path / out)]) == 1
    assert "name a file in a folder that there is" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_refused(tmp_path, capsys):
    assert main(["measure", str(tmp_path / "no.csv"), "--out", str(tmp_path / "out.json")]) == 1
    assert "no.csv: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("label", ["nan", "inf", "-Infinity"])
def test_an_answer_that_is_no_finite_number_has_no_place_on_a_scale(label):
    with pytest.raises(Refused, match="need answers with an order"):
        scale_positions(["1", label])
