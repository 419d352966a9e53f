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
from browsing.dataset_comparison import (
    build_format_rows,
    build_overview_rows,
    compare_words,
    format_comparison_csv,
)
from browsing.dataset_statistics import DatasetStatistics, FormatLine, compute_lengths
from browsing.figures import render_figures
from browsing.finding_counts import build_finding_rows, count_findings, format_findings_csv
from browsing.service import compute_dataset_statistics, load_statistics_version
from browsing.statistics_text import format_csv
from browsing.text_counts import TextCounts, bin_lengths, mean_length
from cli import main
from storage.rows.datasets import QuestionRow
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW, make_world

pytestmark = pytest.mark.database


def compute_statistics(engine: Engine):
    with read_only_session(engine) as db:
        return compute_dataset_statistics(db, by=command_line_person(), dataset="demo")


def test_counts_by_task_are_ordered_and_sum_to_the_total(engine: Engine) -> None:
    make_world(engine)
    statistics = compute_statistics(engine)
    assert (statistics.questions, statistics.exams) == (12, 6)
    assert [count for _, count in statistics.counts["task"]] == [3, 3, 2, 2, 2]


def test_boxes_are_counted_by_format_and_per_question(engine: Engine) -> None:
    make_world(engine)
    with unit_of_work(engine) as db:
        two_boxes = (
            '[{"radiograph":"pa","label":"","box":[1,2,3,4]},{"radiograph":"pa","label":"","box":[1,2,3,5]}]'
        )
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(boxes=two_boxes))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(boxes="[]"))
    single, total = compute_statistics(engine).formats
    assert (single.name, single.questions, single.with_boxes, single.boxes) == ("single", 12, 11, 12)
    assert total.boxes_per_question == 1.0


def test_boxes_per_question_and_their_labels_are_counted(engine: Engine) -> None:
    make_world(engine)
    two_boxes = (
        '[{"radiograph":"pa","label":"heart","box":[1,2,3,4]},'
        '{"radiograph":"pa","label":"heart","box":[1,2,3,5]}]'
    )
    with unit_of_work(engine) as db:
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(boxes=two_boxes))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(boxes="[]"))
    statistics = compute_statistics(engine)
    assert statistics.boxes == ((0, 1), (1, 10), (2, 1))
    assert statistics.observations == (("SECRET-label", 10, 10), ("heart", 1, 2))


def test_every_figure_is_valid_svg_and_states_n(engine: Engine) -> None:
    make_world(engine)
    with unit_of_work(engine) as db:
        db.execute(update(QuestionRow).where(QuestionRow.id == 1).values(category="a < b & c"))
    figures = render_figures(compute_statistics(engine))
    assert {"task", "boxes", "observations", "question-characters", "explanation-words"} <= set(figures)
    parsed = {name: fromstring(svg) for name, svg in figures.items()}  # noqa: S314 - generated above
    texts = {name: "".join(root.itertext()) for name, root in parsed.items()}
    assert all("n = 12" in text for text in texts.values())
    assert "a < b & c" in texts["category"]


def test_lengths_are_histograms_in_characters_and_words(engine: Engine) -> None:
    make_world(engine)
    statistics = compute_statistics(engine)
    assert statistics.stems.n == 12
    assert statistics.stems.mean_words == 5
    assert sum(count for _, _, count in statistics.stems.characters) == 12
    assert ("radiograph", 12) in statistics.stems.words
    assert dict(statistics.stems.words)["which"] == 12  # a word that opens questions
    assert "on" not in dict(statistics.stems.words)
    assert "is" not in dict(statistics.explanations.words)


def test_a_dataset_without_questions_has_empty_tables(engine: Engine) -> None:
    make_world(engine, questions=0)
    statistics = compute_statistics(engine)
    assert statistics.questions == 0
    assert statistics.stems.mean_characters is None
    assert statistics.formats[-1].boxes_per_question is None


