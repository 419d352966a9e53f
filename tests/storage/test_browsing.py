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
    load_question_row_id,
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
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW, World, make_world

BY = command_line_person()
IN_DEMO = Search(dataset="demo")


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


def find_numbers(world: World, search: Search, **page: int) -> list[int]:
    with read_only_session(world.engine) as db:
        return [question.number for question in search_questions(db, by=BY, search=search, **page).questions]


@pytest.mark.parametrize(
    ("words", "numbers"),
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
def test_words_and_phrases_are_found(world, words, numbers):
    assert find_numbers(world, replace(IN_DEMO, words=words)) == numbers


def test_facets_are_combined(world):
    search = replace(IN_DEMO, task=Task.PRESENCE, difficulty=Difficulty.EASY)
    assert find_numbers(world, search) == [1]
    assert find_numbers(world, replace(IN_DEMO, difficulty=Difficulty.HARD)) == [3, 6, 9, 12]


def test_category_with_punctuation_and_spaces_is_one_facet(world):
    assert find_numbers(world, replace(IN_DEMO, category="Tubes & Lines / 2")) == [6]
    assert find_numbers(world, replace(IN_DEMO, category="Tubes")) == []


def test_search_can_require_boxes(world):
    assert 6 not in find_numbers(world, replace(IN_DEMO, with_boxes=True))


def test_pages_have_no_gaps_or_duplicates_in_either_direction(world):
    first = find_numbers(world, IN_DEMO, most=5)
    second = find_numbers(world, IN_DEMO, after=first[-1], most=5)
    third = find_numbers(world, IN_DEMO, after=second[-1], most=5)
    assert [*first, *second, *third] == list(range(1, 13))
    assert find_numbers(world, IN_DEMO, before=third[0], most=5) == second


def test_a_page_states_whether_questions_precede_or_follow_it(world):
    with read_only_session(world.engine) as db:
        first = search_questions(db, by=BY, search=IN_DEMO, most=5)
        last = search_questions(db, by=BY, search=IN_DEMO, after=10, most=5)
        previous = search_questions(db, by=BY, search=IN_DEMO, before=6, most=5)
    assert (first.has_previous, first.has_next) == (False, True)
    assert (last.has_previous, last.has_next) == (True, False)
    assert (previous.has_previous, previous.has_next) == (False, True)


def test_status_of_questions_follows_verdicts_and_releases(world, tmp_path):
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=2))
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=3,
            reason="dark",
            now=NOW,
        )
        create_release(
            db, by=BY, dataset="demo", name="v1", out=tmp_path / "v1",
            workspace=Workspace(home=tmp_path, database_url=""), now=NOW,
        )  # fmt: skip
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.ACCEPTED)) == [1]
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.REJECTED, words="radiograph")) == [2]
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.SKIPPED)) == [3]
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.RELEASED)) == [1]
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.DRAWN)) == list(range(3, 13))
    assert find_numbers(world, replace(IN_DEMO, status=QuestionStatus.NOT_DRAWN)) == []
    assert find_numbers(world, replace(IN_DEMO, batch="first", words="left")) == [3, 4]


def test_count_covers_all_pages(world):
    with read_only_session(world.engine) as db:
        assert count_matches(db, by=BY, search=replace(IN_DEMO, words="left")) == (2, True)


def test_new_question_is_unindexed_until_the_next_indexing(world):
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
    assert find_numbers(world, replace(IN_DEMO, words="left")) == [3, 4, 13]


def test_indexing_runs_in_parts(engine):
    make_world(engine)
    calls = 0
    has_more = True
    while has_more:
        with unit_of_work(engine) as db:
            has_more = index_questions(db, limit=5)
        calls += 1
    assert calls == 3


def test_the_message_names_the_unknown_dataset_or_question(world):
    with read_only_session(world.engine) as db:
        with pytest.raises(NotFound, match="no dataset 'other'"):
            search_questions(db, by=BY, search=Search(dataset="other"))
        with pytest.raises(NotFound, match="no question 'Q99'"):
            load_question_row_id(db, by=BY, dataset="demo", question_id="Q99")
    with pytest.raises(InvalidValue, match="at most 500"):
        Search(dataset="demo", words="x" * 501)


def test_history_lists_all_events_in_order(world, tmp_path):
    save_verdict(world, make_rejection(world, question=2, comment="Two answers hold."))
    save_verdict(
        world,
        make_acceptance(
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
        history = load_history(db, by=BY, question_row_id=2)
    lines = [describe_event(event, history.question) for event in history.events]
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


def test_history_states_the_old_and_the_new_size_of_a_box(world):
    with read_only_session(world.engine) as db:
        [machine_box] = load_history(db, by=BY, question_row_id=2).question.boxes
    box = machine_box.box
    moved_box = replace(machine_box, box=replace(box, x_min=box.x_min + 50, x_max=box.x_max + 50))
    correction = Correction(boxes=(moved_box,))
    save_verdict(world, make_acceptance(world, question=2, decision=Decision.REVISE, correction=correction))
    with read_only_session(world.engine) as db:
        history = load_history(db, by=BY, question_row_id=2)
    [details] = [
        details
        for line, details in (describe_event(event, history.question) for event in history.events)
        if line == "revised in batch first"
    ]
    size, radiograph = f"{machine_box.label} {box.width:.0f} × {box.height:.0f} px", machine_box.radiograph
    before, after = (
        f"{size} at {x:.0f}, {box.y_min:.0f} on {radiograph}" for x in (box.x_min, box.x_min + 50)
    )
    assert f"boxes: {before} → {after}" in details


@pytest.mark.parametrize(
    ("image", "reviewed_text"),
    [
        (None, []),
        (ImageDisplay.DRAWN, ["the radiograph was displayed"]),
        (ImageDisplay.CONFIRMED, ["confirmed without seeing the radiograph"]),
    ],
)
def test_history_states_whether_the_radiograph_was_on_screen(world, image, reviewed_text):
    save_verdict(world, replace(make_rejection(world, question=2), image=image))
    with read_only_session(world.engine) as db:
        history = load_history(db, by=BY, question_row_id=2)
    [(_, details)] = [
        describe_event(event, history.question) for event in history.events if event.kind == "verdict"
    ]
    assert [line for line in details if "radiograph" in line] == reviewed_text


def test_search_queries_follow_the_syntax_of_each_database():
    assert fts_query('left "a b" lob*', ["d1"]) == (
        'facets : d1 AND said : "left" AND said : "a b" AND said : "lob"*'
    )
    assert ts_query('left "a b" lob*', ["d1"]) == "'d1' & ('left') & ('a' <-> 'b') & ('lob':*)"
