"""Addresses in imported texts are shown as text on the pages, never as links."""

import pytest
from sqlalchemy import update

from storage.rows.datasets import QuestionRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers

pytestmark = [pytest.mark.browser, pytest.mark.full]

ADDRESSES = "http://a.example/x https://b.example www.c.example HTTP://d.example e@f.example (www.g.example)"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    review_world = review_helpers.create_review_world(app, questions=2)
    with unit_of_work(app.engine) as db:
        db.execute(
            update(QuestionRow).values(
                stem=f"Which side? {ADDRESSES}", explanation=ADDRESSES, category=ADDRESSES[:30]
            )
        )
    return review_world


@pytest.mark.parametrize("address", ["/browse", "/browse?question=1"])
def test_no_address_in_a_question_becomes_a_link(signed_in, address):
    page = signed_in("cora")
    page.goto(address)
    page.get_by_text("Which side?").first.wait_for(timeout=30_000)
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert [link for link in links if "example" in link] == []
    assert "e\u2060@f.example" in page.locator("body").inner_text()
