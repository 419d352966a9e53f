// @vitest-environment happy-dom
// The review form: saving once, trying again, drafts, keys, conflicts, leaving.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import reviewForm from "../../src/review/review-form";
import type { ReviewData } from "../../src/shared/api";
import { MountedPage, pass, reviewData, saved } from "../forms";
import { canvas } from "../drawable-canvas";
import { AWAY, FakeServer, OFFLINE, Refusal } from "../server";

const second = reviewData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<ReviewData>;

const verdicts = (): number[] => server.to("/judging/verdict").map(({ question }) => question as number);
const open = async (data = reviewData()): Promise<void> => {
  page = new MountedPage(reviewForm, data);
  await pass(600); // longer than nothing is saved of a question that has just come
};

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/judging/verdict", () => saved(second));
  await open();
});
afterEach(() => {
  page.close();
  canvas.paints = true;
  vi.useRealTimers();
});

const GAPS = [0, 10, 50, 100, 150, 250];
const LATENCIES = [5, 60, 300];
const races = GAPS.flatMap((gap) => LATENCIES.map((latency) => ({ gap, latency })));

describe("a save and, at once, something else", () => {
  test.each(races)("a second click on the same place $gap ms later saves nothing more; the answer takes $latency ms", async ({ gap, latency }) => {
    server.latency = latency;
    page.click("Accept");
    await pass(gap);
    page.click("Accept"); // the button that is there by then: the next question's, once it is shown
    await pass(1000);
    expect(verdicts()).toEqual([1]);
    expect(page.find(".saved").textContent).toMatch(/^Saved .*\(accept\)/);
  });

  const others = {
    "the list of keys": () => page.click("Keys"),
    "another choice": () => page.find('[data-error="unclear"]').click(),
    "the next question": () => page.click("next question (J)"),
    "the key to accept": () => page.press("a"),
    "the key to reject": () => page.press("x"),
  };
  const mixed = Object.entries(others).flatMap(([name, act]) => GAPS.map((gap) => ({ name, act, gap })));
  test.each(mixed)("$name $gap ms later leaves one verdict", async ({ act, gap }) => {
    server.latency = 60;
    page.click("Accept");
    await pass(gap);
    act();
    await pass(1000);
    expect(verdicts()).toEqual([1]);
  });

  test("a key within half a second after the question has turned saves nothing", async () => {
    page.press("a");
    await pass(50);
    expect(page.find(".top").textContent).toContain("question");
    page.press("a");
    await pass(400);
    page.press("a");
    await pass(50);
    expect(verdicts()).toEqual([1]);
    await pass(100);
    page.press("a");
    await pass(50);
    expect(verdicts()).toEqual([1, 2]);
  });

  test("what is entered on a question that has just come may be saved at once", async () => {
    page.press("a");
    await pass(50);
    page.type('[name="comment"]', "good");
    page.press("a");
    await pass(50);
    expect(verdicts()).toEqual([1, 2]);
  });
});

describe("what was not saved", () => {
  const failures = [
    { name: "the database is away", result: AWAY, text: "Not saved. The database could not be reached. Try again T" },
    { name: "nobody answers", result: OFFLINE, text: "Not saved. The server did not answer. Your input is kept in this window. Try again T" },
    { name: "it is refused", result: new Refusal(422, { error: "The comment is too long.", kind: "InvalidValue" }), text: "Not saved. The comment is too long. Try again T" },
    { name: "the person is signed out", result: new Refusal(401, { error: "Sign in first.", kind: "NotSignedIn" }), text: "Not saved. Sign in first. Sign in in a new tab, then: Try again T" },
  ];
  test.each(failures)("stays on the form and is sent again as it is by then, when $name", async ({ result, text }) => {
    server.on("/judging/verdict", () => result);
    page.type('[name="comment"]', "first");
    page.press("a");
    await pass(50);
    expect(page.message).toBe(text);
    expect(page.find(".saved").textContent).toBe("Not saved");
    page.type('[name="comment"]', "second");
    expect(page.message).toBe(text); // typing does not take it away
    server.on("/judging/verdict", () => saved(second));
    page.press("t");
    await pass(50);
    expect(server.to("/judging/verdict").map(({ opinion }) => (opinion as { comment: string }).comment)).toEqual(["first", "second"]);
    expect(page.message).toBe("");
    expect(page.find(".saved").textContent).toMatch(/^Saved .*\(accept\)/);
  });

  test("a request without an answer for ten seconds counts as not answered", async () => {
    server.latency = 60_000;
    page.press("a");
    await pass(9_900);
    expect(page.find(".saved").textContent).toBe("Saving …");
    await pass(200);
    expect(page.message).toContain("The server did not answer.");
  });

  test("a newer verdict is shown on demand, and this one stays until then", async () => {
    const stale = "Another tab saved revision 1 (reject); yours is not saved.";
    const newer = reviewData({ revision: 2, last: { revision: 1, decision: "reject", at: "2026-11-22T10:00:00+00:00", opinion: { ratings: {}, domain_specific: null, cognitive_depth: null, image_centric: null, clinically_relevant: null, difficulty: null, errors: [], correction: {}, clinical_reasoning: "", comment: "theirs" } } });
    server.on("/judging/verdict", () => new Refusal(409, { error: stale, kind: "StaleRevision" }));
    server.on("/judging/turn", () => ({ sheet: newer }));
    page.type('[name="comment"]', "mine");
    page.press("a");
    await pass(50);
    expect(page.message).toBe(`Not saved. ${stale} Show saved verdict`);
    expect(page.field('[name="comment"]').value).toBe("mine");
    page.click("Show saved verdict");
    await pass(50);
    expect(server.to("/judging/turn")).toEqual([{ batch: 1, question: 1, to: 1 }]);
    expect(page.field('[name="comment"]').value).toBe("theirs");
    expect(page.message).toContain("reject. Saving creates revision 2, which replaces it.");
  });

  test("a question that was taken back loses its pictures, and can't be saved any more", async () => {
    server.on("/judging/verdict", () => new Refusal(403, { error: "It is not assigned to you.", kind: "NotAllowed" }));
    server.on("/judging/turn", () => ({ sheet: null }));
    page.press("a");
    await pass(50);
    expect(page.message).toContain("Not assigned to you.");
    expect(page.find(".stage").textContent).toBe("This question is no longer assigned to you.");
    page.press("a", "t");
    await pass(50);
    expect(verdicts()).toEqual([1]);
  });
});

