// Answer first: the reviewer's own answer, given before the key is fetched.

import { AnswerInput, CANNOT_DETERMINE } from "../shared/answer-input";
import type { ReviewData } from "../shared/api";
import { h } from "../shared/dom";
import { keyHint } from "../shared/shortcuts";

export class OwnAnswer extends AnswerInput {
  readonly root: HTMLElement;

  constructor(data: ReviewData, onChange: () => void) {
    super(data, data.drafts.own?.body, onChange);
    this.root = h(
      "section",
      { class: "own", "aria-label": "Your own answer" },
      h("p", { class: "stem-read" }, data.stem),
      h("p", { class: "hint" }, "Answer the question first. The answer key, the explanation and the boxes are shown afterwards."),
      this.buildAnswerFields(),
      this.buildConfidenceField("Confidence"),
    );
    this.paint();
  }

  protected override get hasConfidence(): boolean {
    return true;
  }

  describeMissing(): string | null {
    if (!this.isAnswered) return `Answer the question, or choose “${CANNOT_DETERMINE}”${keyHint("cannot-determine")}.`;
    return this.confidence === null ? this.confidenceRequest : null;
  }
}
