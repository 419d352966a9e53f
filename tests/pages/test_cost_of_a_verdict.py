"""What one saved verdict costs the database: the statements of the request, the next question included."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event

from tests.pages.test_review_routes import Client, verdict
from tests.storage.worlds import make_world

#: The verdict and the question that comes next; the look-up of the sign-in comes on top.
MOST_STATEMENTS = 15
#: How a transaction and its waiting are set up: not asked of any table.
_SETTING_UP = ("BEGIN", "PRAGMA", "SET LOCAL")


@contextmanager
def counted() -> Iterator[dict[str, list[str]]]:
    """The statements and transactions of the block, on any engine."""
    seen: dict[str, list[str]] = {"statements": [], "transactions": []}

    def note_statement(_connection, _cursor, statement, *_rest):
        if not statement.startswith(_SETTING_UP):
            seen["statements"].append(statement)

    def note_transaction(_connection):
        seen["transactions"].append("begin")

    event.listen(Engine, "before_cursor_execute", note_statement)
    event.listen(Engine, "begin", note_transaction)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note_statement)
        event.remove(Engine, "begin", note_transaction)


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
    signing_in, *rest = seen["statements"]
    assert "sign_in" in signing_in
    assert len(rest) <= MOST_STATEMENTS, "\n".join(rest)
    assert len(seen["transactions"]) == 2  # the sign-in's, and the verdict's
