"""The number of SQL statements of a request that saves a verdict and returns the next question."""

from tests.pages.test_review_routes import Client, make_verdict
from tests.storage.statements import count_statements
from tests.storage.worlds import make_world

#: For the verdict and the next question; the look-up of the sign-in is counted separately.
MAX_STATEMENTS = 15


def test_a_verdict_and_the_next_question_take_at_most_15_statements(workspace, sign_in_as, browser):
    make_world(workspace, questions=5, assigned_to=["ruth"])
    ruth = sign_in_as("ruth")
    client = Client(browser.cookies, ruth)
    client.post("/review/verdict", json=make_verdict(question=1))
    client.post(
        "/review/draft",
        json={"batch": 1, "question": 2, "part": "form", "revision": 0, "body": {"comment": "unclear"}},
    )
    with count_statements() as statement_log:
        response = client.post("/review/verdict", json=make_verdict(question=2)).json()
    assert response["revision"] == 1
    assert response["next"]["question"] == 3
    sign_in_query, *save_queries = statement_log.statements
    assert "sign_in" in sign_in_query
    assert len(save_queries) <= MAX_STATEMENTS, "\n".join(save_queries)
    assert statement_log.transactions == 2  # the transactions of the sign-in and of the verdict
