// The review form. A key or click changes the state here at once. Drafts are sent as they change; a verdict goes by a
// request of its own, whose answer brings the next question.

import type { BoxesDraft, Decision, LookTimes, Question, ReviewData, ReviewDraftPart, ReviewDrafts } from "../shared/api";
import { TimedForm } from "../shared/case-form";
import { button, formatTime, h, listen, sleep } from "../shared/dom";
import { DraftStore } from "../shared/drafts";
import { post, RequestError } from "../shared/http";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { keySheet, patientLine } from "../shared/parts";
import type { Submission } from "../shared/save-flow";
import { UnsentDrafts } from "../shared/unsent-drafts";
import { viewerSwitch } from "../shared/viewer";
import { correctedFields, correctionsList, type CorrectedField } from "./corrections";
import { Judgement } from "./judgement";
import { boxList, DECISIONS, decisionBar, keyHelp, labelSuggestions, markChosen, ownAnswerLine, skipPanel, topLine, type ReviewActions } from "./layout";
import { initialState, missingFor, openingNote, opinionOf, type OpinionState } from "./opinion";
import { OwnAnswer } from "./own-answer";
import { PageSync, type Target } from "./page-sync";
import { QuestionEditor } from "./question-editor";
import { Report } from "./report";

const PARTS: readonly ReviewDraftPart[] = ["own", "form", "boxes"];
/** Reasons of a refusal behind which may be that the question was taken back. */
const PERHAPS_TAKEN_BACK = new Set(["Refused", "NotFound", "NotAllowed"]);
const LONGEST_WAIT = 1500; // milliseconds that a turn waits for drafts

/** The parts of a question that is judged, not answered first. */
interface JudgedQuestion {
  question: Question;
  state: OpinionState;
  editor: QuestionEditor;
  judgement: Judgement;
  report: Report | null;
}

type SavingRoute = "/judging/verdict" | "/judging/own-answer" | "/judging/skip" | "/judging/report";

/** What tells one state of a question from another that must be built anew. */
const keyOf = ({ batch, question, blind }: ReviewData): string => `${batch}:${question}:${blind}`;

class ReviewForm extends TimedForm<ReviewData, ReviewDraftPart> {
  override readonly showSaved = { label: "Show saved verdict", act: () => this.go({ to: this.data.question }) };
  protected override drafts: DraftStore<ReviewDraftPart> | null = null;
  private judged: JudgedQuestion | null = null;
  private own: OwnAnswer | null = null;
  private shown = "";
  private isSkipping = false;
  private isWithdrawn = false;
  private hasDraftProblem = false;
  private areBoxesChanged = false;
  private labels = h("datalist");
  private readonly boxPlace = h("div");
  private readonly changesPlace = h("div", { class: "changes-place", "data-step": "changes" });
  private readonly panel = h("div", { class: "panel-place" });
  private readonly pageSync = new PageSync(this.saveFlow, (request) => this.trigger("go", request));
  private readonly actions: ReviewActions = {
    decide: (decision) => this.decide(decision),
    commit: () => this.commit(),
    askSkip: () => this.askSkip(),
    reopenLast: () => this.go({ to: "last" }),
    previous: () => this.data.previous !== null && this.go({ to: this.data.previous }),
    next: () => this.data.next !== null && this.go({ to: this.data.next }),
    changeBatch: (batch) => this.go({ batch }),
    showGuideline: () => this.showGuideline(),
    toggleKeys: () => this.toggleKeys(),
  };

  constructor(component: StreamlitComponent<ReviewData>) {
    super(component, "", "viewing time of this question", { judged: "judged this question", otherwise: "You can also skip the question (S)." });
    this.ends.push(listen(window, "popstate", () => this.pageSync.wentBack()));
  }

