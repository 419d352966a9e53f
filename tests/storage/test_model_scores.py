"""Scores of models on a released dataset: computed once, kept as files, and audited on a private split."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update

from cli import main
from domain.errors import InvalidValue, NotFound
from domain.evaluations import AnsweredBy, Condition
from evaluation import service as evaluations
from evaluation.scoreboard import summarise_models
from release.splits import Split
from storage.intake.datasets import add_import, finish_import
from storage.rows.audit import AuditRow
from storage.rows.datasets import ExamRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.evaluation_worlds import BY, key_of_exam, make_evaluation_world, make_settings

pytestmark = pytest.mark.full


def now():
    return datetime.now(UTC)


def plan(name, *, split=Split.PUBLIC):
    settings = make_settings(name=name, split=split, conditions=(Condition.AS_GIVEN,))
    with unit_of_work() as db:
        evaluations.plan_without_endpoint(
            db, by=BY, settings=settings, answered_by=AnsweredBy.FILE, model=f"Net {name}", now=now()
        )


def import_answers(tmp_path, name, lines):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with unit_of_work() as db:
        outcome = evaluations.import_answers(
            db, by=BY, name=name, condition=Condition.AS_GIVEN, path=path, now=now()
        )
    assert not outcome.refused, outcome.refusals


def list_questions(name):
    """Return (id, letter of the key) of each question of an evaluation."""
    with unit_of_work() as db:
        answers = evaluations.load_answers(db, by=BY, name=name, now=now())
    return [(asked.question.id, "ABC"[key_of_exam(asked.exam.number)]) for asked in answers.questions]


def find_evaluated_split(split=Split.PUBLIC):
    with read_only_session() as db:
        [evaluated_split] = [
            candidate
            for candidate in evaluations.list_evaluated_splits(db, by=BY)
            if candidate.split == split
        ]
    return evaluated_split


def read_audit(what):
    with read_only_session() as db:
        return [row for row in db.execute(select(AuditRow)).scalars() if row.what == what]


def test_scores_are_computed_once_and_again_after_new_answers(workspace_engine, tmp_path):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    plan("good")
    questions = list_questions("good")
    with pytest.raises(InvalidValue, match="heading of a column"):
        make_settings(name="Questions")
    with pytest.raises(NotFound, match="No model has answered"), read_only_session() as db:
        evaluations.find_evaluated_split(db, by=BY, release_id=1, split="public")
    import_answers(
        tmp_path,
        "good",
        [
            {"question_id": question_id, "raw": f"<answer>{key}</answer>"}
            for question_id, key in questions[:6]
        ],
    )
    evaluated_split = find_evaluated_split()
    with pytest.raises(NotFound, match="not computed yet"):
        evaluations.load_split_scores(by=BY, evaluated_split=evaluated_split)
    target = {"by": BY, "release_id": evaluated_split.release_id, "split": evaluated_split.split}
    reports = []
    assert evaluations.compute_scores(**target, report=lambda *counts: reports.append(counts)) == 1
    assert reports[-1] == (12, 12)
    assert evaluations.compute_scores(**target) == 0
    import_answers(
        tmp_path,
        "good",
        [{"question_id": question_id, "raw": "<answer>A</answer>"} for question_id, _ in questions[6:]],
    )
    assert [item.evaluation.name for item in find_evaluated_split().waiting] == ["good"]
    assert evaluations.compute_scores(**target) == 1
    scored = evaluations.load_split_scores(by=BY, evaluated_split=find_evaluated_split())
    [model] = scored.models
    [summary] = summarise_models(scored.questions, [model], scored.questions.numbers >= 0)
    expected = 6 + sum(key == "A" for _, key in questions[6:])
    assert (summary.accuracy.n, summary.accuracy.count) == (12, expected)
    assert (summary.answers.by_rule, summary.answers.missing) == (12, 0)
    digest = find_evaluated_split().digest
    with unit_of_work() as db:  # a later import that states the sex of the patients
        import_id = add_import(db, dataset_id=1, file_name="facts.jsonl", file_format="x", by=None, now=now())
        db.execute(update(ExamRow).values(sex="F"))
    digest_during_import = find_evaluated_split().digest
    with unit_of_work() as db:
        finish_import(db, import_id=import_id, file_sha256="0" * 64, questions=0, known=12, refused=0)
    assert len({digest, digest_during_import, find_evaluated_split().digest}) == 3
    assert evaluations.compute_scores(**target) == 1
    scored = evaluations.load_split_scores(by=BY, evaluated_split=find_evaluated_split())
    assert scored.questions.dimensions["sex"].values == ("F",)


def test_each_opening_of_the_results_or_a_case_of_a_private_split_is_audited(
    workspace_engine, tmp_path, capsys
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", private=0.5)
    plan("secret", split=Split.PRIVATE)
    questions = list_questions("secret")
    import_answers(
        tmp_path, "secret", [{"question_id": question_id, "raw": key} for question_id, key in questions]
    )
    evaluated_split = find_evaluated_split(Split.PRIVATE)
    assert (
        evaluations.compute_scores(by=BY, release_id=evaluated_split.release_id, split=evaluated_split.split)
        == 1
    )
    before = len(read_audit("open results of private split"))
    assert main(["evaluate", "scores", "demo", "v1", "--split", "private"]) == 0
    assert "100.0" in capsys.readouterr().out
    assert len(read_audit("open results of private split")) == before + 1
    with unit_of_work() as db:
        number = evaluations.load_answers(db, by=BY, name="secret", now=now()).questions[0].number
        case = evaluations.open_case(
            db,
            by=BY,
            release_id=evaluated_split.release_id,
            split=evaluated_split.split,
            question_row_id=number,
            now=now(),
        )
    assert [(item.evaluation, item.is_correct) for item in case.answers] == [("secret", True)]
    [entry] = read_audit("open case of private split")
    assert entry.subject == f"question {number}"
    with pytest.raises(NotFound, match="is not in the private split"), unit_of_work() as db:
        evaluations.open_case(
            db,
            by=BY,
            release_id=evaluated_split.release_id,
            split=evaluated_split.split,
            question_row_id=999,
            now=now(),
        )


def test_the_command_writes_the_tables_of_the_papers(workspace_engine, tmp_path, capsys):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    assert main(["evaluate", "scores", "demo", "v1"]) == 1
    assert "No model has answered the public split of demo v1" in capsys.readouterr().err
    plan("good")
    import_answers(
        tmp_path,
        "good",
        [{"question_id": question_id, "raw": key} for question_id, key in list_questions("good")],
    )
    out = tmp_path / "tables"
    assert main(["evaluate", "scores", "demo", "v1", "--out", str(out), "--published"]) == 0
    assert len(list(out.glob("*.csv"))) == len(list(out.glob("*.tex"))) == 6
    rows = {row["Model"]: row for row in csv.DictReader((out / "gemex-table-5.csv").read_text().splitlines())}
    assert rows["good"]["Single-choice A-score"] == "100.00"
    assert rows["Qwen-VL-Chat (poster)"]["Open-ended V-score"] == "3.17"
    assert main(["evaluate", "scores", "demo", "v1", "--out", str(out / "gemex-table-5.csv")]) == 1
    assert "is not a folder" in capsys.readouterr().err


def test_external_scores_are_added_to_the_tables(workspace_engine, tmp_path, capsys):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    plan("good")
    questions = list_questions("good")
    import_answers(
        tmp_path,
        "good",
        [{"question_id": question_id, "raw": f"{key} because"} for question_id, key in questions],
    )
    pairs = tmp_path / "pairs.jsonl"
    assert main(["evaluate", "scores", "demo", "v1", "--pairs", str(pairs)]) == 0
    lines = [json.loads(line) for line in pairs.read_text().splitlines()]
    assert len(lines) == 12
    assert lines[0]["candidate"].endswith("because")
    assert lines[0]["reference"].startswith(f"{questions[0][1]}. ")
    columns = tmp_path / "columns.csv"
    head = "question_id,evaluation,name,version,score"

    def import_columns(*rows):
        columns.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return main(
            ["evaluate", "scores", "demo", "v1", "--columns", str(columns), "--out", str(tmp_path / "t")]
        )

    rows = [
        f"{question_id},good,BERTScore,deberta 0.3,{40 + position}"
        for position, (question_id, _) in enumerate(questions)
    ]
    assert import_columns(*rows) == 0
    table = list(csv.DictReader((tmp_path / "t" / "gemex-table-6.csv").read_text().splitlines()))
    assert table[0]["Single-choice BERTScore"] == "45.50"  # the mean of 40 to 51
    assert "Stored BERTScore (deberta 0.3)." in capsys.readouterr().out
    assert main(["evaluate", "scores", "demo", "v1"]) == 0  # without the file
    assert "BERTScore|version:deberta 0.3" in capsys.readouterr().out
    for row, message in (
        ("Q99,good,BERTScore,1,4", "columns.csv, line 2: question_id: 'Q99' is not a question of the split"),
        ("Q1,bad,BERTScore,1,4", "line 2: evaluation: 'bad' is none of good"),
        ("Q1,good,BERTScore,,4", "line 2: name and version: must not be empty"),
        ("Q1,good,BERTScore,1,nan", "line 2: score: 'nan' is not a number"),
    ):
        assert import_columns(row) == 1
        assert message in capsys.readouterr().err
    assert import_columns("Q1,good,GREEN,1,4", "Q2,good,GREEN,2,4") == 1
    assert "line 3: version: '2' is not '1'" in capsys.readouterr().err
    assert import_columns("Q1,good,GREEN,1,4", "Q1,good,GREEN,1,4") == 1
    assert "has a score already" in capsys.readouterr().err
    assert import_columns("Q1,good,AR-score,1,4") == 1
    assert "AR-score is computed by Overread; choose another name" in capsys.readouterr().err
    [before] = find_evaluated_split().evaluations
    # The new version replaces the former column.
    assert import_columns(f"{questions[0][0]},good,BERTScore,deberta 0.4,10") == 0
    [column] = find_evaluated_split().evaluations[0].columns
    assert (column.external.version, column.is_computed) == ("deberta 0.4", True)
    assert column.digest != before.columns[0].digest
    assert len(read_audit("import scores from outside")) == 2
