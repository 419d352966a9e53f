// @vitest-environment happy-dom
// The review form: saving once, repeating a failed save, drafts, keys, conflicts, leaving.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import reviewForm from "../../src/review/review-form";
import type { CanvasObject, Opinion, ReviewData } from "../../src/shared/api";
import { MountedPage, advanceTime, reviewData, saved } from "../forms";
import { canvas } from "../drawable-canvas";
import { AWAY, FakeServer, NOW, OFFLINE, Refusal } from "../server";

const secondQuestion = reviewData({ question: 2, previous: 1, next: null });
let server: FakeServer;
let page: MountedPage<ReviewData>;

const judgedQuestions = (): number[] => server.bodiesSentTo("/review/verdict").map(({ question }) => question as number);
const open = async (data = reviewData()): Promise<void> => {
  page = new MountedPage(reviewForm, data);
  await advanceTime(600); // a question can't be saved in the first half second after it appears
};

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/review/verdict", () => saved(secondQuestion));
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

describe("a save followed at once by another action", () => {
  test.each(races)("a second click on the same place $gap ms later saves nothing more; the response takes $latency ms", async ({ gap, latency }) => {
    server.latency = latency;
    page.click("Accept");
    await advanceTime(gap);
    page.click("Accept"); // once the response has arrived, this is the button of the next question
    await advanceTime(1000);
    expect(judgedQuestions()).toEqual([1]);
    expect(page.find(".saved").textContent).toMatch(/^Saved .*\(accepted\)/);
  });

  const otherActions = {
    "the list of shortcuts": () => page.click("Shortcuts"),
    "another choice": () => page.find('[data-error="unclear"]').click(),
    "the next question": () => page.click("next question (J)"),
    "the key to accept": () => page.press("a"),
    "the key to reject": () => page.press("x"),
  };
  const combinations = Object.entries(otherActions).flatMap(([name, act]) => GAPS.map((gap) => ({ name, act, gap })));
  test.each(combinations)("$name $gap ms later leaves one verdict", async ({ act, gap }) => {
    server.latency = 60;
    page.click("Accept");
    await advanceTime(gap);
    act();
    await advanceTime(1000);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("a key within half a second after the question changed saves nothing", async () => {
    page.press("a");
    await advanceTime(50);
    expect(page.find(".top").textContent).toContain("question");
    page.press("a");
    await advanceTime(400);
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
    await advanceTime(100);
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1, 2]);
  });

  test("input on a new question can be saved at once", async () => {
    page.press("a");
    await advanceTime(50);
    page.type('[name="comment"]', "good");
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1, 2]);
  });
});

