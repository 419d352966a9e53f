// @vitest-environment happy-dom
// The form and the page's script: notifications of the shown question, and outdated script runs.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import reviewForm from "../../src/review/review-form";
import type { ReviewData } from "../../src/shared/api";
import { MountedPage, advanceTime, reviewData, saved } from "../forms";
import { FakeServer } from "../server";

const secondQuestion = reviewData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<ReviewData>;

const shownAddress = (): string => location.search;
const notifications = (): unknown[] => page.trigger.mock.calls.filter(([name]) => name === "go").map(([, value]) => value);

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  history.replaceState({}, "", "/review?batch=1&question=1");
  server = new FakeServer();
  server.on("/review/verdict", () => saved(secondQuestion));
  page = new MountedPage(reviewForm, reviewData());
  await advanceTime(600);
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

test("the script is notified of the shown question repeatedly until it confirms this", async () => {
  page.press("a");
  await advanceTime(10);
  expect(shownAddress()).toBe("?batch=1&question=2");
  expect(notifications()).toEqual([]); // not yet: what the script draws must not delay the image
  await advanceTime(200);
  const request = { target: 2, number: 1, from: 1, after: 1 };
  expect(notifications()).toEqual([request]);
  await advanceTime(4000);
  expect(notifications()).toEqual([request, request]);
  page.run({ ...secondQuestion, requestNumber: 1 });
  await advanceTime(10_000);
  expect(notifications()).toHaveLength(2);
});

test("a question of an outdated script run is not shown", async () => {
  page.press("a");
  await advanceTime(10);
  const entryCount = history.length;
  history.pushState({}, "", "/review?batch=1&question=1"); // as an earlier run sets it
  page.run(reviewData());
  expect(history.length).toBe(entryCount);
  expect(shownAddress()).toBe("?batch=1&question=2");
  expect(page.button("previous question (K)").disabled).toBe(false); // the second question is still shown
});

test("if the server has no next question, the script is asked until it responds", async () => {
  server.on("/review/verdict", () => saved(null));
  page.press("a");
  await advanceTime(10);
  const request = { target: "next", number: 1, from: 1, after: 1 };
  expect(notifications()).toEqual([request]);
  page.press("a"); // meanwhile nothing can be saved
  await advanceTime(4000);
  expect(notifications()).toEqual([request, request]);
  expect(page.message).toBe("The next question is delayed. Retrying …");
  page.run(reviewData()); // an older run
  expect(page.button("previous question (K)").disabled).toBe(true);
  page.run({ ...secondQuestion, requestNumber: 1 });
  expect(page.button("previous question (K)").disabled).toBe(false);
  await advanceTime(10_000);
  expect(notifications()).toHaveLength(2);
  expect(server.bodiesSentTo("/review/verdict")).toHaveLength(1);
});

test("a question that the script chooses is shown, but not during a save", async () => {
  server.latency = 100;
  page.press("a");
  await advanceTime(10);
  page.run(reviewData({ question: 3 }));
  expect(page.find(".saved").textContent).toBe("Saving …");
  await advanceTime(200);
  page.run({ ...secondQuestion, requestNumber: 1 });
  page.run(reviewData({ question: 3, next: null }));
  expect(page.button("next question (J)").disabled).toBe(true);
});

/** Back or Forward in the browser to a question: the address changes first. */
function goInHistory(question: number): void {
  History.prototype.replaceState.call(history, {}, "", `/review?batch=1&question=${question}`);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

test("browser Back shows the question at once and notifies the script", async () => {
  page.press("a");
  await advanceTime(10);
  server.on("/review/question", () => ({ next: reviewData() }));
  goInHistory(1);
  await advanceTime(10);
  expect(server.bodiesSentTo("/review/question")).toEqual([{ batch: 1, question: 2, target: 1 }]);
  expect(page.button("previous question (K)").disabled).toBe(true); // the first is shown
  await advanceTime(1000);
  expect(notifications()).toEqual([{ target: 1, number: 2, from: 1, after: 2 }]); // and no notification of the second question
});

test("browser Back keeps its address, although an interrupted run sets another address later", async () => {
  page.press("a");
  await advanceTime(200); // the script has been notified of the second question
  server.on("/review/question", () => ({ next: reviewData() }));
  goInHistory(1);
  history.replaceState({}, "", "/review?batch=1&question=2"); // as the interrupted run sets it
  page.run({ ...secondQuestion, requestNumber: 1 });
  await advanceTime(10);
  expect(shownAddress()).toBe("?batch=1&question=1");
  expect(page.button("previous question (K)").disabled).toBe(true);
  page.run({ ...reviewData(), requestNumber: 2 });
  history.replaceState({}, "", "/review?batch=1&question=3"); // a question that the script chooses afterwards
  page.run(reviewData({ question: 3, requestNumber: 2 }));
  expect(shownAddress()).toBe("?batch=1&question=3");
});

test("browser Back twice in a row shows the question requested last", async () => {
  server.latency = 100;
  server.on("/review/question", ({ target }) => ({ next: reviewData({ question: target as number, previous: null }) }));
  goInHistory(8);
  await advanceTime(10);
  goInHistory(7);
  await advanceTime(1000);
  expect(server.bodiesSentTo("/review/question").map((body) => (body as { target: number }).target)).toEqual([8, 7]);
  expect(shownAddress()).toBe("?batch=1&question=7");
  expect(notifications()).toEqual([{ target: 7, number: 1, from: 1, after: 1 }]);
});

test("the form does not change the address of another page, and restores history.pushState when it ends", async () => {
  page.press("a");
  await advanceTime(10);
  history.pushState({}, "", "/home");
  expect(location.pathname).toBe("/home");
  page.close();
  history.pushState({}, "", "/review?batch=1&question=5");
  expect(shownAddress()).toBe("?batch=1&question=5");
  expect(Reflect.get(history, "pushState")).toBe(Reflect.get(History.prototype, "pushState"));
});
