// Time on a question: looking (image drawn, page visible, somebody there) apart from away.

import type { LookTimes } from "./api";
import { listen } from "./dom";

const IDLE_AFTER = 5 * 60; // seconds without a movement
const REPORT_EVERY = 15; // seconds

export class LookClock {
  paused = false;
  private times: LookTimes = { seconds: 0, seconds_looking: 0, seconds_away: 0 };
  private at = 0;
  private movedAt = 0;
  private drawn = false;
  private wasHidden = false;
  private unreported = 0;
  private stopped = true;
  private idleAfter = IDLE_AFTER;
  private readonly ends: (() => void)[];

  /** `report(times)` is called with the totals so far. */
  constructor(private readonly report: (times: LookTimes) => void) {
    const timer = setInterval(() => this.tick(), 1000);
    const moved = (): void => {
      this.tick();
      this.movedAt = performance.now();
    };
    const movements = ["pointermove", "pointerdown", "keydown", "wheel"] as const;
    this.ends = [
      () => clearInterval(timer),
      ...movements.map((name) => listen(document, name, moved, { capture: true, passive: true })),
      listen(document, "visibilitychange", () => {
        this.tick();
        if (document.hidden) this.reportNow();
      }),
    ];
  }

  /** A new question, with the times that were counted before it was left or the page was reloaded. */
  start(before: LookTimes, idleAfter = IDLE_AFTER): void {
    this.times = { seconds: before.seconds, seconds_looking: before.seconds_looking, seconds_away: before.seconds_away };
    this.at = this.movedAt = performance.now();
    this.drawn = false;
    this.wasHidden = document.hidden;
    this.unreported = 0;
    this.stopped = false;
    this.idleAfter = idleAfter;
  }

  /** The image is on screen. */
  imageDrawn(): void {
    this.tick();
    this.drawn = true;
  }

  stop(): void {
    this.tick();
    this.stopped = true;
  }

  /** A break: the time until it ends is time away. */
  pause(on: boolean): void {
    this.tick();
    this.paused = on;
    this.reportNow();
  }

  totals(): LookTimes {
    this.tick();
    const round = (value: number): number => Math.round(value * 10) / 10;
    const { seconds, seconds_looking, seconds_away } = this.times;
    return { seconds: round(seconds), seconds_looking: round(seconds_looking), seconds_away: round(seconds_away) };
  }

  reportNow(): void {
    if (this.stopped) return;
    this.unreported = 0;
    this.report(this.totals());
  }

  end(): void {
    for (const end of this.ends) end();
  }

  private tick(): void {
    const now = performance.now();
    const passed = (now - this.at) / 1000;
    this.at = now;
    if (this.stopped) return;
    // Timers sleep in a hidden page, so a stretch counts by how it began.
    const away = this.wasHidden || this.paused || (now - this.movedAt) / 1000 > this.idleAfter;
    this.wasHidden = document.hidden;
    this.times.seconds += passed;
    if (away) this.times.seconds_away += passed;
    else if (this.drawn) this.times.seconds_looking += passed;
    this.unreported += passed;
    if (this.unreported >= REPORT_EVERY) this.reportNow();
  }
}
