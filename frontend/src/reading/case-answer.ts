// The answer to a case: choice, text, "cannot determine", confidence, and what is wrong with the question.

import { AnswerInput } from "../shared/answer-input";
import type { ReadingData, ReadingEntry } from "../shared/api";
import { button, growingTextArea, h, type Child } from "../shared/dom";

type Step = "answer" | "confidence";

export class CaseAnswer extends AnswerInput {
  readonly root: HTMLElement;
  private faulty: string;
  private isReporting: boolean;
  private step: Step;
  private report: { button: HTMLElement; container: HTMLElement; area: HTMLTextAreaElement } | null = null;

  /** `onChange()` runs after every change, `onSave()` when Enter completes the answer. */
  constructor(
    private readonly data: ReadingData,
    onChange: () => void,
    private readonly onSave: () => void,
  ) {
    super(data, data.entry, onChange, data.open);
    this.faulty = data.entry?.faulty ?? "";
    this.isReporting = this.faulty !== "";
    this.step = this.isAnswered ? "confidence" : "answer";
    const answers = this.buildAnswerFields({ cannotLabel: "cannot determine from this exam", maxLength: 5000 });
    this.root = h("section", { class: "own", "aria-label": "Your answer" }, h("p", { class: "stem-read" }, data.stem), answers, data.askConfidence && this.buildConfidenceField("Confidence"), this.buildReportField());
    this.paint();
  }

  override getEntry(): ReadingEntry {
    return { ...super.getEntry(), faulty: this.faulty.trim() };
  }

  /** Describes what is missing before the answer can be saved, or null. */
  describeMissing(): string | null {
    if (!this.isAnswered && !this.faulty.trim()) return "Answer the question, choose “cannot determine” (Q), or report the question (X).";
    if (this.data.askConfidence && this.isAnswered && !this.cannotDetermine && this.confidence === null) return this.confidenceRequest;
    return null;
  }

  /** Digits answer first and then give the confidence; letters always answer. */
  handleKey(pressedKey: string): boolean {
    if (!this.isOpen) return false;
    if (pressedKey === "Enter") this.handleEnter();
    else if (pressedKey === "Backspace") this.goToStep("answer");
    else if (pressedKey === "q") this.choose("cannot");
    else if (pressedKey === "x" && this.choices.length < 24) this.openReport();
    else if (/^[1-9]$/.test(pressedKey)) return this.handleDigit(Number(pressedKey));
    else return this.chooseByKey(pressedKey);
    return true;
  }

  override paint(): void {
    super.paint();
    const correctAnswers = new Set((this.data.feedback?.places ?? []).flat().map(String));
    for (const choice of this.root.querySelectorAll<HTMLElement>("[data-answer]")) choice.classList.toggle("is-right", correctAnswers.has(choice.dataset.answer ?? ""));
    for (const fieldset of this.root.querySelectorAll<HTMLElement>("[data-step]")) fieldset.classList.toggle("current", this.isOpen && fieldset.dataset.step === this.step);
    if (!this.report) return;
    this.report.container.hidden = !this.isReporting;
    this.report.button.hidden = this.isReporting;
  }

  protected override applyChoice(value: number | string): void {
    super.applyChoice(value);
    this.step = this.isAnswered && this.format !== "multiple" ? "confidence" : "answer";
  }

  private handleEnter(): void {
    const { askConfidence } = this.data;
    if (this.format === "multiple" && this.step === "answer" && this.isAnswered && askConfidence && this.confidence === null) this.goToStep("confidence");
    else this.onSave();
  }

  private goToStep(step: Step): void {
    this.step = step;
    this.paint();
  }

  private handleDigit(number: number): boolean {
    const choice = this.choices[number - 1]; // a text has none
    if (this.step === "answer" && choice !== undefined) {
      this.choose(this.format === "closed" ? choice : number - 1);
      return true;
    }
    if (!this.data.askConfidence || !this.isConfidence(number)) return false;
    this.setConfidence(number);
    return true;
  }

  private buildReportField(): Child {
    if (!this.isOpen) return this.faulty !== "" && h("p", { class: "hint" }, `You reported this question: ${this.faulty}`);
    const area = growingTextArea({ "aria-label": "What is wrong with the question", placeholder: "What is wrong? For example: two options are right", maxlength: "2000", value: this.faulty }, (text) => {
      this.faulty = text;
      this.showChange();
    });
    const hint = h("span", { class: "hint" }, "You can report with or without an answer. Clear the text to withdraw the report.");
    const container = h("label", { class: "faulty" }, h("span", { class: "label" }, "Reason for the report"), area, hint);
    this.report = { button: button("Report question", "X", () => this.openReport(), { class: "quiet" }), container, area };
    return h("div", { class: "report-place" }, this.report.button, container);
  }

  private openReport(): void {
    this.isReporting = true;
    this.paint();
    this.report?.area.focus();
  }
}
