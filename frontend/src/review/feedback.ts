// The known answer of a practice question, which the server sends once the question is judged.

import type { Feedback } from "../shared/api";
import { button, h } from "../shared/dom";

/** `onNext` goes to the next question. */
export function feedbackPanel({ correct, summary, details }: Feedback, onNext: () => unknown): HTMLElement {
  return h(
    "section",
    { class: `feedback ${correct ? "good" : "bad"}`, "aria-label": "Feedback", role: "status" },
    h("b", {}, correct ? "Correct. " : "Incorrect. "),
    summary,
    details.map(({ heading, text }) => h("p", {}, h("span", { class: "label" }, `${heading} `), text)),
    button("Next question", "Enter", onNext, { class: "primary" }),
  );
}
