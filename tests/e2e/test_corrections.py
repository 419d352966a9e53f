"""What the form takes for a correction, asked of its own module in the browser."""

import pytest

from domain.people import Role
from ui.judging.assets import FORM

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
        FORM.address("model.js"),
    )
    assert found == [False, False, True]


def test_what_can_not_be_taken_away_is_no_correction_when_it_is_left_empty(sign_in):
    page = sign_in("rosa")
    found = page.evaluate(
        """async (address) => {
             const { choiceChanged, correctionOf, textChanged } = await import(new URL(address, location.origin).href);
             const question = { stem: "What?", explanation: "So.", category: "Opacity", task: "presence", difficulty: "easy", options: [], answer: "a" };
             const state = (category, task, difficulty) => ({ texts: { stem: "What?", explanation: "So.", category }, choices: { task, difficulty }, options: [], answer: "a" });
             return [state(" ", "", ""), state("Effusion", "location", "hard")].map((each) => [
               textChanged("category", each, question), choiceChanged("task", each, question), choiceChanged("difficulty", each, question), correctionOf(each, question),
             ]);
           }""",  # noqa: E501 - the script's own lines
        FORM.address("model.js"),
    )
    assert found == [
        [False, False, False, {}],
        [True, True, True, {"category": "Effusion", "task": "location", "difficulty": "hard"}],
    ]