describe("a failed save", () => {
  const failures = [
    { name: "the database can't be reached", result: AWAY, text: "Not saved. The database could not be reached. Try again T" },
    { name: "the server does not answer", result: OFFLINE, text: "Not saved. The server did not answer. Your input is kept in this window. Try again T" },
    { name: "the server refuses it", result: new Refusal(422, { error: "The comment is too long.", kind: "InvalidValue" }), text: "Not saved. The comment is too long. Try again T" },
    { name: "the person is signed out", result: new Refusal(401, { error: "Sign in first.", kind: "NotSignedIn" }), text: "Not saved. Sign in first. Sign in in a new tab, then: Try again T" },
  ];
  test.each(failures)("stays on the form and is resent with the current input when $name", async ({ result, text }) => {
    server.on("/review/verdict", () => result);
    page.type('[name="comment"]', "first");
    page.press("a");
    await advanceTime(50);
    expect(page.message).toBe(text);
    expect(page.find(".saved").textContent).toBe("Not saved");
    page.type('[name="comment"]', "second");
    expect(page.message).toBe(text); // typing does not remove the message
    server.on("/review/verdict", () => saved(secondQuestion));
    page.press("t");
    await advanceTime(50);
    expect(server.bodiesSentTo("/review/verdict").map(({ opinion }) => (opinion as { comment: string }).comment)).toEqual(["first", "second"]);
    expect(page.message).toBe("");
    expect(page.find(".saved").textContent).toMatch(/^Saved .*\(accepted\)/);
  });

  test("a request without a response for ten seconds fails", async () => {
    server.latency = 60_000;
    page.press("a");
    await advanceTime(9_900);
    expect(page.find(".saved").textContent).toBe("Saving …");
    await advanceTime(200);
    expect(page.message).toContain("The server did not answer.");
  });

  test("a newer verdict is shown on demand, and the entered verdict stays until then", async () => {
    const stale = "Another tab saved revision 1 (reject); yours is not saved.";
    const newer = reviewData({ revision: 2, last: { revision: 1, decision: "reject", at: "2026-11-22T10:00:00+00:00", opinion: { ratings: {}, domain_specific: null, cognitive_depth: null, image_centric: null, clinically_relevant: null, difficulty: null, errors: [], correction: {}, clinical_reasoning: "", comment: "theirs" } } });
    server.on("/review/verdict", () => new Refusal(409, { error: stale, kind: "StaleRevision" }));
    server.on("/review/question", () => ({ next: newer }));
    page.type('[name="comment"]', "mine");
    page.press("a");
    await advanceTime(50);
    expect(page.message).toBe(`Not saved. ${stale} Show saved verdict`);
    expect(page.field('[name="comment"]').value).toBe("mine");
    page.click("Show saved verdict");
    await advanceTime(50);
    expect(server.bodiesSentTo("/review/question")).toEqual([{ batch: 1, question: 1, target: 1 }]);
    expect(page.field('[name="comment"]').value).toBe("theirs");
    expect(page.message).toContain("rejected. Saving creates revision 2, which replaces it.");
  });

  test("an unassigned question loses its images and can't be saved", async () => {
    server.on("/review/verdict", () => new Refusal(403, { error: "It is not assigned to you.", kind: "NotAllowed" }));
    server.on("/review/question", () => ({ next: null }));
    page.press("a");
    await advanceTime(50);
    expect(page.message).toContain("Not assigned to you.");
    expect(page.find(".stage").textContent).toBe("This question is no longer assigned to you.");
    page.press("a", "t");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
  });
});