def test_version_follows_the_newest_question_and_release(engine: Engine) -> None:
    make_world(engine)
    with read_only_session(engine) as db:
        assert load_statistics_version(db, by=command_line_person(), dataset="demo") == (12, 0, 0)
    with unit_of_work(engine) as db:
        db.add(
            ReleaseRow(dataset_id=1, name="v1", rule="", items=0, manifest_sha256="", folder="", made_at=NOW)
        )
    with read_only_session(engine) as db:
        assert load_statistics_version(db, by=command_line_person(), dataset="demo") == (12, 1, 0)


def test_each_word_is_counted_once_per_text() -> None:
    counts = TextCounts()
    counts.add_texts(["left, left effusion", "", "Left lung"])
    assert counts.n == 2
    assert counts.list_most_frequent(2) == [("left", 2), ("effusion", 1)]


@pytest.mark.parametrize("text", ["Left-sided, don't; x2y a_b -c- D'", "no_word 12", "A-'b"])
def test_ascii_and_unicode_texts_give_the_same_words(text: str) -> None:
    ascii_counts, unicode_counts = TextCounts(), TextCounts()
    ascii_counts.add_texts([text])
    unicode_counts.add_texts([f"{text} …"])  # not ASCII, and no further word
    assert ascii_counts.frequencies == unicode_counts.frequencies
    assert ascii_counts.words == unicode_counts.words


def test_bins_are_contiguous_and_end_at_the_longest_length() -> None:
    assert bin_lengths(Counter({3: 2, 25: 1}), width=10) == [(0, 9, 2), (10, 19, 0), (20, 29, 1)]
    assert bin_lengths(Counter(), width=10) == []
    assert mean_length(Counter({10: 1, 20: 1})) == 15


def test_command_writes_csv_and_json(sqlite_engine: Engine, monkeypatch, tmp_path, capsys) -> None:
    make_world(sqlite_engine)
    with unit_of_work(sqlite_engine) as db:
        db.execute(update(QuestionRow).values(category="=1+1"))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    assert main(["statistics", "demo", "--out", str(tmp_path / "out")]) == 0
    assert "12 questions on 6 exams" in capsys.readouterr().out
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
    statistics = json.loads((tmp_path / "out" / "statistics.json").read_text(encoding="utf-8"))
    assert statistics["questions"] == 12


def test_comparison_has_counts_and_percentages_of_each_dataset(engine: Engine) -> None:
    make_world(engine)
    demo_statistics = compute_statistics(engine)
    other_statistics = replace(
        demo_statistics,
        dataset="=other",
        questions=4,
        counts={**demo_statistics.counts, "task": (("presence", 1), ("", 3))},
        formats=tuple(replace(format_counts, boxes=2) for format_counts in demo_statistics.formats),
    )
    rows = list(csv.DictReader(io.StringIO(format_comparison_csv([demo_statistics, other_statistics]))))
    presence, *other_rows = [row for row in rows if row["table"] == "task"]
    assert (presence["demo"], presence["demo, %"]) == ("3", "25.0")
    assert (presence["'=other"], presence["=other, %"], presence["all"]) == ("1", "25.0", "4")
    assert [row["value"] for row in other_rows][-2:] == ["not stated", "all"]
    assert other_rows[-1]["all"] == "16"
    [single, total] = [row for row in rows if row["table"] == "boxes"]
    assert (single["value"], total["'=other"], total["demo, %"]) == ("single", "2", "")


def make_statistics(name: str, counts: dict[str, tuple[int, int]], **changes) -> DatasetStatistics:
    """Statistics with (questions, boxes) by answer format, and no texts."""
    empty = compute_lengths(TextCounts())
    lines = [
        FormatLine(name=value, questions=questions, with_boxes=boxes, boxes=boxes)
        for value, (questions, boxes) in counts.items()
    ]
    total = FormatLine(
        name="all",
        questions=sum(line.questions for line in lines),
        with_boxes=sum(line.with_boxes for line in lines),
        boxes=sum(line.boxes for line in lines),
    )
    values = {
        "images": 0, "exams": 0, "counts": {}, "boxes": (), "observations": (), "splits": {}, "stems": empty,
        "explanations": empty, **changes,
    }  # fmt: skip
    return DatasetStatistics(dataset=name, questions=total.questions, formats=(*lines, total), **values)