  override show(data: ReviewData): void {
    this.pageSync.reset();
    super.show(data);
    this.shown = keyOf(data);
    this.isSkipping = this.isWithdrawn = this.hasDraftProblem = false;
    this.drafts = this.openDrafts(data);
    if (data.open) void this.restoreUnsent(data, this.drafts);
    this.clock.start(data.look);
    this.viewer.setLabel(""); // of the next box: another question has other findings
    const column = this.build();
    this.showExam(data);
    this.paintBoxes();
    this.paintChanges();
    this.fit();
    this.note(openingNote(data));
    this.takeFocus();
    column.scrollTop = 0;
  }

  override shownKey(): string {
    return this.isEnded ? "" : this.shown;
  }

  override note(text: string, isProblem = false): void {
    if (!this.isWithdrawn) super.note(text, isProblem); // what is said of a withdrawal stays
  }

  override end(): void {
    super.end();
    this.pageSync.reset();
  }

  protected override isNew(data: ReviewData): boolean {
    return this.pageSync.accepts(data, this.data, keyOf(data) === this.shown);
  }

  // ---------------------------------------------------------------- layout

  private build(): HTMLElement {
    const { data, actions } = this;
    const parts = data.full && !data.blind ? this.buildJudged(data.full) : this.buildOwnAnswer();
    const column = h("div", { class: "scroll" }, parts);
    this.boxPlace.replaceChildren();
    this.panel.replaceChildren();
    this.labels = labelSuggestions(data.labels);
    const above = h("div", { class: "above" }, patientLine(data, "age and sex not given"), viewerSwitch(() => this.flush()));
    const left = h("section", { class: "left", "aria-label": "Radiographs" }, above, this.buildTools(), this.viewer.root, this.boxPlace);
    const right = h("section", { class: "right" }, column, this.changesPlace, this.message, this.imageCheck.root, this.panel, decisionBar(data, actions));
    this.root.replaceChildren(topLine(data, actions, this.savedLine, this.clockLine), h("div", { class: "columns" }, left, right));
    return column;
  }

  private buildOwnAnswer(): HTMLElement[] {
    this.judged = null;
    this.own = new OwnAnswer(this.data, () => this.ownAnswerChanged(), () => void this.commit());
    return [this.own.root];
  }

  private buildJudged(question: Question): (HTMLElement | null)[] {
    const { data } = this;
    const state = initialState(data, question);
    const editor = this.questionEditor(question, state);
    const judgement = new Judgement(data, question, state, (note) => this.changed(note));
    const report = data.report && new Report(data.report.text, data.open, () => state.ratings.image_alignment ?? null, (rating) => this.openReport(rating));
    this.own = null;
    this.judged = { question, state, editor, judgement, report };
    return [ownAnswerLine(data) as HTMLElement | null, editor.root, judgement.root, report?.root ?? null];
  }

  private questionEditor(question: Question, state: OpinionState): QuestionEditor {
    const { data } = this;
    return new QuestionEditor(data, question, state, { texts: data.open && data.asks.texts, key: data.open && data.asks.key }, () => this.changed());
  }

  private paintBoxes(): void {
    this.boxPlace.replaceChildren(boxList(this.data, this.viewer, this.labels));
  }

  private paintChanges(): void {
    this.changesPlace.replaceChildren();
    if (!this.judged) return;
    const { question, state } = this.judged;
    const boxes = this.data.asks.boxes ? this.viewer.changes() : { added: [], gone: [] };
    const fields = correctedFields(question, state, boxes, () => this.viewer.reset());
    this.areBoxesChanged = fields.some(({ name }) => name === "boxes");
    const list = correctionsList(fields, (field) => this.resetField(field));
    if (list) this.changesPlace.append(list);
    this.root.querySelector('[data-decision="accept"]')?.classList.toggle("dim", fields.length > 0);
    this.root.querySelector('[data-decision="revise"]')?.classList.toggle("dim", fields.length === 0);
  }

  private resetField(field: CorrectedField): void {
    field.reset();
    if (field.name !== "boxes" && this.judged) {
      const { question, state, editor } = this.judged;
      this.judged.editor = this.questionEditor(question, state); // shows the fields as they were
      editor.root.replaceWith(this.judged.editor.root);
      this.fit();
    }
    this.changed();
  }

