"""What the form takes for a correction, asked of its own module in the browser."""

import pytest

from domain.people import Role
from ui.judging.assets import address

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def people(app):
    app.add_person("rosa", Role.REVIEWER)


def test_blanks_around_an_open_answer_are_no_correction_of_the_reviewers(sign_in):
    page = sign_in("rosa")
    found = page.evaluate(
        """async (address) => {
             const { answerChanged } = await import(new URL(address, location.origin).href);
             const question = { answer: " left lung \\n" };
             const answers = ["left lung", " left lung \\n", "right lung"];
             return answers.map((answer) => answerChanged({ answer }, question));
           }""",
        address("model.js"),
    )
    assert found == [False, False, True]
