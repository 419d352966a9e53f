// The review form. A key or click changes the state here at once. Drafts are sent as they change; a verdict goes by a
// request of its own; the response contains the next question.

import type { BoxesDraft, Decision, ViewingTimes, Question, ReviewData, ReviewDraftPart, ReviewDrafts } from "../shared/api";
import { MATERIAL_NEEDED_TO_ANSWER } from "../shared/answer-input";
import { TimedForm } from "../shared/case-form";
import type { Material } from "../shared/displayed-material";
import { button, formatTime, h, listen, sleep } from "../shared/dom";
import { DraftStore } from "../shared/drafts";
import { post, RequestError } from "../shared/http";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { DECISION_TEXTS, shortcutsDialog, patientLine } from "../shared/components";
import type { Submission } from "../shared/save-flow";
import { findAction, isRepeatable, keyHint, type ActionId, type KeyContext } from "../shared/shortcuts";
import { UnsentDrafts } from "../shared/unsent-drafts";
import { viewerSwitch } from "../shared/viewer";
import { CommentPanel } from "./comments";
import { correctedFields, correctionsList, type CorrectedField } from "./corrections";
import { feedbackPanel } from "./feedback";
import { JudgementPanel } from "./judgement-panel";
import { boxList, DECISIONS, decisionBar, labelSuggestions, markSelectedBox, ownAnswerLine, updateCommentCount, skipPanel, topLine, type ReviewActions } from "./layout";
import { createInitialState, fillOpenFields, findMissing, findUnratedFault, initialMessage, buildOpinion, type OpinionState } from "./opinion";
import { OwnAnswer } from "./own-answer";
import { PageSync, readAddress, type Destination } from "./page-sync";
import { QuestionEditor } from "./question-editor";
import { RecentVerdicts } from "./recent-verdicts";
import { Report } from "./report";

const DRAFT_PARTS: readonly ReviewDraftPart[] = ["own", "form", "boxes"];
/** Kinds of refusal that may mean that the question was unassigned. */
const POSSIBLY_UNASSIGNED = new Set(["Refused", "NotFound", "NotAllowed"]);
const JUDGED_MATERIAL: readonly Material[] = [
  { name: "the stem", selector: ".stem-text" },
  { name: "the answer key with all options", selector: ".options" },
  { name: "the explanation", selector: ".explanation-text" },
];
const NO_VERDICTS = "You have no verdicts in this batch yet.";
const MAX_DRAFT_WAIT = 1500; // milliseconds that navigation waits for drafts

const MODIFIERS = new Set(["Shift", "Alt", "AltGraph", "CapsLock"]);

/** The parts of the form while a question is judged. While the reviewer gives an own answer, they do not exist. */
interface JudgedQuestion {
  question: Question;
  state: OpinionState;
  editor: QuestionEditor;
  judgement: JudgementPanel;
  report: Report | null;
}

type SaveRoute = "/review/verdict" | "/review/own-answer" | "/review/skip" | "/review/report";

/** Identifies a question and whether its key is hidden. If the id changes, the layout is rebuilt. */
const buildQuestionStateId = ({ batch, question, blind }: ReviewData): string => `${batch}:${question}:${blind}`;

class ReviewForm extends TimedForm<ReviewData, ReviewDraftPart> {
  override readonly staleRevisionAction = { label: "Show saved verdict", run: () => this.goTo({ target: this.data.question }) };
  protected override drafts: DraftStore<ReviewDraftPart> | null = null;
  private judgedQuestion: JudgedQuestion | null = null;
  private ownAnswer: OwnAnswer | null = null;
  private recentVerdicts: RecentVerdicts | null = null;
  private shownQuestionStateId = "";
  private isSkipping = false;
  private comments: CommentPanel | null = null;
  private isWithdrawn = false;
  private hasDraftProblem = false;
  private areBoxesChanged = false;
  private labels = h("datalist");
  private readonly boxContainer = h("div");
  private readonly changesContainer = h("div", { class: "changes-place", "data-step": "changes" });
  private readonly panelContainer = h("div", { class: "panel-place" });
  private readonly pageSync = new PageSync(this.saveFlow, (request) => this.notifyScript("go", request));
  private readonly actions: ReviewActions = {
    decide: (decision) => this.decide(decision),
    submitOwnAnswer: () => this.submitOwnAnswer(),
    openSkipPanel: () => this.openSkipPanel(),
    previous: () => this.data.previous !== null && this.goTo({ target: this.data.previous }),
    next: () => this.data.next !== null && this.goTo({ target: this.data.next }),
    changeBatch: (batch) => this.goTo({ batch }),
    showGuideline: () => this.showGuideline(),
    toggleShortcutHelp: () => this.toggleShortcutHelp(),
    toggleComments: () => this.toggleComments(),
  };