describe("drafts", () => {
  const storedKeys = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith("overread-draft"));
  const comments = (): string[] => server.bodiesSentTo("/review/draft").map(({ body }) => (body as { comment: string }).comment);

  test("are sent after a pause, with the newest content", async () => {
    page.type('[name="comment"]', "a");
    await advanceTime(300);
    page.type('[name="comment"]', "ab");
    await advanceTime(300);
    expect(comments()).toEqual([]);
    await advanceTime(200);
    expect(comments()).toEqual(["ab"]);
    expect(page.find(".saved").textContent).toBe("Draft saved");
  });

  test("that the server does not accept stay in the browser and are resent until it does", async () => {
    server.on("/review/draft", () => AWAY);
    page.type('[name="comment"]', "kept");
    await advanceTime(500);
    expect(page.find(".saved").textContent).toBe("Draft not saved");
    expect(storedKeys()).toEqual(["overread-draft:7:1:1:form"]);
    server.on("/review/draft", () => ({ revision: 1 }));
    await advanceTime(3100);
    expect(page.find(".saved").textContent).toBe("Draft saved");
    expect(page.message).toBe("");
    expect(storedKeys()).toEqual([]);
  });

  test("that only the browser has are restored and sent when the question is opened again", async () => {
    server.on("/review/draft", () => OFFLINE);
    page.type('[name="comment"]', "kept");
    await advanceTime(500);
    page.close();
    server.on("/review/draft", () => ({ revision: 1 }));
    server.sent.length = 0;
    await open();
    expect(page.field('[name="comment"]').value).toBe("kept");
    expect(comments()).toEqual(["kept"]);
    expect(storedKeys()).toEqual([]);
  });

  test("that an earlier version of the app stored under other field names are restored", async () => {
    const keepDraft = (part: string, verdict: number, body: object): void => localStorage.setItem(`overread-draft:7:1:1:${part}`, JSON.stringify({ verdict, revision: 0, body }));
    const opinion: Opinion = { ratings: {}, difficulty: null, errors: [], correction: {}, clinical_reasoning: "", comment: "" };
    page.close();
    keepDraft("form", 2, { ...opinion, why: "a slip" });
    await open(reviewData({ revision: 2, last: { revision: 1, decision: "accept", at: NOW, opinion } }));
    expect(page.field('[name="change_reason"]').value).toBe("a slip");
    page.close();
    keepDraft("own", 1, { answer: null, cannot: true, confidence: 2 });
    await open(reviewData({ blind: true, questionWithKey: null }));
    expect(page.find('[data-answer="cannot-determine"]').getAttribute("aria-pressed")).toBe("true");
    expect(page.find('[data-confidence="2"]').getAttribute("aria-pressed")).toBe("true");
    expect(storedKeys()).toEqual([]);
  });

  test.each([
    { name: "of an earlier verdict", data: reviewData({ revision: 2 }) },
    { name: "of another person", data: reviewData({ person: 8 }) },
  ])("$name are not restored but removed", async ({ data }) => {
    server.on("/review/draft", () => OFFLINE);
    page.type('[name="comment"]', "kept");
    await advanceTime(500);
    page.close();
    await open(data);
    expect(page.field('[name="comment"]').value).toBe("");
    expect(storedKeys()).toEqual([]);
  });

  test("are deleted everywhere after the verdict is saved", async () => {
    server.on("/review/draft", () => AWAY);
    page.type('[name="comment"]', "kept");
    await advanceTime(500);
    page.press("a");
    await advanceTime(50);
    expect(storedKeys()).toEqual([]);
    const sent = server.bodiesSentTo("/review/draft").length;
    await advanceTime(10_000);
    expect(server.bodiesSentTo("/review/draft")).toHaveLength(sent);
  });

  test("that are being sent arrive before the verdict", async () => {
    server.latency = 200;
    page.type('[name="comment"]', "first");
    await advanceTime(450);
    page.press("a");
    await advanceTime(0);
    expect(judgedQuestions()).toEqual([]);
    await advanceTime(200);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("stay when saving the verdict fails, and are still sent", async () => {
    server.on("/review/verdict", () => AWAY);
    page.type('[name="comment"]', "first");
    page.press("a");
    await advanceTime(100);
    expect(comments()).toEqual(["first"]);
  });

  test("that are pending when the page is left are sent with keepalive and stored", () => {
    page.type('[name="comment"]', "last words");
    window.dispatchEvent(new Event("pagehide"));
    const [draft] = server.sent.filter(({ route }) => route === "/review/draft");
    expect(draft).toMatchObject({ keepalive: true, body: { part: "form", body: { comment: "last words" } } });
    expect(storedKeys()).toEqual(["overread-draft:7:1:1:form"]);
  });
});

describe("keys", () => {
  test("fill the ratings in order, and Backspace undoes the last one", async () => {
    page.close();
    const ratings = ["clinical_quality", "image_alignment"].map((name) => ({ name, label: name, anchors: ["a", "b", "c", "d", "e"], ratedBeforeReport: name === "image_alignment" }));
    await open(reviewData({ requested: { ratings, flags: true, texts: true, answerKey: true, boxes: false } }));
    page.press("4", "5", "Backspace", "3", "y", "n", "h", "f", "b", "a");
    await advanceTime(50);
    const [verdict] = server.bodiesSentTo("/review/verdict");
    expect(verdict?.opinion).toMatchObject({ ratings: { clinical_quality: 4, image_alignment: 3 }, domain_specific: true, cognitive_depth: false, difficulty: "hard", errors: ["unclear"] });
  });

  test("show the descriptions of the current rating under its name", async () => {
    page.close();
    const ratings = ["Clinical quality", "Image alignment"].map((label) => ({ name: label, label, anchors: [`low ${label}`, "b", "c", "d", "e"], ratedBeforeReport: false }));
    await open(reviewData({ requested: { ratings, flags: false, texts: false, answerKey: false, boxes: false } }));
    expect(page.find(".anchor").textContent).toMatch(/^Clinical quality:1 low Clinical quality/);
    page.press("4");
    expect(page.find(".anchor").textContent).toMatch(/^Image alignment:1 low Image alignment/);
  });

  test("and rows follow the declared scales", async () => {
    page.close();
    const { choices, requested } = reviewData();
    const flags = [...choices.flags, { id: "well_posed", label: "Well posed", required: true }];
    const errors = [...choices.errors, { id: "blurred", label: "Image blurred" }];
    await open(reviewData({ requested: { ...requested, flags: true }, choices: { ...choices, flags, errors } }));
    expect(page.find('[data-step="well_posed"]').textContent).toMatch(/^Well posed/);
    expect([...page.find(".errors").querySelectorAll("kbd")].map((cap) => cap.textContent)).toEqual(["F", "a", "b", "c"]);
    page.press("y", "n", "y", "e", "f", "c", "a");
    await advanceTime(50);
    const [verdict] = server.bodiesSentTo("/review/verdict");
    expect(verdict?.opinion).toMatchObject({ domain_specific: true, cognitive_depth: false, well_posed: true, image_centric: null, difficulty: "easy", errors: ["blurred"] });
  });

  const openJudgement = async (preferences?: ReviewData["preferences"]): Promise<void> => {
    page.close();
    await open(reviewData({ requested: { ...reviewData().requested, flags: true }, ...(preferences && { preferences }) }));
  };
  const pressedButtons = (): string[] => [...document.querySelectorAll<HTMLElement>('.judging [aria-pressed="true"]')].map((button) => button.textContent);

  test("set “needs the image” to yes, no and not judged", async () => {
    await openJudgement();
    const pressedValue = (): unknown => page.find('[data-step="image_centric"] [aria-pressed="true"]').dataset.value;
    page.press("Shift+I");
    expect(pressedValue()).toBe("true");
    page.press("Shift+I");
    expect(pressedValue()).toBe("false");
    page.press("Shift+I");
    expect(page.find('[data-step="image_centric"]').querySelector('[aria-pressed="true"]')).toBeNull();
  });

  test("change the answer key by Shift V, then the digit of the option", async () => {
    page.press("Shift+V");
    expect(page.find(".options").textContent).toContain("A1");
    page.press("2", "a");
    await advanceTime(50);
    expect(page.find(".changes").textContent).toContain("Key: A B");
    expect(page.message).toContain("The question has corrections.");
    page.press("v");
    await advanceTime(50);
    expect(server.bodiesSentTo("/review/verdict")[0]?.opinion).toMatchObject({ correction: { answer: [1] } });
  });

  test("other than digits change nothing after Shift V", async () => {
    page.press("Shift+V", "a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([]);
    expect(page.find(".options").querySelector("kbd")).toBeNull();
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("chosen by the person replace the declared keys, on buttons and in the list of shortcuts", async () => {
    await openJudgement({ keys: { reject: "Shift+A", "flag-image_centric": "1", "rating-1": "" }, leftButton: "boxes" });
    expect(page.button("Reject").textContent).toBe("RejectShift A");
    page.press("1", "x", "?");
    expect(page.find('[data-step="image_centric"] [aria-pressed="true"]').dataset.value).toBe("true");
    expect(page.find(".sheet").textContent).toContain("Shift Areject the question");
    page.press("?", "Shift+A");
    await advanceTime(50);
    expect(page.message).toMatch(/^Give a reason for rejecting/);
  });

  test.each(['[name="comment"]', '[name="category"]', '[name="task"]', ".stem-text textarea", ".option textarea"])("in the field %s are ignored", async (selector) => {
    await openJudgement();
    page.press("w");
    const before = pressedButtons();
    for (const key of ["n", "o", "d", "a", "x", "1", "f", "Enter", "Backspace", "I", "Q", "Z"])
      page.find(selector).dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: /[A-Z]$/.test(key), bubbles: true, composed: true }));
    await advanceTime(50);
    expect(pressedButtons()).toEqual(before);
    expect(judgedQuestions()).toEqual([]);
    expect(page.find(".message").textContent).toBe("");
  });

  test("with Ctrl are ignored", async () => {
    page.find(".judging").dispatchEvent(new KeyboardEvent("keydown", { key: "a", ctrlKey: true, bubbles: true }));
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([]);
  });

  test("report what is missing before a decision, and save nothing", async () => {
    page.press("v", "x");
    await advanceTime(50);
    expect(page.message).toBe("Give a reason for rejecting: a kind of error (F) or a comment (W).");
    expect(judgedQuestions()).toEqual([]);
  });
});

describe("one-key accept", () => {
  const ratings = ["clinical_quality", "image_alignment"].map((name) => ({ name, label: name, anchors: ["a", "b", "c", "d", "e"], ratedBeforeReport: name === "image_alignment" }));
  const requested = { ratings, flags: true, texts: true, answerKey: true, boxes: true };
  const opinions = (): unknown[] => server.bodiesSentTo("/review/verdict").map(({ opinion }) => opinion);
  const openBatch = async (changes: Partial<ReviewData> = {}): Promise<void> => {
    page.close();
    await open(reviewData({ requested, oneKeyAccept: true, ...changes }));
  };
  const acceptedOpinion = { ratings: { clinical_quality: 5, image_alignment: 5 }, domain_specific: true, cognitive_depth: true, image_centric: null, difficulty: null };

  test("saves a complete verdict by one key", async () => {
    await openBatch();
    page.press("a");
    await advanceTime(50);
    expect(opinions()).toMatchObject([acceptedOpinion]);
  });

  test("keeps what was entered and fills in the rest", async () => {
    await openBatch();
    page.press("4", "y", "n", "h", "a");
    await advanceTime(50);
    expect(opinions()).toMatchObject([{ ...acceptedOpinion, ratings: { clinical_quality: 4, image_alignment: 5 }, cognitive_depth: false, difficulty: "hard" }]);
  });

  test("leaves the rating of difficulty open, even on a question that has a verdict already", async () => {
    const last = { revision: 1, decision: "reject" as const, at: "2026-11-22T10:00:00+00:00", opinion: { ratings: {}, difficulty: null, errors: [], correction: {}, clinical_reasoning: "", comment: "" } };
    await openBatch({ last, revision: 2 });
    page.press("a");
    await advanceTime(50);
    expect(opinions()).toMatchObject([{ ...acceptedOpinion, difficulty: null }]);
  });

  test("asks for a rating below the top after a kind of error or a correction", async () => {
    await openBatch();
    page.press("f", "b", "a");
    await advanceTime(50);
    expect(page.message).toMatch(/give the affected field a rating below 5/);
    page.press("f", "b");
    page.type('[name="explanation"]', "Thus.");
    page.press("v");
    await advanceTime(50);
    expect(page.message).toMatch(/give the affected field a rating below 5/);
    expect(opinions()).toEqual([]);
    page.press("3", "v");
    await advanceTime(50);
    expect(opinions()).toMatchObject([{ ...acceptedOpinion, ratings: { clinical_quality: 3, image_alignment: 5 } }]);
  });

  test("does not accept corrections, and rejects only with a reason", async () => {
    await openBatch();
    page.type('[name="explanation"]', "Thus.");
    page.press("a", "x");
    await advanceTime(50);
    expect(opinions()).toEqual([]);
    expect(page.message).toMatch(/^Give a reason for rejecting/);
  });

  test("waits for a radiograph that is not on screen, and the form stays as it was", async () => {
    page.close();
    canvas.paints = false;
    await openBatch();
    page.press("a");
    await advanceTime(50);
    expect(opinions()).toEqual([]);
    expect(page.find(".image-check").textContent).toMatch(/^Not saved: the radiograph is still loading/);
    expect(page.find(".ratings").querySelector('[aria-pressed="true"]')).toBeNull();
  });

  test("waits for what was not displayed", async () => {
    page.close();
    page = new MountedPage(reviewForm, reviewData({ requested, oneKeyAccept: true }), [".explanation-text"]);
    await advanceTime(600);
    page.press("a");
    await advanceTime(50);
    expect(page.message).toContain("read the explanation first");
    expect(opinions()).toEqual([]);
  });

  test("is off by default: the key to accept asks for the missing fields", async () => {
    await openBatch({ oneKeyAccept: false });
    page.press("a");
    await advanceTime(50);
    expect(page.message).toMatch(/^Still to judge: clinical_quality/);
  });
});

describe("a radiograph that is not on screen", () => {
  beforeEach(async () => {
    page.close();
    canvas.paints = false;
    await open();
  });

  const sentImages = (): unknown[] => server.bodiesSentTo("/review/verdict").map(({ image_display }) => image_display);

  test("blocks the verdict until Shift Enter confirms it", async () => {
    page.press("a");
    await advanceTime(50);
    expect(page.find(".image-check").textContent).toMatch(/^Not saved: the radiograph is still loading/);
    expect(sentImages()).toEqual([]);
    page.find(".judging").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true }));
    await advanceTime(50);
    expect(sentImages()).toEqual(["not drawn, confirmed"]);
    expect(page.find(".image-check").textContent).toBe("");
  });

  test("can be reloaded, and the verdict is saved only after a second key press", async () => {
    page.press("a");
    await advanceTime(50);
    canvas.paints = true;
    page.press("t");
    await advanceTime(50);
    expect(page.find(".image-check").textContent).toBe("The radiograph is now displayed. Review it, then save again.");
    expect(sentImages()).toEqual([]);
    page.press("a");
    await advanceTime(50);
    expect(sentImages()).toEqual(["drawn"]);
  });

  test("is confirmed for one question only", async () => {
    page.press("a");
    await advanceTime(50);
    page.click("I judged this question without seeing the radiograph");
    await advanceTime(700);
    page.press("a");
    await advanceTime(50);
    expect(sentImages()).toEqual(["not drawn, confirmed"]);
  });
});

