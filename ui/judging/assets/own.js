// Answer first: the reviewer's own answer, before the key is so much as fetched.

import { growing, h, keycap, letter } from "./dom.js";

export class OwnAnswer {
  constructor({ data, changed, commit }) {
    Object.assign(this, { data, changed, commit });
    const before = data.drafts.own?.body ?? {};
    this.chosen = new Set(Array.isArray(before.answer) ? before.answer : []);
    this.text = typeof before.answer === "string" ? before.answer : "";
    this.cannot = before.cannot ?? false;
    this.confidence = before.confidence ?? null;
    this.root = h("section", { class: "own", "aria-label": "Your own answer" });
    this.root.append(
      h("p", { class: "stem-read" }, data.stem),
      h("p", { class: "hint" }, "This batch asks for your own answer first. Key, explanation and boxes come after it."),
      this.answers(),
      this.confidences(),
    );
    this.paint();
  }

  answers() {
    const { data } = this;
    const row = (value, text, key) =>
      h("button", { type: "button", class: "choice answer", "data-answer": String(value), onclick: () => this.choose(value) }, key ? keycap(key) : null, text);
    const cannot = row("cannot", "cannot determine", "Q");
    if (data.format === "open") {
      const area = growing({ "aria-label": "Your answer", value: this.text, placeholder: "your answer" });
      area.addEventListener("input", () => {
        this.text = area.value;
        this.cannot = false;
        this.touched();
      });
      this.area = area;
      return h("fieldset", { class: "own-answers" }, h("legend", {}, "Your answer ", keycap("W")), area, cannot);
    }
    const options = data.format === "closed" ? ["yes", "no"].map((text) => row(text, text, text[0].toUpperCase())) : data.options.map((text, index) => row(index, text, letter(index)));
    const legend = data.format === "multiple" ? "Your answer (all that are right)" : "Your answer";
    return h("fieldset", { class: "own-answers" }, h("legend", {}, legend), options, cannot);
  }

  confidences() {
    const words = ["a guess", "unsure", "fairly sure", "sure", "certain"];
    return h(
      "fieldset",
      { class: "row", "data-step": "confidence" },
      h("legend", {}, "Confidence"),
      words.map((word, index) =>
        h("button", { type: "button", class: "choice", "data-confidence": String(index + 1), title: word, onclick: () => this.sure(index + 1) }, h("b", {}, String(index + 1)), ` ${word}`),
      ),
    );
  }

  choose(value) {
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
    this.touched();
  }

  sure(value) {
    this.confidence = value;
    this.touched();
  }

  touched() {
    this.paint();
    this.changed();
  }

  /** The answer as it is sent: option indices, text, or null for "cannot determine". */
  answer() {
    if (this.cannot) return null;
    if (this.data.format === "open" || this.data.format === "closed") return this.text.trim();
    return [...this.chosen].sort((a, b) => a - b);
  }

  draft() {
    return { answer: this.answer(), cannot: this.cannot, confidence: this.confidence };
  }

  missing() {
    const answer = this.answer();
    if (answer !== null && answer.length === 0) return 'Give your answer first, or "cannot determine" (Q).';
    if (this.confidence === null) return "How sure are you? Press 1 to 5.";
    return null;
  }

  key(key) {
    const { format, options } = this.data;
    if (key === "Enter") {
      this.commit();
      return true;
    }
    if (/^[1-5]$/.test(key)) {
      this.sure(Number(key));
      return true;
    }
    if (key === "w" && this.area) {
      this.area.focus();
      return true;
    }
    if (format === "closed" && (key === "y" || key === "n")) {
      this.choose(key === "y" ? "yes" : "no");
      return true;
    }
    if (key === "q" && !(options.length > 16)) {
      this.choose("cannot");
      return true;
    }
    const index = key.length === 1 ? key.charCodeAt(0) - 97 : -1;
    if ((format === "single" || format === "multiple") && index >= 0 && index < options.length) {
      this.choose(index);
      return true;
    }
    return false;
  }

  paint() {
    for (const button of this.root.querySelectorAll("[data-answer]")) {
      const { answer } = button.dataset;
      const on = answer === "cannot" ? this.cannot : this.chosen.has(this.data.format === "closed" ? answer : Number(answer)) || (this.data.format === "closed" && this.text === answer);
      button.setAttribute("aria-pressed", String(on));
    }
    for (const button of this.root.querySelectorAll("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
  }

  fit() {
    this.area?.fit();
  }
}