  constructor(component: StreamlitComponent<ReviewData>) {
    super(component, "", "viewing time of this question", { completedAction: "judged this question", alternative: `You can also skip the question${keyHint("skip")}.` });
    this.cleanups.push(listen(window, "popstate", () => void this.followAddress()), this.pageSync.keepAddress());
  }

  override show(data: ReviewData): void {
    this.pageSync.reset();
    super.show(data);
    this.shownQuestionStateId = buildQuestionStateId(data);
    this.comments = null;
    this.isSkipping = this.isWithdrawn = this.hasDraftProblem = false;
    this.drafts = this.createDraftStore(data);
    if (data.isOpen) void this.restoreUnsent(data, this.drafts);
    this.clock.start(data.viewingTimes);
    const column = this.buildLayout();
    this.showExam(data);
    this.paintBoxes();
    this.paintChanges();
    this.fit();
    this.showNote(initialMessage(data));
    this.takeFocus();
    column.querySelector<HTMLElement>(".feedback button")?.focus({ preventScroll: true });
    column.scrollTop = 0;
  }

  override displayedCaseId(): string {
    return this.isEnded ? "" : this.shownQuestionStateId;
  }

  override showNote(text: string, isProblem = false): void {
    if (!this.isWithdrawn) super.showNote(text, isProblem); // the message about a withdrawal stays
  }

  override end(): void {
    super.end();
    this.pageSync.reset();
  }

  protected override shouldShow(data: ReviewData): boolean {
    return this.pageSync.shouldShow(data, buildQuestionStateId(data) === this.shownQuestionStateId);
  }

  // ---------------------------------------------------------------- layout

  private buildLayout(): HTMLElement {
    const { data, actions } = this;
    const parts = data.questionWithKey && !data.blind ? this.buildJudgedQuestion(data.questionWithKey) : this.buildOwnAnswer();
    const column = h("div", { class: "scroll" }, parts);
    this.boxContainer.replaceChildren();
    this.panelContainer.replaceChildren();
    this.labels = labelSuggestions(data.labels);
    this.recentVerdicts = new RecentVerdicts(data, (question) => this.goTo({ target: question }), () => this.reopenLast());
    const above = h("div", { class: "above" }, patientLine(data, "age and sex not given"), viewerSwitch(() => this.flushDrafts()));
    this.frame.show({
      top: topLine(data, actions, this.savedLine, this.clockLine),
      patient: above,
      picture: [this.buildTools(), this.imageView.root, this.boxContainer],
      column,
      footer: [this.changesContainer, this.message, this.imageCheck.root, this.panelContainer, this.recentVerdicts.root, decisionBar(data, actions)],
    });
    this.displayed.show(this.judgedQuestion ? JUDGED_MATERIAL : MATERIAL_NEEDED_TO_ANSWER);
    return column;
  }

  private buildOwnAnswer(): HTMLElement[] {
    this.judgedQuestion = null;
    this.ownAnswer = new OwnAnswer(this.data, () => this.ownAnswerChanged());
    return [this.ownAnswer.root];
  }

  private buildJudgedQuestion(question: Question): (HTMLElement | null)[] {
    const { data } = this;
    const state = createInitialState(data, question);
    const editor = this.createQuestionEditor(question, state);
    const judgement = new JudgementPanel(data, question, state, (note) => this.changed(note));
    const report = data.report && new Report(data.report.text, data.isOpen, () => state.ratings.image_alignment ?? null, (rating) => this.openReport(rating));
    this.ownAnswer = null;
    this.judgedQuestion = { question, state, editor, judgement, report };
    const feedback = data.feedback && feedbackPanel(data.feedback, () => this.goTo({ target: "next" }));
    return [feedback, ownAnswerLine(data) as HTMLElement | null, editor.root, judgement.root, report?.root ?? null];
  }

  private createQuestionEditor(question: Question, state: OpinionState): QuestionEditor {
    const { data } = this;
    return new QuestionEditor(data, question, state, { texts: data.isOpen && data.requested.texts, key: data.isOpen && data.requested.answerKey }, () => this.changed());
  }

