// The answer to a case: choice, text, "cannot determine", confidence, and what is wrong with the question.

import { AnswerInput, CANNOT_DETERMINE } from "../shared/answer-input";
import type { ReadingData, ReadingEntry } from "../shared/api";
import { button, growingTextArea, h, type Child } from "../shared/dom";
import { shortcutLabel, keyHint, type ActionId } from "../shared/shortcuts";

export class CaseAnswer extends AnswerInput {
  readonly root: HTMLElement;
  private faultDescription: string;
  private isReporting: boolean;
  private report: { button: HTMLElement; container: HTMLElement; area: HTMLTextAreaElement } | null = null;

  /** `onChange()` runs after every change. */
  constructor(
    private readonly data: ReadingData,
    onChange: () => void,
  ) {
    super(data, data.entry, onChange, data.isOpen);
    this.faultDescription = data.entry?.fault_description ?? "";
    this.isReporting = this.faultDescription !== "";
    const answers = this.buildAnswerFields({ maxLength: 5000 });
    this.root = h("section", { class: "own", "aria-label": "Your answer" }, h("p", { class: "stem-read" }, data.stem), answers, data.askConfidence && this.buildConfidenceField("Confidence"), this.buildReportField());
    this.paint();
  }

  protected override get hasConfidence(): boolean {
    return this.data.askConfidence;
  }

  override getEntry(): ReadingEntry {
    return { ...super.getEntry(), fault_description: this.faultDescription.trim() };
  }

  /** Describes what is missing before the answer can be saved, or null. */
  describeMissing(): string | null {
    if (!this.isAnswered && !this.faultDescription.trim()) return `Answer the question, choose “${CANNOT_DETERMINE}”${keyHint("cannot-determine")}, or report a problem${keyHint("report-question")}.`;
    if (this.data.askConfidence && this.isAnswered && !this.cannotDetermine && this.confidence === null) return this.confidenceRequest;
    return null;
  }

  override runAction(id: ActionId): boolean {
    if (!this.isOpen) return false;
    if (id !== "report-question") return super.runAction(id);
    this.openReport();
    return true;
  }

  override paint(): void {
    super.paint();
    const correctAnswers = new Set((this.data.feedback?.correctAnswers ?? []).flat().map(String));
    for (const choice of this.root.querySelectorAll<HTMLElement>("[data-answer]")) choice.classList.toggle("is-right", correctAnswers.has(choice.dataset.answer ?? ""));
    const step = this.isAnswered ? "confidence" : "answer";
    for (const fieldset of this.root.querySelectorAll<HTMLElement>("[data-step]")) fieldset.classList.toggle("current", this.isOpen && fieldset.dataset.step === step);
    if (!this.report) return;
    this.report.container.hidden = !this.isReporting;
    this.report.button.hidden = this.isReporting;
  }

  private buildReportField(): Child {
    if (!this.isOpen) return this.faultDescription !== "" && h("p", { class: "hint" }, `You reported this question: ${this.faultDescription}`);
    const area = growingTextArea({ "aria-label": "What is wrong with the question", placeholder: "What is wrong? For example: two options are right", maxlength: "2000", value: this.faultDescription }, (text) => {
      this.faultDescription = text;
      this.showChange();
    });
    const hint = h("span", { class: "hint" }, "You can report with or without an answer. Clear the text to withdraw the report.");
    const container = h("label", { class: "faulty" }, h("span", { class: "label" }, "Reason for the report"), area, hint);
    this.report = { button: button("Report a problem", shortcutLabel("report-question"), () => this.openReport(), { class: "quiet" }), container, area };
    return h("div", { class: "report-place" }, this.report.button, container);
  }

  private openReport(): void {
    this.isReporting = true;
    this.paint();
    this.report?.area.focus();
  }
}
