// The answer to a case: choice, text, "cannot determine", confidence, and what is wrong with the question.

import { AnswerInput } from "../shared/answer-input";
import type { ReadingData, ReadingEntry } from "../shared/api";
import { button, growingArea, h, type Child } from "../shared/dom";

type Step = "answer" | "confidence";

export class CaseAnswer extends AnswerInput {
  readonly root: HTMLElement;
  private faulty: string;
  private isReporting: boolean;
  private step: Step;
  private report: { button: HTMLElement; place: HTMLElement; area: HTMLTextAreaElement } | null = null;

  /** `changed()` is called after every change, `save()` when Enter completes the answer. */
  constructor(
    private readonly data: ReadingData,
    changed: () => void,
    private readonly save: () => void,
  ) {
    super(data, data.entry, changed, data.open);
    this.faulty = data.entry?.faulty ?? "";
    this.isReporting = this.faulty !== "";
    this.step = this.isAnswered ? "confidence" : "answer";
    const answers = this.answerFields({ cannot: "cannot determine from this exam", longest: 5000 });
    this.root = h("section", { class: "own", "aria-label": "Your answer" }, h("p", { class: "stem-read" }, data.stem), answers, data.askConfidence && this.confidenceField("Confidence"), this.reportField());
    this.paint();
  }

  override entry(): ReadingEntry {
    return { ...super.entry(), faulty: this.faulty.trim() };
  }

  /** What is still needed before the answer can be saved. */
  missing(): string | null {
    if (!this.isAnswered && !this.faulty.trim()) return "Answer the question, choose “cannot determine” (Q), or report the question (X).";
    if (this.data.askConfidence && this.isAnswered && !this.cannot && this.confidence === null) return "Give your confidence: press 1 to 5.";
    return null;
  }

  /** Digits answer first and then give the confidence; letters always answer. */
  key(key: string): boolean {
    if (!this.open) return false;
    if (key === "Enter") this.enter();
    else if (key === "Backspace") this.goTo("answer");
    else if (key === "q") this.choose("cannot");
    else if (key === "x" && this.choices.length < 24) this.openReport();
    else if (/^[1-9]$/.test(key)) return this.digit(Number(key));
    else return this.chooseByKey(key);
    return true;
  }

  override paint(): void {
    super.paint();
    const right = new Set((this.data.feedback?.places ?? []).flat().map(String));
    for (const choice of this.root.querySelectorAll<HTMLElement>("[data-answer]")) choice.classList.toggle("is-right", right.has(choice.dataset.answer ?? ""));
    for (const part of this.root.querySelectorAll<HTMLElement>("[data-step]")) part.classList.toggle("current", this.open && part.dataset.step === this.step);
    if (!this.report) return;
    this.report.place.hidden = !this.isReporting;
    this.report.button.hidden = this.isReporting;
  }

  protected override take(value: number | string): void {
    super.take(value);
    this.step = this.isAnswered && this.format !== "multiple" ? "confidence" : "answer";
  }

  private enter(): void {
    const { askConfidence } = this.data;
    if (this.format === "multiple" && this.step === "answer" && this.isAnswered && askConfidence && this.confidence === null) this.goTo("confidence");
    else this.save();
  }

  private goTo(step: Step): void {
    this.step = step;
    this.paint();
  }

  private digit(number: number): boolean {
    const choice = this.choices[number - 1]; // a text has none
    if (this.step === "answer" && choice !== undefined) {
      this.choose(this.format === "closed" ? choice : number - 1);
      return true;
    }
    if (!this.data.askConfidence || number > 5) return false;
    this.setConfidence(number);
    return true;
  }

  private reportField(): Child {
    if (!this.open) return this.faulty !== "" && h("p", { class: "hint" }, `You reported this question: ${this.faulty}`);
    const area = growingArea({ "aria-label": "What is wrong with the question", placeholder: "What is wrong? For example: two options are right", maxlength: "2000", value: this.faulty }, (text) => {
      this.faulty = text;
      this.touched();
    });
    const hint = h("span", { class: "hint" }, "You can report with or without an answer. Clear the text to withdraw the report.");
    const place = h("label", { class: "faulty" }, h("span", { class: "label" }, "Reason for the report"), area, hint);
    this.report = { button: button("Report question", "X", () => this.openReport(), { class: "quiet" }), place, area };
    return h("div", { class: "report-place" }, this.report.button, place);
  }

  private openReport(): void {
    this.isReporting = true;
    this.paint();
    this.report?.area.focus();
  }
}