describe("drafts", () => {
  const kept = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith("overread-draft"));
  const comments = (): string[] => server.to("/judging/draft").map(({ body }) => (body as { comment: string }).comment);

  test("are sent when nothing has changed for a moment, in their newest form", async () => {
    page.type('[name="comment"]', "a");
    await pass(300);
    page.type('[name="comment"]', "ab");
    await pass(300);
    expect(comments()).toEqual([]);
    await pass(200);
    expect(comments()).toEqual(["ab"]);
    expect(page.find(".saved").textContent).toBe("Draft saved");
  });

  test("that the server does not take stay in the browser and are sent again until it does", async () => {
    server.on("/judging/draft", () => AWAY);
    page.type('[name="comment"]', "kept");
    await pass(500);
    expect(page.find(".saved").textContent).toBe("Draft not saved");
    expect(kept()).toEqual(["overread-draft:7:1:1:form"]);
    server.on("/judging/draft", () => ({ revision: 1 }));
    await pass(3100);
    expect(page.find(".saved").textContent).toBe("Draft saved");
    expect(page.message).toBe("");
    expect(kept()).toEqual([]);
  });

  test("that only the browser has come back when the question is opened again, and go to the server", async () => {
    server.on("/judging/draft", () => OFFLINE);
    page.type('[name="comment"]', "kept");
    await pass(500);
    page.close();
    server.on("/judging/draft", () => ({ revision: 1 }));
    server.sent.length = 0;
    await open();
    expect(page.field('[name="comment"]').value).toBe("kept");
    expect(comments()).toEqual(["kept"]);
    expect(kept()).toEqual([]);
  });

  test.each([
    { name: "of an earlier verdict", data: reviewData({ revision: 2 }) },
    { name: "of another person", data: reviewData({ person: 8 }) },
  ])("$name do not come back, and are removed", async ({ data }) => {
    server.on("/judging/draft", () => OFFLINE);
    page.type('[name="comment"]', "kept");
    await pass(500);
    page.close();
    await open(data);
    expect(page.field('[name="comment"]').value).toBe("");
    expect(kept()).toEqual([]);
  });

  test("are gone everywhere once the verdict is in", async () => {
    server.on("/judging/draft", () => AWAY);
    page.type('[name="comment"]', "kept");
    await pass(500);
    page.press("a");
    await pass(50);
    expect(kept()).toEqual([]);
    const sent = server.to("/judging/draft").length;
    await pass(10_000);
    expect(server.to("/judging/draft")).toHaveLength(sent);
  });

  test("that are under way arrive before the verdict", async () => {
    server.latency = 200;
    page.type('[name="comment"]', "first");
    await pass(450);
    page.press("a");
    await pass(0);
    expect(verdicts()).toEqual([]);
    await pass(200);
    expect(verdicts()).toEqual([1]);
  });

  test("stay when the verdict fails, and are sent on", async () => {
    server.on("/judging/verdict", () => AWAY);
    page.type('[name="comment"]', "first");
    page.press("a");
    await pass(100);
    expect(comments()).toEqual(["first"]);
  });

  test("that wait when the page is left are sent by a request that outlives it, and kept", () => {
    page.type('[name="comment"]', "last words");
    window.dispatchEvent(new Event("pagehide"));
    const [draft] = server.sent.filter(({ route }) => route === "/judging/draft");
    expect(draft).toMatchObject({ keepalive: true, body: { part: "form", body: { comment: "last words" } } });
    expect(kept()).toEqual(["overread-draft:7:1:1:form"]);
  });
});