  // --------------------------------------------------------------- changes

  private changed(note = ""): void {
    this.markTouched();
    this.note(note);
    this.paintChanges();
    const { judged } = this;
    judged?.report?.paint();
    if (judged && this.data.open) this.drafts?.change("form", () => opinionOf(judged.state, judged.question));
  }

  private ownAnswerChanged(): void {
    const { own } = this;
    this.markTouched();
    this.note("");
    if (own && this.data.open) this.drafts?.change("own", () => own.entry());
  }

  protected override boxesChanged(): void {
    this.markTouched();
    this.paintBoxes();
    this.paintChanges();
    this.note("");
    if (this.data.open) this.drafts?.change("boxes", (): BoxesDraft => ({ drawings: this.viewer.drawings() ?? {} }), this.viewer.draftAfter);
  }

  protected override boxChosen(): void {
    markChosen(this.boxPlace, this.viewer);
  }

  // ---------------------------------------------------------------- drafts

  private openDrafts({ person, batch, question, drafts, revision }: ReviewData): DraftStore<ReviewDraftPart> {
    return new DraftStore({
      revisions: Object.fromEntries(Object.entries(drafts).map(([part, draft]) => [part, draft.revision])),
      send: (draft, options) => post("/judging/draft", { batch, question, ...draft }, options),
      onResult: (problem) => this.showDraftResult(problem),
      unsent: new UnsentDrafts({ person, batch, question, verdict: revision }, PARTS),
    });
  }

  /** Show and send what a server that was away had not taken. */
  private async restoreUnsent(data: ReviewData, drafts: DraftStore<ReviewDraftPart>): Promise<void> {
    const restored = drafts.restoreUnsent().map(({ part, body }) => putIntoData(data, part, body, drafts.revision(part)));
    await drafts.flush();
    // Boxes of the plain editor come back in pixels of the matrix: only the server can place them.
    const isAllShown = restored.every(Boolean);
    if (!isAllShown && !drafts.hasWaiting && this.drafts === drafts && !this.isEnded) await this.go({ to: data.question });
  }

  private flush(): Promise<void> {
    return this.drafts?.flush() ?? Promise.resolve();
  }

  private showDraftResult(problem: RequestError | null): void {
    if (this.saveFlow.isBusy || this.saveFlow.isUnsaved) return; // that the save failed stays until it is done
    this.savedLine.textContent = problem ? "Draft not saved" : "Draft saved";
    if (problem) this.saveFlow.showProblem(problem, () => void this.flush());
    else if (this.hasDraftProblem) this.note("");
    this.hasDraftProblem = problem !== null;
  }

  protected override reportTime(times: LookTimes): void {
    const { open, batch, question } = this.data;
    const { shown } = this;
    if (!open) return;
    post("/judging/look", { batch, question, ...times }, { keepalive: true }).catch((problem: unknown) => {
      if (this.shownKey() === shown) void this.onProblem(RequestError.from(problem));
    });
  }

  // ---------------------------------------------------------------- saving

  /** Accept, revise or reject, and go on; what is missing is named, and nothing is saved. */
  private async decide(decision: Decision): Promise<void> {
    const { data, judged, drafts } = this;
    if (this.saveFlow.isBusy || this.isTooSoon || !data.open || !judged) return;
    await this.viewer.settled();
    const drawings = this.viewer.drawings();
    this.paintChanges();
    const missing = missingFor(decision, data, judged.question, judged.state, this.areBoxesChanged);
    if (missing) {
      this.note(missing.text);
      this.pointTo(missing.at);
      return;
    }
    if (this.imageCheck.holds(() => this.decide(decision))) return;
    const { why, ...opinion } = opinionOf(judged.state, judged.question);
    const body = { batch: data.batch, question: data.question, revision: data.revision, decision, opinion, drawings, why, image: this.imageCheck.display, ...this.clock.totals() };
    await this.save({
      route: "/judging/verdict",
      body: async () => {
        await drafts?.hold();
        return body;
      },
      saved: (saved) => {
        drafts?.discard();
        return `Saved ${formatTime(saved.at)} (${saved.decision})`;
      },
      failed: () => void drafts?.flush(),
      retry: () => void this.decide(decision),
    });
  }

