// @vitest-environment happy-dom
// The reading form: answering by keys, saving once, repeating a failed save, drafts, the break.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import readingForm from "../../src/reading/reading-form";
import type { ReadingData } from "../../src/shared/api";
import { MountedPage, advanceTime, readingData, saved } from "../forms";
import { AWAY, FakeServer, Refusal } from "../server";

const secondCase = readingData({ position: 2, question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<ReadingData>;

const sentAnswers = (): unknown[] => server.bodiesSentTo("/reading/answer").map(({ position, answer, cannot_determine, confidence, fault_description }) => ({ position, answer, cannot_determine, confidence, fault_description }));
const open = async (data = readingData()): Promise<void> => {
  page = new MountedPage(readingForm, data);
  await advanceTime(600);
};

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/reading/answer", () => saved(secondCase));
  server.on("/reading/case", () => ({ next: secondCase }));
  await open();
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

const expectedAnswer = { position: 1, answer: [1], cannot_determine: false, confidence: 4, fault_description: "" };

test("the confidence levels are those that the server declares", async () => {
  page.close();
  await open(readingData({ confidences: ["unsure", "sure", "certain"] }));
  expect([...page.find("[data-step=confidence]").querySelectorAll("button")].map((choice) => choice.title)).toEqual(["unsure", "sure", "certain"]);
  page.press("2", "Shift+4", "Enter");
  expect(page.message).toBe("Give your confidence: press Shift 1 to Shift 3.");
});

test("a digit answers, Shift and a digit set the confidence, Enter saves", async () => {
  page.press("Enter");
  expect(page.message).toMatch(/^Answer the question/);
  page.press("2", "Enter");
  expect(page.message).toBe("Give your confidence: press Shift 1 to Shift 5.");
  page.press("Shift+4", "Enter");
  await advanceTime(50);
  expect(sentAnswers()).toEqual([expectedAnswer]);
  expect(page.find(".saved").textContent).toMatch(/^Saved/);
});

test.each([0, 20, 100, 250])("a second Enter %i ms later saves nothing more", async (gap) => {
  server.latency = 60;
  page.press("2", "Shift+4", "Enter");
  await advanceTime(gap);
  page.press("Enter");
  await advanceTime(1000);
  expect(sentAnswers()).toEqual([expectedAnswer]);
});

test("an answer that was not saved can be changed before it is sent again", async () => {
  server.on("/reading/answer", () => AWAY);
  page.press("2", "Shift+4", "Enter");
  await advanceTime(50);
  expect(page.message).toBe("Not saved. The database could not be reached. Try again T");
  page.press("1"); // another answer
  server.on("/reading/answer", () => saved(secondCase));
  page.press("t");
  await advanceTime(50);
  expect(sentAnswers()).toEqual([expectedAnswer, { ...expectedAnswer, answer: [0] }]);
});

test("a newer answer on the server is reported, and the entered answer stays", async () => {
  server.on("/reading/answer", () => new Refusal(409, { error: "Another tab saved it.", kind: "StaleRevision" }));
  page.press("2", "Shift+4", "Enter");
  await advanceTime(50);
  expect(page.message).toBe("Not saved. Another tab saved it. Reload the page");
  expect(page.find('[data-answer="1"]').getAttribute("aria-pressed")).toBe("true");
});

test("a draft is resent until the server accepts it, and sent when the page is left", async () => {
  server.on("/reading/draft", () => AWAY);
  page.press("2");
  await advanceTime(450);
  expect(page.message).toBe("Draft not saved: The database could not be reached.");
  server.on("/reading/draft", () => ({ revision: 1 }));
  await advanceTime(3100);
  expect(page.message).toBe("");
  page.press("Shift+3");
  window.dispatchEvent(new Event("pagehide"));
  const lastDraft = server.sent.findLast(({ route }) => route === "/reading/draft");
  expect(lastDraft).toMatchObject({ keepalive: true, body: { study: 1, position: 1, part: "entry", revision: 1, body: { answer: [1], confidence: 3 } } });
});

test("a stored draft is restored and not sent again", async () => {
  page.close();
  await open(readingData({ entry: { answer: [0], cannot_determine: false, confidence: 2, fault_description: "" }, draftRevision: 3 }));
  expect(page.message).toBe("Draft restored.");
  expect(page.find('[data-answer="0"]').getAttribute("aria-pressed")).toBe("true");
  await advanceTime(5000);
  expect(server.bodiesSentTo("/reading/draft")).toEqual([]);
});

test("a break hides the case, accepts no answers, and counts as time away", async () => {
  page.press("p");
  await advanceTime(4000);
  page.press("2");
  page.press("Enter"); // ends the break
  expect(page.find('[data-answer="1"]').getAttribute("aria-pressed")).toBe("false");
  page.press("2", "Shift+4", "Enter");
  await advanceTime(50);
  const [answer] = server.bodiesSentTo("/reading/answer");
  expect(answer).toMatchObject({ seconds_away: 4 });
});

test("a question may be reported without an answer", async () => {
  page.press("x");
  page.type(".faulty textarea", " both are right ");
  page.press("Enter");
  await advanceTime(50);
  expect(sentAnswers()).toEqual([{ position: 1, answer: null, cannot_determine: false, confidence: null, fault_description: "both are right" }]);
});

test("after the last case the page is notified and nothing more is saved", async () => {
  server.on("/reading/answer", () => saved(null));
  page.press("2", "Shift+4", "Enter");
  await advanceTime(50);
  expect(page.trigger).toHaveBeenCalledWith("over", expect.any(Number));
  page.press("Enter");
  await advanceTime(1000);
  expect(sentAnswers()).toHaveLength(1);
});

test("an open answer to a training case is neither right nor wrong, because nobody marks it", async () => {
  page.close();
  const feedback = { right: null, answer: "Effusion", correctAnswers: ["Effusion"], explanation: "" };
  await open(readingData({ format: "open", options: [], training: true, answeredAt: "2026-03-02T09:00:00Z", feedback }));
  expect(page.find(".feedback").textContent).toBe("Compare your answer with the answer key.Answer key Effusion");
  expect(page.find(".feedback").className.trim()).toBe("feedback");
});