def test_questions_and_boxes_by_format_give_the_totals_of_gemex_table_3() -> None:
    """Liu et al., GEMeX, Table 3: total open 446,139 / 471,618, closed 275,011 / 279,985 and so on."""
    published = {
        "train": {"open": (441471, 466725), "closed": (272323, 277249), "single": (441114, 448810),
                  "multiple": (434067, 861635)},
        "valid": {"open": (3524, 3704), "closed": (2145, 2184), "single": (3520, 3599),
                  "multiple": (3451, 6955)},
        "test": {"open": (1144, 1189), "closed": (543, 552), "single": (1300, 1310), "multiple": (973, 1870)},
    }  # fmt: skip
    *_, total = build_format_rows([make_statistics(name, counts) for name, counts in published.items()])
    assert total == {
        "Dataset": "all",
        "closed: questions / boxes": "275,011 / 279,985",
        "single: questions / boxes": "445,934 / 453,719",
        "multiple: questions / boxes": "438,491 / 870,460",
        "open: questions / boxes": "446,139 / 471,618",
        "all: questions / boxes": "1,605,575 / 2,075,782",
    }


def test_datasets_are_compared_by_size_content_lengths_and_words() -> None:
    stems = TextCounts()
    stems.add_texts(["What is it?", "Is it air?"])
    rich = make_statistics(
        "rich", {"single": (2, 1)}, images=3, stems=compute_lengths(stems, are_questions=True)
    )
    bare = make_statistics("bare", {"open": (4, 0)}, images=1)
    first, second = build_overview_rows([rich, bare])
    assert first == {
        "Dataset": "rich", "Images": "3", "Questions": "2", "Answer formats": "single", "With boxes": "50 %",
        "With explanation": "0 %", "Characters per question": "10.5", "Words per question": "3.0",
        "Characters per explanation": "", "Words per explanation": "",
    }  # fmt: skip
    assert (second["Questions"], second["With boxes"], second["Words per question"]) == ("4", "0 %", "")
    words = compare_words([rich, bare], of_explanations=False)
    assert words == [
        {"Word": "is", "rich": "100.0", "bare": ""},
        {"Word": "air", "rich": "50.0", "bare": ""},
        {"Word": "what", "rich": "50.0", "bare": ""},
    ]


def test_content_types_and_regions_are_counted_by_split_of_the_newest_release(engine: Engine) -> None:
    make_world(engine)
    with unit_of_work(engine) as db:
        db.execute(update(QuestionRow).values(content_type="location"))
        db.add(
            ReleaseRow(dataset_id=1, name="v1", rule="", items=3, manifest_sha256="", folder="", made_at=NOW)
        )
        db.flush()
        for question_id, split in ((1, "train"), (2, "train"), (3, "test")):
            db.add(ReleaseItemRow(release_id=1, question_id=question_id, side=split))
    statistics = compute_statistics(engine)
    assert statistics.splits["content_type"] == {("train", "location"): 2, ("test", "location"): 1}
    assert statistics.splits["observations"] == {("train", "SECRET-label"): 2, ("test", "SECRET-label"): 1}
    rows = format_csv(statistics).splitlines()
    assert '"split train, content type",location,,2,100.0' in rows
    assert '"split test, observations",SECRET-label,,1,100.0' in rows


def test_findings_of_reports_are_counted_per_exam_and_shares_sum_to_100() -> None:
    counts = count_findings(
        [
            "FINDINGS: Moderate left pleural effusion. Mild cardiomegaly.\nIMPRESSION: Pleural effusion.",
            "Small pleural effusion.",
            "FINDINGS: The lungs are clear. Heart size is normal.\nIMPRESSION: No acute disease.",
            "Possible pneumonia. The heart is normal.",
            "XXXX",
            None,
            " ",
        ]
    )
    assert (counts.exams, counts.with_report, counts.healthy, counts.unknown) == (7, 5, 1, 2)
    assert counts.findings == (("Pleural effusion", 2), ("Cardiomegaly", 1))
    rows = build_finding_rows(counts)
    assert [row["% of observations"] for row in rows] == ["50.00", "25.00", "25.00", ""]
    assert format_findings_csv(counts).splitlines()[1] == "Pleural effusion,2,40.0,50.00"
    assert count_findings([]).observations == 0