  private paintBoxes(): void {
    this.boxContainer.replaceChildren(boxList(this.data, this.imageView, this.labels));
  }

  private paintChanges(): void {
    this.changesContainer.replaceChildren();
    if (!this.judgedQuestion) return;
    const { question, state } = this.judgedQuestion;
    const boxes = this.data.requested.boxes ? this.imageView.findBoxChanges() : { added: [], removed: [] };
    const fields = correctedFields(question, state, boxes, () => this.imageView.resetBoxes());
    this.areBoxesChanged = fields.some(({ name }) => name === "boxes");
    const list = correctionsList(fields, (field) => this.resetField(field));
    if (list) this.changesContainer.append(list);
    this.root.querySelector('[data-decision="accept"]')?.classList.toggle("dim", fields.length > 0);
    this.root.querySelector('[data-decision="revise"]')?.classList.toggle("dim", fields.length === 0);
  }

  private resetField(field: CorrectedField): void {
    field.reset();
    if (field.name !== "boxes" && this.judgedQuestion) {
      const { question, state, editor } = this.judgedQuestion;
      this.judgedQuestion.editor = this.createQuestionEditor(question, state); // shows the fields as they were
      editor.root.replaceWith(this.judgedQuestion.editor.root);
      this.fit();
    }
    this.changed();
  }

  // --------------------------------------------------------------- changes

  private changed(note = ""): void {
    this.markTouched();
    this.showNote(note);
    this.paintChanges();
    const { judgedQuestion } = this;
    judgedQuestion?.report?.paint();
    if (judgedQuestion && this.data.isOpen) this.drafts?.change("form", () => buildOpinion(judgedQuestion.state, judgedQuestion.question));
  }

  private ownAnswerChanged(): void {
    const { ownAnswer } = this;
    this.markTouched();
    this.showNote("");
    if (ownAnswer && this.data.isOpen) this.drafts?.change("own", () => ownAnswer.getEntry());
  }

  protected override boxesChanged(): void {
    this.markTouched();
    this.paintBoxes();
    this.paintChanges();
    this.showNote("");
    if (this.data.isOpen) this.drafts?.change("boxes", (): BoxesDraft => ({ drawings: this.imageView.getDrawings() ?? {} }), this.imageView.draftDelay);
  }

  protected override selectionChanged(): void {
    markSelectedBox(this.boxContainer, this.imageView);
  }

  // ---------------------------------------------------------------- drafts

  private createDraftStore({ person, batch, question, drafts, revision }: ReviewData): DraftStore<ReviewDraftPart> {
    return new DraftStore({
      revisions: Object.fromEntries(Object.entries(drafts).map(([part, draft]) => [part, draft.revision])),
      send: (draft, options) => post("/review/draft", { batch, question, ...draft }, options),
      onResult: (problem) => this.showDraftResult(problem),
      unsent: new UnsentDrafts({ person, batch, question, verdict: revision }, DRAFT_PARTS),
    });
  }

  /** Show and send drafts that an unavailable server did not accept. */
  private async restoreUnsent(data: ReviewData, drafts: DraftStore<ReviewDraftPart>): Promise<void> {
    const restored = drafts.restoreUnsent().map(({ part, body }) => applyDraft(data, part, body, drafts.revision(part)));
    await drafts.flush();
    // Only the server can convert boxes of the plain editor to pixels of the matrix, so the question is loaded again.
    const areAllApplied = restored.every(Boolean);
    if (!areAllApplied && !drafts.hasPending && this.drafts === drafts && !this.isEnded) await this.goTo({ target: data.question });
  }

  private flushDrafts(): Promise<void> {
    return this.drafts?.flush() ?? Promise.resolve();
  }

  private showDraftResult(problem: RequestError | null): void {
    if (this.saveFlow.isBusy || this.saveFlow.hasFailed) return; // the message of a failed save stays until the save succeeds
    this.savedLine.textContent = problem ? "Draft not saved" : "Draft saved";
    if (problem) this.saveFlow.showProblem(problem, () => void this.flushDrafts());
    else if (this.hasDraftProblem) this.showNote("");
    this.hasDraftProblem = problem !== null;
  }

  protected override reportTime(times: ViewingTimes): void {
    const { isOpen, batch, question } = this.data;
    const { shownQuestionStateId } = this;
    if (!isOpen) return;
    post("/review/viewing-times", { batch, question, ...times }, { keepalive: true }).catch((problem: unknown) => {
      if (this.displayedCaseId() === shownQuestionStateId) void this.onProblem(RequestError.from(problem));
    });
  }

