// An answer that is being given: options, yes and no, or text; "cannot determine"; and a confidence.
// The reviewer's own answer and a reader's are made of it.

import type { AnswerFormat, OwnAnswerDraft } from "./api";
import { growingArea, h, keycap, letterIndex, optionLetter, type Child } from "./dom";

const CONFIDENCES = ["a guess", "unsure", "fairly sure", "sure", "certain"];
const YES_NO = ["yes", "no"];

export abstract class AnswerInput {
  abstract readonly root: HTMLElement;
  confidence: number | null;
  cannot: boolean;
  private chosen: Set<number>;
  private text: string;
  private area: HTMLTextAreaElement | null = null;

  /** `before` is what was entered already; `changed()` is called after every change; nothing changes unless `open`. */
  constructor(
    private readonly question: { format: AnswerFormat; options: string[] },
    before: OwnAnswerDraft | null | undefined,
    private readonly changed: () => void,
    protected readonly open = true,
  ) {
    const answer = before?.answer ?? null;
    this.chosen = new Set(Array.isArray(answer) ? answer : []);
    this.text = typeof answer === "string" ? answer : "";
    this.cannot = before?.cannot ?? false;
    this.confidence = before?.confidence ?? null;
  }

  protected get format(): AnswerFormat {
    return this.question.format;
  }

  /** What can be chosen, in the order shown. */
  protected get choices(): string[] {
    return this.format === "closed" ? YES_NO : this.question.options;
  }

  get isAnswered(): boolean {
    return this.cannot || (this.isText ? this.text.trim() !== "" : this.chosen.size > 0);
  }

  /** The answer as it is sent: indices of the options, text, or null where there is none. */
  answer(): number[] | string | null {
    if (this.cannot || !this.isAnswered) return null;
    return this.isText ? this.text.trim() : [...this.chosen].sort((a, b) => a - b);
  }

  /** All that is entered, for a draft. */
  entry(): OwnAnswerDraft {
    return { answer: this.answer(), cannot: this.cannot, confidence: this.confidence };
  }

  /** Choose an option by index, yes or no by word, or "cannot". */
  choose(value: number | string): void {
    if (!this.open) return;
    this.take(value);
    this.touched();
  }

  paint(): void {
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-answer]")) {
      const { answer } = button.dataset;
      const isOn = answer === "cannot" ? this.cannot : this.isText ? this.text === answer : this.chosen.has(Number(answer));
      button.setAttribute("aria-pressed", String(isOn));
    }
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
  }

  /** The fields for the answer; `cannot` is the text for "no answer", `longest` limits a text. */
  protected answerFields({ cannot, longest }: { cannot: string; longest?: number }): HTMLElement {
    const { format, open } = this;
    const row = (value: number | string, text: string, key: string): HTMLElement => h("button", { type: "button", class: "choice answer", "data-answer": value, disabled: !open, onclick: () => this.choose(value) }, keycap(key), text);
    const fields = (legend: Child, ...rows: HTMLElement[]): HTMLElement => h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, legend), rows, row("cannot", cannot, "Q"));
    if (format === "open") {
      this.area = growingArea({ "aria-label": "Your answer", value: this.text, placeholder: "your answer", readonly: !open, maxlength: longest }, (text) => {
        this.text = text;
        this.cannot = false;
        this.touched();
      });
      return fields(["Your answer ", keycap("W")], this.area);
    }
    if (format === "closed") return fields("Your answer", ...YES_NO.map((text) => row(text, text, text.charAt(0).toUpperCase())));
    return fields(format === "multiple" ? "Your answer (all that apply)" : "Your answer", ...this.choices.map((text, index) => row(index, text, optionLetter(index))));
  }

  protected confidenceField(legend: string): HTMLElement {
    const choices = CONFIDENCES.map((text, index) =>
      h("button", { type: "button", class: "choice", "data-confidence": index + 1, title: text, disabled: !this.open, onclick: () => this.setConfidence(index + 1) }, h("b", {}, String(index + 1)), ` ${text}`),
    );
    return h("fieldset", { class: "row", "data-step": "confidence" }, h("legend", {}, legend), choices);
  }

  protected take(value: number | string): void {
    this.cannot = value === "cannot" && !this.cannot;
    if (value === "cannot") {
      this.chosen.clear();
      if (this.format === "closed") this.text = "";
    } else if (typeof value === "string") this.text = value;
    else if (this.format !== "multiple") this.chosen = new Set([value]);
    else if (!this.chosen.delete(value)) this.chosen.add(value);
  }

  protected setConfidence(value: number): void {
    if (!this.open) return;
    this.confidence = value;
    this.touched();
  }

  protected touched(): void {
    this.paint();
    this.changed();
  }

  /** W for the text, Y and N, and a letter for each option; returns whether the key was one of them. */
  protected chooseByKey(key: string): boolean {
    if (key === "w" && this.area) {
      this.area.focus();
      return true;
    }
    if (this.format === "closed" && (key === "y" || key === "n")) {
      this.choose(key === "y" ? "yes" : "no");
      return true;
    }
    const index = letterIndex(key);
    if (this.isText || index < 0 || index >= this.choices.length) return false;
    this.choose(index);
    return true;
  }

  private get isText(): boolean {
    return this.format === "open" || this.format === "closed";
  }
}
