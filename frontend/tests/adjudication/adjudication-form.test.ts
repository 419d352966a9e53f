// @vitest-environment happy-dom
// The adjudication form: whose value each field takes, the reason, saving once and again.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import adjudicationForm from "../../src/adjudication/adjudication-form";
import type { DisputeData } from "../../src/shared/api";
import { disputeData, MountedPage, pass, saved } from "../forms";
import { AWAY, FakeServer } from "../server";

const second = disputeData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<DisputeData>;

const settled = (): unknown[] => server.to("/settling/adjudication").map(({ question, decision, picks, own, reason }) => ({ question, decision, picks, own, reason }));
const give = (reason: string): void => page.type('[aria-label="Reason"]', reason);

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/settling/adjudication", () => saved(second));
  page = new MountedPage(adjudicationForm, disputeData());
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

const whole = { question: 1, decision: "stand", picks: { stem: 0, answer: 0, also_right: 0, boxes: 0 }, own: {}, reason: "clearer" };

test("a verdict that is taken whole is saved once, with the reason", async () => {
  server.latency = 50;
  page.press("Enter");
  expect(page.message).toMatch(/^Use one of the versions/);
  page.press("1", "Enter");
  expect(page.message).toBe("Give a reason for the decision (W).");
  give("clearer");
  page.press("Enter", "Enter");
  page.click("Adjudicate");
  await pass(100);
  expect(settled()).toEqual([whole]);
  expect(page.find(".saved").textContent).toMatch(/^Saved/);
});

test("to take a rejection is to reject", async () => {
  page.press("2");
  give("wrong");
  page.press("Enter");
  await pass(50);
  expect(settled()).toEqual([{ question: 1, decision: "reject", picks: {}, own: {}, reason: "wrong" }]);
});

test("an own value begins with the machine's and takes the place of a reviewer's", async () => {
  page.press("1");
  page.find('[aria-label="Stem: own"]').click();
  expect(page.field('[aria-label="own Stem"]').value).toBe("What is shown?");
  page.type('[aria-label="own Stem"]', "What is visible?");
  give("clearer");
  page.press("Enter");
  await pass(50);
  expect(settled()).toEqual([{ ...whole, picks: { ...whole.picks, stem: "own" }, own: { stem: "What is visible?" } }]);
});

test("every disputed field needs a side", () => {
  page.find('[aria-label="Key: machine"]').click();
  give("so");
  page.press("Enter");
  expect(page.message).toBe("Choose a version for: stem.");
});

test("what was not saved stays and is sent again", async () => {
  server.on("/settling/adjudication", () => AWAY);
  page.press("1");
  give("clearer");
  page.press("Enter");
  await pass(50);
  expect(page.message).toBe("Not saved. The database could not be reached. Try again T");
  server.on("/settling/adjudication", () => saved(second));
  page.press("t");
  await pass(50);
  expect(settled()).toEqual([whole, whole]);
});

test("a reason that is not saved is there again after a reload, and gone once it is", async () => {
  give("clearer");
  page.close();
  page = new MountedPage(adjudicationForm, disputeData());
  expect(page.field('[aria-label="Reason"]').value).toBe("clearer");
  page.press("1", "Enter");
  await pass(50);
  expect(Object.keys(localStorage).filter((key) => key.startsWith("overread-settling"))).toEqual([]);
});

test("a later run of the script does not bring back what is settled", async () => {
  page.press("1");
  give("clearer");
  page.press("Enter");
  await pass(50);
  page.run(disputeData());
  give("next");
  page.press("2", "Enter");
  await pass(50);
  expect(settled()).toMatchObject([{ question: 1 }, { question: 2 }]);
});