  /** The reviewer's own answer; the same question comes again, with its key. */
  private async commit(): Promise<void> {
    const { data, own } = this;
    if (!own || this.saveFlow.isBusy || this.isTooSoon || !data.open) return;
    const missing = own.missing();
    if (missing !== null) {
      this.note(missing);
      return;
    }
    if (this.imageCheck.holds(() => this.commit())) return;
    const { batch, question } = data;
    await this.save({
      route: "/judging/own-answer",
      body: () => Promise.resolve({ batch, question, answer: own.answer(), confidence: own.confidence, image: this.imageCheck.display }),
      saved: ({ at }) => `Answer saved ${formatTime(at)}`,
      then: { to: question },
      retry: () => void this.commit(),
    });
  }

  private async openReport(rating: number): Promise<void> {
    if (this.imageCheck.holds(() => this.judged?.report?.open())) return;
    const { batch, question } = this.data;
    await this.flush();
    await this.save({
      route: "/judging/report",
      body: () => Promise.resolve({ batch, question, image_alignment: rating, image: this.imageCheck.display }),
      saved: () => this.saveFlow.lastSaved,
      then: { to: question },
      retry: () => this.judged?.report?.open(),
    });
  }

  private askSkip(): void {
    if (!this.data.open || this.data.last || this.saveFlow.isBusy) return;
    this.isSkipping = true;
    this.panel.replaceChildren(skipPanel((reason) => this.skip(reason), () => this.stopSkipping()));
  }

  private stopSkipping(): void {
    this.isSkipping = false;
    this.panel.replaceChildren();
    this.root.focus({ preventScroll: true });
  }

  private async skip(reason: string): Promise<void> {
    const { batch, question } = this.data;
    this.stopSkipping();
    await this.flush();
    await this.save({
      route: "/judging/skip",
      body: () => Promise.resolve({ batch, question, reason }),
      saved: ({ at }) => `Skipped ${formatTime(at)}`,
      retry: () => void this.skip(reason),
    });
  }

  /** One request, and then the question that its answer brings; else the page's script is asked for `then`. */
  private save<R extends SavingRoute>({ then = { to: "next" }, ...submission }: Omit<Submission<R>, "next" | "sent"> & { then?: Target }): Promise<void> {
    return this.saveFlow.submit<R>({
      ...submission,
      sent: () => {
        if ("to" in then && then.to === "next") this.viewer.leaving?.();
      },
      next: (answer) => {
        this.clock.stop();
        this.showNext(answer.sheet, then);
      },
    });
  }

  /** Whether the question was taken back since: then its pictures go, and there is only the way to the next one. */
  async onProblem(problem: RequestError): Promise<void> {
    if (!PERHAPS_TAKEN_BACK.has(problem.kind) || this.isWithdrawn) return;
    const { shown } = this;
    const { batch, question } = this.data;
    const answer = await post("/judging/turn", { batch, question, to: question }).catch(() => null);
    if (!answer || answer.sheet || this.shownKey() !== shown) return;
    const goOn = button("Continue with the next question", null, () => this.go({ to: "next" }), { class: "primary" });
    this.saveFlow.clearProblem();
    super.note([h("b", {}, "Not assigned to you. "), "This question was unassigned or reassigned. Nothing more is saved. ", goOn], true);
    this.isWithdrawn = true;
    this.data = { ...this.data, open: false };
    this.imageCheck.reset();
    this.viewer.withdrawn();
    this.boxPlace.replaceChildren();
  }

  // --------------------------------------------------------------- turning

  /** Go to another question, to this one anew, or to another batch. */
  private go(target: Target): Promise<void> {
    return this.saveFlow.runAlone(async () => {
      const { shown } = this;
      const { batch, question } = this.data;
      this.clock.reportNow();
      await Promise.race([this.flush(), sleep(LONGEST_WAIT)]);
      const answer = "to" in target ? await post("/judging/turn", { batch, question, to: target.to }).catch(() => null) : null;
      if (this.shownKey() === shown) this.showNext(answer?.sheet ?? null, target);
    });
  }

