// @vitest-environment happy-dom
// Comments between reviewer and coordinators on the review form.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import reviewForm from "../../src/review/review-form";
import type { ReviewData } from "../../src/shared/api";
import { MountedPage, advanceTime, reviewData } from "../forms";
import { FakeServer, NOW, Refusal } from "../server";

const thread = [{ author: "Dana", mine: false, text: "It was never taken.", at: NOW }];
let server: FakeServer;
let page: MountedPage<ReviewData>;

beforeEach(async () => {
  vi.useFakeTimers();
  localStorage.clear();
  localStorage.setItem("overread-viewer", "plain");
  server = new FakeServer();
  server.on("/review/comments", () => ({ comments: thread }));
  page = new MountedPage(reviewForm, reviewData({ comments: { total: 1, unread: 1 } }));
  await advanceTime(600);
});
afterEach(() => {
  page.close();
  vi.useRealTimers();
});

const shownText = (): string => page.find(".comments").textContent;

test("the key / opens the comments, which then count as read", async () => {
  expect(page.button("Comments").textContent).toContain("1, 1 new");
  page.press("/");
  await advanceTime(50);
  expect(shownText()).toContain("It was never taken.");
  expect(server.bodiesSentTo("/review/comments")).toEqual([{ batch: 1, question: 1 }]);
  expect(page.button("Comments").textContent).not.toContain("new");
});

test("a comment is sent once, and the comments are shown as the server returns them", async () => {
  server.on("/review/comment", ({ text: sent }) => ({ comments: [...thread, { author: "You", mine: true, text: sent, at: NOW }] }));
  server.latency = 50;
  page.press("/");
  page.type(".comment-panel textarea", "Thank you.");
  page.click("Send");
  page.click("Send");
  await advanceTime(200);
  expect(server.bodiesSentTo("/review/comment")).toEqual([{ batch: 1, question: 1, text: "Thank you." }]);
  expect(shownText()).toContain("Thank you.");
  expect(page.field(".comment-panel textarea").value).toBe("");
});

test("a refused comment stays in its field, also after the panel is closed and reopened", async () => {
  server.on("/review/comment", () => new Refusal(503, { error: "The database could not be reached.", kind: "NotNow" }));
  page.press("/");
  page.type(".comment-panel textarea", "Which side?");
  page.click("Send");
  await advanceTime(50);
  expect(page.find(".comment-panel .status").textContent).toBe("Not sent. The database could not be reached.");
  page.click("Close");
  page.press("/");
  expect(page.field(".comment-panel textarea").value).toBe("Which side?");
});

test("Escape in the field closes the panel and keeps the text", () => {
  page.press("/");
  page.type(".comment-panel textarea", "Which side?");
  page.field(".comment-panel textarea").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, composed: true }));
  expect(page.find(".judging").querySelector(".comment-panel")).toBeNull();
  page.press("/");
  expect(page.field(".comment-panel textarea").value).toBe("Which side?");
});
