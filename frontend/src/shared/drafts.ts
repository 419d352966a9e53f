// Drafts: what is entered and not saved yet, kept on the server as it changes.

import { sleep } from "./dom";
import { RequestError } from "./http";
import type { UnsentDrafts } from "./unsent-drafts";

const PAUSE = 400; // milliseconds without a change before a draft is sent
const RETRY_AFTER = 3000;
const LONGEST_WAIT = 1500; // for a draft that is under way

interface DraftOptions<Part extends string> {
  /** The revision of each part that the server has. */
  revisions: Partial<Record<Part, number>>;
  send: (draft: { part: Part; revision: number; body: object }, options?: { keepalive: boolean }) => Promise<{ revision: number }>;
  /** Called after every attempt; null when the draft is on the server. */
  onResult: (problem: RequestError | null) => void;
  /** Where drafts that the server did not take are kept. */
  unsent?: UnsentDrafts<Part>;
}

/** The drafts of one question or case. Each part has its own line of revisions. */
export class DraftStore<Part extends string> {
  private readonly waiting = new Map<Part, () => object>();
  private readonly timers = new Map<Part, ReturnType<typeof setTimeout>>();
  private sending = Promise.resolve();
  private closed = false;

  constructor(private readonly options: DraftOptions<Part>) {}

  revision(part: Part): number {
    return this.options.revisions[part] ?? 0;
  }

  get hasWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** `body` is called when the draft is sent, so the newest state is sent, `pause` milliseconds after the last change. */
  change(part: Part, body: () => object, pause = PAUSE): void {
    if (this.closed) return;
    this.waiting.set(part, body);
    this.schedule(part, pause);
  }

  /** Send what waits now. Resolves whether it succeeds or not. */
  flush(part?: Part): Promise<void> {
    const parts = part ? [part] : [...this.waiting.keys()];
    for (const each of parts) clearTimeout(this.timers.get(each));
    this.sending = this.sending.then(async () => {
      for (const each of parts) await this.sendPart(each);
    });
    return this.sending;
  }

  /** The page is closing: one last request that outlives it. */
  leave(): void {
    if (this.closed) return;
    for (const [part, body] of this.waiting) {
      const draft = { part, revision: this.revision(part), body: body() };
      this.options.unsent?.keep(draft);
      this.options.send(draft, { keepalive: true }).catch(() => undefined);
    }
  }

  /** Send nothing more for now, and wait for what is under way: no draft may arrive after what it is a draft of. */
  async hold(): Promise<void> {
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.race([this.sending, sleep(LONGEST_WAIT)]);
  }

  /** Take up the drafts that the server did not take when this question was open before. They are sent with the next flush. */
  restoreUnsent(): { part: Part; body: object }[] {
    const drafts = this.options.unsent?.take((part) => this.revision(part)) ?? [];
    for (const { part, body } of drafts) this.waiting.set(part, () => body);
    return drafts;
  }

  /** It is saved: drafts are of no use any more, wherever they are. */
  discard(): void {
    this.close();
    this.options.unsent?.dropAll();
  }

  /** Send nothing more. */
  close(): void {
    this.closed = true;
    this.waiting.clear();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private schedule(part: Part, milliseconds: number): void {
    clearTimeout(this.timers.get(part));
    this.timers.set(part, setTimeout(() => void this.flush(part), milliseconds));
  }

  private async sendPart(part: Part): Promise<void> {
    const body = this.waiting.get(part);
    if (!body || this.closed) return;
    this.waiting.delete(part);
    const { options } = this;
    try {
      const kept = await options.send({ part, revision: this.revision(part), body: body() });
      options.revisions[part] = kept.revision;
      options.unsent?.drop(part);
      if (!this.isClosed()) options.onResult(null);
    } catch (caught) {
      if (this.isClosed()) return;
      const problem = RequestError.from(caught);
      const newest = this.waiting.get(part) ?? body;
      this.waiting.set(part, newest);
      options.unsent?.keep({ part, revision: this.revision(part), body: newest() });
      options.onResult(problem);
      if (problem.isTemporary) this.schedule(part, RETRY_AFTER);
    }
  }

  private isClosed(): boolean {
    return this.closed; // may have changed while a request was under way
  }
}