  private showNext(sheet: ReviewData | null, target: Target): void {
    const before = this.data;
    if (!sheet) {
      this.pageSync.ask(target, before);
      return;
    }
    this.show(sheet);
    this.pageSync.tell(sheet, before);
  }

  // ------------------------------------------------------------------ keys

  protected override pressed(key: string, event: KeyboardEvent): boolean {
    const { viewer, own, judged, data } = this;
    if (!own && !judged) return false;
    if (this.veil) {
      if (key === "Escape" || key === "?") this.toggleKeys();
      return true;
    }
    // Between two questions a letter belongs to neither the old question nor the next one.
    if (this.saveFlow.isBusy) return key.length === 1;
    if (this.imageCheck.key(event)) return true;
    // Whoever works on the picture has seen the question: what they decide then is not a double press of before.
    if (viewer.key?.(event, true)) return this.touched();
    if (event.repeat && !["Backspace", "+", "-"].includes(key)) return true;
    if (key === "Escape" && this.isSkipping) {
      this.stopSkipping();
      return true;
    }
    const target = event.composedPath()[0];
    // Enter and Space press a focused button; where an answer is chosen, Enter commits anyway.
    if (target instanceof HTMLButtonElement && (key === " " || (key === "Enter" && !own?.root.contains(target)))) return false;
    if (data.open && (own ?? judged?.judgement)?.key(key)) return true;
    if (viewer.key?.(event, false)) return this.touched();
    const { decide, askSkip, previous, next, showGuideline, toggleKeys, reopenLast } = this.actions;
    const commands: Record<string, () => unknown> = {
      ...Object.fromEntries(DECISIONS.map(({ decision, key }) => [key.toLowerCase(), () => decide(decision)])),
      s: askSkip,
      z: () => (data.anyJudged ? reopenLast() : this.note("You have no verdicts in this batch yet.")),
      t: () => this.tryAgain(),
      k: previous,
      ArrowLeft: previous,
      j: next,
      ArrowRight: next,
      g: showGuideline,
      "?": toggleKeys,
      p: () => judged?.report?.open(),
      q: () => judged?.editor.stemArea?.focus(),
      w: () => judged?.judgement.commentArea.focus(),
    };
    commands[key]?.();
    return key in commands || this.viewerKey(key, event);
  }

  private touched(): true {
    this.markTouched();
    return true;
  }

  private toggleKeys(): void {
    if (this.veil) this.closeVeil();
    else this.openVeil(keySheet(keyHelp(this.data.scales), this.viewer.sheet, () => this.closeVeil()));
  }

  private showGuideline(): void {
    if (document.fullscreenElement) void document.exitFullscreen(); // the dialog is not the form's: nobody would see it
    if (this.data.guideline) this.trigger("guideline", { turn: Date.now() });
  }

  private pointTo(part: string): void {
    const { judged } = this;
    if (!judged || judged.judgement.point(part)) return;
    (part === "changes" ? this.changesPlace : judged.editor.root).scrollIntoView({ block: "nearest" });
  }
}

/** Put a draft of this browser into the data; false for the plain editor's boxes, which only the server can place. */
function putIntoData(data: ReviewData, part: ReviewDraftPart, body: object, revision: number): boolean {
  if (part !== "boxes") {
    Object.assign(data.drafts, { [part]: { revision, body } });
    return true;
  }
  const { drawings } = body as ReviewDrafts["boxes"];
  if (!Object.values(drawings).flat().every((box) => box.type === "Box")) return false;
  for (const radiograph of data.radiographs) {
    const boxes = drawings[radiograph.id];
    if (boxes) Object.assign(radiograph, { boxes, touched: true });
  }
  return true;
}

export default mountOnce<ReviewData>((component) => new ReviewForm(component));
