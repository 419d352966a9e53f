// What is entered of one case, kept on the server as it changes.

import { post } from "./send.js";

const PAUSE = 400; // milliseconds of quiet before it is sent
const AGAIN = 3000; // milliseconds until it is tried again where the server did not answer

export class Entry {
  /** `where` names the case; `body()` is asked when it is sent; `told(problem or null)` says how it went. */
  constructor({ where, revision, body, told }) {
    Object.assign(this, { where, revision, body, told });
    this.waiting = false;
    this.closed = false;
    this.last = Promise.resolve();
  }

  changed(pause = PAUSE) {
    if (this.closed) return;
    this.waiting = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), pause);
  }

  flush() {
    clearTimeout(this.timer);
    this.last = this.last.then(() => this.send());
    return this.last;
  }

  async send() {
    if (!this.waiting || this.closed) return;
    this.waiting = false;
    try {
      const kept = await post("/reading/draft", { ...this.where, part: "entry", revision: this.revision, body: this.body() });
      this.revision = kept.revision;
      if (!this.closed) this.told(null);
    } catch (problem) {
      if (this.closed) return;
      this.waiting = true;
      this.told(problem);
      if (problem.kind === "unreachable" || problem.kind === "NotNow") this.timer = setTimeout(() => this.flush(), AGAIN);
    }
  }

  /** The page is going: one last try that outlives it. */
  leave() {
    if (this.waiting && !this.closed) post("/reading/draft", { ...this.where, part: "entry", revision: this.revision, body: this.body() }, { keepalive: true }).catch(() => {});
  }

  /** Send nothing more for now, and wait for what is under way: nothing may come in after its answer. */
  async hold() {
    clearTimeout(this.timer);
    await Promise.race([this.last, new Promise((done) => setTimeout(done, 1500))]);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }
}