test("after the reviewer's own answer the same question is shown with its key", async () => {
  page.close();
  await open(reviewData({ blind: true, questionWithKey: null }));
  server.on("/review/own-answer", () => saved(reviewData()));
  page.press("1", "Enter");
  expect(page.message).toBe("Give your confidence: press Shift 1 to Shift 5.");
  page.press("Shift+4", "Enter", "Enter");
  await advanceTime(50);
  expect(server.bodiesSentTo("/review/own-answer")).toEqual([{ batch: 1, question: 1, answer: [0], confidence: 4, image_display: "drawn" }]);
  expect(page.find(".stem-text textarea")).toBeTruthy();
});

describe("what was not displayed", () => {
  test.each(["a", "v", "x"])("is named and shown by the key %s, which saves nothing; pressed again later, the key saves", async (key) => {
    page.close();
    page = new MountedPage(reviewForm, reviewData(), [".explanation-text"]);
    await advanceTime(600);
    if (key === "v") page.type(".stem-text textarea", "What is seen?");
    if (key === "x") page.find('[data-error="unclear"]').click();
    page.press(key);
    await advanceTime(50);
    expect(page.message).toBe("Not saved: read the explanation first, which had not been displayed in full. Now in view: the explanation.");
    page.press(key); // too early: nobody can have read it yet
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([]);
    await advanceTime(600);
    page.press(key);
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("is shown one part after the other", async () => {
    page.close();
    page = new MountedPage(reviewForm, reviewData(), [".options", ".explanation-text"]);
    await advanceTime(600);
    page.press("a");
    await advanceTime(600);
    expect(page.message).toContain("read the answer key with all options and the explanation first, which had not been displayed in full. Now in view: the answer key");
    page.press("a");
    await advanceTime(600);
    expect(page.message).toContain("read the explanation first");
    expect(judgedQuestions()).toEqual([]);
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("is checked anew for the next question", async () => {
    page.press("a");
    page.outOfSight = [".stem-text"];
    await advanceTime(700);
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
    expect(page.message).toContain("read the stem first");
  });

  test("prevents saving a reviewer's own answer, too", async () => {
    page.close();
    page = new MountedPage(reviewForm, reviewData({ blind: true, questionWithKey: null }), [".own-answers"]);
    await advanceTime(600);
    page.press("1", "Shift+4", "Enter");
    await advanceTime(50);
    expect(page.message).toContain("read the possible answers first");
    expect(server.bodiesSentTo("/review/own-answer")).toEqual([]);
  });
});

describe("the last verdicts", () => {
  const at = NOW;
  const recent: ReviewData["recent"] = [
    { question: 12, decision: "reject", at },
    ...Array.from({ length: 8 }, (_, index) => ({ question: index + 3, decision: "accept" as const, at })),
    { question: 1, decision: "revise", at },
  ];
  const targets = (): unknown[] => server.bodiesSentTo("/review/question").map(({ target }) => target);
  const openWith = async (changes: Partial<ReviewData>): Promise<void> => {
    page.close();
    await open(reviewData(changes));
  };

  test("are ten marks with letter and text, and the shown question is marked", async () => {
    await openWith({ recent });
    const marks = [...page.find(".recent ol").querySelectorAll("button")];
    expect(marks.map((mark) => mark.textContent).join("")).toBe("XAAAAAAAAV");
    expect(marks[0]?.getAttribute("aria-label")).toMatch(/^last verdict: rejected at \d\d:\d\d:\d\d$/);
    expect(marks[9]?.getAttribute("aria-label")).toMatch(/^verdict 10 of the last 10: revised at /);
    expect(marks.map((mark) => mark.getAttribute("aria-current"))).toEqual([...Array<null>(9).fill(null), "true"]);
  });

  test("are absent before the first verdict, and their key says so", () => {
    expect(() => page.find(".recent")).toThrow();
    page.press("Shift+Y");
    expect(page.message).toBe("You have no verdicts in this batch yet.");
    page.press("1");
    expect(targets()).toEqual([]);
  });

  test("are reached by their key and a digit, even on a form where digits choose options", async () => {
    await openWith({ recent, blind: true, questionWithKey: null });
    page.press("Shift+Y", "2");
    await advanceTime(50);
    expect(targets()).toEqual([3]);
    expect(page.find(".own-answers").querySelector('[aria-pressed="true"]')).toBeNull();
  });

  test("return to their question by a click", async () => {
    await openWith({ recent });
    page.find(".recent li:nth-child(4) button").click();
    await advanceTime(50);
    expect(targets()).toEqual([5]);
  });

  test.each([["1", 12], ["9", 10], ["0", 1]])("return by their key, then %s, to question %i", async (digit, question) => {
    await openWith({ recent });
    page.press("Shift+Y");
    expect(page.message).toBe("Press the digit of a verdict to return to it. Another key cancels.");
    page.press(digit);
    await advanceTime(50);
    expect(targets()).toEqual([question]);
  });

  test.each(["Escape", "a", "5"])("after their key, %s cancels if it is no digit of a mark, and does nothing else", async (key) => {
    await openWith({ recent: recent.slice(0, 2) });
    page.press("Shift+Y", key);
    await advanceTime(50);
    expect([targets(), judgedQuestions(), page.message]).toEqual([[], [], ""]);
    expect(page.find(".recent").className).toBe("recent");
    page.press("a");
    await advanceTime(50);
    expect(judgedQuestions()).toEqual([1]);
  });

  test("follow the person's own keys", async () => {
    await openWith({ recent, preferences: { keys: { recent: "Insert" }, leftButton: "boxes" } });
    page.press("Insert", "1");
    await advanceTime(50);
    expect(targets()).toEqual([12]);
  });
});

describe("a new box in the basic viewer", () => {
  const box = (left: number, label = ""): CanvasObject => ({ type: "LabeledRect", left, top: 10, width: 100, height: 100, label });
  const labelField = (): HTMLInputElement | null => document.querySelector(".label-field");
  const typeLabel = (text: string): void => {
    for (const key of text) labelField()!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
    page.type(".label-field", text);
  };
  const endLabel = (key: string): boolean => labelField()!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true }));
  const drawnLabels = (): unknown[] => canvas.shown.map(({ label }) => label);
  beforeEach(async () => {
    page.close();
    await open(reviewData({ labels: ["nodule", "lung"], requested: { ...reviewData().requested, flags: true } }));
  });

  test("asks for its label at once, and no key is a shortcut while it is typed", async () => {
    expect(page.find(".boxes").querySelector("input")).toBeNull(); // no field for the label of the next box
    canvas.draw([box(10)]);
    expect(labelField()?.getAttribute("aria-label")).toBe("Label of the box");
    typeLabel("nod");
    endLabel("Enter");
    await advanceTime(50);
    expect(drawnLabels()).toEqual(["nodule"]);
    expect(labelField()).toBeNull();
    expect(page.find(".flags").querySelector('[aria-pressed="true"]')).toBeNull();
    expect(page.find(".boxes li input")).toHaveProperty("value", "nodule");
  });

  test("is undone with its label in one step", async () => {
    canvas.draw([box(10)]);
    typeLabel("lung");
    endLabel("Enter");
    await advanceTime(50);
    page.press("u");
    expect(canvas.shown).toEqual([]);
  });

  test("stays without a label after Escape, and the next box asks for one again", () => {
    canvas.draw([box(10)]);
    endLabel("Escape");
    expect(labelField()).toBeNull();
    canvas.draw([box(10), box(300)]);
    typeLabel("rib");
    endLabel("Enter");
    expect(drawnLabels()).toEqual(["", "rib"]);
  });

  test("asks for nothing when it is moved or deleted later", () => {
    canvas.draw([box(10)]);
    endLabel("Escape");
    canvas.draw([box(50)]);
    canvas.draw([]);
    expect(labelField()).toBeNull();
  });

  test("keeps a label that the next drag interrupts", async () => {
    canvas.draw([box(10)]);
    typeLabel("lung");
    page.find(".canvas-host").dispatchEvent(new Event("pointerdown", { bubbles: true }));
    labelField()!.dispatchEvent(new Event("blur"));
    const { shown } = canvas;
    await advanceTime(100);
    expect(canvas.shown).toBe(shown); // a canvas that is redrawn would lose the box that is being drawn
    document.dispatchEvent(new Event("pointerup"));
    canvas.draw([box(10), box(300)]);
    await advanceTime(100);
    expect(drawnLabels()).toEqual(["lung", ""]);
    expect(labelField()).not.toBeNull();
  });

  test("does not take its label to another question", async () => {
    canvas.draw([box(10)]);
    typeLabel("lung");
    server.on("/review/question", () => ({ next: secondQuestion }));
    page.click("next question (J)");
    await advanceTime(50);
    expect(labelField()).toBeNull();
    expect(canvas.shown).toEqual([]);
  });
});
