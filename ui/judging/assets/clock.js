// Time on a question: looking (image drawn, page visible, somebody there) apart from away.

const IDLE_AFTER = 5 * 60; // seconds without a movement
const REPORT_EVERY = 15; // seconds

export class LookClock {
  /** `report(times)` is called with the totals so far, {seconds, seconds_looking, seconds_away}. */
  constructor({ report, idleAfter = IDLE_AFTER }) {
    this.report = report;
    this.idleAfter = idleAfter;
    this.paused = false;
    this.movedAt = performance.now();
    this.start({ seconds: 0, seconds_looking: 0, seconds_away: 0 });
    this.timer = setInterval(() => this.tick(), 1000);
    this.moved = () => {
      this.tick();
      this.movedAt = performance.now();
    };
    this.hidden = () => {
      this.tick();
      if (document.hidden) this.tell();
    };
    for (const name of ["pointermove", "pointerdown", "keydown", "wheel"]) {
      document.addEventListener(name, this.moved, { capture: true, passive: true });
    }
    document.addEventListener("visibilitychange", this.hidden);
  }

  /** A new question, with the times that were counted before it was left or the page loaded anew. */
  start(before) {
    this.times = { seconds: before.seconds, seconds_looking: before.seconds_looking, seconds_away: before.seconds_away };
    this.at = performance.now();
    this.movedAt = this.at;
    this.drawn = false;
    this.wasHidden = document.hidden;
    this.reported = 0;
    this.stopped = false;
  }

  /** The image is on screen. */
  imageDrawn() {
    this.tick();
    this.drawn = true;
  }

  stop() {
    this.tick();
    this.stopped = true;
  }

  /** A break: what passes from now on is time away, until it ends. */
  pause(on) {
    this.tick();
    this.paused = on;
    this.tell();
  }

  tick() {
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
    this.reported += passed;
    if (this.reported >= REPORT_EVERY) this.tell();
  }

  totals() {
    this.tick();
    const round = (value) => Math.round(value * 10) / 10;
    return {
      seconds: round(this.times.seconds),
      seconds_looking: round(this.times.seconds_looking),
      seconds_away: round(this.times.seconds_away),
    };
  }

  tell() {
    if (this.stopped) return;
    this.reported = 0;
    this.report(this.totals());
  }

  end() {
    clearInterval(this.timer);
    for (const name of ["pointermove", "pointerdown", "keydown", "wheel"]) {
      document.removeEventListener(name, this.moved, { capture: true });
    }
    document.removeEventListener("visibilitychange", this.hidden);
  }
}
