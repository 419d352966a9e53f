// What counts as a correction of the reviewer's.

import { expect, test } from "vitest";
import { correctionOf, isAnswerChanged, isChoiceChanged, isTextChanged, missingFor, initialState, type EditedQuestion } from "../../src/review/opinion";
import { reviewData } from "../forms";

const data = reviewData();
const question = data.full!;

test.each([
  ["left lung", false],
  [" left lung \n", false],
  ["right lung", true],
])("blanks around an open answer are no correction: %j", (answer, changed) => {
  expect(isAnswerChanged({ options: [], answer }, { answer: " left lung \n" })).toBe(changed);
});

const edited = (category: string, task: string, difficulty: string): EditedQuestion => ({ ...initialState(data, question), texts: { stem: "What is shown?", explanation: "So.", category }, choices: { task, difficulty } });

test("what can't be removed is no correction when it is left empty", () => {
  const state = edited(" ", "", "");
  expect([isTextChanged("category", state, question), isChoiceChanged("task", state, question), isChoiceChanged("difficulty", state, question)]).toEqual([false, false, false]);
  expect(correctionOf(state, question)).toEqual({});
});

test("another category, task and tier are corrections", () => {
  expect(correctionOf(edited("Effusion", "location", "hard"), question)).toEqual({ category: "Effusion", task: "location", difficulty: "hard" });
});

test("other options bring the key along, which is given by their new places", () => {
  const state = initialState(data, question);
  state.options.reverse();
  expect(correctionOf(state, question)).toEqual({ options: ["nothing", "effusion"], answer: [1] });
});

test("an accepted question has no corrections, a revised one has some, a rejected one a reason", () => {
  const state = initialState(data, question);
  expect(missingFor("accept", data, question, state, false)).toBeNull();
  expect(missingFor("accept", data, question, state, true)?.at).toBe("changes");
  expect(missingFor("revise", data, question, state, false)?.at).toBe("stem");
  expect(missingFor("reject", data, question, state, false)?.at).toBe("errors");
  state.errors.add("unclear");
  expect(missingFor("reject", data, question, state, false)).toBeNull();
});

test("what is not judged yet is named", () => {
  const asked = reviewData({ asks: { ...data.asks, ratings: [{ name: "clinical_quality", label: "Clinical quality", anchors: [], ofImage: false }] } });
  expect(missingFor("accept", asked, question, initialState(asked, question), false)?.text).toBe("Still to judge: clinical quality.");
});
