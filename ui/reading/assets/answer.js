// The answer to a case: choice, text, "cannot determine", confidence, and what is wrong with the question.

import { growing, h, keycap, letter } from "./dom.js";

const SURE = ["a guess", "unsure", "fairly sure", "sure", "certain"];
const CLOSED = ["yes", "no"];

export class Answer {
  /** `changed()` after every change of what is entered; `save()` when Enter says that all is said. */
  constructor({ data, changed, save }) {
    Object.assign(this, { data, changed, save });
    const before = data.entry ?? {};
    this.chosen = new Set(Array.isArray(before.answer) ? before.answer : []);
    this.text = typeof before.answer === "string" ? before.answer : "";
    this.cannot = before.cannot ?? false;
    this.confidence = before.confidence ?? null;
    this.faulty = before.faulty ?? "";
    this.reporting = Boolean(this.faulty);
    this.step = this.answered ? "confidence" : "answer";
    this.root = h("section", { class: "own", "aria-label": "Your answer" }, h("p", { class: "stem-read" }, data.stem), this.answers(), data.askConfidence ? this.confidences() : null, this.report());
    this.paint();
  }

  /** What can be chosen, in the order shown: option texts, or yes and no. */
  get choices() {
    return this.data.format === "closed" ? CLOSED : this.data.options;
  }

  get answered() {
    return this.cannot || (this.data.format === "open" || this.data.format === "closed" ? this.text.trim() !== "" : this.chosen.size > 0);
  }

  answers() {
    const { data } = this;
    const row = (value, text, key) => h("button", { type: "button", class: "choice answer", "data-answer": String(value), disabled: !data.open, onclick: () => this.choose(value) }, keycap(key), text);
    const cannot = row("cannot", "cannot determine from this exam", "Q");
    if (data.format === "open") {
      const area = growing({ "aria-label": "Your answer", value: this.text, placeholder: "your answer", maxlength: "5000", readonly: !data.open });
      area.addEventListener("input", () => {
        this.text = area.value;
        this.cannot = false;
        this.touched();
      });
      this.area = area;
      return h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, "Your answer ", keycap("W")), area, cannot);
    }
    const rows = data.format === "closed" ? CLOSED.map((text) => row(text, text, text[0].toUpperCase())) : data.options.map((text, index) => row(index, text, letter(index)));
    const legend = data.format === "multiple" ? "Your answer (all that are right)" : "Your answer";
    return h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, legend), rows, cannot);
  }

  confidences() {
    return h(
      "fieldset",
      { class: "row", "data-step": "confidence" },
      h("legend", {}, "How sure are you?"),
      SURE.map((word, index) => h("button", { type: "button", class: "choice", "data-confidence": String(index + 1), title: word, disabled: !this.data.open, onclick: () => this.sure(index + 1) }, h("b", {}, String(index + 1)), ` ${word}`)),
    );
  }

  report() {
    if (!this.data.open) return this.faulty ? h("p", { class: "hint" }, `You reported this question: ${this.faulty}`) : null;
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

  choose(value) {
    if (!this.data.open) return;
    if (value === "cannot") {
      this.cannot = !this.cannot;
      this.chosen.clear();
      if (this.data.format === "closed") this.text = "";
    } else {
      this.cannot = false;
      if (this.data.format === "multiple") {
        if (!this.chosen.delete(value)) this.chosen.add(value);
      } else {
        this.chosen = new Set([value]);
        this.text = typeof value === "string" ? value : "";
      }
    }
    this.step = this.answered && this.data.format !== "multiple" ? "confidence" : "answer";
    this.touched();
  }

  sure(value) {
    if (!this.data.open) return;
    this.confidence = value;
    this.touched();
  }

  touched() {
    this.paint();
    this.changed();
  }

  /** The answer as it is sent: places of the options, text, or null. */
  answer() {
    if (this.cannot || !this.answered) return null;
    if (this.data.format === "open" || this.data.format === "closed") return this.text.trim();
    return [...this.chosen].sort((a, b) => a - b);
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
    if (!this.data.open) return false;
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
    if (key === "w" && this.area) {
      this.area.focus();
      return true;
    }
    if (/^[1-9]$/.test(key)) return this.digit(Number(key));
    if (format === "closed" && (key === "y" || key === "n")) {
      this.choose(key === "y" ? "yes" : "no");
      return true;
    }
    const index = key.length === 1 ? key.charCodeAt(0) - 97 : -1;
    if ((format === "single" || format === "multiple") && index >= 0 && index < this.choices.length) {
      this.choose(index);
      return true;
    }
    return false;
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
    const closed = this.data.format === "closed";
    const right = new Set((this.data.feedback?.places ?? []).flat().map(String));
    for (const button of this.root.querySelectorAll("[data-answer]")) {
      const { answer } = button.dataset;
      const on = answer === "cannot" ? this.cannot : closed ? this.text === answer : this.chosen.has(Number(answer));
      button.setAttribute("aria-pressed", String(on));
      button.classList.toggle("is-right", right.has(answer));
    }
    for (const button of this.root.querySelectorAll("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
    for (const part of this.root.querySelectorAll("[data-step]")) part.classList.toggle("current", this.data.open && part.dataset.step === this.step);
    if (this.whyPlace) {
      this.whyPlace.hidden = !this.reporting;
      this.reportButton.hidden = this.reporting;
    }
  }

  fit() {
    this.area?.fit();
    this.why?.fit();
  }
}
