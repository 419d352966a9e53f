// What counts as a correction by the reviewer.

import { expect, test } from "vitest";
import { buildCorrection, isAnswerChanged, isChoiceChanged, isTextChanged, findMissing, createInitialState, type EditedQuestion } from "../../src/review/opinion";
import { reviewData } from "../forms";

const data = reviewData();
const question = data.questionWithKey!;

test.each([
  ["left lung", false],
  [" left lung \n", false],
  ["right lung", true],
])("white space around an open answer is no correction, another text is one: %j", (answer, changed) => {
  expect(isAnswerChanged({ options: [], answer }, { answer: " left lung \n" })).toBe(changed);
});

const edited = (category: string, task: string, difficulty: string): EditedQuestion => ({ ...createInitialState(data, question), texts: { stem: "What is shown?", explanation: "So.", category }, choices: { task, difficulty } });

test("emptying the category, task or difficulty is no correction", () => {
  const state = edited(" ", "", "");
  expect([isTextChanged("category", state, question), isChoiceChanged("task", state, question), isChoiceChanged("difficulty", state, question)]).toEqual([false, false, false]);
  expect(buildCorrection(state, question)).toEqual({});
});

test("another category, task and tier are corrections", () => {
  expect(buildCorrection(edited("Effusion", "location", "hard"), question)).toEqual({ category: "Effusion", task: "location", difficulty: "hard" });
});

test("a correction of the options includes the key as indices of the new options", () => {
  const state = createInitialState(data, question);
  state.options.reverse();
  expect(buildCorrection(state, question)).toEqual({ options: ["nothing", "effusion"], answer: [1] });
});

test("accepting allows no corrections, revising requires one, rejecting requires a reason", () => {
  const state = createInitialState(data, question);
  expect(findMissing("accept", data, question, state, false)).toBeNull();
  expect(findMissing("accept", data, question, state, true)?.part).toBe("changes");
  expect(findMissing("revise", data, question, state, false)?.part).toBe("stem");
  expect(findMissing("reject", data, question, state, false)?.part).toBe("errors");
  state.errors.add("unclear");
  expect(findMissing("reject", data, question, state, false)).toBeNull();
});

test("missing judgements are listed", () => {
  const dataWithRating = reviewData({ requested: { ...data.requested, ratings: [{ name: "clinical_quality", label: "Clinical quality", anchors: [], ratedBeforeReport: false }] } });
  expect(findMissing("accept", dataWithRating, question, createInitialState(dataWithRating, question), false)?.text).toBe("Still to judge: clinical quality.");
});
