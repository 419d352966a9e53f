"""A radiograph that is not on screen is not judged, unless the person confirms that they did not see it."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect
from sqlalchemy import select, update

from accounts import service as accounts
from domain.adjudications import AdjudicationRules
from domain.batches import BatchSettings, Mode, SamplingPlan
from domain.people import Role
from domain.protocols import Protocol
from domain.studies import CaseSource, SourceKind, StudyDesign
from reader_study import service as studies
from review import service as review
from storage.rows.adjudications import AdjudicationRow
from storage.rows.datasets import RadiographRow
from storage.rows.studies import ReadingRow
from storage.rows.verdicts import OwnAnswerRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD
from tests.e2e.review_helpers import load_verdicts, press, press_answer, wait_for_images, wait_for_question
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import assign_all, make_batch

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "4444yym"
#: The addresses from which the full and the basic viewer load a radiograph of the small world.
IMAGES = ("**/pixels/**", "**/radiographs/**")
FAILED = "Not saved: a radiograph of this exam could not be loaded."
LOADING = "Not saved: the radiographs are still loading."
DISPLAYED_LATE = "The radiograph is now displayed. Review it, then save again."


@pytest.fixture(scope="module", autouse=True)
def world(app):
    """Each question has an exam of its own; the exam of question 9 has no pixels in the workspace.

    Question 14 is disputed, 15 is in an answer-first batch, and rea reads a study.
    """
    review_world = review_helpers.create_review_world(app, questions=16, per_exam=1)
    with unit_of_work(app.engine) as db:
        db.execute(
            update(RadiographRow)
            .where(RadiographRow.exam_id == review_world.exams[8])
            .values(image_sha256=None)
        )
        blind_batch = make_batch(
            db,
            dataset_id=review_world.dataset_id,
            name="blind",
            questions=[15],
            settings=BatchSettings(mode=Mode.ANSWER_FIRST),
        )
        assign_all(db, batch=blind_batch, questions=[15], person=review_world.people["ruth"])
    save_verdict(review_world, make_acceptance(review_world, question=14))
    save_verdict(review_world, make_rejection(review_world, question=14, person="remo"), person="remo")
    app.add_person("anna", Role.REVIEWER)
    now, cora = datetime.now(UTC), review_world.people["cora"]
    with unit_of_work(app.engine) as db:
        rules = AdjudicationRules(adjudicators=("anna",))
        review.change_adjudication_rules(db, by=cora, batch="first", rules=rules, revision=0, now=now)
        accounts.set_password(db, by=accounts.command_line_person(), name="rea", password=PASSWORD, now=now)
        design = StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=4))
        source = CaseSource(kind=SourceKind.DATASET, dataset="demo")
        studies.create_study(
            db, by=cora, name="pilot", source=source, design=design, protocol=Protocol(), now=now
        )
        studies.assign_readers(db, by=cora, study="pilot", to=["rea"], now=now)
    return review_world


def route_images(page, handler, addresses=IMAGES):
    """Pass every request for a radiograph to ``handler``."""
    for address in addresses:
        page.route(address, handler)


def unroute_images(page, addresses=IMAGES):
    for address in addresses:
        page.unroute(address)


def open_question(page, number, state):
    """Open the review page of a question, and wait until its radiographs have that state."""
    page.goto(f"/review?batch=1&question={number}")
    wait_for_state(page, state)


def wait_for_state(page, state):
    page.locator(f'[data-image-state="{state}"]').wait_for(state="attached", timeout=30_000)


def test_question_with_a_failed_radiograph_needs_confirmation(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort())
    open_question(page, 1, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_role("alert").filter(has_text="Not saved")).to_contain_text(FAILED)
    assert load_verdicts(app, 1) == []
    unroute_images(page)
    page.keyboard.press("Shift+Enter")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 1, 1)
    assert (verdict.image, verdict.clinical_quality) == ("not drawn, confirmed", 4)


def test_the_confirmation_is_for_one_question_only(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort())
    open_question(page, 2, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    page.get_by_role("button", name="I judged this question without seeing all radiographs").click()
    review_helpers.wait_for_verdicts(app, page, 2, 1)
    page.wait_for_url("**question=3")
    wait_for_state(page, "failed")
    page.wait_for_timeout(600)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_role("alert").filter(has_text="Not saved")).to_be_visible()
    assert load_verdicts(app, 3) == []


def test_reloaded_radiograph_is_recorded_as_drawn(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.fulfill(status=503, json={"error": "The store is away."}))
    open_question(page, 4, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text(FAILED)).to_be_visible()
    unroute_images(page)
    press(page, "t")
    expect(page.get_by_text(DISPLAYED_LATE)).to_be_visible()
    press(page, "a")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 4, 1)
    assert verdict.image == "drawn"


def test_late_radiograph_is_waited_for_and_the_input_is_kept(app, signed_in):
    page = signed_in("ruth")
    held_routes = []

    def hold_route(route):
        held_routes.append(route)

    route_images(page, hold_route)
    open_question(page, 5, "loading")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text(LOADING)).to_be_visible()
    assert load_verdicts(app, 5) == []
    for route in held_routes:
        route.continue_()
    unroute_images(page)
    expect(page.get_by_text(DISPLAYED_LATE)).to_be_visible()
    press(page, "a")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 5, 1)
    assert (verdict.image, verdict.clinical_quality) == ("drawn", 4)


def test_one_failed_radiograph_of_two_needs_confirmation(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort(), addresses=("**/lat**",))
    open_question(page, 6, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text(FAILED)).to_be_visible()
    assert load_verdicts(app, 6) == []


def test_reload_restores_the_input_but_not_the_confirmation(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort())
    open_question(page, 7, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    page.wait_for_timeout(900)  # drafts are sent after 400 ms without input
    page.reload()
    wait_for_state(page, "failed")
    expect(page.get_by_text(FAILED)).to_have_count(0)
    page.wait_for_timeout(600)
    press(page, "a")
    expect(page.get_by_text(FAILED)).to_be_visible()
    assert load_verdicts(app, 7) == []


def test_question_can_be_skipped_without_its_radiograph(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort())
    open_question(page, 8, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "as")
    page.get_by_label("Reason for skipping").fill("image not readable")
    page.keyboard.press("Enter")
    page.wait_for_url("**question=9")
    assert review_helpers.load_skip_reasons(app, 8) == ["image not readable"]


def test_verdict_on_an_exam_without_pixels_is_recorded_as_no_image(app, signed_in):
    page = signed_in("ruth")
    open_question(page, 9, "none")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 9, 1)
    assert verdict.image == "no image"


def test_prefetched_radiograph_is_recorded_as_drawn(app, signed_in):
    page = signed_in("ruth")
    open_question(page, 10, "drawn")
    for number in (10, 11):
        press(page, KEYS_OF_ALL_RATINGS + "a")
        wait_for_question(page, number + 1)
        [verdict] = review_helpers.wait_for_verdicts(app, page, number, 1)
        assert verdict.image == "drawn"


def test_basic_viewer_blocks_the_verdict_until_the_radiograph_is_reloaded(app, signed_in):
    page = signed_in("ruth")
    page.add_init_script("localStorage.setItem('overread-viewer', 'plain')")
    route_images(page, lambda route: route.abort())
    open_question(page, 13, "failed")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text(FAILED)).to_be_visible()
    assert load_verdicts(app, 13) == []
    unroute_images(page)
    press(page, "t")
    wait_for_images(page)
    review_helpers.wait_for_painted_image(page)
    press(page, "a")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 13, 1)
    assert verdict.image == "drawn"


def test_own_answer_and_verdict_each_need_confirmation(app, signed_in):
    page = signed_in("ruth")
    route_images(page, lambda route: route.abort())
    page.goto("/review?batch=2&question=15")
    wait_for_state(page, "failed")
    press_answer(page, 3, 2)
    page.keyboard.press("Enter")
    expect(page.get_by_text(FAILED)).to_be_visible()
    page.keyboard.press("Shift+Enter")
    page.get_by_label("Stem", exact=True).wait_for()
    with read_only_session(app.engine) as db:
        assert db.execute(select(OwnAnswerRow.image)).scalar_one() == "not drawn, confirmed"
    page.wait_for_timeout(600)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text(FAILED)).to_be_visible()
    assert load_verdicts(app, 15) == []


def test_reader_needs_confirmation_without_the_radiograph(app, signed_in):
    page = signed_in("rea")
    route_images(page, lambda route: route.abort())
    page.goto("/read")
    wait_for_state(page, "failed")
    press_answer(page, 2, 4)
    page.keyboard.press("Enter")
    expect(page.get_by_text(FAILED)).to_be_visible()
    assert load_reading_images(app) == []
    page.keyboard.press("Shift+Enter")
    page.get_by_text("1 of 4 read").wait_for()
    assert load_reading_images(app) == ["not drawn, confirmed"]
    wait_for_state(page, "failed")
    unroute_images(page)
    page.wait_for_timeout(600)
    press_answer(page, 2, 4)
    page.keyboard.press("Enter")
    press(page, "t")
    expect(page.get_by_text(DISPLAYED_LATE)).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_text("2 of 4 read").wait_for()
    assert load_reading_images(app) == ["not drawn, confirmed", "drawn"]


def load_reading_images(app):
    with read_only_session(app.engine) as db:
        return list(db.execute(select(ReadingRow.image).order_by(ReadingRow.position)).scalars())


def test_adjudicator_needs_confirmation_without_the_radiograph(app, signed_in):
    page = signed_in("anna")
    route_images(page, lambda route: route.abort())
    page.goto("/adjudicate")
    wait_for_state(page, "failed")
    press(page, "1")
    page.get_by_label("Reason").fill("It is plain.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text(FAILED)).to_be_visible()
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_text("all adjudicated.")).to_be_visible()
    with read_only_session(app.engine) as db:
        assert db.execute(select(AdjudicationRow.image)).scalar_one() == "not drawn, confirmed"