  // ---------------------------------------------------------------- saving

  /** Accept, revise or reject, and continue. If something is missing, shows it and saves nothing. */
  private async decide(decision: Decision): Promise<void> {
    const { data, judgedQuestion, drafts } = this;
    if (this.saveFlow.isBusy || this.isTooSoon || !data.isOpen || !judgedQuestion) return;
    await this.imageView.waitForDrawing();
    const drawings = this.imageView.getDrawings();
    this.paintChanges();
    const { question, state } = judgedQuestion;
    const filled = fillOpenFields(decision, data, state);
    const missing = findMissing(decision, data, question, filled, this.areBoxesChanged) ?? findUnratedFault(decision, data, state);
    if (missing) {
      this.showNote(missing.text);
      this.highlightPart(missing.part);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.decide(decision)) || this.revealUnreadMaterial()) return;
    const { change_reason, ...opinion } = buildOpinion(filled, question);
    const body = { batch: data.batch, question: data.question, revision: data.revision, decision, opinion, drawings, change_reason, image_display: this.imageCheck.imageDisplay, ...this.clock.getTotals() };
    await this.save({
      route: "/review/verdict",
      body: async () => {
        await drafts?.stopSending();
        return body;
      },
      onSaved: (saved) => {
        drafts?.discard();
        return `Saved ${formatTime(saved.at)} (${DECISION_TEXTS[saved.decision]})`;
      },
      onFailed: () => void drafts?.flush(),
      retry: () => void this.decide(decision),
    });
  }

  /** Submits the reviewer's own answer; the server returns the same question with its key. */
  private async submitOwnAnswer(): Promise<void> {
    const { data, ownAnswer } = this;
    if (!ownAnswer || this.saveFlow.isBusy || this.isTooSoon || !data.isOpen) return;
    const missing = ownAnswer.describeMissing();
    if (missing !== null) {
      this.showNote(missing);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.submitOwnAnswer()) || this.revealUnreadMaterial()) return;
    const { batch, question } = data;
    await this.save({
      route: "/review/own-answer",
      body: () => Promise.resolve({ batch, question, answer: ownAnswer.getAnswer(), confidence: ownAnswer.confidence, image_display: this.imageCheck.imageDisplay }),
      onSaved: ({ at }) => `Answer saved ${formatTime(at)}`,
      destination: { target: question },
      retry: () => void this.submitOwnAnswer(),
    });
  }

  private async openReport(rating: number): Promise<void> {
    if (this.imageCheck.blocksSave(() => this.judgedQuestion?.report?.open())) return;
    const { batch, question } = this.data;
    await this.flushDrafts();
    await this.save({
      route: "/review/report",
      body: () => Promise.resolve({ batch, question, image_alignment: rating, image_display: this.imageCheck.imageDisplay }),
      onSaved: () => this.saveFlow.lastSaved,
      destination: { target: question },
      retry: () => this.judgedQuestion?.report?.open(),
    });
  }

  private toggleComments(): void {
    if (this.comments) {
      this.comments = null;
      this.panelContainer.replaceChildren();
      return;
    }
    this.isSkipping = false;
    this.comments = new CommentPanel(this.data, () => this.toggleComments(), () => this.updateCommentCount());
    this.panelContainer.replaceChildren(this.comments.root);
  }

  private updateCommentCount(): void {
    updateCommentCount(this.root, this.data);
  }

  private openSkipPanel(): void {
    if (!this.data.isOpen || this.data.last || this.saveFlow.isBusy) return;
    this.comments = null;
    this.isSkipping = true;
    this.panelContainer.replaceChildren(skipPanel((reason) => this.skip(reason), () => this.closeSkipPanel()));
  }

  private closeSkipPanel(): void {
    this.isSkipping = false;
    this.panelContainer.replaceChildren();
    this.root.focus({ preventScroll: true });
  }

  private async skip(reason: string): Promise<void> {
    const { batch, question } = this.data;
    this.closeSkipPanel();
    await this.flushDrafts();
    await this.save({
      route: "/review/skip",
      body: () => Promise.resolve({ batch, question, reason }),
      onSaved: ({ at }) => `Skipped ${formatTime(at)}`,
      retry: () => void this.skip(reason),
    });
  }

  /** Save, then show the question of the response. Without one, ask the page's script for `destination`. */
  private save<R extends SaveRoute>({ destination = { target: "next" }, ...submission }: Omit<Submission<R>, "onNext" | "onSent"> & { destination?: Destination }): Promise<void> {
    return this.saveFlow.submit<R>({
      ...submission,
      onSent: () => {
        if ("target" in destination && destination.target === "next") this.imageView.prefetchNext?.();
      },
      onNext: (answer) => {
        this.clock.stop();
        this.showNext(answer.next, destination);
      },
    });
  }

  /** Check whether the question was unassigned. If so, remove its images and offer the next question. */
  async onProblem(problem: RequestError): Promise<void> {
    if (!POSSIBLY_UNASSIGNED.has(problem.kind) || this.isWithdrawn) return;
    const { shownQuestionStateId } = this;
    const { batch, question } = this.data;
    const answer = await post("/review/question", { batch, question, target: question }).catch(() => null);
    if (!answer || answer.next || this.displayedCaseId() !== shownQuestionStateId) return;
    const continueButton = button("Continue with the next question", null, () => this.goTo({ target: "next" }), { class: "primary" });
    this.saveFlow.clearProblem();
    super.showNote([h("b", {}, "Not assigned to you. "), "This question was unassigned or reassigned. Nothing more is saved. ", continueButton], true);
    this.isWithdrawn = true;
    this.data = { ...this.data, isOpen: false };
    this.imageCheck.reset();
    this.imageView.withdraw();
    this.boxContainer.replaceChildren();
  }

  // ----------------------------------------------------------- navigation

  /** Show the question in the address after Back or Forward. The script loads a question of another batch. */
  private async followAddress(): Promise<void> {
    const address = readAddress();
    if (address?.batch !== this.data.batch) {
      this.pageSync.reset();
      return;
    }
    const isCurrent = (): boolean => readAddress()?.question === address.question;
    await this.goTo({ target: address.question }, isCurrent);
    if (!isCurrent()) await this.followAddress(); // Back or Forward was pressed again meanwhile
  }

  /** Go to another question or batch, or reload this question. Stays if `isWanted()` is false when the response arrives. */
  private goTo(destination: Destination, isWanted = (): boolean => true): Promise<void> {
    return this.saveFlow.runAlone(async () => {
      const { shownQuestionStateId } = this;
      const { batch, question } = this.data;
      this.clock.reportNow();
      await Promise.race([this.flushDrafts(), sleep(MAX_DRAFT_WAIT)]);
      const answer = "target" in destination ? await post("/review/question", { batch, question, target: destination.target }).catch(() => null) : null;
      if (this.displayedCaseId() === shownQuestionStateId && isWanted()) this.showNext(answer?.next ?? null, destination);
    });
  }

  private showNext(nextQuestion: ReviewData | null, destination: Destination): void {
    const before = this.data;
    if (!nextQuestion) {
      this.pageSync.requestQuestion(destination, before);
      return;
    }
    this.show(nextQuestion);
    this.pageSync.notifyShown(nextQuestion, before);
  }

  // ------------------------------------------------------------------ keys

  protected override handleKey(event: KeyboardEvent): boolean {
    const { imageView, ownAnswer, judgedQuestion } = this;
    if (!ownAnswer && !judgedQuestion) return false;
    const action = findAction(event, this.keyContext);
    if (this.overlay) {
      if (event.key === "Escape" || action === "help") this.toggleShortcutHelp();
      return true;
    }
    // While a save is in progress, typed characters are ignored.
    if (this.saveFlow.isBusy) return event.key.length === 1;
    if (this.imageCheck.handleKey(event)) return true;
    if (this.recentVerdicts?.isChoosing && !event.repeat && !MODIFIERS.has(event.key)) return this.chooseRecent(event, this.recentVerdicts);
    if (judgedQuestion && !event.repeat && !MODIFIERS.has(event.key)) {
      const { judgement, editor } = judgedQuestion;
      if (judgement.isChoosingError) return judgement.chooseError(event.key);
      if (editor.isChoosingKey) return editor.chooseKey(event.key);
    }
    // A person who works on the image has seen the question, so a decision is not an accidental key press.
    if (imageView.handleKey?.(event)) return this.confirmTouched();
    if (event.repeat && !(action && (isRepeatable(action) || action === "undo-judgement"))) return true;
    if (event.key === "Escape" && this.isSkipping) {
      this.closeSkipPanel();
      return true;
    }
    if (event.key === "Escape" && this.comments) {
      this.toggleComments();
      return true;
    }
    const target = event.composedPath()[0];
    // Enter and Space press a focused button, except that Enter on a button of the own answer submits the answer.
    if (target instanceof HTMLButtonElement && (event.key === " " || (event.key === "Enter" && !ownAnswer?.root.contains(target)))) return false;
    if (!action) return this.handleArrow(event.key);
    if (this.data.isOpen && (ownAnswer ?? judgedQuestion?.judgement)?.runAction(action)) return true;
    if (this.frame.runAction(action)) return true;
    if (this.runViewerAction(action, event)) return this.confirmTouched();
    const command = this.commands[action];
    command?.();
    return command !== undefined;
  }

  private get keyContext(): KeyContext {
    return this.ownAnswer ? "answer" : "judge";
  }

  /** What the form's shortcuts do, apart from those of the answer and the judgement. */
  private readonly commands: Partial<Record<ActionId, () => unknown>> = {
    ...Object.fromEntries(DECISIONS.map(({ decision }) => [decision, () => this.decide(decision)])),
    save: () => this.ownAnswer && this.submitOwnAnswer(),
    skip: () => this.openSkipPanel(),
    "reopen-last": () => this.reopenLast(),
    recent: () => this.startChoosingRecent(),
    retry: () => this.tryAgain(),
    previous: () => this.actions.previous(),
    next: () => this.actions.next(),
    guideline: () => this.showGuideline(),
    comments: () => this.actions.toggleComments(),
    help: () => this.toggleShortcutHelp(),
    "open-report": () => this.judgedQuestion?.report?.open(),
    "edit-stem": () => this.judgedQuestion?.editor.stemArea?.focus(),
    "change-key": () => this.changeKey(),
    comment: () => this.judgedQuestion?.judgement.commentArea.focus(),
  };

  private handleArrow(key: string): boolean {
    if (key === "ArrowLeft") this.actions.previous();
    else if (key === "ArrowRight") this.actions.next();
    return key === "ArrowLeft" || key === "ArrowRight";
  }

  private reopenLast(): void {
    if (this.data.recent.length > 0) void this.goTo({ target: "last" });
    else this.showNote(NO_VERDICTS);
  }

  private startChoosingRecent(): void {
    this.frame.reveal();
    this.showNote(this.recentVerdicts?.startChoosing() ? "Press the digit of a verdict to return to it. Another key cancels." : NO_VERDICTS);
  }

  private chooseRecent(event: KeyboardEvent, recentVerdicts: RecentVerdicts): true {
    this.showNote("");
    return recentVerdicts.choose(event);
  }

  private changeKey(): void {
    if (!this.judgedQuestion?.editor.startKeyChange()) this.showNote("The answer key cannot be corrected in this batch.");
  }

  private confirmTouched(): true {
    this.markTouched();
    return true;
  }

  private toggleShortcutHelp(): void {
    if (this.overlay) this.closeOverlay();
    else this.openOverlay(shortcutsDialog(this.keyContext, this.imageView, () => this.closeOverlay()));
  }

  private showGuideline(): void {
    if (document.fullscreenElement) void document.exitFullscreen(); // the dialog is outside of the form and would be hidden
    if (this.data.guideline) this.notifyScript("guideline", { number: Date.now() });
  }

  private highlightPart(part: string): void {
    const { judgedQuestion } = this;
    if (!judgedQuestion || judgedQuestion.judgement.highlight(part)) return;
    (part === "changes" ? this.changesContainer : judgedQuestion.editor.root).scrollIntoView({ block: "nearest" });
  }
}

/** Put a draft stored in this browser into the data. Returns false for the plain editor's boxes, which only the server can convert. */
function applyDraft(data: ReviewData, part: ReviewDraftPart, body: object, revision: number): boolean {
  if (part !== "boxes") {
    Object.assign(data.drafts, { [part]: { revision, body } });
    return true;
  }
  const { drawings } = body as ReviewDrafts["boxes"];
  if (!Object.values(drawings).flat().every((box) => box.type === "Box")) return false;
  for (const radiograph of data.radiographs) {
    const boxes = drawings[radiograph.id];
    if (boxes) Object.assign(radiograph, { boxes, boxesMayDiffer: true });
  }
  return true;
}

export default mountOnce<ReviewData>((component) => new ReviewForm(component));
