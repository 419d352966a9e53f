// Answer first: the reviewer's own answer, given before the key is fetched.

import { AnswerInput } from "../shared/answer-input";
import type { ReviewData } from "../shared/api";
import { h } from "../shared/dom";

export class OwnAnswer extends AnswerInput {
  readonly root: HTMLElement;

  constructor(
    private readonly data: ReviewData,
    onChange: () => void,
    private readonly onSubmit: () => void,
  ) {
    super(data, data.drafts.own?.body, onChange);
    this.root = h(
      "section",
      { class: "own", "aria-label": "Your own answer" },
      h("p", { class: "stem-read" }, data.stem),
      h("p", { class: "hint" }, "Answer the question first. The answer key, the explanation and the boxes are shown afterwards."),
      this.buildAnswerFields({ cannotLabel: "cannot determine" }),
      this.buildConfidenceField("Confidence"),
    );
    this.paint();
  }

  describeMissing(): string | null {
    if (!this.isAnswered) return 'Answer the question, or choose "cannot determine" (Q).';
    return this.confidence === null ? this.confidenceRequest : null;
  }

  handleKey(pressedKey: string): boolean {
    if (pressedKey === "Enter") this.onSubmit();
    else if (this.isConfidence(Number(pressedKey))) this.setConfidence(Number(pressedKey));
    else if (pressedKey === "q" && this.data.options.length <= 16) this.choose("cannot");
    else return this.chooseByKey(pressedKey);
    return true;
  }
}
