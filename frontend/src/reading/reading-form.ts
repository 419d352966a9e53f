// The reading form. It loads the next case itself and notifies Streamlit only when no case is left.

import type { ViewingTimes, ReadingData, ReadingDraft } from "../shared/api";
import { MATERIAL_NEEDED_TO_ANSWER } from "../shared/answer-input";
import { TimedForm } from "../shared/case-form";
import { formatTime, h } from "../shared/dom";
import { DraftStore } from "../shared/drafts";
import { post, type RequestError } from "../shared/http";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { shortcutsDialog } from "../shared/components";
import { findAction, isRepeatable, keyHint, type ActionId } from "../shared/shortcuts";
import { CaseAnswer } from "./case-answer";
import { boxList, breakOverlay, feedbackSection, informationLine, lowerBar, topLine, type ReadingActions } from "./layout";

class ReadingForm extends TimedForm<ReadingData, "entry"> {
  protected override drafts: DraftStore<"entry"> | null = null;
  private answer: CaseAnswer | null = null;
  private readonly boxContainer = h("div");
  private readonly actions: ReadingActions = {
    save: () => this.save(),
    next: () => this.continueToNext(),
    previous: () => this.data.previous !== null && this.goToCase(this.data.previous),
    pause: () => this.pause(),
    showShortcuts: () => this.showShortcuts(),
  };
  private hasDraftProblem = false;

  constructor(component: StreamlitComponent<ReadingData>) {
    super(component, "reading", "viewing time of this case", { completedAction: "answered this case", alternative: `You can also pause${keyHint("break")} and continue later.` });
  }

  override show(data: ReadingData): void {
    super.show(data);
    this.clock.start(data.times, data.idleSeconds);
    if (!data.isOpen) this.clock.stop();
    const { study, position } = data;
    this.drafts = new DraftStore({
      revisions: { entry: data.draftRevision },
      send: (draft, options) => post("/reading/draft", { study, position, ...draft }, options),
      onResult: (problem) => this.showDraftResult(problem),
    });
    this.answer = new CaseAnswer(data, () => this.answerChanged());
    const column = this.buildLayout(this.answer);
    this.showExam(data);
    this.imageView.setLabel("evidence");
    this.paintBoxes();
    this.fit();
    this.showNote(this.initialMessage());
    this.takeFocus();
    column.scrollTop = 0;
  }

  override displayedCaseId(): string {
    return this.isEnded ? "" : `${this.data.study}:${this.data.position}:${this.data.isOpen}`;
  }

  /** Ignores data from script runs after the first: the form has already loaded newer data itself. */
  protected override shouldShow(data: ReadingData): boolean {
    return !this.answer || data.study !== this.data.study;
  }

  protected override boxesChanged(): void {
    if (!this.data.isOpen) return;
    this.markTouched();
    this.paintBoxes();
    this.drafts?.change("entry", () => this.getDraft(), this.imageView.draftDelay);
  }

  protected override reportTime(times: ViewingTimes): void {
    const { isOpen, study, position } = this.data;
    if (isOpen && !this.isEnded) post("/reading/viewing-times", { study, position, ...times }, { keepalive: true }).catch(() => undefined);
  }

  protected override handleKey(event: KeyboardEvent): boolean {
    const { answer, imageView } = this;
    if (!answer) return false;
    const action = findAction(event, "read");
    if (this.overlay) {
      if (["Escape", "Enter"].includes(event.key) || action === "help" || action === "break") this.closeOverlay();
      return true;
    }
    // While a save is in progress, typed characters and Enter are ignored.
    if (this.saveFlow.isBusy) return event.key.length === 1 || event.key === "Enter";
    const target = event.composedPath()[0];
    const isOnButton = target instanceof HTMLButtonElement && !answer.root.contains(target);
    if (this.imageCheck.handleKey(event)) return true;
    // Enter edits the label of a selected box. Boxes have no labels in this form, so Enter is not passed to the viewer.
    if (event.key !== "Enter" && imageView.handleKey?.(event)) return true;
    if (event.repeat && !(action && isRepeatable(action))) return true;
    if ((isOnButton && event.key === "Enter") || (target instanceof HTMLButtonElement && event.key === " ")) return false;
    if (!action) return this.handleArrow(event.key);
    if (this.frame.runAction(action) || answer.runAction(action) || this.runViewerAction(action, event)) return true;
    const { next, previous, pause, showShortcuts } = this.actions;
    const commands: Partial<Record<ActionId, () => unknown>> = { save: () => (this.data.isOpen ? this.save() : next()), previous, next, break: pause, help: showShortcuts, retry: () => this.tryAgain() };
    commands[action]?.();
    return action in commands;
  }

