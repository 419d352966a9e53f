// @vitest-environment happy-dom
// The adjudication form: the source of each field's value, the reason, saving once, repeating a failed save.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import adjudicationForm from "../../src/adjudication/adjudication-form";
import type { DisputeData } from "../../src/shared/api";
import { disputeData, MountedPage, advanceTime, saved } from "../forms";
import { AWAY, FakeServer } from "../server";

const secondDispute = disputeData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<DisputeData>;

const sentAdjudications = (): unknown[] => server.bodiesSentTo("/adjudication/decision").map(({ question, decision, value_sources, own, reason }) => ({ question, decision, value_sources, own, reason }));
const enterReason = (reason: string): void => page.type('[aria-label="Reason"]', reason);

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/adjudication/decision", () => saved(secondDispute));
  page = new MountedPage(adjudicationForm, disputeData());
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

const firstReviewersVersion = { question: 1, decision: "keep", value_sources: { stem: 0, answer: 0, also_right: 0, boxes: 0 }, own: {}, reason: "clearer" };

test("a reviewer's whole version is saved once, with the reason", async () => {
  server.latency = 50;
  page.press("Enter");
  expect(page.message).toMatch(/^Use one of the versions/);
  page.press("1", "Enter");
  expect(page.message).toBe("Give a reason for the decision (W).");
  enterReason("clearer");
  page.press("Enter", "Enter");
  page.click("Save decision");
  await advanceTime(100);
  expect(sentAdjudications()).toEqual([firstReviewersVersion]);
  expect(page.find(".saved").textContent).toMatch(/^Saved/);
});

test("using the version of a reviewer who rejected the question rejects it", async () => {
  page.press("2");
  enterReason("wrong");
  page.press("Enter");
  await advanceTime(50);
  expect(sentAdjudications()).toEqual([{ question: 1, decision: "reject", value_sources: {}, own: {}, reason: "wrong" }]);
});

test("an own value starts with the original value and replaces the reviewer's value", async () => {
  page.press("1");
  page.find('[aria-label="Stem: own"]').click();
  expect(page.field('[aria-label="own Stem"]').value).toBe("What is shown?");
  page.type('[aria-label="own Stem"]', "What is visible?");
  enterReason("clearer");
  page.press("Enter");
  await advanceTime(50);
  expect(sentAdjudications()).toEqual([{ ...firstReviewersVersion, value_sources: { ...firstReviewersVersion.value_sources, stem: "own" }, own: { stem: "What is visible?" } }]);
});

test("every disputed field needs a source", () => {
  page.find('[aria-label="Answer key: original"]').click();
  enterReason("so");
  page.press("Enter");
  expect(page.message).toBe("Choose a version for: stem.");
});

test("a decision that could not be saved stays on the form and can be sent again", async () => {
  server.on("/adjudication/decision", () => AWAY);
  page.press("1");
  enterReason("clearer");
  page.press("Enter");
  await advanceTime(50);
  expect(page.message).toBe("Not saved. The database could not be reached. Try again T");
  server.on("/adjudication/decision", () => saved(secondDispute));
  page.press("t");
  await advanceTime(50);
  expect(sentAdjudications()).toEqual([firstReviewersVersion, firstReviewersVersion]);
});

test("an unsaved reason is restored after a reload, and removed after a save", async () => {
  enterReason("clearer");
  page.close();
  page = new MountedPage(adjudicationForm, disputeData());
  expect(page.field('[aria-label="Reason"]').value).toBe("clearer");
  page.press("1", "Enter");
  await advanceTime(50);
  expect(Object.keys(localStorage).filter((key) => key.startsWith("overread-settling"))).toEqual([]);
});

test("a later script run with a dispute that is already adjudicated does not show it again", async () => {
  page.press("1");
  enterReason("clearer");
  page.press("Enter");
  await advanceTime(50);
  page.run(disputeData());
  enterReason("next");
  page.press("2", "Enter");
  await advanceTime(50);
  expect(sentAdjudications()).toMatchObject([{ question: 1 }, { question: 2 }]);
});
