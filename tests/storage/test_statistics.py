"""Dataset statistics: counts by the database, lengths and words, and their files."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import pytest
from sqlalchemy import Engine, update

from accounts.service import command_line_person
from browsing.dataset_comparison import format_comparison_csv
from browsing.figures import render_figures
from browsing.service import compute_dataset_statistics, load_statistics_version
from browsing.text_counts import TextCounts, bin_lengths, mean_length
from cli import main
from storage.rows import QuestionRow, ReleaseRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW, make_world


def counted(engine: Engine):
    with read_only_session(engine) as db:
        return compute_dataset_statistics(db, by=command_line_person(), dataset="demo")


def test_counts_by_task_are_in_the_order_of_the_tasks_and_sum_to_all(engine: Engine) -> None:
    make_world(engine)
    found = counted(engine)
    assert (found.questions, found.exams) == (12, 6)
    assert [count for _, count in found.counts["task"]] == [3, 3, 2, 2, 2]


def test_boxes_are_counted_by_format_with_boxes_a_question(engine: Engine) -> None:
    make_world(engine)
    with unit_of_work(engine) as db:
        two = (
            '[{"radiograph":"pa","label":"","box":[1,2,3,4]},{"radiograph":"pa","label":"","box":[1,2,3,5]}]'
        )
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(boxes=two))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(boxes="[]"))
    single, every = counted(engine).formats
    assert (single.name, single.questions, single.with_boxes, single.boxes) == ("single", 12, 11, 12)
    assert every.boxes_a_question == 1.0


def test_boxes_a_question_and_what_they_show_are_counted(engine: Engine) -> None:
    make_world(engine)
    two = (
        '[{"radiograph":"pa","label":"heart","box":[1,2,3,4]},'
        '{"radiograph":"pa","label":"heart","box":[1,2,3,5]}]'
    )
    with unit_of_work(engine) as db:
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(boxes=two))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(boxes="[]"))
    found = counted(engine)
    assert found.boxes == ((0, 1), (1, 10), (2, 1))
    assert found.observations == (("SECRET-label", 10, 10), ("heart", 1, 2))


def test_every_figure_is_well_formed_and_says_its_number(engine: Engine) -> None:
    make_world(engine)
    with unit_of_work(engine) as db:
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(category="a < b & c"))
    figures = render_figures(counted(engine))
    assert {"task", "boxes", "observations", "question-characters", "explanation-words"} <= set(figures)
    parsed = {name: fromstring(svg) for name, svg in figures.items()}  # noqa: S314 - text of our own making
    texts = {name: "".join(each.itertext()) for name, each in parsed.items()}
    assert all("n = 12" in text for text in texts.values())
    assert "a < b & c" in texts["category"]


def test_lengths_are_histograms_in_characters_and_words(engine: Engine) -> None:
    make_world(engine)
    found = counted(engine)
    assert found.stems.n == 12
    assert found.stems.mean_words == 5
    assert sum(count for _, _, count in found.stems.characters) == 12
    assert ("radiograph", 12) in found.stems.words
    assert "which" not in dict(found.stems.words)


def test_a_dataset_without_questions_has_empty_tables(engine: Engine) -> None:
    make_world(engine, questions=0)
    found = counted(engine)
    assert found.questions == 0
    assert found.stems.mean_characters is None
    assert found.formats[-1].boxes_a_question is None


def test_the_version_rises_with_the_newest_question_and_release(engine: Engine) -> None:
    make_world(engine)
    with read_only_session(engine) as db:
        assert load_statistics_version(db, by=command_line_person(), dataset="demo") == (12, 0)
    with unit_of_work(engine) as db:
        db.add(
            ReleaseRow(dataset_id=1, name="v1", rule="", items=0, manifest_sha256="", folder="", made_at=NOW)
        )
    with read_only_session(engine) as db:
        assert load_statistics_version(db, by=command_line_person(), dataset="demo") == (12, 1)


def test_a_word_counts_once_a_text() -> None:
    counts = TextCounts()
    counts.add_texts(["left, left effusion", "", "Left lung"])
    assert counts.n == 2
    assert counts.list_most_frequent(2) == [("left", 2), ("effusion", 1)]


@pytest.mark.parametrize("text", ["Left-sided, don't; x2y a_b -c- D'", "no_word 12", "A-'b"])
def test_words_of_ascii_are_those_of_any_text(text: str) -> None:
    plain, other = TextCounts(), TextCounts()
    plain.add_texts([text])
    other.add_texts([f"{text} …"])  # not ASCII, and no further word
    assert plain.frequencies == other.frequencies
    assert plain.words == other.words


def test_bins_have_no_gap_and_end_at_the_longest() -> None:
    assert bin_lengths(Counter({3: 2, 25: 1}), width=10) == [(0, 9, 2), (10, 19, 0), (20, 29, 1)]
    assert bin_lengths(Counter(), width=10) == []
    assert mean_length(Counter({10: 1, 20: 1})) == 15


def test_the_command_writes_csv_and_json(sqlite_engine: Engine, monkeypatch, tmp_path, capsys) -> None:
    make_world(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        db.execute(update(QuestionRow).values(category="=1+1"))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    assert main(["statistics", "demo", "--out", str(tmp_path / "out")]) == 0
    assert "12 questions of 6 exams" in capsys.readouterr().out
    rows = list(
        csv.DictReader((tmp_path / "out" / "statistics.csv").read_text(encoding="utf-8").splitlines())
    )
    assert (tmp_path / "out" / "boxes.svg").is_file()
    assert {
        "task",
        "boxes",
        "boxes a question",
        "observations",
        "question words",
        "explanation length in characters",
    } <= {row["table"] for row in rows}
    assert next(row["name"] for row in rows if row["table"] == "category") == "'=1+1"
    shares = [float(row["percent"]) for row in rows if row["table"] == "task"]
    assert sum(shares) == pytest.approx(100, abs=0.3)
    plain = json.loads((tmp_path / "out" / "statistics.json").read_text(encoding="utf-8"))
    assert plain["questions"] == 12


def test_datasets_stand_side_by_side_with_per_cent_of_each(engine: Engine) -> None:
    make_world(engine)
    one = counted(engine)
    other = replace(
        one,
        dataset="=other",
        questions=4,
        counts={**one.counts, "task": (("presence", 1), ("", 3))},
        formats=tuple(replace(each, boxes=2) for each in one.formats),
    )
    rows = list(csv.DictReader(io.StringIO(format_comparison_csv([one, other]))))
    presence, *others = [row for row in rows if row["table"] == "task"]
    assert (presence["demo"], presence["demo, %"]) == ("3", "25.0")
    assert (presence["'=other"], presence["=other, %"], presence["all"]) == ("1", "25.0", "4")
    assert [row["value"] for row in others][-2:] == ["not stated", "all"]
    assert others[-1]["all"] == "16"
    [single, every] = [row for row in rows if row["table"] == "boxes"]
    assert (single["value"], every["'=other"], every["demo, %"]) == ("single", "2", "")
