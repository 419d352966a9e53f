// Keeping the page's script in step with the form.
//
// The form loads the next question by its own requests. Afterwards it reports to the script which question it shows, so that
// later script runs agree. If there is no next question, the form starts a script run, which
// shows the reason, or that all questions are done.

import type { ReviewData, TurnTarget } from "../shared/api";
import type { SaveFlow } from "../shared/save-flow";

const REPEAT_AFTER = 4000; // milliseconds between repeated notifications or requests
const NOTIFY_AFTER = 150; // milliseconds before a notification: the script's output must not delay the image

/** A question of the batch, or another batch. */
export type Target = { to: TurnTarget } | { batch: number };

type QuestionReference = Pick<ReviewData, "batch" | "question">;

/** The query string of the address of a question. */
const buildAddress = ({ batch, question }: QuestionReference): string => `?batch=${batch}&question=${question}`;

/** Restore the address after a late script run has set that of another question. */
function restoreAddress(address: string): void {
  if (location.search.startsWith("?batch=") && location.search !== address) history.replaceState({}, "", address);
}

export class PageSync {
  /** Counts the turns that the form has made or asked for. */
  private turn = 0;
  /** The turn that was sent to the script and is not confirmed yet. */
  private unconfirmedTurn: number | null = null;
  /** The address after a browser Back before the script confirmed a turn: the script may still overwrite it. */
  private backAddress: string | null = null;
  private timers: ReturnType<typeof setTimeout>[] = [];

  constructor(
    private readonly saveFlow: SaveFlow,
    private readonly notifyScript: (request: Record<string, unknown>) => void,
  ) {}

  /** Notify the script that the form shows `current`, which it has fetched itself. */
  notifyShown(current: QuestionReference, previous: QuestionReference): void {
    this.clearTimers();
    const address = buildAddress(current);
    if (address !== location.search) history.pushState({}, "", address); // F5 reloads it
    this.turn += 1;
    this.unconfirmedTurn = this.turn;
    const request = { to: current.question, turn: this.turn, from: previous.batch, after: previous.question };
    this.timers.push(
      setTimeout(() => {
        this.notifyScript(request);
        this.timers.push(setInterval(() => this.notifyScript(request), REPEAT_AFTER));
      }, NOTIFY_AFTER),
    );
  }

  /** Ask the script for the next question. Repeats until one arrives. */
  requestQuestion(target: Target, previous: QuestionReference): void {
    this.clearTimers();
    this.saveFlow.isWaiting = true;
    this.unconfirmedTurn = null;
    this.turn += 1;
    const request = { ...target, turn: this.turn, from: previous.batch, after: previous.question };
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
   * way back in the browser). What it drew before it knew of a turn that the form has made is old.
   */
  shouldShow(data: ReviewData, shown: QuestionReference, isSameQuestion: boolean): boolean {
    if (this.saveFlow.isWaiting) return data.turn === this.turn;
    if (this.unconfirmedTurn !== null) {
      if (data.turn !== this.unconfirmedTurn) {
        restoreAddress(buildAddress(shown)); // a reload must show the same question
        return false;
      }
      this.unconfirmedTurn = null;
      this.clearTimers();
    }
    const isAccepted = !isSameQuestion && !this.saveFlow.isBusy;
    if (!isAccepted && this.backAddress !== null) restoreAddress(this.backAddress);
    return isAccepted;
  }

  /** The person went back in the browser. The script shows that question itself and needs no notification. */
  handleBack(): void {
    if (this.unconfirmedTurn === null) return;
    this.reset();
    this.backAddress = location.search;
  }

  /** Cancel pending notifications of the previous question. */
  reset(): void {
    this.clearTimers();
    this.unconfirmedTurn = null;
    this.backAddress = null;
  }

  private clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }
}
