// The answer to a case: choice, text, "cannot determine", confidence, and what is wrong with the question.

import { Answering, CLOSED } from "./answering.js";
import { growing, h, keycap } from "./dom.js";

export class Answer extends Answering {
  /** `changed()` after every change of what is entered; `save()` when Enter says that all is said. */
  constructor({ data, changed, save }) {
    super({ data, before: data.entry, changed, open: data.open });
    this.save = save;
    this.faulty = data.entry?.faulty ?? "";
    this.reporting = Boolean(this.faulty);
    this.step = this.answered ? "confidence" : "answer";
    const answers = this.answers({ cannot: "cannot determine from this exam", longest: 5000 });
    this.root = h("section", { class: "own", "aria-label": "Your answer" }, h("p", { class: "stem-read" }, data.stem), answers, data.askConfidence ? this.confidences("How sure are you?") : null, this.report());
    this.paint();
  }

  report() {
    if (!this.open) return this.faulty ? h("p", { class: "hint" }, `You reported this question: ${this.faulty}`) : null;
    this.why = growing({ "aria-label": "What is wrong with the question", placeholder: "what is wrong with it? e.g. two options are right", maxlength: "2000", value: this.faulty });
    this.why.addEventListener("input", () => {
      this.faulty = this.why.value;
      this.touched();
    });
    this.whyPlace = h("label", { class: "faulty" }, h("span", { class: "label" }, "This question is faulty, because"), this.why, h("span", { class: "hint" }, "With or without an answer; empty it to take the report back."));
    const button = h("button", { type: "button", class: "quiet", onclick: () => this.openReport() }, "This question is faulty", keycap("X"));
    this.reportButton = button;
    return h("div", { class: "report-place" }, button, this.whyPlace);
  }

  openReport() {
    this.reporting = true;
    this.paint();
    this.why.focus();
  }

  take(value) {
    super.take(value);
    this.step = this.answered && this.data.format !== "multiple" ? "confidence" : "answer";
  }

  /** All that is entered, for a draft and for the answer. */
  entry() {
    return { answer: this.answer(), cannot: this.cannot, confidence: this.confidence, faulty: this.faulty.trim() };
  }

  /** What is still to be said before the answer can be saved. */
  missing() {
    if (!this.answered && !this.faulty.trim()) return "Give your answer first, or “cannot determine” (Q), or report the question (X).";
    if (this.data.askConfidence && this.answered && !this.cannot && this.confidence === null) return "How sure are you? Press 1 to 5.";
    return null;
  }

  /** Digits answer first and then say how sure; letters always answer. */
  key(key) {
    const { format } = this.data;
    if (!this.open) return false;
    if (key === "Enter") {
      if (format === "multiple" && this.step === "answer" && this.answered && this.data.askConfidence && this.confidence === null) {
        this.step = "confidence";
        this.paint();
      } else this.save();
      return true;
    }
    if (key === "Backspace") {
      this.step = "answer";
      this.paint();
      return true;
    }
    if (key === "q") {
      this.choose("cannot");
      return true;
    }
    if (key === "x" && this.choices.length < 24) {
      this.openReport();
      return true;
    }
    if (/^[1-9]$/.test(key)) return this.digit(Number(key));
    return this.chooseBy(key);
  }

  digit(number) {
    if (this.step === "answer" && this.data.format !== "open" && number <= this.choices.length) {
      this.choose(this.data.format === "closed" ? CLOSED[number - 1] : number - 1);
      return true;
    }
    if (this.data.askConfidence && number <= 5) {
      this.sure(number);
      return true;
    }
    return false;
  }

  paint() {
    super.paint();
    const right = new Set((this.data.feedback?.places ?? []).flat().map(String));
    for (const button of this.root.querySelectorAll("[data-answer]")) button.classList.toggle("is-right", right.has(button.dataset.answer));
    for (const part of this.root.querySelectorAll("[data-step]")) part.classList.toggle("current", this.open && part.dataset.step === this.step);
    if (this.whyPlace) {
      this.whyPlace.hidden = !this.reporting;
      this.reportButton.hidden = this.reporting;
    }
  }

  fit() {
    super.fit();
    this.why?.fit();
  }
}
