// The reading form. It goes from case to case by its own requests; Streamlit is told only when there is no further case.

import type { LookTimes, ReadingData, ReadingDraft } from "../shared/api";
import { TimedForm } from "../shared/case-form";
import { formatTime, h } from "../shared/dom";
import { DraftStore } from "../shared/drafts";
import { post, type RequestError } from "../shared/http";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { keySheet } from "../shared/parts";
import { CaseAnswer } from "./case-answer";
import { boxList, breakSheet, feedbackPart, informationLine, KEYS, lowerBar, topLine, type ReadingActions } from "./layout";

class ReadingForm extends TimedForm<ReadingData, "entry"> {
  protected override drafts: DraftStore<"entry"> | null = null;
  private answer: CaseAnswer | null = null;
  private readonly boxPlace = h("div");
  private readonly actions: ReadingActions = {
    save: () => this.save(),
    next: () => this.goOn(),
    previous: () => this.data.previous !== null && this.go(this.data.previous),
    pause: () => this.pause(),
    showKeys: () => this.showKeys(),
  };
  private hasDraftProblem = false;

  constructor(component: StreamlitComponent<ReadingData>) {
    super(component, "reading", "viewing time of this case", { judged: "answered this case", otherwise: "You can also take a break (P) and continue later." });
  }

  override show(data: ReadingData): void {
    super.show(data);
    this.clock.start(data.times, data.idleSeconds);
    if (!data.open) this.clock.stop();
    const { study, position } = data;
    this.drafts = new DraftStore({
      revisions: { entry: data.draftRevision },
      send: (draft, options) => post("/reading/draft", { study, position, ...draft }, options),
      onResult: (problem) => this.showDraftResult(problem),
    });
    this.answer = new CaseAnswer(data, () => this.changed(), () => void this.save());
    const column = this.build(this.answer);
    this.showExam(data);
    this.viewer.setLabel("evidence");
    this.paintBoxes();
    this.fit();
    this.note(this.opening());
    this.takeFocus();
    column.scrollTop = 0;
  }

  override shownKey(): string {
    return this.isEnded ? "" : `${this.data.study}:${this.data.position}:${this.data.open}`;
  }

  /** What a later run of the script brings is older than what this form has fetched itself. */
  protected override isNew(data: ReadingData): boolean {
    return !this.answer || data.study !== this.data.study;
  }

  protected override boxesChanged(): void {
    if (!this.data.open) return;
    this.markTouched();
    this.paintBoxes();
    this.drafts?.change("entry", () => this.entry(), this.viewer.draftAfter);
  }

  protected override reportTime(times: LookTimes): void {
    const { open, study, position } = this.data;
    if (open && !this.isEnded) post("/reading/time", { study, position, ...times }, { keepalive: true }).catch(() => undefined);
  }

  protected override pressed(key: string, event: KeyboardEvent): boolean {
    const { answer, viewer } = this;
    if (!answer) return false;
    if (this.veil) {
      if (["Escape", "Enter", "?", "p"].includes(key)) this.closeVeil();
      return true;
    }
    // Between two cases a letter belongs to neither the old one nor the next one.
    if (this.saveFlow.isBusy) return key.length === 1 || key === "Enter";
    const target = event.composedPath()[0];
    const onButton = target instanceof HTMLButtonElement && !answer.root.contains(target);
    if (this.imageCheck.key(event)) return true;
    // Enter saves, whatever box is chosen: a label is not asked for.
    if (key === "Enter" && !onButton && !event.repeat && answer.key(key)) return true;
    if (viewer.key?.(event, true)) return true;
    if (event.repeat && key !== "+" && key !== "-") return true;
    if ((onButton && key === "Enter") || (target instanceof HTMLButtonElement && key === " ")) return false;
    if (!event.shiftKey && answer.key(key)) return true;
    const { next, previous, pause, showKeys } = this.actions;
    const commands: Record<string, () => unknown> = { Enter: next, k: previous, ArrowLeft: previous, j: next, ArrowRight: next, p: pause, "?": showKeys, t: () => this.tryAgain() };
    if (this.viewerKey(key, event)) return true;
    commands[key]?.();
    return key in commands;
  }

  protected override closeVeil(): void {
    super.closeVeil();
    if (this.clock.paused) this.clock.pause(false);
    this.root.focus({ preventScroll: true });
  }

