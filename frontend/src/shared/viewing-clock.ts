// Viewing time of a question, separated from time away. Viewing: image drawn, page visible, person active.

import type { ViewingTimes } from "./api";
import { listen } from "./dom";

const IDLE_AFTER = 5 * 60; // seconds without activity
const REPORT_EVERY = 15; // seconds

export class ViewingClock {
  paused = false;
  private times: ViewingTimes = { seconds: 0, seconds_looking: 0, seconds_away: 0 };
  private lastTickAt = 0;
  private lastActivityAt = 0;
  private isImageDrawn = false;
  private wasHidden = false;
  private unreportedSeconds = 0;
  private isStopped = true;
  private idleAfter = IDLE_AFTER;
  private readonly cleanups: (() => void)[];

  /** `report(times)` is called with the totals so far. */
  constructor(private readonly report: (times: ViewingTimes) => void) {
    const timer = setInterval(() => this.tick(), 1000);
    const onActivity = (): void => {
      this.tick();
      this.lastActivityAt = performance.now();
    };
    const activityEvents = ["pointermove", "pointerdown", "keydown", "wheel"] as const;
    this.cleanups = [
      () => clearInterval(timer),
      ...activityEvents.map((name) => listen(document, name, onActivity, { capture: true, passive: true })),
      listen(document, "visibilitychange", () => {
        this.tick();
        if (document.hidden) this.reportNow();
      }),
    ];
  }

  /** Start timing a question. `initial` holds the times of earlier visits. */
  start(initial: ViewingTimes, idleAfter = IDLE_AFTER): void {
    this.times = { seconds: initial.seconds, seconds_looking: initial.seconds_looking, seconds_away: initial.seconds_away };
    this.lastTickAt = this.lastActivityAt = performance.now();
    this.isImageDrawn = false;
    this.wasHidden = document.hidden;
    this.unreportedSeconds = 0;
    this.isStopped = false;
    this.idleAfter = idleAfter;
  }

  /** The image is on screen. */
  imageDrawn(): void {
    this.tick();
    this.isImageDrawn = true;
  }

  stop(): void {
    this.tick();
    this.isStopped = true;
  }

  /** Start or end a break. A break counts as time away. */
  setPaused(paused: boolean): void {
    this.tick();
    this.paused = paused;
    this.reportNow();
  }

  getTotals(): ViewingTimes {
    this.tick();
    const round = (value: number): number => Math.round(value * 10) / 10;
    const { seconds, seconds_looking, seconds_away } = this.times;
    return { seconds: round(seconds), seconds_looking: round(seconds_looking), seconds_away: round(seconds_away) };
  }

  reportNow(): void {
    if (this.isStopped) return;
    this.unreportedSeconds = 0;
    this.report(this.getTotals());
  }

  end(): void {
    for (const end of this.cleanups) end();
  }

  private tick(): void {
    const now = performance.now();
    const elapsed = (now - this.lastTickAt) / 1000;
    this.lastTickAt = now;
    if (this.isStopped) return;
    // Timers are throttled in a hidden page, so the time since the last tick counts by the visibility at its start.
    const isAway = this.wasHidden || this.paused || (now - this.lastActivityAt) / 1000 > this.idleAfter;
    this.wasHidden = document.hidden;
    this.times.seconds += elapsed;
    if (isAway) this.times.seconds_away += elapsed;
    else if (this.isImageDrawn) this.times.seconds_looking += elapsed;
    this.unreportedSeconds += elapsed;
    if (this.unreportedSeconds >= REPORT_EVERY) this.reportNow();
  }
}