describe("keys", () => {
  test("fill the ratings in their order, and Backspace takes the last one back", async () => {
    page.close();
    const ratings = ["clinical_quality", "image_alignment"].map((name) => ({ name, label: name, anchors: ["a", "b", "c", "d", "e"], ofImage: name === "image_alignment" }));
    await open(reviewData({ asks: { ratings, flags: true, texts: true, key: true, boxes: false } }));
    page.press("4", "5", "Backspace", "3", "y", "n", "h", "f", "b", "a");
    await pass(50);
    const [verdict] = server.to("/judging/verdict");
    expect(verdict?.opinion).toMatchObject({ ratings: { clinical_quality: 4, image_alignment: 3 }, domain_specific: true, cognitive_depth: false, difficulty: "hard", errors: ["unclear"] });
  });

  test("and rows follow the choices that the sheet declares", async () => {
    page.close();
    const { scales, asks } = reviewData();
    const flags = [...scales.flags, { id: "well_posed", label: "Well posed", required: true }];
    const errors = [...scales.errors, { id: "blurred", label: "Image blurred" }];
    await open(reviewData({ asks: { ...asks, flags: true }, scales: { ...scales, flags, errors } }));
    expect(page.find('[data-step="well_posed"]').textContent).toMatch(/^Well posed/);
    page.press("?");
    const help = page.find(".sheet").textContent;
    for (const line of ["needs radiology, then more than recall, then well posed", "E / M / H", "F, then a – c"]) expect(help).toContain(line);
    page.press("?", "y", "n", "y", "e", "f", "c", "a");
    await pass(50);
    const [verdict] = server.to("/judging/verdict");
    expect(verdict?.opinion).toMatchObject({ domain_specific: true, cognitive_depth: false, well_posed: true, image_centric: null, difficulty: "easy", errors: ["blurred"] });
  });

  test("that are typed into a field are not the form's", async () => {
    const field = page.find('[name="comment"]');
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, composed: true }));
    await pass(50);
    expect(verdicts()).toEqual([]);
  });

  test("with Ctrl are the browser's", async () => {
    page.find(".judging").dispatchEvent(new KeyboardEvent("keydown", { key: "a", ctrlKey: true, bubbles: true }));
    await pass(50);
    expect(verdicts()).toEqual([]);
  });

  test("say what is missing before a decision, and save nothing", async () => {
    page.press("v", "x");
    await pass(50);
    expect(page.message).toBe("Give a reason for rejecting: a kind of error (F, then its letter) or a comment.");
    expect(verdicts()).toEqual([]);
  });
});

describe("a radiograph that is not on screen", () => {
  beforeEach(async () => {
    page.close();
    canvas.paints = false;
    await open();
  });

  const sentImages = (): unknown[] => server.to("/judging/verdict").map(({ image }) => image);

  test("holds the verdict, which Shift Enter saves as judged without it", async () => {
    page.press("a");
    await pass(50);
    expect(page.find(".image-check").textContent).toMatch(/^Not saved: the radiograph is still loading/);
    expect(sentImages()).toEqual([]);
    page.find(".judging").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true }));
    await pass(50);
    expect(sentImages()).toEqual(["not drawn, confirmed"]);
    expect(page.find(".image-check").textContent).toBe("");
  });

  test("can be loaded again, and is to be looked at before the verdict is saved", async () => {
    page.press("a");
    await pass(50);
    canvas.paints = true;
    page.press("t");
    await pass(50);
    expect(page.find(".image-check").textContent).toBe("The radiograph is now displayed. Review it, then save again.");
    expect(sentImages()).toEqual([]);
    page.press("a");
    await pass(50);
    expect(sentImages()).toEqual(["drawn"]);
  });

  test("is confirmed for one question only", async () => {
    page.press("a");
    await pass(50);
    page.click("I judged this question without seeing the radiograph");
    await pass(700);
    page.press("a");
    await pass(50);
    expect(sentImages()).toEqual(["not drawn, confirmed"]);
  });
});

test("the reviewer's own answer brings the same question with its key", async () => {
  page.close();
  await open(reviewData({ blind: true, full: null }));
  server.on("/judging/own-answer", () => saved(reviewData()));
  page.press("a", "Enter");
  expect(page.message).toBe("Give your confidence: press 1 to 5.");
  page.press("4", "Enter", "Enter");
  await pass(50);
  expect(server.to("/judging/own-answer")).toEqual([{ batch: 1, question: 1, answer: [0], confidence: 4, image: "drawn" }]);
  expect(page.find(".stem-text textarea")).toBeTruthy();
});
