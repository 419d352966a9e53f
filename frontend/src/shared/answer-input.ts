// An answer input: options, yes and no, or text; "cannot determine"; and a confidence.
// Base class of the reviewer's own-answer input and of the reader's answer input.

import type { AnswerFormat, OwnAnswerDraft } from "./api";
import type { Material } from "./displayed-material";
import { growingTextArea, h, keycap, optionLetter, type Child } from "./dom";
import { shortcutLabel, matchAction, type ActionId } from "./shortcuts";

const YES_NO = ["yes", "no"];
/** The label of the choice that no answer can be determined. */
export const CANNOT_DETERMINE = "Cannot be determined from this exam";

/** What must have been displayed before an answer is saved. */
export const MATERIAL_NEEDED_TO_ANSWER: readonly Material[] = [
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
    this.cannotDetermine = initial?.cannot_determine ?? false;
    this.confidence = initial?.confidence ?? null;
  }

  protected get format(): AnswerFormat {
    return this.question.format;
  }

  protected get confidenceRequest(): string {
    return `Give your confidence: press ${shortcutLabel("confidence-1")} to ${shortcutLabel(`confidence-${this.question.confidences.length}` as ActionId)}.`;
  }

  /** The choices in display order. */
  protected get choices(): string[] {
    return this.format === "closed" ? YES_NO : this.question.options;
  }

  get isAnswered(): boolean {
    return this.cannotDetermine || (this.isStoredAsText ? this.text.trim() !== "" : this.chosenIndices.size > 0);
  }

  /** The answer as sent: indices of the options, or text; null if unanswered or "cannot determine". */
  getAnswer(): number[] | string | null {
    if (this.cannotDetermine || !this.isAnswered) return null;
    return this.isStoredAsText ? this.text.trim() : [...this.chosenIndices].sort((a, b) => a - b);
  }

  /** The whole entry, for a draft. */
  getEntry(): OwnAnswerDraft {
    return { answer: this.getAnswer(), cannot_determine: this.cannotDetermine, confidence: this.confidence };
  }

  /** Choose an option by index, yes or no by word, or "cannot-determine". */
  choose(value: number | string): void {
    if (!this.isOpen) return;
    this.applyChoice(value);
    this.showChange();
  }

  paint(): void {
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-answer]")) {
      const { answer } = button.dataset;
      const isOn = answer === "cannot-determine" ? this.cannotDetermine : this.isStoredAsText ? this.text === answer : this.chosenIndices.has(Number(answer));
      button.setAttribute("aria-pressed", String(isOn));
    }
    for (const button of this.root.querySelectorAll<HTMLElement>("[data-confidence]")) button.setAttribute("aria-pressed", String(Number(button.dataset.confidence) === this.confidence));
  }

  /** The fields for the answer; `maxLength` limits a text. */
  protected buildAnswerFields({ maxLength }: { maxLength?: number } = {}): HTMLElement {
    const { format, isOpen } = this;
    const buildChoice = (value: number | string, text: string, id: string): HTMLElement => h("button", { type: "button", class: "choice answer", "data-answer": value, disabled: !isOpen, onclick: () => this.choose(value) }, id !== "" && keycap(shortcutLabel(id as ActionId)), text);
    const buildFieldset = (legend: Child, ...rows: HTMLElement[]): HTMLElement => h("fieldset", { class: "own-answers", "data-step": "answer" }, h("legend", {}, legend), rows, buildChoice("cannot-determine", CANNOT_DETERMINE, "cannot-determine"));
    if (format === "open") {
      this.textArea = growingTextArea({ "aria-label": "Your answer", value: this.text, placeholder: "your answer", readonly: !isOpen, maxlength: maxLength }, (text) => {
        this.text = text;
        this.cannotDetermine = false;
        this.showChange();
      });
      return buildFieldset(["Your answer ", keycap(shortcutLabel("write-answer"))], this.textArea);
    }
    if (format === "closed") return buildFieldset("Your answer", ...YES_NO.map((text) => buildChoice(text, text, text)));
    return buildFieldset(format === "multiple" ? "Your answer (all that apply)" : "Your answer", ...this.choices.map((text, index) => buildChoice(index, `${optionLetter(index)}. ${text}`, index < 9 ? `option-${index + 1}` : "")));
  }

  protected buildConfidenceField(legend: string): HTMLElement {
    const choices = this.question.confidences.map((text, index) =>
      h("button", { type: "button", class: "choice", "data-confidence": index + 1, title: text, disabled: !this.isOpen, onclick: () => this.setConfidence(index + 1) }, h("b", {}, String(index + 1)), ` ${text}`, keycap(shortcutLabel(`confidence-${index + 1}` as ActionId))),
    );
    return h("fieldset", { class: "row", "data-step": "confidence" }, h("legend", {}, legend), choices);
  }

  protected applyChoice(value: number | string): void {
    this.cannotDetermine = value === "cannot-determine" && !this.cannotDetermine;
    if (value === "cannot-determine") {
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

  private isConfidence(value: number): boolean {
    return value >= 1 && value <= this.question.confidences.length;
  }

  protected showChange(): void {
    this.paint();
    this.onChange();
  }

  /** Performs the action if it belongs to this input; returns whether it did. */
  runAction(id: ActionId): boolean {
    const confidence = matchAction(id, "confidence-");
    if (confidence !== null) {
      if (!this.hasConfidence || !this.isConfidence(Number(confidence))) return false;
      this.setConfidence(Number(confidence));
      return true;
    }
    if (id === "cannot-determine") this.choose("cannot-determine");
    else if (id === "write-answer" && this.textArea) this.textArea.focus();
    else if ((id === "yes" || id === "no") && this.format === "closed") this.choose(id);
    else return this.chooseOption(Number(matchAction(id, "option-") ?? 0) - 1);
    return true;
  }

  /** Whether a confidence is asked for. */
  protected abstract get hasConfidence(): boolean;

  private chooseOption(index: number): boolean {
    const choice = this.format === "open" ? undefined : this.choices[index];
    if (choice === undefined) return false;
    this.choose(this.format === "closed" ? choice : index);
    return true;
  }

  private get isStoredAsText(): boolean {
    return this.format === "open" || this.format === "closed";
  }
}