  private build(answer: CaseAnswer): HTMLElement {
    const { data, actions } = this;
    const column = h("div", { class: "scroll" }, answer.root, feedbackPart(data));
    const left = h("section", { class: "left", "aria-label": "Radiographs" }, h("div", { class: "above" }, informationLine(data)), this.buildTools(), this.viewer.root, this.boxPlace);
    const right = h("section", { class: "right" }, column, this.message, this.imageCheck.root, lowerBar(data, actions));
    this.root.replaceChildren(topLine(data, actions, this.savedLine, this.clockLine), h("div", { class: "columns" }, left, right));
    return column;
  }

  private opening(): string {
    const { feedback, answeredAt, entry, training } = this.data;
    if (feedback) return "This is a training case and is not scored. Press Enter for the next case.";
    if (answeredAt) return `You answered this case at ${formatTime(answeredAt)}. Saving replaces the answer; both are kept on record.`;
    if (entry) return "Draft restored.";
    return training ? "This is a training case. It is not scored, and the answer key is shown after your answer." : "";
  }

  private paintBoxes(): void {
    this.boxPlace.replaceChildren(boxList(this.data, this.viewer));
  }

  // --------------------------------------------------------------- drafts and saving

  private entry(): ReadingDraft {
    const entered = this.answer?.entry() ?? { answer: null, cannot: false, confidence: null, faulty: "" };
    return { ...entered, drawings: this.data.asks.boxes ? this.viewer.drawings() : null };
  }

  private changed(): void {
    this.markTouched();
    this.note("");
    if (this.data.open) this.drafts?.change("entry", () => this.entry());
  }

  private showDraftResult(problem: RequestError | null): void {
    if (this.saveFlow.isBusy || this.saveFlow.isUnsaved) return;
    if (problem) this.note(`Draft not saved: ${problem.message}`, true);
    else if (this.hasDraftProblem) this.note("");
    this.hasDraftProblem = problem !== null;
  }

  private async save(): Promise<void> {
    const { data, drafts, answer } = this;
    if (this.saveFlow.isBusy || this.isTooSoon || !data.open || !answer) return;
    const missing = answer.missing();
    if (missing !== null) {
      this.note(missing);
      return;
    }
    if (this.imageCheck.holds(() => this.save())) return;
    await this.saveFlow.submit({
      route: "/reading/answer",
      body: async () => {
        await this.viewer.settled();
        await drafts?.hold();
        return { study: data.study, position: data.position, revision: data.revision, ...this.entry(), image: this.imageCheck.display, ...this.clock.totals() };
      },
      saved: ({ at }) => {
        drafts?.close();
        return `Saved ${formatTime(at)}`;
      },
      next: ({ sheet }) => this.showNext(sheet),
      failed: () => void drafts?.flush(),
      retry: () => void this.save(),
    });
  }

  /** The case at a position of the order, or the one that is next. */
  private async go(to: number | null): Promise<void> {
    await this.saveFlow.submit({
      route: "/reading/turn",
      body: async () => {
        await this.drafts?.flush();
        this.clock.reportNow();
        return { study: this.data.study, to };
      },
      next: ({ sheet }) => this.showNext(sheet),
      retry: () => void this.go(to),
    });
  }

  private goOn(): void {
    const { feedback, answeredAt, next } = this.data;
    if (this.isTooSoon) return;
    if (feedback) void this.go(null);
    else if (answeredAt) void this.go(next);
  }

  private showNext(sheet: ReadingData | null): void {
    if (sheet) {
      this.show(sheet);
      return;
    }
    this.saveFlow.isWaiting = true; // the page says why there is none
    this.clock.stop();
    this.note("");
    this.trigger("over", Date.now());
  }

  private showKeys(): void {
    const viewers = this.viewer.sheet?.filter(([keys]) => !keys.startsWith("Enter"));
    this.openVeil(keySheet(KEYS, viewers, () => this.closeVeil()));
  }

  private pause(): void {
    if (!this.data.open || this.saveFlow.isBusy) return;
    void this.drafts?.flush();
    this.clock.pause(true);
    this.openVeil(breakSheet(this.data, () => this.closeVeil()));
  }
}

export default mountOnce<ReadingData>((component) => new ReadingForm(component));
