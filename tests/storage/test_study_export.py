"""Files of a study for iMRMC and RJafroc; read as these programs do, they give the AUC of Overread."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from openpyxl import load_workbook
from sklearn.metrics import roc_auc_score

from cli import main
from domain.batches import SamplingPlan
from domain.errors import Refused
from domain.readings import Prediction
from domain.studies import Arm, Crossing, StudyDesign
from domain.vocabulary import AnswerFormat
from measures.all_measures import compute_measures
from measures.ratings_file import read_ratings
from measures.records.settings import Settings
from reader_study import roc_files
from reader_study import service as studies
from reader_study.report.report_data import ModelAnswers
from reader_study.sheet import ReadingSheet
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import answer_case, make_design, make_study_world, open_sheet
from tests.storage.worlds import NOW

#: Answer and confidence of each reader, by order of reading.
ANSWERS = {
    "rea": [("yes", 5), ("no", 2), ("yes", 1), ("no", 4), ("no", 1), ("yes", 3)],
    "rob": [("no", 3), ("yes", 2), ("yes", 4), ("no", 5), (None, None), ("no", 2)],
}


def read_all_closed(study_world, answers=ANSWERS):
    for name, readings in answers.items():
        for answer, confidence in readings:
            sheet = open_sheet(study_world, name)
            if not isinstance(sheet, ReadingSheet):
                break
            answer_case(
                study_world, name, answer=answer, confidence=confidence, cannot_determine=answer is None
            )


def load_data(study_world):
    with read_only_session(study_world.engine) as db:
        return studies.load_report_data(db, by=study_world.cora, study="first")


def read_imrmc(text):
    """Read the file as RJafroc does: numbers of readers, cases and modalities, then lines of four numbers."""
    lines = text.splitlines()
    numbers = {
        name: int(value)
        for name, _, value in (line.partition(": ") for line in lines)
        if name in ("NR", "N0", "N1", "NM")
    }
    rows = [tuple(map(int, line.split(","))) for line in lines[lines.index("BEGIN DATA:") + 1 :]]
    truth = {case: score for reader, case, modality, score in rows if (reader, modality) == (-1, 0)}
    scores = {(reader, modality, case): score for reader, case, modality, score in rows if reader != -1}
    assert numbers["N0"] + numbers["N1"] == len(truth)
    assert numbers["N1"] == sum(truth.values())
    return numbers, truth, scores


def compute_auc(truth, scores, reader, modality):
    pairs = [
        (truth[case], score)
        for (score_reader, score_modality, case), score in scores.items()
        if (score_reader, score_modality) == (reader, modality)
    ]
    return roc_auc_score(*zip(*pairs, strict=True))


@pytest.fixture
def study_world(sqlite_engine):
    world = make_study_world(sqlite_engine, cases=6, questions=12, per_exam=1, closed=12)
    read_all_closed(world)
    return world


@pytest.mark.slow
def test_imrmc_file_has_the_truth_and_all_scores(study_world):
    data = load_data(study_world)
    text = roc_files.render_imrmc(roc_files.select_roc_ratings(data), title="Study")
    numbers, truth, scores = read_imrmc(text)
    assert (numbers["NR"], numbers["NM"], len(truth)) == (2, 1, 6)
    keys = [case.question.answer for case in data.cases]
    assert [truth[case] for case in sorted(truth)] == [int(key == "yes") for key in keys]
    in_order = [scores[1, 1, find_case_number(data, "rea", position)] for position in range(1, 7)]
    assert in_order == [11, 4, 7, 2, 5, 9]  # 6 plus or minus the confidence
    assert scores[2, 1, find_case_number(data, "rob", 5)] == 6  # cannot determine


def find_case_number(data, name, position):
    """Return the number of the case that the reader read at that position."""
    reader = next(reader.id for reader in data.readers if reader.name == name)
    case_id = next(
        reading.key.case_id
        for reading in data.readings
        if reading.key.reader_id == reader and reading.position == position
    )
    return 1 + [case.blind_case.id for case in data.cases].index(case_id)


@pytest.mark.slow
def test_workbook_has_the_same_scores_as_the_imrmc_file(study_world):
    selected = roc_files.select_roc_ratings(load_data(study_world))
    _, truth, scores = read_imrmc(roc_files.render_imrmc(selected, title="Study"))
    workbook = load_workbook(io.BytesIO(roc_files.render_rjafroc(selected)))
    assert workbook.sheetnames == ["Truth", "TP", "FP"]
    sheets = {name: list(workbook[name].values) for name in workbook.sheetnames}
    assert sheets["Truth"][0] == ("CaseID", "LesionID", "Weight")
    assert sheets["Truth"][1:] == [(case, positive, positive) for case, positive in truth.items()]
    assert sheets["TP"][0] == ("ReaderID", "ModalityID", "CaseID", "LesionID", "TP_Rating")
    assert sheets["FP"][0] == ("ReaderID", "ModalityID", "CaseID", "FP_Rating")
    from_sheets = {row[:3]: row[-1] for name in ("TP", "FP") for row in sheets[name][1:]}
    assert from_sheets == scores
    assert {row[2] for row in sheets["TP"][1:]} == {case for case, positive in truth.items() if positive}


@pytest.mark.slow
def test_files_give_the_same_auc_as_compute_measures(study_world, tmp_path):
    data = load_data(study_world)
    selected = roc_files.select_roc_ratings(data)
    _, truth, scores = read_imrmc(roc_files.render_imrmc(selected, title="Study"))
    (tmp_path / "ratings.csv").write_text(roc_files.render_ratings(data, selected), encoding="utf-8")
    measures = compute_measures(
        read_ratings(tmp_path / "ratings.csv"), settings=Settings(positive="yes", bootstrap=0)
    )
    measured_auc = {
        result.rater: result.estimate
        for result in measures.diagnostic
        if result.measure == "auc" and result.task == "all"
    }
    assert measured_auc == pytest.approx(
        {name: compute_auc(truth, scores, number, 1) for number, name in enumerate(selected.readers, start=1)}
    )


@pytest.mark.slow
def test_the_score_of_a_model_is_its_stated_probability_of_yes(study_world):
    data = load_data(study_world)
    closed = [case.blind_case for case in data.cases if case.question.format is AnswerFormat.CLOSED]
    predictions = {
        case.question_row_id: Prediction(
            model_id=1, question_row_id=case.question_row_id, answer="no", probability=0.75
        )
        for case in closed
    }
    data = replace(data, models=(ModelAnswers(name="m", simulated=False, predictions=predictions),))
    text = roc_files.render_ratings(data, roc_files.select_roc_ratings(data))
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["rater"] == "m"]
    assert len(rows) == len(closed)
    assert {(row["score"], row["probability"]) for row in rows} == {("0.25", "0.75")}


def import_readings(study_world, *, confidences):
    """Import readings of ext, a reader without an account: yes to all cases, with these confidences."""
    keys = [case.question.id for case in load_data(study_world).cases]
    write_and_import(
        study_world,
        [
            f"first,ext,{key},yes,{confidence},20,2026-03-02T09:{number:02d}:00Z"
            for number, (key, confidence) in enumerate(zip(keys, confidences, strict=True))
        ],
    )


def write_and_import(study_world, lines):
    header = "study,reader,question_id,answer,confidence,seconds,read_at"
    content = ("\n".join([header, *lines]) + "\n").encode()
    with unit_of_work(study_world.engine) as db:
        outcome = studies.import_readings(
            db, by=study_world.cora, study="first", content=content, file="readings.csv", now=NOW
        )
    assert outcome.refusals == ()


def test_answers_without_confidences_are_scored_by_yes_and_no(sqlite_engine):
    world = make_study_world(sqlite_engine, cases=6, questions=12, per_exam=1, closed=12, readers=())
    import_readings(world, confidences=[""] * 6)
    selected = roc_files.select_roc_ratings(load_data(world))
    assert {rating.score for rating in selected.ratings} == {7}
    assert selected.notes == ()


def test_left_out_questions_and_answers_are_stated(sqlite_engine):
    world = make_study_world(
        sqlite_engine, design=make_design(12), questions=12, per_exam=1, closed=10, readers=("rea",)
    )
    keys = sorted(int(case.question.id.removeprefix("Q")) for case in load_data(world).cases)
    assert keys == list(range(1, 13))
    import_closed_readings(world)
    selected = roc_files.select_roc_ratings(load_data(world))
    assert len(selected.cases) == 10
    assert selected.notes == (
        "2 questions left out: not yes/no.",
        "1 answer left out: without a confidence.",
        "1 rating missing: RJafroc needs every rating, iMRMC does not.",
    )


def import_closed_readings(study_world):
    """Import readings of the yes/no questions by ext; one has no confidence."""
    lines = [
        f"first,ext,Q{number},yes,{'' if number == 1 else 3},20,2026-03-02T09:{number:02d}:00Z"
        for number in range(1, 11)
    ]
    write_and_import(study_world, lines)


@pytest.mark.slow
def test_arms_are_exported_as_modalities(sqlite_engine):
    design = StudyDesign(
        plan=SamplingPlan(seed=7, per_1000=None, n=6), crossing=Crossing.CROSSOVER,
        arms=(Arm(name="with history"), Arm(name="image only", clinical_info_shown=False)),
    )  # fmt: skip
    world = make_study_world(sqlite_engine, design=design, questions=12, per_exam=1, closed=12)
    read_all_closed(world, {"rea": [("yes", 3), ("no", 3)] * 6})
    selected = roc_files.select_roc_ratings(load_data(world))
    numbers, _, scores = read_imrmc(roc_files.render_imrmc(selected, title="Study"))
    assert numbers["NM"] == 2
    assert {modality for _, modality, _ in scores} <= {1, 2}
    ids = list(csv.DictReader(io.StringIO(roc_files.render_ids(selected))))
    assert [row["name"] for row in ids if row["kind"] == "modality"] == ["with history", "image only"]


def test_study_without_yes_no_questions_is_refused(sqlite_engine):
    world = make_study_world(sqlite_engine, design=make_design())
    with pytest.raises(Refused, match=r"with both keys\. The study has 0"):
        roc_files.select_roc_ratings(load_data(world))


def test_study_without_answers_is_refused(sqlite_engine):
    world = make_study_world(sqlite_engine, cases=6, questions=12, per_exam=1, closed=12)
    with pytest.raises(Refused, match="no reader has answered a yes/no question yet"):
        roc_files.select_roc_ratings(load_data(world))


@pytest.mark.slow
def test_command_writes_the_files_and_refuses_a_folder_that_is_not_empty(
    study_world, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(study_world.engine.url))
    out = tmp_path / "out"
    assert main(["study", "export", "first", "--out", str(out)]) == 0
    assert "6 yes/no questions" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {"study.imrmc", "study.xlsx", "ids.csv", "ratings.csv"}
    assert main(["study", "export", "first", "--out", str(out)]) == 1
    assert "is not empty" in capsys.readouterr().err


@pytest.mark.slow
def test_command_prints_the_results_of_another_program_beside_ours(
    study_world, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(study_world.engine.url))
    _, truth, scores = read_imrmc(
        roc_files.render_imrmc(roc_files.select_roc_ratings(load_data(study_world)), title="Study")
    )
    auc = compute_auc(truth, scores, 1, 1)
    path = tmp_path / "AUCperReader.csv"
    columns = "readerID,modalityA,modalityB,AUCA,varAUCA,AUCAminusAUCB,varAUCAminusAUCB"
    path.write_text(f"{columns}\n1,1,NO_MOD,{auc},NA,NA,NA\n", encoding="utf-8")
    assert main(["study", "compare-roc", "first", str(path)]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["location"], row["result"], row["reader"]) == ("AUCperReader.csv, line 2", "AUC", "rea")
    assert (float(row["ours"]), float(row["difference"])) == pytest.approx((auc, 0), abs=1e-5)
    assert main(["study", "compare-roc", "first", str(tmp_path / "none.csv")]) == 1
    assert "none.csv could not be read" in capsys.readouterr().err
