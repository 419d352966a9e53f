"""Models take part in a study if they are chosen; comparisons on too few cases have no estimate."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from sqlalchemy import Engine, select

import cli
from domain.errors import InvalidValue, Refused
from domain.protocols import Protocol, protocol_from_plain
from reader_study import service as studies
from reader_study.report.files import render_text_file, render_text_files
from reader_study.report.html import render_html
from reader_study.report.rows import build_difference_rows
from storage.rows.studies import ProtocolRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_reports import find_result, list_scored_cases, load_report
from tests.storage.study_worlds import (
    SOURCE,
    StudyWorld,
    answer_case,
    make_design,
    make_study_world,
    read_all,
)
from tests.storage.worlds import NOW, make_world

NOTE = "too few cases for a comparison (3 of 8)"


@pytest.fixture
def study_world(sqlite_engine: Engine) -> StudyWorld:
    return make_study_world(
        sqlite_engine, design=make_design(8), protocol=Protocol(bootstrap=0, minimum_cases=8)
    )


def import_answers(study_world, tmp_path, *, cases: int = 8, model: str = "m", study: str = "first") -> None:
    """Import into ``study`` a model that answers A to the first ``cases`` cases of the study "first"."""
    answers = [
        {"question_id": case.question.id, "answer": "A"} for case in list_scored_cases(study_world)[:cases]
    ]
    path = tmp_path / f"{model}.jsonl"
    path.write_text("\n".join(map(json.dumps, answers)))
    with unit_of_work(study_world.engine) as db:
        studies.import_predictions(db, by=study_world.cora, path=path, model=model, study=study, now=NOW)


def create_second_study(study_world, **protocol) -> None:
    with unit_of_work(study_world.engine) as db:
        studies.create_study(
            db,
            by=study_world.cora,
            name="second",
            source=SOURCE,
            design=make_design(8),
            protocol=Protocol(bootstrap=0, **protocol),
            now=NOW,
        )


def list_models(study_world, study: str = "first"):
    with read_only_session(study_world.engine) as db:
        return {
            model.name: (model.answered, model.cases, model.chosen)
            for model in studies.list_study_models(db, by=study_world.cora, study=study)
        }


def choose_models(study_world, *, reason: str = "", **names):
    with unit_of_work(study_world.engine) as db:
        return studies.choose_models(db, by=study_world.cora, study="first", reason=reason, now=NOW, **names)


@pytest.mark.slow
def test_models_of_one_study_do_not_take_part_in_a_new_study(study_world, tmp_path):
    import_answers(study_world, tmp_path, cases=3)
    create_second_study(study_world)
    assert list_models(study_world, "first") == {"m": (3, 8, True)}
    assert {chosen for _, _, chosen in list_models(study_world, "second").values()} == {False}
    with unit_of_work(study_world.engine) as db:
        studies.assign_readers(db, by=study_world.cora, study="first", to=["rea"], now=NOW)
    report = import_n_and_load_report(study_world, "second", tmp_path)
    assert [row.rater for row in report.tables.raters if row.kind == "model"] == ["n"]


def import_n_and_load_report(study_world, study: str, tmp_path):
    """Import a model "n" that answers every case, and return the report of the study."""
    import_answers(study_world, tmp_path, model="n", study=study)
    with read_only_session(study_world.engine) as db:
        return studies.load_or_compute_report(db, by=study_world.cora, study=study)


def test_import_adds_the_model_to_the_study_in_a_new_protocol_version(study_world, tmp_path):
    import_answers(study_world, tmp_path)
    with read_only_session(study_world.engine) as db:
        first, second = studies.list_protocol_versions(db, by=study_world.cora, study="first")
    assert (first.protocol.models, second.protocol.models) == ((), ("m",))
    assert second.reason == "predictions imported from m.jsonl"
    assert second.sha256 == second.protocol.sha256() != first.sha256


@pytest.mark.slow
def test_after_the_first_answer_a_model_is_removed_only_with_a_reason(study_world, tmp_path):
    import_answers(study_world, tmp_path)
    read_all(study_world, "rea")
    with pytest.raises(Refused, match="Enter a reason"):
        choose_models(study_world, remove=["m"])
    assert choose_models(study_world, remove=["m"], reason="another version").protocol.models == ()
    assert list_models(study_world) == {"m": (8, 8, False)}
    assert not any(row.kind == "model" for row in load_report(study_world).tables.raters)
    assert any("No models: none was chosen" in sentence for sentence in load_report(study_world).words)
    assert choose_models(study_world, add=["m"], reason="back").protocol.models == ("m",)
    with pytest.raises(InvalidValue, match="'x' is not in the study"):
        choose_models(study_world, remove=["x"], reason="unknown")


@pytest.mark.slow
def test_the_report_names_a_chosen_model_without_answers(study_world):
    read_all(study_world, "rea")
    choose_models(study_world, add=["later"], reason="its answers will follow")
    assert list_models(study_world) == {"later": (0, 8, True)}
    assert "later has answered none of the cases." in load_report(study_world).words


def test_the_model_of_the_primary_comparison_takes_part_and_cannot_be_removed(sqlite_engine, tmp_path):
    study_world = make_study_world(sqlite_engine, design=make_design(8), protocol=Protocol(model="m"))
    import_answers(study_world, tmp_path)
    assert list_models(study_world) == {"m": (8, 8, True)}
    with pytest.raises(InvalidValue, match="primary comparison"):
        choose_models(study_world, remove=["m"])


def test_old_protocols_without_a_model_list_include_all_models(sqlite_engine, tmp_path):
    old_protocol = Protocol(bootstrap=0, models=None, minimum_cases=None)
    study_world = make_study_world(sqlite_engine, design=make_design(8), protocol=old_protocol)
    import_answers(study_world, tmp_path)
    with read_only_session(study_world.engine) as db:
        [body] = db.execute(select(ProtocolRow.body)).scalars()
    assert not {"models", "minimum_cases"} & set(json.loads(body))
    assert protocol_from_plain(json.loads(body)).sha256() == old_protocol.sha256()
    assert list_models(study_world) == {"m": (8, 8, True)}
    report = load_report(study_world)
    assert any("does not list models" in sentence for sentence in report.words)
    assert report.facts.needed_cases == 30
    assert choose_models(study_world, add=["n"]).protocol.models == ("m", "n")


@pytest.mark.slow
def test_a_comparison_on_too_few_cases_has_no_estimate_in_page_report_and_export(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    import_answers(study_world, tmp_path, cases=3)
    report = load_report(study_world)
    pair = find_result(report.tables.paired, a="m", b="rea", task="all")
    assert (pair.n, pair.difference, pair.low, pair.high, pair.p_exact, pair.note) == (
        3, None, None, None, None, NOTE,
    )  # fmt: skip
    readers = find_result(report.tables.paired, a="rea", b="rob", task="all")
    assert readers.n == 8
    assert readers.difference is not None
    for comparison in report.tables.mrmc:
        if comparison.task != "all":
            continue
        assert (comparison.cases, comparison.difference, comparison.note) == (3, None, NOTE)
    agreement = find_result(report.tables.agreement, a="m", b="rea", task="all")
    assert (agreement.n, agreement.kappa, agreement.ac1, agreement.note) == (3, None, None, NOTE)
    assert (
        find_result(report.tables.accuracy, rater="m", group="all").n == 3
    )  # accuracy describes the model, so it is still reported
    assert f"Primary comparison (generalises to similar readers): {NOTE}." in report.words
    mean, *rows = build_difference_rows(report)
    assert mean.words == f"{NOTE}, 2 readers, n 3"
    assert {row.words for row in rows} == {f"{NOTE}, n 3"}
    assert NOTE in render_html(report)
    files = render_text_files(report)
    [row] = [
        row
        for row in csv.DictReader(io.StringIO(files["tables/paired.csv"]))
        if (row["a"], row["b"], row["task"]) == ("m", "rea", "all")
    ]
    assert (row["difference"], row["note"]) == ("", NOTE)
    assert NOTE in files["figures/differences-all.svg"]


@pytest.mark.slow
def test_the_difference_is_withheld_only_below_the_minimum_number_of_cases(study_world, tmp_path):
    read_all(study_world, "rea", option=0)
    import_answers(study_world, tmp_path, cases=7)
    assert find_result(load_report(study_world).tables.paired, a="m", b="rea", task="all").difference is None
    with unit_of_work(study_world.engine) as db:
        protocol = studies.list_protocol_versions(db, by=study_world.cora, study="first")[-1].protocol
        studies.change_protocol(
            db,
            by=study_world.cora,
            study="first",
            protocol=replace(protocol, minimum_cases=7),
            reason="the dataset is small",
            now=NOW,
        )
    report = load_report(study_world)
    assert find_result(report.tables.paired, a="m", b="rea", task="all").difference is not None
    assert json.loads(render_text_file(report, "report.json"))["facts"]["needed_cases"] == 7


@pytest.mark.parametrize("number", [0, 100_001])
def test_a_minimum_outside_its_range_is_refused(number):
    with pytest.raises(InvalidValue, match="minimum_cases"):
        Protocol(minimum_cases=number)


def test_models_are_chosen_and_listed_by_command(workspace_engine, capsys, tmp_path):
    make_world(workspace_engine, questions=24)
    create_command = ["study", "create", "pilot", "--dataset", "demo", "--n", "6", "--seed", "7"]
    assert cli.main([*create_command, "--models", "n", "--minimum-cases", "5"]) == 0
    assert cli.main(["study", "models", "pilot", "--add", "m", "--remove", "n"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "model,chosen,answered,cases,simulated",
        "m,yes,0,6,no",
    ]
    assert cli.main(["study", "show", "pilot"]) == 0
    protocol = json.loads(capsys.readouterr().out)["protocol"]
    assert (protocol["models"], protocol["minimum_cases"], protocol["version"]) == (["m"], 5, 2)


@pytest.mark.slow
def test_predictions_without_a_study_go_to_the_only_open_study(workspace_engine, capsys, tmp_path):
    study_world = make_study_world(workspace_engine, cases=4)
    answer_case(study_world, "rea")
    file = tmp_path / "m.jsonl"
    file.write_text(
        "\n".join(
            json.dumps({"question_id": case.question.id, "answer": "A"})
            for case in list_scored_cases(study_world)
        )
    )
    assert cli.main(["import", "predictions", str(file), "--model", "m"]) == 0
    assert "first: m has answered 4 of 4 cases." in capsys.readouterr().out
    create_second_study(study_world)
    assert cli.main(["import", "predictions", str(file), "--model", "n"]) == 0
    assert "The model is not in a study" in capsys.readouterr().out
    assert list_models(study_world, "first") == {"m": (4, 4, True), "n": (4, 4, False)}