  private handleArrow(key: string): boolean {
    if (key === "ArrowLeft") this.actions.previous();
    else if (key === "ArrowRight") this.actions.next();
    return key === "ArrowLeft" || key === "ArrowRight";
  }

  protected override closeOverlay(): void {
    super.closeOverlay();
    if (this.clock.paused) this.clock.setPaused(false);
    this.root.focus({ preventScroll: true });
  }

  private buildLayout(answer: CaseAnswer): HTMLElement {
    const { data, actions } = this;
    const column = h("div", { class: "scroll" }, answer.root, feedbackSection(data));
    this.frame.show({
      top: topLine(data, actions, this.savedLine, this.clockLine),
      patient: h("div", { class: "above" }, informationLine(data)),
      picture: [this.buildTools(), this.imageView.root, this.boxContainer],
      column,
      footer: [this.message, this.imageCheck.root, lowerBar(data, actions)],
    });
    this.displayed.show(MATERIAL_NEEDED_TO_ANSWER);
    return column;
  }

  private initialMessage(): string {
    const { feedback, answeredAt, entry, training } = this.data;
    if (feedback) return `This is a training case and is not scored. Continue with the next case${keyHint("save")}.`;
    if (answeredAt) return `You answered this case at ${formatTime(answeredAt)}. Saving replaces the answer; both are kept on record.`;
    if (entry) return "Draft restored.";
    return training ? "This is a training case. It is not scored, and the answer key is shown after your answer." : "";
  }

  private paintBoxes(): void {
    this.boxContainer.replaceChildren(boxList(this.data, this.imageView));
  }

  // --------------------------------------------------------------- drafts and saving

  private getDraft(): ReadingDraft {
    const entry = this.answer?.getEntry() ?? { answer: null, cannot_determine: false, confidence: null, fault_description: "" };
    return { ...entry, drawings: this.data.requested.boxes ? this.imageView.getDrawings() : null };
  }

  private answerChanged(): void {
    this.markTouched();
    this.showNote("");
    if (this.data.isOpen) this.drafts?.change("entry", () => this.getDraft());
  }

  private showDraftResult(problem: RequestError | null): void {
    if (this.saveFlow.isBusy || this.saveFlow.hasFailed) return;
    if (problem) this.showNote(`Draft not saved: ${problem.message}`, true);
    else if (this.hasDraftProblem) this.showNote("");
    this.hasDraftProblem = problem !== null;
  }

  private async save(): Promise<void> {
    const { data, drafts, answer } = this;
    if (this.saveFlow.isBusy || this.isTooSoon || !data.isOpen || !answer) return;
    const missing = answer.describeMissing();
    if (missing !== null) {
      this.showNote(missing);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.save()) || this.revealUnreadMaterial()) return;
    await this.saveFlow.submit({
      route: "/reading/answer",
      body: async () => {
        await this.imageView.waitForDrawing();
        await drafts?.stopSending();
        return { study: data.study, position: data.position, revision: data.revision, ...this.getDraft(), image_display: this.imageCheck.imageDisplay, ...this.clock.getTotals() };
      },
      onSaved: ({ at }) => {
        drafts?.close();
        return `Saved ${formatTime(at)}`;
      },
      onNext: ({ next }) => this.showNext(next),
      onFailed: () => void drafts?.flush(),
      retry: () => void this.save(),
    });
  }

  /** Saves the draft and loads the case at a position of the reader's order, or the next open case if `position` is null. */
  private async goToCase(position: number | null): Promise<void> {
    await this.saveFlow.submit({
      route: "/reading/case",
      body: async () => {
        await this.drafts?.flush();
        this.clock.reportNow();
        return { study: this.data.study, position };
      },
      onNext: ({ next }) => this.showNext(next),
      retry: () => void this.goToCase(position),
    });
  }

  private continueToNext(): void {
    const { feedback, answeredAt, next } = this.data;
    if (this.isTooSoon) return;
    if (feedback) void this.goToCase(null);
    else if (answeredAt) void this.goToCase(next);
  }

  private showNext(nextCase: ReadingData | null): void {
    if (nextCase) {
      this.show(nextCase);
      return;
    }
    this.saveFlow.isWaiting = true; // no case is left or available; blocks input until the page shows the reason
    this.clock.stop();
    this.showNote("");
    this.notifyScript("over", Date.now());
  }

  private showShortcuts(): void {
    this.openOverlay(shortcutsDialog("read", this.imageView, () => this.closeOverlay()));
  }

  private pause(): void {
    if (!this.data.isOpen || this.saveFlow.isBusy) return;
    void this.drafts?.flush();
    this.clock.setPaused(true);
    this.openOverlay(breakOverlay(this.data, () => this.closeOverlay()));
  }
}

export default mountOnce<ReadingData>((component) => new ReadingForm(component));
