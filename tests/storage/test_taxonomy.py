"""Controlled names in a workspace: mapping, undoing, and every place where categories are counted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DatabaseError

import cli
from accounts.service import command_line_person
from browsing.service import (
    Search,
    compute_dataset_statistics,
    index_questions,
    load_filter_choices,
    load_statistics_version,
    search_questions,
)
from domain.batches import SamplingPlan
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound
from domain.people import Person, Role
from quality.service import list_name_examples, load_names, map_name
from review.service.sample_data import load_sample_data
from sampling.service import draw_batch, list_batch_questions
from storage.quality import name_mappings
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from terminology.taxonomy import NamedField
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

BY = command_line_person()
CATEGORY, REGION = NamedField.CATEGORY, NamedField.REGION
BOX = {"radiograph": "pa", "box": [10, 10, 40, 40]}


def make_boxes(*labels):
    return [{**BOX, "label": label} for label in labels]


@pytest.fixture
def importer(engine, tmp_path):
    """Seven questions: 3 Bone, 2 Bones, 1 Cor, 1 without a category."""
    importer = Importer(engine, tmp_path)
    categories = ["Bone", "Bone", "Bone", "Bones", "Bones", "Cor", None]
    labels = [("cardiac region", "right atrium"), ("cardiac silhouette",), ("tube",), (), (), (), ()]
    importer(
        to_json_lines(
            *(
                make_record(
                    number, category=category or ..., content_type="Location", boxes=make_boxes(*names)
                )
                for number, (category, names) in enumerate(zip(categories, labels, strict=True), start=1)
            )
        )
    )
    return importer


def load_name_report(importer, field=CATEGORY):
    with read_only_session(importer.engine) as db:
        return load_names(db, by=BY, dataset="d", field=field)


def map_category(importer, raw, controlled, *, by=BY, field=CATEGORY):
    with unit_of_work(importer.engine) as db:
        map_name(db, by=by, dataset="d", field=field, raw=raw, controlled=controlled, now=NOW)


def list_names(report):
    return [(name.name, name.questions, name.controlled, name.heading, name.is_own) for name in report.names]


def test_names_are_listed_with_counts_and_mapped_and_unmapped_again(importer):
    assert list_names(load_name_report(importer)) == [
        ("Bone", 3, "Bone", "Musculoskeletal", False),
        ("Bones", 2, "Bone", "Musculoskeletal", False),
        ("Cor", 1, None, "", False),
    ]
    map_category(importer, "Cor", "Heart")
    report = load_name_report(importer)
    assert list_names(report)[2] == ("Cor", 1, "Heart", "Cardiovascular", True)
    assert (report.last_mapped, report.unmapped) == ("Cor", ())
    map_category(importer, "Cor", None)
    report = load_name_report(importer)
    assert (report.last_mapped, [name.name for name in report.unmapped]) == (None, ["Cor"])
    with read_only_session(importer.engine) as db:
        entries = db.execute(select(AuditRow).where(AuditRow.what == "map name")).scalars().all()
        assert len(entries) == 2


def test_the_previous_controlled_name_is_available(importer):
    map_category(importer, "Cor", "Heart")
    assert load_name_report(importer).previous_name is None
    map_category(importer, "Cor", "Bone")
    assert load_name_report(importer).previous_name == "Heart"


def test_the_same_mapping_again_adds_nothing(importer):
    for _ in range(2):
        map_category(importer, "Cor", "Heart")
    with read_only_session(importer.engine) as db:
        assert db.execute(text("SELECT count(*) FROM name_mapping")).scalar_one() == 1


def test_a_mapping_is_refused_with_the_reason(importer):
    with pytest.raises(InvalidValue, match=r"'Herz' is not a controlled name.*Similar: "):
        map_category(importer, "Cor", "Herz")
    with pytest.raises(NotFound, match="No question of dataset d has the category 'Hand'"):
        map_category(importer, "Hand", "Joint")
    with pytest.raises(NotAllowed):
        map_category(
            importer,
            "Cor",
            "Heart",
            by=Person(id=5, name="r", display_name="R", roles=frozenset({Role.REVIEWER})),
        )


def test_two_mappings_at_the_same_moment_do_not_overwrite_each_other(importer, monkeypatch):
    map_category(importer, "Cor", "Heart")
    concurrent_names = ["Aorta"]

    def append(db, controlled):
        name_mappings.append_mapping(
            db, dataset_id=1, named_field=CATEGORY, raw_name="Cor", controlled_name=controlled,
            person_id=None, now=NOW,
        )  # fmt: skip

    with unit_of_work(importer.engine) as db:

        def insert_after_another(row):
            if concurrent_names:  # another person's mapping is stored between look-up and insertion
                append(db, concurrent_names.pop())
            return insert(row)

        monkeypatch.setattr(name_mappings, "insert", insert_after_another)
        with pytest.raises(AlreadyThere, match="'Cor'"):
            append(db, "Hila")
    assert list_names(load_name_report(importer))[2][2] != "Hila"


def test_stored_mappings_cannot_be_changed(importer):
    map_category(importer, "Cor", "Heart")
    for statement in ("UPDATE name_mapping SET controlled_name = 'Aorta'", "DELETE FROM name_mapping"):
        with pytest.raises(DatabaseError, match="append-only"), importer.engine.begin() as connection:
            connection.execute(text(statement))


def test_examples_of_a_region_are_questions_with_such_a_box(importer):
    with read_only_session(importer.engine) as db:
        examples = list_name_examples(db, by=BY, dataset="d", field=REGION, raw="right atrium")
    assert [key for _, key, _ in examples] == ["q-1"]


def test_statistics_count_raw_and_controlled_names(importer):
    map_category(importer, "Cor", "Heart")
    with read_only_session(importer.engine) as db:
        statistics = compute_dataset_statistics(db, by=BY, dataset="d")
    assert dict(statistics.counts["category"]) == {"Bone": 3, "Bones": 2, "Cor": 1, "": 1}
    assert dict(statistics.counts["controlled_category"]) == {"Bone": 5, "Heart": 1, "": 1}
    assert dict(statistics.counts["domain"]) == {"Musculoskeletal": 5, "Cardiovascular": 1, "": 1}
    assert dict(statistics.counts["controlled_content_type"]) == {"location": 7}
    # Question 1 has two boxes of the same region, so it counts once.
    assert statistics.regions == (("cardiac silhouette", 2, 3), ("not mapped", 1, 1))


def test_the_version_of_the_statistics_changes_with_a_mapping(importer):
    with read_only_session(importer.engine) as db:
        before = load_statistics_version(db, by=BY, dataset="d")
    map_category(importer, "Cor", "Heart")
    with read_only_session(importer.engine) as db:
        assert load_statistics_version(db, by=BY, dataset="d") > before


def test_a_search_filters_by_controlled_category_and_domain(importer):
    with unit_of_work(importer.engine) as db:
        index_questions(db)

    def find(**criteria):
        with read_only_session(importer.engine) as db:
            page = search_questions(db, by=BY, search=Search(dataset="d", **criteria))
        return [question.id for question in page.questions]

    assert find(controlled_category="Bone") == ["q-1", "q-2", "q-3", "q-4", "q-5"]
    assert find(domain="not mapped") == ["q-6"]
    assert find(controlled_category="Heart") == []
    map_category(importer, "Cor", "Heart")
    assert find(controlled_category="Heart", category="Cor") == ["q-6"]
    assert find(controlled_category="Heart", category="Bone") == []
    with read_only_session(importer.engine) as db:
        choices = load_filter_choices(db, by=BY, dataset="d")
    assert choices.controlled_categories == (("Bone", 5), ("Heart", 1))


def draw(importer, plan, name="b"):
    with unit_of_work(importer.engine) as db:
        return draw_batch(db, by=BY, dataset="d", plan=plan, batch_name=name, now=NOW + timedelta(days=1))


def list_strata(importer, name="b"):
    with read_only_session(importer.engine) as db:
        return {question.key: question.stratum for question in list_batch_questions(db, by=BY, batch=name)}


PLAN = SamplingPlan(seed=3, per_1000=1000, strata=("domain", "controlled_category"))


def test_a_draw_stratifies_by_controlled_names(importer):
    assert draw(importer, PLAN).added == 7
    assert list_strata(importer) == {
        **{f"q-{number}": "easy / Musculoskeletal / Bone" for number in range(1, 6)},
        "q-6": "easy / not mapped / not mapped",
        "q-7": "easy / none / none",
    }


@pytest.mark.slow
def test_a_later_mapping_changes_no_stratum_of_a_batch(importer):
    draw(importer, PLAN)
    map_category(importer, "Cor", "Heart")
    importer(to_json_lines(make_record(8, category="Cor")))
    assert draw(importer, PLAN).added == 1
    assert list_strata(importer)["q-8"] == "easy / not mapped / not mapped"
    draw(importer, PLAN, "c")
    assert list_strata(importer, "c")["q-8"] == "easy / Cardiovascular / Heart"
    with read_only_session(importer.engine) as db:
        data = load_sample_data(db, dataset="d", names=None)
    assert [batch.name for batch in data.batches] == ["b"]
    assert [(name, "other controlled names" in reason) for name, reason in data.excluded] == [("c", True)]


@pytest.mark.slow
def test_the_command_lists_maps_and_unmaps_names(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    file = tmp_path / "q.jsonl"
    file.write_bytes(to_json_lines(make_record(1, category="Cor"), make_record(2, category="=Bone")))
    assert cli.main(["import", "questions", str(file), "--dataset", "d", "--without-images"]) == 0
    assert cli.main(["taxonomy", "map", "d", "Cor", "Heart"]) == 0
    capsys.readouterr()
    assert cli.main(["taxonomy", "names", "d", "--unmapped"]) == 0
    assert "1 name of 2 not mapped." in capsys.readouterr().out
    assert cli.main(["taxonomy", "names", "d", "--csv", str(tmp_path / "names.csv")]) == 0
    rows = (tmp_path / "names.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1:] == ["'=Bone,1,not mapped,,", "Cor,1,Heart,Cardiovascular,command"]
    assert cli.main(["taxonomy", "unmap", "d", "Cor"]) == 0
    capsys.readouterr()
    assert cli.main(["taxonomy", "names", "d"]) == 0
    assert "2 names of 2 not mapped." in capsys.readouterr().out
    assert cli.main(["taxonomy", "controlled"]) == 0
    assert "category,Cardiovascular,Heart," in capsys.readouterr().out
