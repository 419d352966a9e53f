// @vitest-environment happy-dom
// The form and the page's script: who is told of which question, and what the script draws too late.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import reviewForm from "../../src/review/review-form";
import type { ReviewData } from "../../src/shared/api";
import { MountedPage, pass, reviewData, saved } from "../forms";
import { FakeServer } from "../server";

const second = reviewData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<ReviewData>;

const shown = (): string => location.search;
const told = (): unknown[] => page.trigger.mock.calls.filter(([name]) => name === "go").map(([, value]) => value);

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  history.replaceState({}, "", "/review?batch=1&question=1");
  server = new FakeServer();
  server.on("/judging/verdict", () => saved(second));
  page = new MountedPage(reviewForm, reviewData());
  await pass(600);
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

test("the script is told of a question that the form has turned to, until it has it", async () => {
  page.press("a");
  await pass(10);
  expect(shown()).toBe("?batch=1&question=2");
  expect(told()).toEqual([]); // what it draws must not delay the image
  await pass(200);
  const request = { to: 2, turn: 1, from: 1, after: 1 };
  expect(told()).toEqual([request]);
  await pass(4000);
  expect(told()).toEqual([request, request]);
  page.run({ ...second, turn: 1 });
  await pass(10_000);
  expect(told()).toHaveLength(2);
});

test("a question that the script drew before it knew of the turn is not shown", async () => {
  page.press("a");
  await pass(10);
  history.replaceState({}, "", "/review?batch=1&question=1"); // as an earlier run sets it
  page.run(reviewData());
  expect(shown()).toBe("?batch=1&question=2");
  expect(page.button("previous question (K)").disabled).toBe(false); // still the second
});

test("where the server has no question to give, the script is asked until it answers", async () => {
  server.on("/judging/verdict", () => saved(null));
  page.press("a");
  await pass(10);
  const request = { to: "next", turn: 1, from: 1, after: 1 };
  expect(told()).toEqual([request]);
  page.press("a"); // nothing can be saved meanwhile
  await pass(4000);
  expect(told()).toEqual([request, request]);
  expect(page.message).toBe("The next question is delayed. Retrying …");
  page.run(reviewData()); // an older run
  expect(page.button("previous question (K)").disabled).toBe(true);
  page.run({ ...second, turn: 1 });
  expect(page.button("previous question (K)").disabled).toBe(false);
  await pass(10_000);
  expect(told()).toHaveLength(2);
  expect(server.to("/judging/verdict")).toHaveLength(1);
});

test("a question that the script has by itself is shown, but not during a save", async () => {
  server.latency = 100;
  page.press("a");
  await pass(10);
  page.run(reviewData({ question: 3 }));
  expect(page.find(".saved").textContent).toBe("Saving …");
  await pass(200);
  page.run({ ...second, turn: 1 });
  page.run(reviewData({ question: 3, next: null }));
  expect(page.button("next question (J)").disabled).toBe(true);
});

test("who goes back in the browser is not brought forward again", async () => {
  page.press("a");
  await pass(10);
  window.dispatchEvent(new PopStateEvent("popstate"));
  await pass(10_000);
  expect(told()).toEqual([]);
});

test("who goes back before the script has taken the turn keeps the address, which the script sets late", async () => {
  page.press("a");
  await pass(200); // the script has been told of the second question
  history.replaceState({}, "", "/review?batch=1&question=1"); // the way back
  window.dispatchEvent(new PopStateEvent("popstate"));
  history.replaceState({}, "", "/review?batch=1&question=2"); // what the script says of the turn, late
  page.run({ ...second, turn: 1 });
  expect(shown()).toBe("?batch=1&question=1");
  page.run(reviewData());
  expect(shown()).toBe("?batch=1&question=1");
  expect(page.button("previous question (K)").disabled).toBe(true); // the first is shown
});
