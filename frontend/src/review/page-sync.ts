// Keeping the page's script in step with the form.
//
// The form goes to the next question by its own requests. It tells the script afterwards which question it shows, so that
// what the script draws later agrees. Where the server has no question to give, the form asks the script instead, which
// says why, or that all is done.

import type { ReviewData, TurnTarget } from "../shared/api";
import type { SaveFlow } from "../shared/save-flow";

const REPEAT_AFTER = 4000; // milliseconds until the script is told or asked once more
const TELL_AFTER = 150; // milliseconds until it is told which question is shown: what it draws must not delay the image

/** A question of the batch, or another batch. */
export type Target = { to: TurnTarget } | { batch: number };

type Place = Pick<ReviewData, "batch" | "question">;

/** What stands behind the path while that question is shown. */
const addressOf = ({ batch, question }: Place): string => `?batch=${batch}&question=${question}`;

/** Put the address back where a late run of the script has set that of its own question. */
function keepAddress(address: string): void {
  if (location.search.startsWith("?batch=") && location.search !== address) history.replaceState({}, "", address);
}

export class PageSync {
  /** Counts the turns that the form has made or asked for. */
  private turn = 0;
  /** The turn that the script has been told of and has not answered yet. */
  private untaken: number | null = null;
  /** The address that somebody went back to before the script had taken a turn: it may still set that turn's address. */
  private wentBackTo: string | null = null;
  private timers: ReturnType<typeof setTimeout>[] = [];

  constructor(
    private readonly saveFlow: SaveFlow,
    private readonly trigger: (request: Record<string, unknown>) => void,
  ) {}

  /** The form shows `now`, which it has fetched itself. */
  tell(now: Place, before: Place): void {
    this.clearTimers();
    const address = addressOf(now);
    if (address !== location.search) history.pushState({}, "", address); // F5 comes back to it
    this.turn += 1;
    this.untaken = this.turn;
    const request = { to: now.question, turn: this.turn, from: before.batch, after: before.question };
    this.timers.push(
      setTimeout(() => {
        this.trigger(request);
        this.timers.push(setInterval(() => this.trigger(request), REPEAT_AFTER));
      }, TELL_AFTER),
    );
  }

  /** Let the script find the next question; once more if none comes. */
  ask(target: Target, before: Place): void {
    this.clearTimers();
    this.saveFlow.isWaiting = true;
    this.untaken = null;
    this.turn += 1;
    const request = { ...target, turn: this.turn, from: before.batch, after: before.question };
    this.trigger(request);
    this.timers.push(
      setInterval(() => {
        this.saveFlow.note("The next question is delayed. Retrying …");
        this.trigger(request);
      }, REPEAT_AFTER),
    );
  }

  /**
   * Whether what the script brings is to be shown: the answer to what was asked, or a question that it chose itself (the
   * way back in the browser). What it drew before it knew of a turn that the form has made is old.
   */
  accepts(data: ReviewData, shown: Place, isShown: boolean): boolean {
    if (this.saveFlow.isWaiting) return data.turn === this.turn;
    if (this.untaken !== null) {
      if (data.turn !== this.untaken) {
        keepAddress(addressOf(shown)); // a reload must come back to the question shown
        return false;
      }
      this.untaken = null;
      this.clearTimers();
    }
    const isAccepted = !isShown && !this.saveFlow.isBusy;
    if (!isAccepted && this.wentBackTo !== null) keepAddress(this.wentBackTo);
    return isAccepted;
  }

  /** Somebody goes back in the browser: the script has that question itself and is told of no other. */
  wentBack(): void {
    if (this.untaken === null) return;
    this.reset();
    this.wentBackTo = location.search;
  }

  /** What was under way for the question before is over. */
  reset(): void {
    this.clearTimers();
    this.untaken = null;
    this.wentBackTo = null;
  }

  private clearTimers(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }
}
