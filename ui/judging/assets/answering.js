// An answer that is being given: options, yes and no, or text; "cannot determine"; and how sure.
// The reviewer's own answer and a reader's are made of it.

import { growing, h, keycap, letter } from "./dom.js";

const SURE = ["a guess", "unsure", "fairly sure", "sure", "certain"];
export const CLOSED = ["yes", "no"];

export class Answering {
  /** `before` is what was entered already, `changed()` comes after every change; nothing changes unless `open`. */
  constructor({ data, before, changed, open = true }) {
    Object.assign(this, { data, changed, open });
    this.chosen = new Set(Array.isArray(before?.answer) ? before.answer : []);
    this.text = typeof before?.answer === "string" ? before.answer : "";
    this.cannot = before?.cannot ?? false;
    this.confidence = before?.confidence ?? null;
  }

  /** What can be chosen, in the order shown: option texts, or yes and no. */
  get choices() {
    return this.data.format === "closed" ? CLOSED : this.data.options;
  }

  get isText() {
    return this.data.format === "open" || this.data.format === "closed";
  }

  get answered() {
    return this.cannot || (this.isText ? this.text.trim() !== "" : this.chosen.size > 0);
  }

  /** The fields for the answer; `cannot` are the words for that there is none, `longest` the signs of a text. */
  answers({ cannot, longest }) {
    const { format } = this.data;
    const row = (value, text, key) => h("button", { type: "button", class: "choice answer", "data-answer": String(value), disabled: !this.open, onclick: () => this.choose(value) }, keycap(key), text);
    const fields = (legend, ...rows) => h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, ...legend), ...rows, row("cannot", cannot, "Q"));
    if (format === "open") {
      this.area = growing({ "aria-label": "Your answer", value: this.text, placeholder: "your answer", readonly: !this.open, ...(longest ? { maxlength: String(longest) } : {}) });
      this.area.addEventListener("input", () => {
        this.text = this.area.value;
        this.cannot = false;
        this.touched();
      });
      return fields(["Your answer ", keycap("W")], this.area);
    }
    const rows = format === "closed" ? CLOSED.map((text) => row(text, text, text[0].toUpperCase())) : this.choices.map((text, index) => row(index, text, letter(index)));
    return fields([format === "multiple" ? "Your answer (all that are right)" : "Your answer"], ...rows);
  }

  confidences(legend) {
    return h(
      "fieldset",
      { class: "row", "data-step": "confidence" },
      h("legend", {}, legend),
      SURE.map((word, index) => h("button", { type: "button", class: "choice", "data-confidence": String(index + 1), title: word, disabled: !this.open, onclick: () => this.sure(index + 1) }, h("b", {}, String(index + 1)), ` ${word}`)),
    );
  }

  choose(value) {
    if (!this.open) return;
    this.take(value);
    this.touched();
  }

  take(value) {
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
  }

  sure(value) {
    if (!this.open) return;
    this.confidence = value;
    this.touched();
  }

  touched() {
    this.paint();
    this.changed();
  }

  /** The answer as it is sent: places of the options, text, or null where there is none. */
  answer() {
    if (this.cannot || !this.answered) return null;
    return this.isText ? this.text.trim() : [...this.chosen].sort((a, b) => a - b);
  }

  /** W into the text, Y and N, and a letter for each option; whether the key was one of them. */
  chooseBy(key) {
    const { format } = this.data;
    if (key === "w" && this.area) {
      this.area.focus();
      return true;
    }
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

  paint() {
    const closed = this.data.format === "closed";
    for (const button of this.root.querySelectorAll("[data-answer]")) {
      const { answer } = button.dataset;
      const on = answer === "cannot" ? this.cannot : closed ? this.text === answer : this.chosen.has(Number(answer));
      button.setAttribute("aria-pressed", String(on));
    }
    for (const button of this.root.querySelectorAll("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
  }

  fit() {
    this.area?.fit();
  }
}
