// Saves the input of a form, one request at a time.
//
// The input stays on the form until the server has confirmed the save. If it fails, the form shows the reason, and the
// person can try again.

import type { Route, Routes } from "./api";
import { button, h, flattenChildren, type Child } from "./dom";
import { post, RequestError } from "./http";
import { shortcutLabel } from "./shortcuts";

/** The form that a flow saves for. */
export interface SaveView {
  readonly root: HTMLElement;
  /** The line that reads "saved 14:03:12". */
  readonly savedLine: HTMLElement;
  readonly message: HTMLElement;
  /** Identifies the case that is shown: a question, or the case of a study. */
  displayedCaseId(): string;
  /** The action for a newer version on the server. */
  readonly staleRevisionAction: { label: string; run: () => void };
  /** Called after a problem is shown. */
  onProblem?(problem: RequestError): void;
}

export interface Submission<R extends Route> {
  route: R;
  /** Builds the body, after other saves were blocked. May first wait for the end of a mouse drag or for a draft to be saved. */
  body: () => Promise<Routes[R]["request"]>;
  /** Called when the request has been sent. */
  onSent?: () => void;
  /** Called when the server has saved, even if the form shows another question. Returns the status text. */
  onSaved?: (response: Routes[R]["response"]) => string;
  /** Continue. Called only while the form still shows what was saved. */
  onNext: (response: Routes[R]["response"]) => void;
  onFailed?: () => void;
  /** Sends again with the current input. */
  retry: () => void;
}

export class SaveFlow {
  /** The last request failed and was not tried again. */
  hasFailed = false;
  /** The next question was requested and has not arrived. */
  isWaiting = false;
  /** The status text of the last save. */
  lastSaved = "";
  private isRunning = false;
  private retry: (() => void) | null = null;

  constructor(private readonly view: SaveView) {}

  get isBusy(): boolean {
    return this.isRunning || this.isWaiting;
  }

  /** Save and continue. Does nothing while another request is running. */
  async submit<R extends Route>(submission: Submission<R>): Promise<void> {
    await this.runAlone(async () => {
      const { view } = this;
      const savedCaseId = view.displayedCaseId();
      const isNavigation = submission.onSaved === undefined;
      this.clearProblem();
      this.showNote("");
      if (!isNavigation) view.savedLine.textContent = "Saving …";
      try {
        const body = await submission.body();
        const request = post(submission.route, body);
        submission.onSent?.();
        const response = await request;
        this.lastSaved = submission.onSaved?.(response) ?? this.lastSaved;
        if (view.displayedCaseId() !== savedCaseId) return;
        view.savedLine.textContent = this.lastSaved;
        submission.onNext(response);
      } catch (problem) {
        if (!isNavigation) view.savedLine.textContent = "Not saved";
        if (view.displayedCaseId() === savedCaseId) {
          this.hasFailed = true;
          this.showProblem(RequestError.from(problem), submission.retry, isNavigation ? "The question could not be loaded. " : undefined);
        }
        submission.onFailed?.();
      }
    });
  }

  /** Run an operation that blocks saving. Does nothing while a request is running. */
  async runAlone(operation: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isRunning = true;
    this.view.root.classList.add("saving");
    try {
      await operation();
    } finally {
      this.isRunning = false;
      this.view.root.classList.remove("saving");
    }
  }

  /** Show why the request failed, and what to do. */
  showProblem(problem: RequestError, retry: () => void, heading = "Not saved. "): void {
    this.retry = retry;
    const { staleRevisionAction } = this.view;
    const primary = { class: "primary" };
    const tryAgain = button("Try again ", shortcutLabel("retry"), () => this.tryAgain(), primary);
    let resolution: Child = tryAgain;
    if (problem.kind === "StaleRevision") resolution = button(staleRevisionAction.label, null, staleRevisionAction.run, primary); // the input stays until the person reloads
    if (problem.kind === "NotSignedIn") resolution = [h("a", { href: "/sign-in", target: "_blank", rel: "noopener" }, "Sign in in a new tab"), ", then: ", tryAgain];
    if (problem.kind === "unreachable" || problem.kind === "unreadable") resolution = ["Your input is kept in this window. ", tryAgain];
    this.setMessage([h("b", {}, heading), problem.message, " ", resolution], true);
    this.view.onProblem?.(problem);
  }

  /** Returns whether there was anything to try again. */
  tryAgain(): boolean {
    const { retry } = this;
    retry?.();
    return retry !== null;
  }

  /** Show a message. An empty message does not replace the message of a failed save. */
  showNote(text: Child, isProblem = false): void {
    if (this.hasFailed && text === "") return;
    this.setMessage(text, isProblem);
  }

  /** Reset the state when another question is shown. */
  questionShown(): void {
    this.isWaiting = false;
    this.isRunning = false;
    this.clearProblem();
  }

  /** Forget the failed request. */
  clearProblem(): void {
    this.hasFailed = false;
    this.retry = null;
  }

  private setMessage(text: Child, isProblem: boolean): void {
    this.view.message.classList.toggle("problem", isProblem);
    this.view.message.replaceChildren(...flattenChildren(text));
  }
}
