"""Search by words and facets on both databases, page by page, and the history of a question."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from accounts.service import command_line_person
from browsing.service import (
    QuestionStatus,
    Search,
    count_matches,
    describe_event,
    index_questions,
    load_history,
    load_question_number,
    load_search_index_state,
    search_questions,
)
from domain.corrections import Correction
from domain.errors import InvalidValue, NotFound
from domain.image_display import ImageDisplay
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task
from review import service as review
from storage.browsing.search import fts_query, ts_query
from storage.rows import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import accept, give, reject
from tests.storage.made_releases import create_release
from tests.storage.worlds import NOW, World, make_world

BY = command_line_person()
HERE = Search(dataset="demo")


@pytest.fixture
def world(engine) -> World:
    world = make_world(engine, assigned_to=("ruth",))
    with unit_of_work(engine) as db:
        for number, stem in {
            3: "Is the left lower lobe opacity new compared to the prior?",
            4: "Compared to nothing, is there größere Effusion left?",
            5: 'A "quoted" part; DROP TABLE question_words --',
        }.items():
            db.execute(update(QuestionRow).where(QuestionRow.id == number).values(stem=stem))
        db.execute(
            update(QuestionRow).where(QuestionRow.id == 6).values(category="Tubes & Lines / 2", boxes="[]")
        )
    with unit_of_work(engine) as db:
        assert not index_questions(db)
    return world


def numbers(world: World, search: Search, **place: int) -> list[int]:
    with read_only_session(world.engine) as db:
        return [each.number for each in search_questions(db, by=BY, search=search, **place).questions]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("left", [3, 4]),
        ("LEFT lobe", [3]),
        ('"compared to the"', [3]),
        ('"compared to"', [3, 4]),
        ("“compared to” nothing", [4]),
        ("größere", [4]),
        ("lob*", [3]),
        ("lob* left", [3]),
        ("lob", []),
        ("Q5", [5]),
        ("DROP TABLE", [5]),
        ("nowhere", []),
        ('"', list(range(1, 13))),
        ("'; --", list(range(1, 13))),
    ],
)
def test_words_and_phrases_are_found(world, words, found):
    assert numbers(world, replace(HERE, words=words)) == found


def test_facets_are_asked_together(world):
    search = replace(HERE, task=Task.PRESENCE, difficulty=Difficulty.EASY)
    assert numbers(world, search) == [1]
    assert numbers(world, replace(HERE, difficulty=Difficulty.HARD)) == [3, 6, 9, 12]


def test_a_category_with_signs_and_blanks_is_one_facet(world):
    assert numbers(world, replace(HERE, category="Tubes & Lines / 2")) == [6]
    assert numbers(world, replace(HERE, category="Tubes")) == []


def test_only_those_with_boxes(world):
    assert 6 not in numbers(world, replace(HERE, with_boxes=True))


def test_pages_go_on_and_back_without_gap_or_double(world):
    first = numbers(world, HERE, most=5)
    second = numbers(world, HERE, after=first[-1], most=5)
    third = numbers(world, HERE, after=second[-1], most=5)
    assert [*first, *second, *third] == list(range(1, 13))
    assert numbers(world, HERE, before=third[0], most=5) == second


def test_a_page_says_whether_there_are_more_on_either_side(world):
    with read_only_session(world.engine) as db:
        first = search_questions(db, by=BY, search=HERE, most=5)
        last = search_questions(db, by=BY, search=HERE, after=10, most=5)
        back = search_questions(db, by=BY, search=HERE, before=6, most=5)
    assert (first.has_previous, first.has_next) == (False, True)
    assert (last.has_previous, last.has_next) == (True, False)
    assert (back.has_previous, back.has_next) == (False, True)


def test_the_standing_of_questions_is_asked_of_verdicts_and_releases(world, tmp_path):
    give(world, accept(world, question=1))
    give(world, reject(world, question=2))
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=3,
            reason="dark",
            now=NOW,
        )
        create_release(
            db, by=BY, dataset="demo", name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), now=NOW,
        )  # fmt: skip
    assert numbers(world, replace(HERE, standing=QuestionStatus.ACCEPTED)) == [1]
    assert numbers(world, replace(HERE, standing=QuestionStatus.REJECTED, words="radiograph")) == [2]
    assert numbers(world, replace(HERE, standing=QuestionStatus.SKIPPED)) == [3]
    assert numbers(world, replace(HERE, standing=QuestionStatus.RELEASED)) == [1]
    assert numbers(world, replace(HERE, standing=QuestionStatus.DRAWN)) == list(range(3, 13))
    assert numbers(world, replace(HERE, standing=QuestionStatus.NOT_DRAWN)) == []
    assert numbers(world, replace(HERE, batch="first", words="left")) == [3, 4]


def test_the_count_is_that_of_all_pages(world):
    with read_only_session(world.engine) as db:
        assert count_matches(db, by=BY, search=replace(HERE, words="left")) == (2, True)


def test_a_question_that_came_after_the_index_is_behind_until_it_is_put_in(world):
    with unit_of_work(world.engine) as db:
        db.add(
            QuestionRow(
                id=13, dataset_id=world.dataset_id, key="Q13", exam_id=1, import_id=1, format="open",
                stem="Another left one?", answer='"yes"', draw_hash=1, record_hash=b"x" * 16,
            )
        )  # fmt: skip
    with read_only_session(world.engine) as db:
        assert load_search_index_state(db).is_behind
    with unit_of_work(world.engine) as db:
        assert not index_questions(db, limit=1)
    assert numbers(world, replace(HERE, words="left")) == [3, 4, 13]


def test_putting_in_goes_part_by_part(engine):
    make_world(engine)
    calls = 0
    more = True
    while more:
        with unit_of_work(engine) as db:
            more = index_questions(db, limit=5)
        calls += 1
    assert calls == 3


def test_what_is_not_there_is_said_by_name(world):
    with read_only_session(world.engine) as db:
        with pytest.raises(NotFound, match="no dataset 'other'"):
            search_questions(db, by=BY, search=Search(dataset="other"))
        with pytest.raises(NotFound, match="no question 'Q99'"):
            load_question_number(db, by=BY, dataset="demo", question_id="Q99")
    with pytest.raises(InvalidValue, match="500 are the most"):
        Search(dataset="demo", words="x" * 501)


def test_the_history_tells_all_that_happened_in_order(world, tmp_path):
    give(world, reject(world, question=2, comment="Two answers hold."))
    give(
        world,
        accept(
            world, question=2, revision=2, decision=Decision.REVISE, errors=frozenset({ErrorKind.WRONG_KEY}),
            correction=Correction(answer=(2,)), why="It can be mended.",
        ),
    )  # fmt: skip
    with unit_of_work(world.engine) as db:
        create_release(
            db, by=BY, dataset="demo", name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), now=NOW.replace(hour=20),
        )  # fmt: skip
    with read_only_session(world.engine) as db:
        found = load_history(db, by=BY, question_number=2)
    lines = [describe_event(event, found.question) for event in found.events]
    assert [line for line, _ in lines] == [
        "imported from demo.jsonl (native) into demo",
        "drawn into batch first",
        "assigned to Ruth in batch first",
        "rejected in batch first",
        "revised in batch first, revision 2",
        "in release v1",
    ]
    assert "Two answers hold." in lines[3][1]
    assert "answer: B. Effusion → C. Pneumothorax" in lines[4][1]


@pytest.mark.parametrize(
    ("image", "said_of_it"),
    [
        (None, []),
        (ImageDisplay.DRAWN, ["the radiograph was displayed"]),
        (ImageDisplay.CONFIRMED, ["confirmed without seeing the radiograph"]),
    ],
)
def test_the_history_says_whether_the_radiograph_was_on_screen(world, image, said_of_it):
    give(world, replace(reject(world, question=2), image=image))
    with read_only_session(world.engine) as db:
        found = load_history(db, by=BY, question_number=2)
    [(_, details)] = [
        describe_event(event, found.question) for event in found.events if event.kind == "verdict"
    ]
    assert [line for line in details if "radiograph" in line] == said_of_it


def test_the_queries_of_both_databases_are_spelled_as_their_manuals_say():
    assert fts_query('left "a b" lob*', ["d1"]) == (
        'facets : d1 AND said : "left" AND said : "a b" AND said : "lob"*'
    )
    assert ts_query('left "a b" lob*', ["d1"]) == "'d1' & ('left') & ('a' <-> 'b') & ('lob':*)"
