// The reviewer's thread of comments with the coordinators on a question.

import type { QuestionComment, ReviewData } from "../shared/api";
import { button, formatCount, formatTime, h } from "../shared/dom";
import { post, RequestError } from "../shared/http";

/** Texts that were typed and not sent, by question; they stay while the page is open. */
const unsentTexts = new Map<string, string>();

/** The button's text: the number of all comments and of the unread ones. */
export function describeComments({ total, unread }: ReviewData["comments"]): string {
  const counts = [total > 0 && formatCount(total), unread > 0 && `${formatCount(unread)} new`].filter(Boolean).join(", ");
  return counts ? `Comments (${counts})` : "Comments";
}

/** A panel with the thread and a field for a further comment. Opening it marks the thread as read. */
export class CommentPanel {
  readonly root: HTMLElement;
  private readonly list = h("ol", { class: "comments", "aria-label": "Comments" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly field: HTMLTextAreaElement;
  private isSending = false;

  constructor(
    private readonly data: ReviewData,
    close: () => void,
    private readonly onChange: () => void,
  ) {
    const key = `${data.batch}:${data.question}`;
    this.field = h("textarea", {
      rows: 3,
      maxlength: "4000",
      placeholder: "Question or remark to the coordinators",
      "aria-label": "Comment to the coordinators",
      oninput: () => unsentTexts.set(key, this.field.value),
    });
    this.field.value = unsentTexts.get(key) ?? "";
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.send();
      if (event.key === "Escape") close();
    });
    this.root = h(
      "div",
      { class: "panel comment-panel", role: "group", "aria-label": "Comments on this question" },
      h("b", {}, "Comments to and from the coordinators"),
      this.list,
      this.field,
      button("Send", "Ctrl Enter", () => void this.send(), { class: "primary" }),
      button("Close", "Esc", close, { class: "quiet" }),
      this.status,
    );
    queueMicrotask(() => this.field.focus());
    void this.load();
  }

  private async load(): Promise<void> {
    const { batch, question } = this.data;
    try {
      this.paint((await post("/review/comments", { batch, question })).comments);
      this.status.textContent = "";
    } catch (problem) {
      this.status.textContent = `The comments could not be loaded. ${RequestError.from(problem).message}`;
    }
  }

  private async send(): Promise<void> {
    const text = this.field.value.trim();
    if (!text || this.isSending) {
      this.field.focus();
      return;
    }
    const { batch, question } = this.data;
    this.isSending = true;
    this.status.textContent = "Sending";
    try {
      this.paint((await post("/review/comment", { batch, question, text })).comments);
      this.field.value = "";
      unsentTexts.delete(`${batch}:${question}`);
      this.status.textContent = "Sent";
    } catch (problem) {
      this.status.textContent = `Not sent. ${RequestError.from(problem).message}`;
    } finally {
      this.isSending = false;
    }
  }

  private paint(comments: QuestionComment[]): void {
    this.data.comments = { total: comments.length, unread: 0 };
    this.list.replaceChildren(
      ...comments.map(({ author, mine, text, at }) => h("li", { class: mine ? "mine" : "theirs" }, h("span", { class: "label" }, `${author}, ${formatTime(at)}`), h("p", {}, text))),
    );
    this.onChange();
  }
}
