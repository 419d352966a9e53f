// Answer first: the reviewer's own answer, before the key is so much as fetched.

import { Answering } from "./answering.js";
import { h } from "./dom.js";

export class OwnAnswer extends Answering {
  constructor({ data, changed, commit }) {
    super({ data, before: data.drafts.own?.body, changed });
    this.commit = commit;
    this.root = h("section", { class: "own", "aria-label": "Your own answer" });
    this.root.append(
      h("p", { class: "stem-read" }, data.stem),
      h("p", { class: "hint" }, "This batch asks for your own answer first. Key, explanation and boxes come after it."),
      this.answers({ cannot: "cannot determine" }),
      this.confidences("Confidence"),
    );
    this.paint();
  }

  draft() {
    return { answer: this.answer(), cannot: this.cannot, confidence: this.confidence };
  }

  missing() {
    if (!this.answered) return 'Give your answer first, or "cannot determine" (Q).';
    if (this.confidence === null) return "How sure are you? Press 1 to 5.";
    return null;
  }

  key(key) {
    if (key === "Enter") {
      this.commit();
      return true;
    }
    if (/^[1-5]$/.test(key)) {
      this.sure(Number(key));
      return true;
    }
    if (key === "q" && !(this.data.options.length > 16)) {
      this.choose("cannot");
      return true;
    }
    return this.chooseBy(key);
  }
}
