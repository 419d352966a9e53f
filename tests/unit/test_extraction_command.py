"""cli.py extraction: the number of replies that each rule reads, from files with four layouts."""

from __future__ import annotations

import json

import pytest

from cli import main

REPLIES = [
    {"reply": "Answer: B", "key": "B"},
    {"reply": "Answer: A", "key": "C"},
    {"reply": "The sky is blue.", "key": "A"},
]
LAYOUTS = {
    "lines": "\n".join(map(json.dumps, REPLIES)),
    "array": json.dumps(REPLIES),
    "object": json.dumps(dict(enumerate(REPLIES))),
    "field": json.dumps({"accuracy": 0.3, "items": REPLIES}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_replies_and_correct_replies_are_counted_by_rule(tmp_path, capsys, layout):
    path = tmp_path / "replies.json"
    path.write_text(LAYOUTS[layout])
    records = ["--records", "items"] if layout == "field" else []
    assert main(["extraction", str(path), "--reply", "reply", "--key", "key", *records]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    counts = {row.split(",")[1]: row.split(",")[2:] for row in rows}
    assert header == "file,rule,replies,percent,equal_to_key"
    assert counts.pop("failed") == ["1", "33.3", "0"]
    [counts_of_the_rule] = counts.values()
    assert counts_of_the_rule == ["2", "66.7", "1"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("{", ["--reply", "reply"], "neither JSON nor JSON Lines"),
        ("[]", ["--reply", "reply"], "the file has no records. Name their field with --records"),
        ('{"a": 1}', ["--reply", "reply", "--records", "b"], "the field 'b' has no records"),
        ('[{"text": "A"}]', ["--reply", "reply"], "no text in this field. Its fields: text"),
    ],
)
def test_the_message_states_the_problem_and_the_remedy(tmp_path, capsys, content, arguments, message):
    path = tmp_path / "replies.json"
    path.write_text(content)
    assert main(["extraction", str(path), *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "replies.json" in error
