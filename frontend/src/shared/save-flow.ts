// Saving: one request at a time, and what it failed with stays on the form until it is done.
//
// Nothing on the form changes until the server has answered with what it keeps. What it did not keep, or not answer,
// stays on the form with the reason, and can be sent again.

import type { Route, Routes } from "./api";
import { button, h, present, type Child } from "./dom";
import { post, RequestError } from "./http";

/** The form that a flow saves for. */
export interface SaveView {
  readonly root: HTMLElement;
  /** The line that reads "saved 14:03:12". */
  readonly savedLine: HTMLElement;
  readonly message: HTMLElement;
  /** What is shown now; another question is another key. */
  shownKey(): string;
  /** What to do about a newer version on the server. */
  readonly showSaved: { label: string; act: () => void };
  /** Called after a problem is shown. */
  onProblem?(problem: RequestError): void;
}

export interface Submission<R extends Route> {
  route: R;
  /** Called when nothing else can be saved any more; may wait for a drag and for drafts under way. */
  body: () => Promise<Routes[R]["request"]>;
  /** The request is on its way. */
  sent?: () => void;
  /** The server has it, whatever the form shows by now; returns what is said of it. */
  saved?: (answer: Routes[R]["answer"]) => string;
  /** Go on. Only called while the form shows what was saved. */
  next: (answer: Routes[R]["answer"]) => void;
  failed?: () => void;
  /** Sends it again, with what the form holds by then. */
  retry: () => void;
}

export class SaveFlow {
  /** The last save failed and has not been tried again. */
  isUnsaved = false;
  /** What comes next has been asked for and is not there yet. */
  isWaiting = false;
  /** What was said of the last save. */
  lastSaved = "";
  private isRunning = false;
  private retry: (() => void) | null = null;

  constructor(private readonly view: SaveView) {}

  get isBusy(): boolean {
    return this.isRunning || this.isWaiting;
  }

  /** Save something, and go on. Does nothing while another request is under way. */
  async submit<R extends Route>(submission: Submission<R>): Promise<void> {
    await this.runAlone(async () => {
      const { view } = this;
      const shown = view.shownKey();
      const isTurn = submission.saved === undefined;
      this.clearProblem();
      this.note("");
      if (!isTurn) view.savedLine.textContent = "Saving …";
      try {
        const body = await submission.body();
        const request = post(submission.route, body);
        submission.sent?.();
        const answer = await request;
        this.lastSaved = submission.saved?.(answer) ?? this.lastSaved;
        if (view.shownKey() !== shown) return;
        view.savedLine.textContent = this.lastSaved;
        submission.next(answer);
      } catch (problem) {
        if (!isTurn) view.savedLine.textContent = "Not saved";
        if (view.shownKey() === shown) {
          this.isUnsaved = true;
          this.showProblem(RequestError.from(problem), submission.retry);
        }
        submission.failed?.();
      }
    });
  }

  /** Do something during which nothing can be saved; not at all while a request is under way. */
  async runAlone(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isRunning = true;
    this.view.root.classList.add("saving");
    try {
      await work();
    } finally {
      this.isRunning = false;
      this.view.root.classList.remove("saving");
    }
  }

  /** Say what was not saved, with the way out. */
  showProblem(problem: RequestError, retry: () => void): void {
    this.retry = retry;
    const { showSaved } = this.view;
    const primary = { class: "primary" };
    const tryAgain = button("Try again ", "T", () => this.tryAgain(), primary);
    let way: Child = tryAgain;
    if (problem.kind === "StaleRevision") way = button(showSaved.label, null, showSaved.act, primary); // this version stays until then
    if (problem.kind === "NotSignedIn") way = [h("a", { href: "/sign-in", target: "_blank", rel: "noopener" }, "Sign in in a new tab"), ", then: ", tryAgain];
    if (problem.kind === "unreachable" || problem.kind === "unreadable") way = ["Your input is kept in this window. ", tryAgain];
    this.setMessage([h("b", {}, "Not saved. "), problem.message, " ", way], true);
    this.view.onProblem?.(problem);
  }

  /** Returns whether there was anything to try again. */
  tryAgain(): boolean {
    const { retry } = this;
    retry?.();
    return retry !== null;
  }

  /** Say something; that the last save failed is not replaced by nothing. */
  note(text: Child, isProblem = false): void {
    if (this.isUnsaved && text === "") return;
    this.setMessage(text, isProblem);
  }

  /** Another question is shown: what was under way for the one before is over. */
  arrived(): void {
    this.isWaiting = false;
    this.isRunning = false;
    this.clearProblem();
  }

  /** Nothing is left that could be tried again. */
  clearProblem(): void {
    this.isUnsaved = false;
    this.retry = null;
  }

  private setMessage(text: Child, isProblem: boolean): void {
    this.view.message.classList.toggle("problem", isProblem);
    this.view.message.replaceChildren(...present(text));
  }
}
