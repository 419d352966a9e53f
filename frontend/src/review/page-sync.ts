// Keeps the page's script in step with the form.
//
// The form loads the next question by its own requests. Afterwards it reports to the script which question it shows, so that
// later script runs show the same one. If there is no next question, the form starts a script run, which shows the
// reason, or that all questions are done.

import type { ReviewData, QuestionTarget } from "../shared/api";
import type { SaveFlow } from "../shared/save-flow";

const REPEAT_AFTER = 4000; // milliseconds between repeated notifications or requests
const NOTIFY_AFTER = 150; // milliseconds before a notification: the script's output must not delay the image

/** A question of the batch, or another batch. */
export type Destination = { target: QuestionTarget } | { batch: number };

type QuestionReference = Pick<ReviewData, "batch" | "question">;

/** The query string of the address of a question. */
const buildAddress = ({ batch, question }: QuestionReference): string => `?batch=${batch}&question=${question}`;

/** The question in the address of the review page; null if there is none. */
export function readAddress(): QuestionReference | null {
  const parameters = new URLSearchParams(location.search);
  const [batch, question] = [Number(parameters.get("batch")), Number(parameters.get("question"))];
  return location.pathname.endsWith("/review") && batch && question ? { batch, question } : null;
}

export class PageSync {
  /** The number of the last notification or request. */
  private requestNumber = 0;
  /** The number of a notification that the script has not confirmed yet. */
  private unconfirmedNumber: number | null = null;
  private timers: ReturnType<typeof setTimeout>[] = [];

  constructor(
    private readonly saveFlow: SaveFlow,
    private readonly notifyScript: (request: Record<string, unknown>) => void,
  ) {}

  /** Notify the script that the form shows `current`, which it has fetched itself. */
  notifyShown(current: QuestionReference, previous: QuestionReference): void {
    this.reset();
    const address = buildAddress(current);
    if (address !== location.search) history.pushState({}, "", address); // so that F5 reloads this question
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
    this.unconfirmedNumber = null;
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
   * Whether to show the data of a script run: the response to a request, or a question that the script chose itself.
   * Data that it sent before it received the form's notification are obsolete.
   */
  shouldShow(data: ReviewData, isSameQuestion: boolean): boolean {
    if (this.saveFlow.isWaiting) return data.requestNumber === this.requestNumber;
    if (this.unconfirmedNumber !== null) {
      if (data.requestNumber !== this.unconfirmedNumber) return false;
      this.reset();
    }
    return !isSameQuestion && !this.saveFlow.isBusy;
  }

  /**
   * Drop addresses that the script sets before it knows which question the form shows. They would add an obsolete entry to the
   * browser's history or overwrite the entry that Back has reached, and a reload would show another question. Returns the function that ends this.
   */
  keepAddress(): () => void {
    const ends = ["pushState", "replaceState"].map((name) => {
      const originalMethod = Reflect.get(history, name) as History["pushState"];
      const filteringMethod: History["pushState"] = (state, unused, address) => {
        const isSamePage = new URL(address ?? "", location.href).pathname === location.pathname;
        if (this.unconfirmedNumber === null || !isSamePage) originalMethod.call(history, state, unused, address);
      };
      Reflect.set(history, name, filteringMethod);
      return () => Reflect.get(history, name) === filteringMethod && Reflect.set(history, name, originalMethod);
    });
    return () => {
      for (const end of ends) end();
    };
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
