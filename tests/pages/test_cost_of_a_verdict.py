"""The number of SQL statements of a request that saves a verdict and returns the next question."""

from tests.pages.test_review_routes import Client, verdict
from tests.storage.statements import counted
from tests.storage.worlds import make_world

#: For the verdict and the next question; the look-up of the sign-in is counted separately.
MOST_STATEMENTS = 15


def test_a_verdict_and_the_next_question_take_15_statements(workspace, sign_in_as, browser):
    make_world(workspace, questions=5, assigned_to=["ruth"])
    ruth = sign_in_as("ruth")
    client = Client(browser.cookies, ruth)
    client.post("/judging/verdict", json=verdict(question=1))
    client.post(
        "/judging/draft",
        json={"batch": 1, "question": 2, "part": "form", "revision": 0, "body": {"comment": "unclear"}},
    )
    with counted() as seen:
        answer = client.post("/judging/verdict", json=verdict(question=2)).json()
    assert answer["revision"] == 1
    assert answer["sheet"]["question"] == 3
    signing_in, *rest = seen.statements
    assert "sign_in" in signing_in
    assert len(rest) <= MOST_STATEMENTS, "\n".join(rest)
    assert seen.transactions == 2  # the transactions of the sign-in and of the verdict
