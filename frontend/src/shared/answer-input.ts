// An answer input: options, yes and no, or text; "cannot determine"; and a confidence.
// The own answer of a reviewer and the answer of a reader extend it.

import type { AnswerFormat, OwnAnswerDraft } from "./api";
import type { Material } from "./displayed-material";
import { growingTextArea, h, keycap, letterIndex, optionLetter, type Child } from "./dom";

const YES_NO = ["yes", "no"];

/** What must have been displayed before an answer is saved. */
export const ANSWERED_MATERIAL: readonly Material[] = [
  { name: "the question", selector: ".stem-read" },
  { name: "the possible answers", selector: ".own-answers" },
];

export abstract class AnswerInput {
  abstract readonly root: HTMLElement;
  confidence: number | null;
  cannotDetermine: boolean;
  private chosenIndices: Set<number>;
  private text: string;
  private textArea: HTMLTextAreaElement | null = null;

  /** `initial` is the stored entry. `onChange()` runs after every change. The input is read-only unless `isOpen`. */
  constructor(
    private readonly question: { format: AnswerFormat; options: string[]; confidences: string[] },
    initial: OwnAnswerDraft | null | undefined,
    private readonly onChange: () => void,
    protected readonly isOpen = true,
  ) {
    const answer = initial?.answer ?? null;
    this.chosenIndices = new Set(Array.isArray(answer) ? answer : []);
    this.text = typeof answer === "string" ? answer : "";
    this.cannotDetermine = initial?.cannot ?? false;
    this.confidence = initial?.confidence ?? null;
  }

  protected get format(): AnswerFormat {
    return this.question.format;
  }

  protected get confidenceRequest(): string {
    return `Give your confidence: press 1 to ${this.question.confidences.length}.`;
  }

  /** The choices in display order. */
  protected get choices(): string[] {
    return this.format === "closed" ? YES_NO : this.question.options;
  }

  get isAnswered(): boolean {
    return this.cannotDetermine || (this.isText ? this.text.trim() !== "" : this.chosenIndices.size > 0);
  }

  /** The answer as sent: indices of the options, text, or null without an answer. */
  getAnswer(): number[] | string | null {
    if (this.cannotDetermine || !this.isAnswered) return null;
    return this.isText ? this.text.trim() : [...this.chosenIndices].sort((a, b) => a - b);
  }

  /** The whole entry, for a draft. */
  getEntry(): OwnAnswerDraft {
    return { answer: this.getAnswer(), cannot: this.cannotDetermine, confidence: this.confidence };
  }

  /** Choose an option by index, yes or no by word, or "cannot". */
  choose(value: number | string): void {
    if (!this.isOpen) return;
    this.applyChoice(value);
    this.showChange();
  }

  paint(): void {
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-answer]")) {
      const { answer } = button.dataset;
      const isOn = answer === "cannot" ? this.cannotDetermine : this.isText ? this.text === answer : this.chosenIndices.has(Number(answer));
      button.setAttribute("aria-pressed", String(isOn));
    }
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
  }

  /** The fields for the answer. `cannotLabel` is the text for "no answer"; `maxLength` limits a text. */
  protected buildAnswerFields({ cannotLabel, maxLength }: { cannotLabel: string; maxLength?: number }): HTMLElement {
    const { format, isOpen } = this;
    const buildChoice = (value: number | string, text: string, key: string): HTMLElement => h("button", { type: "button", class: "choice answer", "data-answer": value, disabled: !isOpen, onclick: () => this.choose(value) }, keycap(key), text);
    const buildFieldset = (legend: Child, ...rows: HTMLElement[]): HTMLElement => h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, legend), rows, buildChoice("cannot", cannotLabel, "Q"));
    if (format === "open") {
      this.textArea = growingTextArea({ "aria-label": "Your answer", value: this.text, placeholder: "your answer", readonly: !isOpen, maxlength: maxLength }, (text) => {
        this.text = text;
        this.cannotDetermine = false;
        this.showChange();
      });
      return buildFieldset(["Your answer ", keycap("W")], this.textArea);
    }
    if (format === "closed") return buildFieldset("Your answer", ...YES_NO.map((text) => buildChoice(text, text, text.charAt(0).toUpperCase())));
    return buildFieldset(format === "multiple" ? "Your answer (all that apply)" : "Your answer", ...this.choices.map((text, index) => buildChoice(index, text, optionLetter(index))));
  }

  protected buildConfidenceField(legend: string): HTMLElement {
    const choices = this.question.confidences.map((text, index) =>
      h("button", { type: "button", class: "choice", "data-confidence": index + 1, title: text, disabled: !this.isOpen, onclick: () => this.setConfidence(index + 1) }, h("b", {}, String(index + 1)), ` ${text}`),
    );
    return h("fieldset", { class: "row", "data-step": "confidence" }, h("legend", {}, legend), choices);
  }

  protected applyChoice(value: number | string): void {
    this.cannotDetermine = value === "cannot" && !this.cannotDetermine;
    if (value === "cannot") {
      this.chosenIndices.clear();
      if (this.format === "closed") this.text = "";
    } else if (typeof value === "string") this.text = value;
    else if (this.format !== "multiple") this.chosenIndices = new Set([value]);
    else if (!this.chosenIndices.delete(value)) this.chosenIndices.add(value);
  }

  protected setConfidence(value: number): void {
    if (!this.isOpen) return;
    this.confidence = value;
    this.showChange();
  }

  protected isConfidence(value: number): boolean {
    return value >= 1 && value <= this.question.confidences.length;
  }

  protected showChange(): void {
    this.paint();
    this.onChange();
  }

  /** Handles W for the text, Y and N, and a letter for each option. Returns whether the key was handled. */
  protected chooseByKey(key: string): boolean {
    if (key === "w" && this.textArea) {
      this.textArea.focus();
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
