// Keeping the page's script in step with the form.
//
// The form loads the next question by its own requests. Afterwards it reports to the script which question it shows, so that
// later script runs agree. If there is no next question, the form starts a script run, which
// shows the reason, or that all questions are done.

import type { ReviewData, QuestionTarget } from "../shared/api";
import type { SaveFlow } from "../shared/save-flow";

const REPEAT_AFTER = 4000; // milliseconds between repeated notifications or requests
const NOTIFY_AFTER = 150; // milliseconds before a notification: the script's output must not delay the image

/** A question of the batch, or another batch. */
export type Destination = { target: QuestionTarget } | { batch: number };

type QuestionReference = Pick<ReviewData, "batch" | "question">;

/** The query string of the address of a question. */
const buildAddress = ({ batch, question }: QuestionReference): string => `?batch=${batch}&question=${question}`;

/** Restore the address after a late script run has set that of another question. */
function restoreAddress(address: string): void {
  if (location.search.startsWith("?batch=") && location.search !== address) history.replaceState({}, "", address);
}

export class PageSync {
  /** The number of the last notification or request. */
  private requestNumber = 0;
  /** The number of a notification that the script has not confirmed yet. */
  private unconfirmedNumber: number | null = null;
  /** The address after Back or Forward until its question arrives: a late message of the script may overwrite it. */
  private backAddress: string | null = null;
  private timers: ReturnType<typeof setTimeout>[] = [];

  constructor(
    private readonly saveFlow: SaveFlow,
    private readonly notifyScript: (request: Record<string, unknown>) => void,
  ) {}

  /** Notify the script that the form shows `current`, which it has fetched itself. */
  notifyShown(current: QuestionReference, previous: QuestionReference): void {
    this.clearTimers();
    this.backAddress = null;
    const address = buildAddress(current);
    if (address !== location.search) history.pushState({}, "", address); // F5 reloads it
    this.requestNumber += 1;
    this.unconfirmedNumber = this.requestNumber;
    const request = { target: current.question, number: this.requestNumber, from: previous.batch, after: previous.question };
    this.timers.push(
      setTimeout(() => {
        this.notifyScript(request);
        this.timers.push(setInterval(() => this.notifyScript(request), REPEAT_AFTER));
      }, NOTIFY_AFTER),
    );
  }

  /** Ask the script for the next question. Repeats until one arrives. */
  requestQuestion(destination: Destination, previous: QuestionReference): void {
    this.clearTimers();
    this.saveFlow.isWaiting = true;
    this.unconfirmedNumber = this.backAddress = null;
    this.requestNumber += 1;
    const request = { ...destination, number: this.requestNumber, from: previous.batch, after: previous.question };
    this.notifyScript(request);
    this.timers.push(
      setInterval(() => {
        this.saveFlow.showNote("The next question is delayed. Retrying …");
        this.notifyScript(request);
      }, REPEAT_AFTER),
    );
  }

  /**
   * Whether what the script brings is to be shown: the answer to what was asked, or a question that it chose itself (the
   * way back in the browser). Data that it sent before it received the form's notification are obsolete.
   */
  shouldShow(data: ReviewData, shown: QuestionReference, isSameQuestion: boolean): boolean {
    if (this.saveFlow.isWaiting) return data.requestNumber === this.requestNumber;
    if (this.unconfirmedNumber !== null) {
      if (data.requestNumber !== this.unconfirmedNumber) {
        restoreAddress(buildAddress(shown)); // a reload must show the same question
        return false;
      }
      this.unconfirmedNumber = null;
      this.clearTimers();
    }
    if (this.backAddress !== null) {
      restoreAddress(this.backAddress);
      if (buildAddress(data) === this.backAddress) this.backAddress = null;
    }
    return !isSameQuestion && !this.saveFlow.isBusy;
  }

  /** The person went back or forward in the browser. The script shows that question itself and needs no notification. */
  handleBack(): void {
    if (this.saveFlow.isWaiting) return;
    this.reset();
    this.backAddress = location.search.includes("question=") ? location.search : null;
  }

  /** Cancel pending notifications of the previous question. */
  reset(): void {
    this.clearTimers();
    this.unconfirmedNumber = null;
  }

  private clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }
}
