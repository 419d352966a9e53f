// Answer first: the reviewer's own answer, given before the key is fetched.

import { AnswerInput } from "../shared/answer-input";
import type { ReviewData } from "../shared/api";
import { h } from "../shared/dom";

export class OwnAnswer extends AnswerInput {
  readonly root: HTMLElement;

  constructor(
    private readonly data: ReviewData,
    changed: () => void,
    private readonly commit: () => void,
  ) {
    super(data, data.drafts.own?.body, changed);
    this.root = h(
      "section",
      { class: "own", "aria-label": "Your own answer" },
      h("p", { class: "stem-read" }, data.stem),
      h("p", { class: "hint" }, "Answer the question first. The answer key, the explanation and the boxes are shown afterwards."),
      this.answerFields({ cannot: "cannot determine" }),
      this.confidenceField("Confidence"),
    );
    this.paint();
  }

  missing(): string | null {
    if (!this.isAnswered) return 'Answer the question, or choose "cannot determine" (Q).';
    return this.confidence === null ? "Give your confidence: press 1 to 5." : null;
  }

  key(key: string): boolean {
    if (key === "Enter") this.commit();
    else if (this.data.scales.values.includes(Number(key))) this.setConfidence(Number(key));
    else if (key === "q" && this.data.options.length <= 16) this.choose("cannot");
    else return this.chooseByKey(key);
    return true;
  }
}
